"""Loops written by hand that try something again after an error: told by the shape of the statement.

A loop over servers or backends that the first success leaves is one too: each is tried after the one before failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sendonce import facts
from sendonce.program.symbols import Body, Function, own_nodes

Loop = facts.For | facts.While
_COUNTS = frozenset(["range", "count", "repeat", "cycle"])
_ENDLESS = frozenset(["count", "repeat", "cycle"])


@dataclass(frozen=True)
class Attempts:
    """A loop of attempts: its `try`, the handlers after which it goes on, and whether nothing but success ends it."""

    trying: facts.Span
    again: tuple[facts.Span, ...]
    endless: bool


def attempts(function: Function, at: facts.Span, call: facts.Span) -> Attempts | None:
    """How the loop at `at` makes the call at `call` again after an error, if it does, and ends after a success."""
    loop = next((node for node in _loops(function.node) if node.at == at), None)
    if loop is None:
        return None
    for block, number in _tries(loop.body, call):
        node = block[number]
        assert isinstance(node, facts.Try)
        again = tuple(handler.at for handler in node.handlers if not _leaves(handler.body))
        if again and _ends(loop, node, block[number + 1 :]):
            return Attempts(node.at, again, _is_endless(loop, node, block[number + 1 :]))
    return None


def asks_result(function: Function, at: facts.Span, call: facts.Span) -> Attempts | None:
    """How the loop at `at` makes the call at `call` again until its result is good: the loop tests it, or leaves on it.

    A test for one answer that is no success (`status != 429`) waits only for that answer to go away.
    """
    loop = next((node for node in _loops(function.node) if node.at == at), None)
    if loop is None or (isinstance(loop, facts.For) and _called(loop.iter) not in _COUNTS):
        return None
    results = {target.id for target in _assigned_from(loop.body, call)}
    for statement in _statements(loop.body):
        if not (isinstance(statement, facts.If) and _leaves(statement.body)) or _refuses(statement.test):
            continue
        if _within(call, statement.test.at) or not results.isdisjoint(_mentioned(statement.test)):
            endless = isinstance(loop, facts.While) and not list(_names(loop.test))
            others = (one for one in _statements(loop.body) if one is not statement)
            return Attempts(call, (), endless and not any(_may_leave((one,)) for one in others))
    return None


def until(function: Function, call: facts.Span) -> facts.Span | None:
    """The loop whose test is the call: `while not sent(message)`."""
    tested = (node for node in _loops(function.node) if isinstance(node, facts.While) and _within(call, node.test.at))
    return next((node.at for node in tested), None)


def _statements(block: Body) -> Iterator[facts.Stmt]:
    """The statements of a block and of the blocks in it, inner loops and definitions left out."""
    for statement in block:
        yield statement
        if not isinstance(statement, facts.Def | facts.Class | Loop):
            for inner in _blocks(statement):
                yield from _statements(inner)


def _assigned_from(block: Body, call: facts.Span) -> Iterator[facts.Name]:
    """The variables that get the result of a call."""
    for statement in _statements(block):
        if isinstance(statement, facts.Assign) and statement.value is not None and _within(call, statement.value.at):
            yield from (target for target in statement.targets if isinstance(target, facts.Name))


def _mentioned(test: facts.Expr) -> set[str]:
    """The variables whose value, attributes or methods a test asks for."""
    return {node.id for node in own_nodes(test) if isinstance(node, facts.Name)}


def _refuses(test: facts.Expr) -> bool:
    """Whether a test only tells one answer that refuses the request from all others: `status != 429`."""
    return (
        isinstance(test, facts.Compare)
        and test.op == "!="
        and isinstance(test.right, facts.Constant)
        and isinstance(test.right.value, int)
        and 400 <= test.right.value < 500
    )


def _is_endless(loop: Loop, node: facts.Try, after: Body) -> bool:
    """Whether attempts are not counted: no handler may leave, and the loop tests nothing but the success."""
    if any(_may_leave(handler.body) for handler in node.handlers if not _leaves(handler.body)):
        return False
    if isinstance(loop, facts.For):
        return _called(loop.iter) in _ENDLESS and len(getattr(loop.iter, "args", ())) < 2
    tested = {found.id for found in _names(loop.test)}
    return tested <= _assigned((*node.body, *node.orelse, *after)) and not isinstance(loop.test, facts.Call)


def _may_leave(block: Body) -> bool:
    """Whether some branch of a block leaves the loop."""
    return any(
        isinstance(one, facts.Return | facts.Raise)
        or (isinstance(one, facts.Jump) and one.kind == "break")
        or (not isinstance(one, facts.Def | facts.Class) and any(_may_leave(inner) for inner in _blocks(one)))
        for one in block
    )


def _loops(node: object) -> Iterator[Loop]:
    """The loops of a function's own body."""
    for block in _blocks(node):
        for statement in block:
            if isinstance(statement, Loop):
                yield statement
            if not isinstance(statement, facts.Def | facts.Class):
                yield from _loops(statement)


def _blocks(node: object) -> Iterator[Body]:
    """The blocks of statements directly inside a node."""
    match node:
        case facts.If():
            chain, last = facts.chain_of(node)
            yield from (*(one.body for one in chain), last)
        case facts.For() | facts.While():
            yield from (node.body, node.orelse)
        case facts.Try(body=body, handlers=handlers, orelse=orelse, final=final):
            yield from (body, *(handler.body for handler in handlers), orelse, final)
        case facts.With(body=body) | facts.Def(body=body) | facts.ModuleFacts(body=body):
            yield body


def _tries(block: Body, call: facts.Span) -> Iterator[tuple[Body, int]]:
    """The `try` statements whose body has the call, with the block that they stand in, innermost first."""
    for number, statement in enumerate(block):
        if isinstance(statement, facts.Def | facts.Class | Loop) or not _within(call, statement.at):
            continue
        for inner in _blocks(statement):
            yield from _tries(inner, call)
        if isinstance(statement, facts.Try) and any(_within(call, one.at) for one in statement.body):
            yield block, number


def _called(iterated: facts.Expr) -> str:
    """The last name of what is called for something to iterate over."""
    if not isinstance(iterated, facts.Call):
        return ""
    name = iterated.func
    return name.attr if isinstance(name, facts.Attribute) else name.id if isinstance(name, facts.Name) else ""


def _ends(loop: Loop, node: facts.Try, after: Body) -> bool:
    """Whether a success ends the loop: by `return` or `break`, or by a variable that the loop tests."""
    if any(_leaves(block) for block in (node.body, node.orelse, after)):
        return True
    if not isinstance(loop, facts.While):
        return False
    tested = {found.id for found in _names(loop.test)}
    return not tested.isdisjoint(_assigned((*node.body, *node.orelse, *after)))


def _leaves(block: Body) -> bool:
    """Whether a block always leaves the loop."""
    if not block:
        return False
    match block[-1]:
        case facts.Return() | facts.Raise():
            return True
        case facts.Jump(kind=kind):
            return kind == "break"
        case facts.With(body=body):
            return _leaves(body)
        case facts.If() as first:
            chain, last = facts.chain_of(first)
            return _leaves(last) and all(_leaves(one.body) for one in chain)
        case _:
            return False


def _names(node: facts.Expr) -> Iterator[facts.Name]:
    match node:
        case facts.Name():
            yield node
        case facts.Not(value=value):
            yield from _names(value)
        case facts.Compare(left=left, right=right):
            yield from (*_names(left), *_names(right))
        case facts.BoolOp(values=values):
            for value in values:
                yield from _names(value)


def _assigned(block: Body) -> set[str]:
    """The variables that plain assignments of a block set."""
    return {
        target.id
        for statement in block
        if isinstance(statement, facts.Assign)
        for target in statement.targets
        if isinstance(target, facts.Name)
    }


def _within(inner: facts.Span, outer: facts.Span) -> bool:
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]
