"""What holds at a point of a function: tests passed, calls done, contexts entered, loops and handlers.

Facts form a chain from the newest back to the start of the function. In structured code the chain
at a call is all that dominates it: a branch that cannot fall through leaves its negation, branches
that join leave an `Either`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sendonce import facts
from sendonce.program.values import Call, Value


@dataclass(frozen=True, eq=False)
class Site:
    """A call where it stands. `index` orders the sites of a function as they are read.

    `used` tells whether the result goes anywhere; `held` is what holds before the call.
    """

    function: str
    path: str
    index: int
    at: facts.Span
    call: Call
    held: Held | None
    used: bool = True


@dataclass(frozen=True, eq=False)
class Test:
    """A condition that turned out true (`holds`) or false. `at` is the place of the whole test."""

    value: Value
    holds: bool
    at: facts.Span


@dataclass(frozen=True, eq=False)
class Done:
    """A call that was made and returned."""

    site: Site


@dataclass(frozen=True, eq=False)
class Inside:
    """The body of a `with` block. `site` is the call that made the context manager, if it was one."""

    value: Value
    at: facts.Span
    site: Site | None = None


@dataclass(frozen=True, eq=False)
class Left:
    """A `with` block that was left normally."""

    inside: Inside


@dataclass(frozen=True, eq=False)
class Trying:
    """The body of a `try`. For each handler its exception types (empty for a bare `except`) and whether it leaves."""

    at: facts.Span
    handlers: tuple[tuple[tuple[Value, ...], facts.Span], ...]


@dataclass(frozen=True, eq=False)
class Caught:
    """The body of an `except`; `held` is what held where the `try` body ended, if it can end."""

    trying: Trying
    types: tuple[Value, ...]
    at: facts.Span
    body: Held | None


@dataclass(frozen=True, eq=False)
class Passed:
    """A `try` statement that was left forwards: none of these handlers (by their places), which leave, was run."""

    trying: Trying
    left: tuple[facts.Span, ...]


@dataclass(frozen=True, eq=False)
class Loop:
    """The body of a loop or comprehension; `over` is what is iterated over, None for `while`."""

    at: facts.Span
    over: Value | None


@dataclass(frozen=True, eq=False)
class Wrote:
    """`base.field = value` was done; an item's field is `[key]`."""

    base: Value
    field: str
    value: Value
    at: facts.Span


@dataclass(frozen=True, eq=False)
class Either:
    """Branches that joined: one of these lists of facts (oldest first) holds.

    `chosen` tells, for the value of each local variable that differs between the branches, its value in each.
    """

    branches: tuple[tuple[Fact, ...], ...]
    chosen: tuple[tuple[Value, tuple[Value, ...]], ...] = ()


Block = Inside | Trying | Caught | Loop

Fact = Test | Done | Inside | Left | Trying | Caught | Passed | Loop | Wrote | Either


@dataclass(frozen=True, eq=False)
class Held:
    """One fact and those before it."""

    before: Held | None
    fact: Fact
    depth: int
    block: Held | None = None
    """The newest fact before this one that is a block around it."""


def add(held: Held | None, fact: Fact) -> Held:
    """The chain with one more fact."""
    if held is None:
        return Held(None, fact, 1)
    return Held(held, fact, held.depth + 1, held if isinstance(held.fact, Block) else held.block)


def newest_first(held: Held | None) -> Iterator[Fact]:
    """All facts of a chain."""
    while held is not None:
        yield held.fact
        held = held.before


def blocks(held: Held | None) -> Iterator[Block]:
    """The blocks that a point stands in, innermost first: `with`, `try`, handlers and loops."""
    while held is not None:
        if isinstance(held.fact, Block):
            yield held.fact
        held = held.block


def oldest_first(held: Held | None) -> tuple[Fact, ...]:
    """All facts of a chain in the order in which they came to hold."""
    return tuple(reversed([*newest_first(held)]))


def since(held: Held | None, start: Held | None) -> tuple[Fact, ...]:
    """The facts that were added to the chain `start` to get `held`, oldest first."""
    found: list[Fact] = []
    while held is not None and held is not start:
        found.append(held.fact)
        held = held.before
    return tuple(reversed(found))


def join(
    start: Held | None,
    ends: list[Held | None],
    chosen: tuple[tuple[Value, tuple[Value, ...]], ...] = (),
    silent: frozenset[Value] = frozenset(),
) -> Held | None:
    """What holds after branches that began at `start` and ended with `ends`; `chosen` as in `Either`.

    That a `silent` test was false is not told of the branches.
    """
    if len(ends) == 1:
        return ends[0]
    tails = [since(end, start) for end in ends]
    if silent:
        tails = [tuple(fact for fact in tail if not _is_silent(fact, silent)) for tail in tails]
    if not any(tails):
        return start
    return add(start, Either(tuple(tails), chosen))


def _is_silent(fact: Fact, silent: frozenset[Value]) -> bool:
    return isinstance(fact, Test) and not fact.holds and fact.value in silent


def without(held: Held | None, start: Held | None, dropped: Fact) -> Held | None:
    """The chain with one fact that was added after `start` taken out."""
    for fact in since(held, start):
        if fact is not dropped:
            start = add(start, fact)
    return start
