"""What runs a job or a function again after an error, and what keeps the error from getting there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sendonce import facts
from sendonce import vocabulary as v
from sendonce.findings import Place
from sendonce.program import arguments
from sendonce.program import held as h
from sendonce.program.errors import before_acceptance
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.link import Crossing, Linker
from sendonce.program.symbols import Function
from sendonce.program.values import Attr, Call, ClassRef, External, Some, Value, options

_BROAD = frozenset(
    ["builtins.Exception", "builtins.BaseException", "builtins.OSError", "builtins.IOError", "smtplib.SMTPException"]
)
"""Exceptions that a failing send raises: a handler of one of these that goes on ends the run without an error."""


@dataclass(frozen=True)
class Repetition:
    """Why a run is made again: where that is said, and in which words."""

    place: Place
    note: str


class Repeats:
    """Answers for jobs and crossings."""

    def __init__(self, evaluator: Evaluator, flows: Flows, linker: Linker) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.flows = flows
        self.linker = linker

    def of_job(self, function: Function, crossing: Crossing | None, inner: Site) -> Repetition | None:
        """What repeats a job when `inner`, a call in it, fails: decorator, options of the enqueue, its own `retry`."""
        return next(self._of_job(function, crossing, inner), None)

    def _of_job(self, function: Function, crossing: Crossing | None, inner: Site) -> Iterator[Repetition]:
        for call in self.linker.decorations(function):
            for job, described in self.evaluator.jobs_of(call):
                option = self._retrying(job.retries, described, call, job.retries_by_default)
                if option:
                    yield Repetition(decorator_place(function, call), option)
                yield from self._own_retry(function, job, inner)
        if crossing is not None and crossing.enqueue is not None:
            option = self._retrying(crossing.enqueue.retries, crossing.site.call, None, False)
            if option:
                yield Repetition(Place(crossing.site.path, *crossing.site.at), option)

    def _retrying(self, retries: dict[str, v.Scalar], described: Call, decorated: Call | None, by_default: bool) -> str:
        """The option that switches repetition on, in words; empty if none does."""
        for name, default in retries.items():
            given = arguments.argument(self.evaluator, described, name)
            if given is None and decorated is not None:
                given = self._class_option(decorated, name)
            if given is None:
                if default and by_default:
                    return f"the queue repeats a failed run by default ({name}={default})"
                continue
            constant = self.evaluator.constant(given)
            if before_acceptance(self.evaluator, given):
                return ""
            if constant is None or constant.value not in (0, None, False):
                return f"{name} makes the queue repeat a failed run"
            return ""
        return ""

    def _class_option(self, decorated: Call, name: str) -> Value | None:
        """An option given as an attribute of the job's own class."""
        for cls in self.evaluator.types(decorated):
            if isinstance(cls, ClassRef) and "/" not in name:
                value = Attr(Some(cls), name)
                found = self.evaluator.resolve(value)
                if found is not value and not isinstance(found, Attr):
                    return found
        return None

    def _own_retry(self, function: Function, job: v.Job, inner: Site) -> Iterator[Repetition]:
        """`self.retry()` in a handler of the `try` that the failing call stands in."""
        around = {fact.at for fact in h.newest_first(inner.held) if isinstance(fact, h.Trying)}
        wanted = {self.packs.canonical(one) for one in job.again}
        for site in self.flows.of(function).sites:
            if wanted.isdisjoint(self.evaluator.shapes(site.call.func)):
                continue
            caught = [fact for fact in h.newest_first(site.held) if isinstance(fact, h.Caught)]
            if any(fact.trying.at in around for fact in caught):
                yield Repetition(Place(site.path, *site.at), "the job asks for its own repetition when the send fails")

    # ------------------------------------------------------------------ swallowed errors

    def swallows(self, sites: list[Site]) -> bool:
        """Whether a handler around one of the calls catches a failing send and goes on, so that nothing is repeated."""
        return any(self._swallowed(site) for site in sites)

    def _swallowed(self, site: Site) -> bool:
        flow = self.flows.of(self.program.function(site.function))
        for fact in h.newest_first(site.held):
            if isinstance(fact, h.Trying):
                for types, at in fact.handlers:
                    if is_broad(self.evaluator, types):
                        return not any(_within(exit.at, at) for exit in flow.raises) and not self._asks(flow.sites, at)
        return False

    def _asks(self, sites: list[Site], at: facts.Span) -> bool:
        """Whether a handler asks for a repetition itself."""
        again = {self.packs.canonical(one) for pack in self.packs.packs for job in pack.job for one in job.again}
        return any(_within(site.at, at) and again & self.evaluator.shapes(site.call.func) for site in sites)


def is_broad(evaluator: Evaluator, types: tuple[Value, ...]) -> bool:
    """Whether a handler of these exception types (none: a bare `except`) catches whatever a failing send raises."""
    if not types:
        return True
    found = {one.dotted for given in types for one in options(evaluator.resolve(given)) if isinstance(one, External)}
    return not found.isdisjoint(_BROAD)


def decorator_place(function: Function, call: Call) -> Place:
    """Where the decorator stands by whose call a function was bound."""
    node = function.node
    if isinstance(node, facts.Def):
        for decorator in node.decorators:
            if decorator.at[:2] == call.at[1:]:
                return Place(function.module.path, *decorator.at)
    return Place(function.module.path, call.at[1], call.at[2])


def _within(inner: facts.Span, outer: facts.Span) -> bool:
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]
