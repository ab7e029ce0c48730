"""Retries around a call that no queue makes: decorators, retrying calls and loops, clients that repeat requests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sendonce import vocabulary as v
from sendonce.findings import Place
from sendonce.packs import Table as PackTable
from sendonce.program import arguments
from sendonce.program import held as h
from sendonce.program.errors import before_acceptance
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.link import Linker
from sendonce.program.repeats import Repetition, decorator_place
from sendonce.program.retryloops import retry_loop
from sendonce.program.symbols import Function
from sendonce.program.values import Attr, Call, Const, Updated, Value, walk


@dataclass(frozen=True)
class Retried:
    """A retry and the calls inside the part that it repeats, outermost first."""

    repetition: Repetition
    inner: tuple[Site, ...]


class Retries:
    """Answers for the chain of calls of a path."""

    def __init__(self, evaluator: Evaluator, flows: Flows, linker: Linker) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.flows = flows
        self.linker = linker

    def around(self, sites: tuple[Site, ...]) -> Iterator[Retried]:
        """The retries around the last of some calls, each made in a function that the one before it leads to."""
        entered = ""
        for number, site in enumerate(sites):
            if site.function != entered:
                entered = site.function
                for found in self._decorated(self.program.function(entered)):
                    yield Retried(found, sites[number:])
            for found in self._loops(site):
                yield Retried(found, sites[number + 1 :])
            for found in self._calling(site) if number + 1 < len(sites) else ():
                yield Retried(found, sites[number + 1 :])
        for found in self._clients(sites[-1]):
            yield Retried(found, ())

    # ------------------------------------------------------------------ decorators and calls

    def _decorated(self, function: Function) -> Iterator[Repetition]:
        for call in self.linker.decorations(function):
            described = call.func if isinstance(call.func, Call) else call
            for entry in self._entries(self.packs.repeats, described):
                if entry.decorators and self._repeats(entry, described):
                    yield Repetition(decorator_place(function, call), "a retry decorator runs the function again")

    def _calling(self, site: Site) -> Iterator[Repetition]:
        for entry in self._entries(self.packs.repeats, site.call):
            if entry.function and self._repeats(entry, site.call):
                yield Repetition(Place(site.path, *site.at), "the call runs what it is given again")

    def _entries(self, table: PackTable[v.Repeat], call: Call) -> list[v.Repeat]:
        return [entry for _, entry in self.evaluator.lookup(table, call.func)]

    def _repeats(self, entry: v.Repeat, call: Call) -> bool:
        """Whether a retry tries more than once, after errors that a send may raise when it was accepted."""
        if not arguments.holds(self.evaluator, call, entry.when):
            return False
        limit = arguments.first_argument(self.evaluator, call, entry.limit)
        if limit is not None and self._is_once(limit):
            return False
        only = arguments.first_argument(self.evaluator, call, entry.only)
        return only is None or not before_acceptance(self.evaluator, only)

    def _is_once(self, limit: Value) -> bool:
        """One attempt in all: `tries=1`, `stop_after_attempt(1)`."""
        found = self.evaluator.resolve(limit)
        if isinstance(found, Call) and len(found.args) == 1:
            found = self.evaluator.resolve(found.args[0])
        return isinstance(found, Const) and found.value in (0, 1)

    # ------------------------------------------------------------------ loops

    def _loops(self, site: Site) -> Iterator[Repetition]:
        function = self.program.function(site.function)
        for fact in h.newest_first(site.held):
            if isinstance(fact, h.Loop) and (self._library_loop(fact) or retry_loop(function, fact.at, site.at)):
                place = Place(site.path, fact.at[0], fact.at[1])
                yield Repetition(place, "the loop tries again after an error")

    def _library_loop(self, loop: h.Loop) -> bool:
        over = None if loop.over is None else self.evaluator.resolve(loop.over)
        if not isinstance(over, Call):
            return False
        return any(self._repeats(entry, over) for entry in self._entries(self.packs.repeat_loops, over))

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
        if limit is None or self._is_zero(limit) or not entry.posts:
            return False
        if not entry.names:
            return True
        methods = arguments.first_argument(self.evaluator, call, entry.names)
        if methods is None:
            return False
        parts = list(walk(self.evaluator.resolve(methods)))
        return any(isinstance(one, Const) and one.value in (None, False, "POST") for one in parts)

    def _is_zero(self, limit: Value) -> bool:
        constant = self.evaluator.constant(limit)
        return constant is not None and constant.value in (0, None, False)
