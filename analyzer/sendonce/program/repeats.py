"""What runs a job again: after an error by its queue's options or its own wish, after a lost worker by redelivery."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sendonce import facts
from sendonce import vocabulary as v
from sendonce.findings import Place
from sendonce.program import arguments
from sendonce.program import held as h
from sendonce.program.errors import EVERY, Awaited
from sendonce.program.escapes import Escapes, is_refusal
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.link import Linker
from sendonce.program.queuesettings import QueueSettings
from sendonce.program.runs import JobRun
from sendonce.program.symbols import Function
from sendonce.program.values import Attr, Call, ClassRef, Const, Op, Param, Seq, Value, walk

OFF = (0, None, False)


@dataclass(frozen=True)
class Repetition:
    """Why a run is made again: where that is said, and in which words.

    `endless` is the place that leaves out, or takes away, the end of it; `rest` tells that the next run
    is given other work than this one.
    """

    place: Place
    note: str
    endless: Place | None = None
    rest: bool = False


@dataclass(frozen=True, eq=False)
class Known:
    """A pack's entry for a job: the call with the options, the decorated job, and where its options are given."""

    entry: v.Job
    options: Call
    decorated: Call | None
    place: Place


@dataclass(frozen=True)
class _Option:
    """A queue's option for a job: in words, what it waits for, and where it is given."""

    note: str
    awaited: Awaited
    place: Place


class Repeats:
    """Answers for the jobs of a path."""

    def __init__(self, evaluator: Evaluator, flows: Flows, linker: Linker, escapes: Escapes) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.flows = flows
        self.linker = linker
        self.escapes = escapes
        self.settings = QueueSettings(evaluator)

    def of_job(self, job: JobRun) -> Iterator[Repetition]:
        """What repeats a job whose mail may have left, when it fails: options, then its own wish."""
        failures = self.escapes.leaving(job.run)
        for option in self._options(job):
            if self.escapes.reaches(option.awaited, failures):
                yield Repetition(option.place, option.note, self._endless(job))
        yield from self._own(job)

    # ------------------------------------------------------------------ options

    def entries(self, job: JobRun) -> tuple[Known, ...]:
        """What packs say of a job: by its decorators, else by the queue whose settings list it."""
        for id in (job.job, *job.inner):
            function = self.program.function(id)
            found = tuple(
                Known(entry, described, call, decorator_place(function, call))
                for call in self.linker.decorations(function)
                for entry, described in self.evaluator.jobs_of(call)
            )
            if found:
                return found
        return tuple(self._listed(job))

    def _listed(self, job: JobRun) -> Iterator[Known]:
        if job.crossing is None or job.crossing.enqueue is None:
            return
        nothing = Call(job.crossing.site.call.func, (), (), job.crossing.site.call.at)
        for pack in self.packs.packs:
            if any(one is job.crossing.enqueue for one in pack.enqueue):
                for entry in pack.job if not any(one.decorators and not one.settings for one in pack.job) else ():
                    yield Known(entry, nothing, None, place_of(job.crossing.site))

    def _options(self, job: JobRun) -> Iterator[_Option]:
        if self._is_once(job):
            return
        for known in self.entries(job):
            retries = known.entry.retries
            spared = self._spared(known)
            found = self._switched_on(retries, known.options, known.decorated)
            if found is not None:
                yield replace(found, place=known.place, awaited=replace(found.awaited, spared=spared))
            elif known.entry.retries_by_default and not self._is_given(retries, known.options, known.decorated):
                default = ", ".join(f"{name}={value}" for name, value in retries.items())
                note = f"the queue repeats a failed run by default{f' ({default})' if default else ''}"
                yield _Option(note, replace(EVERY, spared=spared), known.place)
        if job.crossing is not None and job.crossing.enqueue is not None:
            found = self._switched_on(job.crossing.enqueue.retries, job.crossing.site.call, None)
            if found is not None:
                yield replace(found, place=place_of(job.crossing.site))
            yield from self._by_settings(job)

    def _by_settings(self, job: JobRun) -> Iterator[_Option]:
        """What the settings of a queue that knows no jobs, only functions, say of failed runs."""
        pack = self.pack_of(job)
        if pack is not None and not self.entries(job) and self.settings.fitting(pack, "gives_up") is None:
            given = self.settings.fitting(pack, "retries")
            if given is not None:
                yield _Option(f"the settings of {pack.name} make the queue repeat a failed run", EVERY, given.place)

    def _endless_settings(self, job: JobRun) -> Place | None:
        """The setting that leaves such a queue's repetitions without an end, by itself or by default."""
        pack = self.pack_of(job)
        entry = next((one for one in pack.setting if one.effect == "endless"), None) if pack is not None else None
        if pack is None or entry is None or self.entries(job):
            return None
        limits = self.settings.given(pack, "endless")
        if limits:
            return next((one.place for one in limits if one.value == entry.value), None)
        option = next(self._by_settings(job), None)
        return option.place if option is not None and entry.default == entry.value else None

    def pack_of(self, job: JobRun) -> v.Pack | None:
        """The pack of the queue that a job is put on."""
        entry = job.crossing.enqueue if job.crossing is not None else None
        return next((pack for pack in self.packs.packs if any(one is entry for one in pack.enqueue)), None)

    def _spared(self, known: Known) -> tuple[Value, ...]:
        """The error classes after which a job is not repeated."""
        given = (self.option(known.options, known.decorated, name) for name in known.entry.spares)
        return tuple(cls for one in given if one is not None for cls in self.escapes.errors.awaited(one).classes)

    def _switched_on(self, retries: dict[str, v.Scalar], described: Call, decorated: Call | None) -> _Option | None:
        """The option that switches repetition on; its place is the caller's to fill in."""
        for name, default in retries.items():
            given = self.option(described, decorated, name)
            if given is not None and not self._is_off(given, default):
                note = f"{name} makes the queue repeat a failed run"
                return _Option(note, self.escapes.errors.awaited(given), Place("", 0))
        return None

    def _is_given(self, options: dict[str, v.Scalar], described: Call, decorated: Call | None) -> bool:
        return any(self.option(described, decorated, name) is not None for name in options)

    def _is_off(self, given: Value, default: v.Scalar = False) -> bool:
        """Whether an option's value means no repetition: nothing, nought, or the default that repeats nothing."""
        found = self.evaluator.resolve(given)
        if isinstance(found, Seq) and not found.items:
            return True
        constant = self.evaluator.constant(found)
        return constant is not None and (constant.value in OFF or constant == Const(default))

    def _is_first_only(self, name: str, given: Value) -> bool:
        """Whether a limit leaves only the first run; attempts count that too."""
        constant = self.evaluator.constant(given)
        attempts = "attempt" in name or "tries" in name.replace("retries", "")
        return self._is_off(given) or (attempts and constant is not None and constant.value == 1)

    def _is_once(self, job: JobRun) -> bool:
        """Whether a limit leaves only the first run: `max_retries=0`, `maximum_attempts=1`."""
        for entry, described, decorated, _ in self._limits(job):
            for name in entry.limit:
                given = self.option(described, decorated, name)
                if given is not None:
                    constant = self.evaluator.constant(given)
                    ends = entry.endless.get(name, "")
                    is_end = constant is not None and str(constant.value) == str(ends)
                    return constant is not None and not is_end and self._is_first_only(name, given)
        return False

    def _endless(self, job: JobRun, asked: Site | None = None) -> Place | None:
        """Where a job's repetitions are left without an end; `asked` is the job's own call for one."""
        if asked is not None:
            own = self.option(asked.call, None, "max_retries")
            if own is not None:
                constant = self.evaluator.constant(own)
                return place_of(asked) if constant is not None and constant.value is None else None
        by_default: Place | None = None
        for entry, described, decorated, place in self._limits(job):
            for name, value in entry.endless.items():
                given = self.option(described, decorated, name)
                if given is not None:
                    constant = self.evaluator.constant(given)
                    if constant is None and any(other.startswith(f"{name}/") for other in entry.endless):
                        continue  # an object, whose own arguments tell
                    ends = constant is None or str(constant.value) != str(value)
                    return None if ends else place
                if name in entry.limit and str(entry.limit[name]) == str(value):
                    by_default = by_default or place
        return by_default or self._endless_settings(job)

    def _limits(self, job: JobRun) -> Iterator[tuple[v.Job | v.Enqueue, Call, Call | None, Place]]:
        """What has limits, with the calls that may give them: the enqueue before the job."""
        if job.crossing is not None and job.crossing.enqueue is not None:
            yield job.crossing.enqueue, job.crossing.site.call, None, place_of(job.crossing.site)
        for known in self.entries(job):
            yield known.entry, known.options, known.decorated, known.place

    def option(self, described: Call, decorated: Call | None, name: str) -> Value | None:
        """An option of a job: given in the call, or as an attribute of the job's own class."""
        given = arguments.argument(self.evaluator, described, name)
        if given is None and decorated is not None and "/" not in name:
            for cls in self.evaluator.types(decorated):
                value = Attr(cls, name)
                found = self.evaluator.resolve(value)
                if isinstance(cls, ClassRef) and found is not value and not isinstance(found, Attr):
                    return found
        return given

    # ------------------------------------------------------------------ the job's own wish

    def _own(self, job: JobRun) -> Iterator[Repetition]:
        """Calls for another run, in a handler of what failed on the way to the mail, or after the mail has left."""
        for number, site in enumerate(job.run.sites):
            flow = self.flows.of(self.program.function(site.function))
            for asked in flow.sites:
                wish = self._wish(asked, job)
                if wish and self._is_made(asked, job, number):
                    yield Repetition(place_of(asked), wish, self._own_end(asked, job), self._is_rest(asked, job))

    def _wish(self, asked: Site, job: JobRun) -> str:
        """In words, how a call asks for another run; empty if it does not."""
        if self.escapes.again() & self.evaluator.shapes(asked.call.func):
            return "the job asks for its own repetition when the send fails"
        if self._enqueues(asked, job):
            return "the job puts itself on the queue again when the send fails"
        return ""

    def _enqueues(self, asked: Site, job: JobRun) -> bool:
        in_handler = any(isinstance(fact, h.Caught) for fact in h.blocks(asked.held))
        return in_handler and any(
            edge.target == job.job and any(crossing.hop == "enqueue" for crossing in edge.crossings)
            for edge in self.linker.reached(asked).edges
        )

    def _is_made(self, asked: Site, job: JobRun, number: int) -> bool:
        """Whether a call for another run is made where the mail may have left."""
        site = job.run.sites[number]
        around = [fact for fact in h.blocks(site.held) if isinstance(fact, h.Trying)]
        caught = [fact for fact in h.blocks(asked.held) if isinstance(fact, h.Caught)]
        for fact in caught:
            if any(fact.trying is trying for trying in around):
                failures = self.escapes.reaching(job.run, number, fact.trying)
                return self.escapes.reaches(self.escapes.errors.taken(fact.types), failures)
        return not is_refusal(asked.held, site) and self.escapes.comes_after(asked.held, asked.at, site)

    def _own_end(self, asked: Site, job: JobRun) -> Place | None:
        if self.escapes.again() & self.evaluator.shapes(asked.call.func):
            return self._endless(job, asked)
        return None if counts(asked) else place_of(asked)

    def _is_rest(self, asked: Site, job: JobRun) -> bool:
        """Whether the next run is given something else to do: arguments that are not this run's own."""
        given = [arguments.argument(self.evaluator, asked.call, name) for name in ("args", "kwargs")]
        if self._enqueues(asked, job):
            given += list(asked.call.args)
        parts = [part for one in given if one is not None for part in one.parts() or (one,)]
        return any(not isinstance(part, Param) for part in parts)


def counts(asked: Site) -> bool:
    """Whether a call for another attempt counts the attempts: it passes on a changed number, or stands under a test."""
    if any(isinstance(part, Op) for arg in asked.call.args for part in walk(arg)):
        return True
    for fact in h.newest_first(asked.held):
        if isinstance(fact, h.Caught):
            break
        if isinstance(fact, h.Test):
            return True
    return False


def place_of(site: Site) -> Place:
    """The stretch of source of a call."""
    return Place(site.path, *site.at)


def decorator_place(function: Function, call: Call) -> Place:
    """Where the decorator stands by whose call a function was bound."""
    node = function.node
    if isinstance(node, facts.Def):
        for decorator in node.decorators:
            if decorator.at[:2] == call.at[1:]:
                return Place(function.module.path, *decorator.at)
    return Place(function.module.path, call.at[1], call.at[2])
