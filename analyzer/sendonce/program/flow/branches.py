"""Branches, loops and blocks: what holds inside them, and what is left of it behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sendonce import facts
from sendonce.program import held as h
from sendonce.program.held import Held
from sendonce.program.symbols import Body
from sendonce.program.values import (
    UNKNOWN,
    Call,
    Const,
    Element,
    Op,
    Seq,
    Union,
    Value,
    union,
)
from sendonce.program.values import walk as walk_values

LONG = 30
"""Of a chain of more `elif` the joined branches forget which plain tests came out false before them."""

End = tuple["Held | None", dict[str, Value]]
"""What holds at the end of a branch, and the local variables there."""

if TYPE_CHECKING:
    from sendonce.program.flow.walk import Walk


def if_(walk: Walk, node: facts.If) -> None:
    """Walks the branches of an `if` and its `elif`, each knowing the tests, and goes on with what they agree on."""
    chain, last = facts.chain_of(node)
    test = walk.read(node.test)
    start = walk.held
    ends: list[End] = []
    passed: list[Value] = []
    for one in chain:
        if one is not node:
            test = walk.read(one.test)
        here, known = walk.held, walk.locals
        walk.locals = dict(known)
        walk.assume(test, True, one.test.at)
        _branch(walk, one.body, ends)
        walk.held, walk.locals, walk.alive = here, dict(known), True
        walk.assume(test, False, one.test.at)
        passed.append(test)
    _branch(walk, last, ends)
    silent = frozenset(filter(_is_plain, passed)) if len(chain) > LONG else frozenset()
    _joined(walk, start, ends, silent)


def _branch(walk: Walk, body: Body, ends: list[End]) -> None:
    """Walks one branch, and notes how it ends if it can be left."""
    walk.block(body)
    if walk.alive:
        ends.append((walk.held, walk.locals))


def _is_plain(test: Value) -> bool:
    """Whether a test calls nothing, or only asks which text something is: then it is no claim that was lost."""
    asks_kind = isinstance(test, Op) and test.op == "==" and any(map(_is_text, test.operands))
    return asks_kind or not any(isinstance(part, Call) for part in walk_values(test))


def _is_text(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, str)


def _joined(walk: Walk, start: Held | None, ends: list[End], silent: frozenset[Value] = frozenset()) -> None:
    """Goes on after branches; dead if none of them can be left. That a `silent` test came out false is not kept."""
    walk.alive = bool(ends)
    if ends:
        branches = [known for _, known in ends]
        walk.locals = _merged(branches)
        walk.held = h.join(start, [end for end, _ in ends], _chosen(branches, walk.locals), silent)


def while_(walk: Walk, node: facts.While) -> None:
    """Walks the body once, knowing the test."""
    test = walk.read(node.test)
    endless = isinstance(test, Const) and bool(test.value)
    start, known = walk.held, dict(walk.locals)
    walk.held = h.add(walk.held, h.Loop(node.at, None))
    if not endless:
        walk.assume(test, True, node.test.at)
    _loop(walk, node.body, node.orelse, start, known, None if endless else test, node.test.at)


def for_(walk: Walk, node: facts.For) -> None:
    """Walks the body once for any item."""
    over = walk.read(node.iter)
    walk.iterated(over, node.iter.at, node.is_async)
    start, known = walk.held, dict(walk.locals)
    walk.held = h.add(walk.held, h.Loop(node.at, over))
    walk.bind(node.target, Element(over))
    _loop(walk, node.body, node.orelse, start, known, UNKNOWN, node.at)


def _loop(
    walk: Walk,
    body: Body,
    orelse: Body,
    start: Held | None,
    known: dict[str, Value],
    test: Value | None,
    at: facts.Span,
) -> None:
    """Walks a loop's body; `test` is None for a loop that only `break` leaves."""
    walk.breaks.append([])
    walk.block(body)
    after = walk.locals if walk.alive else known
    breaks = walk.breaks.pop()
    walk.held, walk.locals = start, _merged([known, after])
    passed = test is not None or bool(breaks)
    walk.alive = passed
    if not passed:
        return
    if test is None:
        walk.held = h.join(start, breaks)
    elif not breaks:
        walk.assume(test, False, at)
    walk.block(orelse)
    if orelse and breaks:
        # A `break` passes the `else` by.
        walk.held = h.join(start, [*breaks, walk.held] if walk.alive else breaks)
        walk.alive = True


def with_(walk: Walk, node: facts.With) -> None:
    """Walks the body inside the contexts."""
    start = walk.held
    entered: list[h.Inside] = []
    for item in node.items:
        value = walk.read(item.context)
        site = walk.flow.sites[-1] if walk.flow.sites and walk.flow.sites[-1].call is value else None
        inside = h.Inside(value, item.context.at, site)
        walk.held = h.add(walk.held, inside)
        entered.append(inside)
        walk.hidden(value, "__aenter__" if node.is_async else "__enter__", item.context.at)
        if item.target is not None:
            walk.bind(item.target, Element(value, True))
    walk.block(node.body)
    for inside in reversed(entered):
        walk.hidden(inside.value, "__aexit__" if node.is_async else "__exit__", inside.at)
    if walk.alive:
        for inside in reversed(entered):
            walk.held = h.add(h.without(walk.held, start, inside), h.Left(inside))
    for inside in entered:
        if walk.evaluator.suppresses(inside.value):
            _suppressed(walk, inside, start)


def _suppressed(walk: Walk, inside: h.Inside, start: Held | None) -> None:
    """What holds after a block whose errors are swallowed: its end, or what an empty handler leaves."""
    types = inside.value.args if isinstance(inside.value, Call) else ()
    trying = h.Trying(inside.at, ((types, inside.at),))
    caught = h.add(start, h.Caught(trying, types, inside.at, walk.held if walk.alive else None))
    walk.held = h.join(start, [walk.held, caught]) if walk.alive else caught
    walk.alive = True


def try_(walk: Walk, node: facts.Try) -> None:
    """Walks body, `else`, handlers and `finally`; handlers begin anywhere in the body."""
    start, known = walk.held, dict(walk.locals)
    handlers = tuple((_exception_types(walk, handler), handler.at) for handler in node.handlers)
    trying = h.Trying(node.at, handlers)
    if handlers:
        walk.held = h.add(walk.held, trying)
    walk.block(node.body)
    ended = walk.held if walk.alive else None
    ends: list[End] = []
    after_body = _merged([known, walk.locals])
    if walk.alive:
        walk.held = h.without(walk.held, start, trying)
        walk.block(node.orelse)
        if walk.alive:
            ends.append((walk.held, walk.locals))
    left: list[facts.Span] = []
    for handler, (types, at) in zip(node.handlers, handlers, strict=True):
        walk.held = h.add(start, h.Caught(trying, types, at, ended))
        walk.locals, walk.alive = dict(after_body), True
        if handler.name is not None:
            walk.locals[handler.name] = UNKNOWN
        walk.block(handler.body)
        if walk.alive:
            ends.append((walk.held, walk.locals))
        else:
            left.append(at)
    _joined(walk, start, ends)
    if left and walk.alive:
        walk.held = h.add(walk.held, h.Passed(trying, tuple(left)))
    if node.final:
        _finally(walk, node.final, start)


def _finally(walk: Walk, final: Body, start: Held | None) -> None:
    """A `finally` block runs whichever way the `try` ends."""
    reached = walk.alive
    if not reached:
        walk.held = start
    walk.alive = True
    walk.block(final)
    walk.alive = walk.alive and reached


def _exception_types(walk: Walk, handler: facts.Handler) -> tuple[Value, ...]:
    """The classes that a handler names; none for a bare `except`."""
    if handler.type is None:
        return ()
    value = walk.read(handler.type)
    return value.items if isinstance(value, Seq) else (value,)


def _merged(branches: list[dict[str, Value]]) -> dict[str, Value]:
    """Local variables after branches: what they agree on, or one of their values."""
    first, *others = branches
    if not others:
        return first
    merged: dict[str, Value] = {}
    for name in dict.fromkeys(name for branch in branches for name in branch):
        values = [branch[name] for branch in branches if name in branch]
        merged[name] = values[0] if all(value is values[0] for value in values) else union(values)
    return merged


def _chosen(branches: list[dict[str, Value]], merged: dict[str, Value]) -> tuple[tuple[Value, tuple[Value, ...]], ...]:
    """For each variable on which branches do not agree: the value it has now and its value in each branch."""
    found: dict[Value, tuple[Value, ...]] = {}
    for name, value in merged.items():
        if isinstance(value, Union) and len(branches) > 1:
            values = tuple(branch.get(name, UNKNOWN) for branch in branches)
            if any(one is not value for one in values):
                found[value] = values if value not in found else tuple(map(_either, found[value], values))
    return tuple(found.items())


def _either(left: Value, right: Value) -> Value:
    return union((left, right))
