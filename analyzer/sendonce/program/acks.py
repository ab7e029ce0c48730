"""How a webhook loses an event: it starts the work or answers that all is well before anything is kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sendonce import facts
from sendonce import vocabulary as v
from sendonce.findings import Place
from sendonce.program import held as h
from sendonce.program.awaits import Awaits
from sendonce.program.dependencies import injected
from sendonce.program.durable import Durable, calls_among
from sendonce.program.errors import Awaited, Failure
from sendonce.program.escapes import Escapes
from sendonce.program.flow import Exit, Flow
from sendonce.program.held import Held, Site
from sendonce.program.paths import Path, place_of
from sendonce.program.statuses import Statuses
from sendonce.program.values import External, Value

_LEAVES = ("enqueue", "thread", "defer", "schedule")


@dataclass(frozen=True, eq=False)
class Early:
    """Work that a handler starts in its own process, which dies with it; `site` is the call that starts it."""

    site: Site


@dataclass(frozen=True, eq=False)
class Swallowed:
    """An answer that says that all went well although an error was caught: where, the handler, and what failed."""

    answer: Place
    handler: Place
    failed: Site


class Acks:
    """Answers for the paths of webhooks."""

    def __init__(self, durable: Durable, awaits: Awaits, escapes: Escapes) -> None:
        self.durable = durable
        self.awaits = awaits
        self.escapes = escapes
        self.linker = escapes.linker
        self.evaluator = escapes.evaluator
        self.program = escapes.program
        self.packs = escapes.packs
        self.flows = escapes.flows
        self.answers = Statuses(self.evaluator)
        self.errors = escapes.errors

    # ------------------------------------------------------------------ work that is started

    def early(self, path: Path) -> Early | None:
        """The start of work in a thread or after the answer, if nothing was kept before it."""
        if self._recorded_first(path):
            return None
        for crossing in path.crossings():
            if crossing.hop == "thread" and not self.awaits.is_awaited(crossing.site):
                return None if self.durable.before(crossing.site) else Early(crossing.site)
            if crossing.hop == "defer" and self._is_after_answer(crossing.site):
                return None if self.durable.before(crossing.site) else Early(crossing.site)
            if crossing.hop in _LEAVES or self.durable.before(crossing.site):
                return None
        return None

    def _recorded_first(self, path: Path) -> bool:
        """Whether a dependency of the handler may keep something before it runs."""
        function = self.program.function(path.start.function)
        bodies = (self.flows.of(self.program.function(ref.id)) for ref in injected(self.linker, function))
        return any(self.durable.keeps(site) for flow in bodies for site in flow.sites)

    def _is_after_answer(self, site: Site) -> bool:
        found: tuple[tuple[object, v.Invoke], ...] = self.evaluator.lookup(self.packs.invokes, site.call.func)
        return any(entry.answered for _, entry in found)

    # ------------------------------------------------------------------ errors that are swallowed

    def swallowed(self, path: Path) -> Iterator[Swallowed]:
        """The answers behind errors of the work that leads to the mail, if nothing was kept that outlasts them."""
        outer: list[Site] = []
        if self._recorded_first(path):
            return
        for site, leaves in self._work(path):
            flow = self.flows.of(self.program.function(site.function))
            for fact in h.newest_first(site.held):
                if isinstance(fact, h.Trying):
                    yield from self._around(site, fact, flow, outer, path)
            if leaves or self.durable.before(site):
                return
            outer.append(site)

    def _work(self, path: Path) -> Iterator[tuple[Site, bool]]:
        """The calls of the handler's own run that lead to the mail; true for the one by which it leaves."""
        for crossing in path.crossings():
            leaves = crossing.hop in _LEAVES and not self.awaits.is_awaited(crossing.site)
            yield crossing.site, leaves
            if leaves:
                return
        yield path.mail.provider.site, True

    def _around(self, site: Site, trying: h.Trying, flow: Flow, outer: list[Site], path: Path) -> Iterator[Swallowed]:
        """The answers of one `try` around a call."""
        before = _outside(site.held, trying)
        if self.durable.among(h.newest_first(before)):
            return
        for types, at in trying.handlers:
            if self._takes(types, trying, flow, path):
                for answer in self._answered(at, flow, outer):
                    yield Swallowed(answer, Place(site.path, *at), site)

    def _takes(self, types: tuple[Value, ...], trying: h.Trying, flow: Flow, path: Path) -> bool:
        """Whether a handler takes errors of the store, the queue or the mail server: more than conflicts and typos."""
        taken = self.errors.taken(types)
        if taken.every:
            return True
        classes = tuple(cls for cls in taken.classes if not self._is_conflict(cls))
        return any(self.errors.meets(Awaited(classes), one, late=True) for one in self._failures(trying, flow, path))

    def _failures(self, trying: h.Trying, flow: Flow, path: Path) -> Iterator[Failure]:
        """The errors of libraries, the mail provider's among them, that may be raised in a `try`."""
        for site in flow.sites:
            if any(fact is trying for fact in h.newest_first(site.held)):
                yield from (one for one in self.escapes.of_call(site) if one.cls is None)
        if all(one.hop not in _LEAVES for one in path.crossings()):
            yield Failure(None, path.mail.provider.site, path.mail.provider)

    def _is_conflict(self, cls: Value) -> bool:
        names = {name.rpartition(".")[2] for pack in self.packs.packs for one in pack.claim for name in one.conflicts}
        return isinstance(cls, External) and cls.dotted.rpartition(".")[2] in names

    def _answered(self, handler: facts.Span, flow: Flow, outer: list[Site]) -> Iterator[Place]:
        """Where a run that went through a handler answers, if every way from there says that all went well."""
        raised = [exit for exit in flow.raises if _through(exit.held, handler)]
        exits = [exit for exit in flow.returns if _through(exit.held, handler)]
        if raised or not exits or any(self._keeps_behind(exit, handler) for exit in exits):
            return
        if any(write.field in _STATUS and _through(write.held, handler) for write in flow.writes):
            return
        if not outer:
            if all(self.answers.succeeds(exit.value) for exit in exits):
                yield Place(flow.function.module.path, *exits[0].at)
            return
        yield from self._handed_out(exits, outer)

    def _handed_out(self, exits: list[Exit], outer: list[Site]) -> Iterator[Place]:
        """The answer of the handler where a helper has swallowed an error and its caller does not ask."""
        call = outer[-1]
        flow = self.flows.of(self.program.function(call.function))
        after = [exit for exit in flow.returns if _passes(exit.held, call)]
        returned = [exit for exit in after if exit.value is call.call]
        if returned and len(outer) == 1:
            if all(self.answers.succeeds(exit.value) for exit in exits):
                yield place_of(call)
        elif not call.used and after:
            if len(outer) > 1:
                yield from self._handed_out(after, outer[:-1])
            elif all(self.answers.succeeds(exit.value) for exit in after):
                yield Place(flow.function.module.path, *after[0].at)

    def _keeps_behind(self, exit: Exit, handler: facts.Span) -> bool:
        """Whether the handler itself keeps what it could not do."""
        return any(self.durable.keeps(done.site) for done in calls_among(_behind(exit.held, handler)))


_STATUS = ("status", "status_code")


def _outside(held: Held | None, trying: h.Trying) -> Held | None:
    """What held before a `try`."""
    while held is not None and held.fact is not trying:
        held = held.before
    return None if held is None else held.before


def _through(held: Held | None, handler: facts.Span) -> bool:
    """Whether a point can be come to through a handler."""
    return any(True for _ in _caught(h.newest_first(held), handler))


def _caught(passed: Iterator[h.Fact] | tuple[h.Fact, ...], handler: facts.Span) -> Iterator[h.Caught]:
    for fact in passed:
        if isinstance(fact, h.Caught) and fact.at == handler:
            yield fact
        elif isinstance(fact, h.Either):
            for branch in fact.branches:
                yield from _caught(branch, handler)


def _behind(held: Held | None, handler: facts.Span) -> list[h.Fact]:
    """What was done in a handler and behind it."""
    found: list[h.Fact] = []
    for fact in h.newest_first(held):
        if isinstance(fact, h.Caught) and fact.at == handler:
            return found
        if isinstance(fact, h.Either):
            for branch in fact.branches:
                if any(True for _ in _caught(branch, handler)):
                    return [*found, *branch]
        found.append(fact)
    return found


def _passes(held: Held | None, site: Site) -> bool:
    """Whether a call was made on the way to a point."""
    return any(done.site is site for done in calls_among(h.newest_first(held)))
