"""Retries around a call that no queue makes: decorators, retrying calls and loops, clients that repeat requests."""

from __future__ import annotations

from collections.abc import Iterator

from sendonce import vocabulary as v
from sendonce.findings import Place
from sendonce.packs import Table as PackTable
from sendonce.program import arguments
from sendonce.program import held as h
from sendonce.program.errors import Awaited
from sendonce.program.escapes import Escapes
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.link import Linker
from sendonce.program.paths import Path
from sendonce.program.repeats import OFF, Repetition, counts, decorator_place, place_of
from sendonce.program.retryloops import asks_result, attempts, until
from sendonce.program.runs import Run, call_run, run_from
from sendonce.program.symbols import Function
from sendonce.program.values import Attr, Call, Const, External, Updated, Value, walk

_NEVER = "stop_never"


class Retries:
    """Answers for the chain of calls of a path."""

    def __init__(self, evaluator: Evaluator, flows: Flows, linker: Linker, escapes: Escapes) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.flows = flows
        self.linker = linker
        self.escapes = escapes

    def around(self, path: Path) -> Iterator[tuple[Repetition, Run]]:
        """The retries that may repeat an accepted mail, each with what it repeats, outermost first."""
        entered = ""
        sites = tuple(path.sites())
        for number, site in enumerate(sites):
            if site.function != entered:
                entered = site.function
                yield from self._fired(self._decorated(self.program.function(entered)), run_from(path, number))
            yield from self._loops(path, number)
            yield from self._recursions(site, run_from(path, number))
            if number + 1 < len(sites):
                yield from self._fired(self._calling(site), run_from(path, number + 1))
        for found in self._clients(sites[-1]):
            yield found, call_run(path, request=True)

    def _fired(self, found: Iterator[tuple[Repetition, Awaited | None]], run: Run) -> Iterator[tuple[Repetition, Run]]:
        for repetition, awaited in found:
            if awaited is None or self.escapes.reaches(awaited, self.escapes.leaving(run)):
                yield repetition, run

    # ------------------------------------------------------------------ decorators and calls

    def _decorated(self, function: Function) -> Iterator[tuple[Repetition, Awaited | None]]:
        for call in self.linker.decorations(function):
            described = call.func if isinstance(call.func, Call) else Call(call.func, (), (), call.at)
            for entry in self._entries(self.packs.repeats, described):
                if entry.decorators and self._repeats(entry, described):
                    place = decorator_place(function, call)
                    endless = place if self._is_endless(entry, described) else None
                    note = "a retry decorator runs the function again"
                    yield Repetition(place, note, endless), self._awaited(entry, described)

    def _calling(self, site: Site) -> Iterator[tuple[Repetition, Awaited | None]]:
        for entry in self._entries(self.packs.repeats, site.call):
            if entry.function and self._repeats(entry, site.call):
                endless = place_of(site) if self._is_endless(entry, site.call) else None
                found = Repetition(place_of(site), "the call runs what it is given again", endless)
                yield found, self._awaited(entry, site.call)

    def _entries(self, table: PackTable[v.Repeat], call: Call) -> list[v.Repeat]:
        return [entry for _, entry in self.evaluator.lookup(table, call.func)]

    def _repeats(self, entry: v.Repeat, call: Call) -> bool:
        """Whether a retry tries more than once."""
        if not arguments.holds(self.evaluator, call, entry.when):
            return False
        limit = arguments.first_argument(self.evaluator, call, entry.limit)
        return limit is None or not self._is_once(limit)

    def _awaited(self, entry: v.Repeat, call: Call) -> Awaited | None:
        """The errors after which it is run again; None if what it returns decides."""
        if entry.results:
            return None
        only = arguments.first_argument(self.evaluator, call, entry.only)
        return self.escapes.errors.awaited(only)

    def _is_once(self, limit: Value) -> bool:
        """One attempt in all: `tries=1`, `stop_after_attempt(1)`."""
        found = self.evaluator.resolve(limit)
        if isinstance(found, Call) and len(found.args) == 1:
            found = self.evaluator.resolve(found.args[0])
        return isinstance(found, Const) and found.value in (0, 1)

    def _is_endless(self, entry: v.Repeat, call: Call) -> bool:
        """Whether nothing ends the attempts: no limit is given and none is the default, or the one given is none."""
        limits = list(arguments.given(self.evaluator, call, entry.limit))
        if not limits:
            return entry.default is None and bool(entry.limit)
        return entry.default is None and all(self._is_none(limit) for limit in limits)

    def _is_none(self, limit: Value) -> bool:
        found = self.evaluator.resolve(limit)
        if isinstance(found, External):
            return found.dotted.endswith(_NEVER)
        constant = self.evaluator.constant(found)
        return constant is not None and constant.value in (None, -1)

    # ------------------------------------------------------------------ loops

    def _loops(self, path: Path, number: int) -> Iterator[tuple[Repetition, Run]]:
        """The loops of attempts around one call of a path, in its own function."""
        site = tuple(path.sites())[number]
        for fact in h.newest_first(site.held):
            if isinstance(fact, h.Loop):
                run = run_from(path, number, fact)
                yield from ((found, run) for found in self._of_loop(fact, site, run))
        tested = until(self.program.function(site.function), site.at)
        if tested is not None:
            place = Place(site.path, tested[0], tested[1])
            run = run_from(path, number + 1) if number + 1 < len(tuple(path.sites())) else call_run(path)
            yield Repetition(place, "the loop tries again until the result is good", place), run

    def _of_loop(self, loop: h.Loop, site: Site, run: Run) -> Iterator[Repetition]:
        place = Place(site.path, loop.at[0], loop.at[1])
        note = "the loop tries again after an error"
        entry = self._library_loop(loop)
        if entry is not None:
            described, found = entry
            awaited = self._awaited(found, described)
            if awaited is None or self.escapes.reaches(awaited, self.escapes.leaving(run)):
                yield Repetition(place, note, place if self._is_endless(found, described) else None)
            return
        shape = attempts(self.program.function(site.function), loop.at, site.at)
        trying = next((one for one in _tries(site) if shape is not None and one.at == shape.trying), None)
        if shape is None or trying is None:
            asked = asks_result(self.program.function(site.function), loop.at, site.at)
            if asked is not None:
                note = "the loop tries again until the result is good"
                yield Repetition(place, note, place if asked.endless else None)
            return
        failures = self.escapes.reaching(run, 0, trying)
        for types, at in trying.handlers:
            if at in shape.again and self.escapes.reaches(self.escapes.errors.taken(types), failures):
                yield Repetition(place, note, place if shape.endless else None)
                return

    def _recursions(self, site: Site, run: Run) -> Iterator[tuple[Repetition, Run]]:
        """The calls of a function of itself in what handles the error of a call in it."""
        for asked in self.flows.of(self.program.function(site.function)).sites:
            caught = next((one for one in h.blocks(asked.held) if isinstance(one, h.Caught)), None)
            if caught is None or not any(one is caught.trying for one in _tries(site)) or not self._is_self(asked):
                continue
            if self.escapes.reaches(
                self.escapes.errors.taken(caught.types), self.escapes.reaching(run, 0, caught.trying)
            ):
                endless = None if counts(asked) else place_of(asked)
                yield Repetition(place_of(asked), "the function calls itself again after an error", endless), run

    def _is_self(self, asked: Site) -> bool:
        return any(
            edge.target == asked.function and all(crossing.hop == "call" for crossing in edge.crossings)
            for edge in self.linker.reached(asked).edges
        )

    def _library_loop(self, loop: h.Loop) -> tuple[Call, v.Repeat] | None:
        over = None if loop.over is None else self.evaluator.resolve(loop.over)
        if not isinstance(over, Call):
            return None
        found = (entry for entry in self._entries(self.packs.repeat_loops, over) if self._repeats(entry, over))
        return next(((over, entry) for entry in found), None)

    # ------------------------------------------------------------------ clients

    def _clients(self, site: Site) -> Iterator[Repetition]:
        """The client of a provider call, or what was mounted on it, if it repeats a POST."""
        if not isinstance(site.call.func, Attr):
            return
        for part in walk(self.evaluator.resolve(site.call.func.base)):
            for made in (part, *self._done_to(part)) if isinstance(part, Call) else ():
                for entry in self._entries(self.packs.repeat_clients, made):
                    if self._repeats_posts(entry, made):
                        yield Repetition(Place(*made.at), "the client sends a failed request again, POST too")

    def _done_to(self, client: Call) -> Iterator[Call]:
        """The calls of methods of an object that a module makes for itself, in that module (`session.mount(…)`)."""
        file = self.program.sources.by_path(client.at[0])
        module = self.program.module_of(file) if file is not None else None
        for site in self.flows.of(module.body).sites if module is not None else ():
            if isinstance(site.call.func, Attr):
                owner = site.call.func.base
                while isinstance(owner, Updated):
                    owner = owner.base
                if self.evaluator.resolve(owner) is client:
                    yield site.call

    def _repeats_posts(self, entry: v.Repeat, call: Call) -> bool:
        limit = arguments.first_argument(self.evaluator, call, entry.limit)
        if limit is None or self._is_off(limit) or not entry.posts:
            return False
        if not entry.names:
            return True
        methods = arguments.first_argument(self.evaluator, call, entry.names)
        if methods is None:
            return False
        parts = list(walk(self.evaluator.resolve(methods)))
        return any(isinstance(one, Const) and one.value in (None, False, "POST") for one in parts)

    def _is_off(self, limit: Value) -> bool:
        constant = self.evaluator.constant(limit)
        return constant is not None and constant.value in OFF


def _tries(site: Site) -> Iterator[h.Trying]:
    return (fact for fact in h.blocks(site.held) if isinstance(fact, h.Trying))
