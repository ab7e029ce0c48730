"""What a call has answered after it led to a mail: a later call that waits for another answer excludes it."""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.program import held as h
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Exit, Flows
from sendonce.program.held import Held, Site
from sendonce.program.values import NONE, Call, ClassRef, Const, External, Op, Seq, Table, Value


def answered(evaluator: Evaluator, flows: Flows, called: Site, inner: Site, later: Site) -> bool:
    """Whether `later` is reached only if `called` answered what it never answers once `inner`, inside it, was made."""
    facts = h.newest_first(later.held)
    tests = [fact for fact in facts if isinstance(fact, h.Test) and _is_about(fact.value, called.call)]
    if not tests or inner.function == called.function:
        return False
    flow = flows.of(evaluator.program.function(inner.function))
    exits = [exit for exit in flow.returns if _may_follow(exit.held, inner)]
    return bool(exits) and all(any(_contradicts(test, exit) for test in tests) for exit in exits)


def inner_site(sites: Iterator[Site], outer: Site) -> Site | None:
    """The call on a path that follows another one."""
    for site in sites:
        if site is outer:
            return next(sites, None)
    return None


def _is_about(value: Value, call: Call) -> bool:
    """Whether a test asks for the answer of a call."""
    match value:
        case Op(op="==" | "!=" | "is" | "is not", operands=(subject, Const())):
            return subject is call
        case Call(func=External(dotted="builtins.isinstance"), args=(subject, *_)):
            return subject is call
        case _:
            return value is call


def _may_follow(held: Held | None, site: Site) -> bool:
    """Whether a point can come after a call: it was made before, in a branch, or in a `try` left by an error."""
    return any(_holds(fact, site) for fact in h.newest_first(held))


def _holds(fact: h.Fact, site: Site) -> bool:
    match fact:
        case h.Done(site=done):
            return done is site
        case h.Either(branches=branches):
            return any(_holds(inner, site) for branch in branches for inner in branch)
        case h.Caught(trying=trying):
            return any(isinstance(one, h.Trying) and one.at == trying.at for one in h.newest_first(site.held))
        case _:
            return False


def _contradicts(test: h.Test, exit: Exit) -> bool:
    """Whether a returned value makes a test come out the other way."""
    found = _outcome(test.value, exit.value)
    return found is not None and found is not test.holds


def _outcome(test: Value, value: Value) -> bool | None:
    """How a test of an answer comes out for a returned value; None if that is not known."""
    match test:
        case Op(op="is" | "==", operands=(_, Const() as wanted)):
            return _equals(value, wanted)
        case Op(op="is not" | "!=", operands=(_, Const() as wanted)):
            same = _equals(value, wanted)
            return None if same is None else not same
        case Call(func=External(dotted="builtins.isinstance")):
            return (value is not NONE) if isinstance(value, Call) or value is NONE else None
        case _:
            return bool(value.value) if isinstance(value, Const) else None


def _equals(value: Value, wanted: Const) -> bool | None:
    if isinstance(value, Const):
        return value is wanted
    return False if wanted is NONE and isinstance(value, Call | Seq | Table | ClassRef) else None
