"""Which errors come out of a run after its mail may have left: what a retry around the run can see.

Errors start at the provider's call and at whatever stands after it on the way out, and travel outwards
through the handlers around each call, which may swallow them or raise others instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sendonce import facts
from sendonce.program import arguments
from sendonce.program import held as h
from sendonce.program.errors import Awaited, Errors, Failure
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flow, Flows
from sendonce.program.held import Held, Site
from sendonce.program.link import Linker
from sendonce.program.mail import ProviderSend
from sendonce.program.retryloops import attempts
from sendonce.program.runs import Run
from sendonce.program.symbols import Function
from sendonce.program.values import UNKNOWN, Call, ClassRef, Const, External, Op, Value

MAX_FAILURES = 60
"""How many different errors of one function are kept."""
MAX_DEPTH = 8

_REFUSALS = range(400, 500)
_LOST_REPLY = 408


class Escapes:
    """Answers for runs. What a function can fail with is asked once."""

    def __init__(self, evaluator: Evaluator, flows: Flows, linker: Linker) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.flows = flows
        self.linker = linker
        self.errors = Errors(evaluator)
        self._inside: dict[str, tuple[Failure, ...]] = {}

    # ------------------------------------------------------------------ runs

    def leaving(self, run: Run) -> tuple[Failure, ...]:
        """The errors that leave a run as a whole, or the body of its loop of attempts."""
        return self.reaching(run, 0, run.loop)

    def reaching(self, run: Run, frame: int, boundary: h.Fact | None) -> tuple[Failure, ...]:
        """The errors that come out of the function of one of a run's calls, or of the body of a `try` or loop in it.

        Later statements of the functions on the way count: what fails after the mail has left fails the run too.
        """
        failures: tuple[Failure, ...] = ()
        if run.send is not None and not self._is_silent(run.send):
            failures = (Failure(None, run.sites[-1], run.send),)
        for number in range(len(run.sites) - 1, frame - 1, -1):
            failures = self._past(run.sites[number], failures, boundary if number == frame else None)
        return failures

    def _is_silent(self, send: ProviderSend) -> bool:
        """Whether a provider's call is told to keep its errors to itself."""
        call = send.site.call
        return any(
            arguments.holds(self.evaluator, call, {option: value})
            for _, entry in self.evaluator.lookup(self.packs.sends, call.func)
            for option, value in entry.silent.items()
        )

    def _past(self, site: Site, failures: tuple[Failure, ...], boundary: h.Fact | None) -> tuple[Failure, ...]:
        """What comes out of the function of a call that fails, or that returns before something later fails."""
        flow = self._flow(site)
        found = dict.fromkeys(self._outwards(flow, site.held, failures, boundary))
        for held, later in self._later(flow, site):
            if boundary is None or _is_in(held, boundary):
                found.update(dict.fromkeys(self._outwards(flow, held, later, boundary)))
        return tuple(found)[:MAX_FAILURES]

    def _outwards(
        self, flow: Flow, held: Held | None, failures: Iterable[Failure], boundary: h.Fact | None
    ) -> tuple[Failure, ...]:
        """What is left of errors behind the handlers around a point of a function."""
        left = tuple(failures)
        for fact in h.blocks(held):
            if fact is boundary:
                break
            if isinstance(fact, h.Trying):
                left = tuple(dict.fromkeys(one for failure in left for one in self._handled(flow, fact, failure)))
            elif isinstance(fact, h.Inside) and self.evaluator.suppresses(fact.value):
                types = fact.value.args if isinstance(fact.value, Call) else ()
                left = tuple(one for one in left if self.errors.catches(types, one) != "all")
        return left

    def _handled(self, flow: Flow, trying: h.Trying, failure: Failure) -> Iterator[Failure]:
        """What a `try` makes of an error: the same, another, or nothing."""
        for types, at in trying.handlers:
            verdict = self.errors.catches(types, failure)
            if verdict != "none" and self.errors.meets(self.errors.taken(types), failure):
                yield from self._raised_in(flow, at, failure)
            if verdict == "all":
                return
        yield failure

    def _raised_in(self, flow: Flow, at: facts.Span, failure: Failure) -> Iterator[Failure]:
        """The errors that a handler raises: the one it caught, or its own."""
        for exit in flow.raises:
            if within(exit.at, at):
                yield failure if exit.value is UNKNOWN else self._raised(exit.value)
        again = self.again()
        if any(within(site.at, at) and again & self.evaluator.shapes(site.call.func) for site in flow.sites):
            yield Failure()

    def _raised(self, value: Value) -> Failure:
        """The error that a `raise` statement raises."""
        if isinstance(value, ClassRef | External):
            return Failure(value)
        types = self.evaluator.types(value)
        if types:
            return Failure(types[0])
        func = self.evaluator.resolve(value.func) if isinstance(value, Call) else value
        return Failure(func) if self.errors.is_class(func) else Failure()

    def again(self) -> frozenset[str]:
        """The calls by which jobs ask for their own repetition."""
        return frozenset(self.packs.job_again)

    # ------------------------------------------------------------------ what comes later

    def _later(self, flow: Flow, site: Site) -> Iterator[tuple[Held | None, tuple[Failure, ...]]]:
        """The points after a call at which its function may still fail, and with what."""
        for exit in flow.raises:
            if self.comes_after(exit.held, exit.at, site) and not is_refusal(exit.held, site):
                yield exit.held, (self._raised(exit.value),)
        for other in flow.sites:
            if self.comes_after(other.held, other.at, site):
                failures = self.of_call(other)
                if failures:
                    yield other.held, failures

    def comes_after(self, held: Held | None, at: facts.Span, site: Site) -> bool:
        """Whether a point of a function may be reached once a call there has returned; itself, for the next item."""
        if _handles(held, site):
            return False
        flow = self._flow(site)
        if flow.may_follow(held, site):
            return True
        batches = [fact for fact in h.blocks(site.held) if isinstance(fact, h.Loop) and self.is_batch(fact, site)]
        if at[:2] <= site.at[:2]:
            here = [fact for fact in h.blocks(held) if isinstance(fact, h.Loop)]
            return any(one is batch for one in here for batch in batches)
        return bool(batches) and not flow.exclusive(site.held, held)

    def is_batch(self, loop: h.Loop, site: Site) -> bool:
        """Whether a loop around a call makes it for one thing after another, not again after an error."""
        over = None if loop.over is None else self.evaluator.resolve(loop.over)
        if over is None or (isinstance(over, Call) and self.evaluator.lookup(self.packs.repeat_loops, over.func)):
            return False
        return attempts(self.program.function(site.function), loop.at, site.at) is None

    def of_call(self, site: Site, depth: int = 0) -> tuple[Failure, ...]:
        """What a call may fail with: the statements of what it leads to, or a library of which that is known."""
        found: dict[Failure, None] = {}
        for edge in self.linker.reached(site).edges:
            if all(crossing.hop in ("call", "signal") for crossing in edge.crossings):
                found.update(dict.fromkeys(self._of_function(self.program.function(edge.target), depth + 1)))
        if not found and self._is_library(site):
            found[Failure(None, site)] = None
        return tuple(found)[:MAX_FAILURES]

    def _is_library(self, site: Site) -> bool:
        """Whether a call is one of a library that may fail: builtins and log lines are not thought to."""
        shapes = self.evaluator.shapes(site.call.func)
        telling = any(not shape.startswith(("builtins.", "logging.")) for shape in shapes)
        return telling and not self.evaluator.lookup(self.packs.logs, site.call.func)

    def _of_function(self, function: Function, depth: int) -> tuple[Failure, ...]:
        """What comes out of a function by its own statements and what they call."""
        if function.id not in self._inside:
            if depth > MAX_DEPTH:
                return ()
            self._inside[function.id] = ()
            flow = self.flows.of(function)
            found: dict[Failure, None] = {}
            points: list[tuple[Held | None, tuple[Failure, ...]]]
            points = [(exit.held, (self._raised(exit.value),)) for exit in flow.raises if not _in_handler(exit.held)]
            points += [(site.held, self.of_call(site, depth)) for site in flow.sites]
            for held, failures in points:
                found.update(dict.fromkeys(self._outwards(flow, held, failures, None)))
            self._inside[function.id] = tuple(found)[:MAX_FAILURES]
        return self._inside[function.id]

    def _flow(self, site: Site) -> Flow:
        return self.flows.of(self.program.function(site.function))

    # ------------------------------------------------------------------ questions

    def reaches(self, awaited: Awaited, failures: Iterable[Failure], late: bool = False) -> bool:
        """Whether one of some errors is awaited. What libraries may raise counts only where a library is asked for."""
        return any(self._counts(awaited, failure, late) for failure in failures)

    def _counts(self, awaited: Awaited, failure: Failure, late: bool) -> bool:
        if awaited.every and failure.call is not None and failure.sent is None and not awaited.spared:
            return self.errors.is_remote(failure.call)
        return self.errors.meets(awaited, failure, late)


def _handles(held: Held | None, site: Site) -> bool:
    """Whether a point stands in a handler of a call's own error."""
    around = [fact for fact in h.blocks(site.held) if isinstance(fact, h.Trying)]
    caught = [fact.trying for fact in h.blocks(held) if isinstance(fact, h.Caught)]
    return any(one is trying for one in caught for trying in around)


def _is_in(held: Held | None, body: h.Fact) -> bool:
    return any(fact is body for fact in h.newest_first(held))


def _in_handler(held: Held | None) -> bool:
    return any(isinstance(fact, h.Caught) for fact in h.blocks(held))


def is_refusal(held: Held | None, site: Site) -> bool:
    """Whether a point is reached only where the answer to a call says that the message was refused."""
    for fact in h.newest_first(held):
        if isinstance(fact, h.Done) and fact.site is site:
            return False
        if isinstance(fact, h.Test) and fact.holds and isinstance(fact.value, Op) and fact.value.op == "==":
            codes = [part.value for part in fact.value.operands if isinstance(part, Const)]
            if any(isinstance(code, int) and code in _REFUSALS and code != _LOST_REPLY for code in codes):
                return True
    return False


def within(inner: facts.Span, outer: facts.Span) -> bool:
    """Whether one stretch of source lies in another."""
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]
