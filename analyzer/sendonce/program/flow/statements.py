"""The other statements, and which function walks which."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sendonce import facts
from sendonce.program.flow import assignments, branches, definitions
from sendonce.program.flow.found import Exit
from sendonce.program.symbols import ADDS
from sendonce.program.values import (
    NONE,
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Element,
    Item,
    Value,
)

if TYPE_CHECKING:
    from sendonce.program.flow.walk import Walk


def expression(walk: Walk, node: facts.ExprStmt) -> None:
    """A call that changes what it is called on, or never returns."""
    call = node.value.value if isinstance(node.value, facts.Await) else node.value
    walk.unused = call if isinstance(call, facts.Call) else None
    value = walk.read(node.value)
    walk.unused = None
    if isinstance(value, Call):
        assignments.method_effect(walk, value, call if isinstance(call, facts.Call) else None)
        if not _is_of_container(value.func) and walk.evaluator.never_returns(value):
            walk.flow.raises.append(Exit(value, node.at, walk.held))
            walk.alive = False


def _is_of_container(callee: Value) -> bool:
    """Whether a call is of something in a container, or puts something in: what is in it is not known yet."""
    return isinstance(callee, Item | Element) or (isinstance(callee, Attr) and callee.name in ADDS)


def return_(walk: Walk, node: facts.Return) -> None:
    """Leaves the function with a value."""
    value = NONE if node.value is None else walk.read(node.value)
    walk.flow.returns.append(Exit(value, node.at, walk.held))
    walk.alive = False


def raise_(walk: Walk, node: facts.Raise) -> None:
    """Leaves the function with an exception."""
    value = UNKNOWN if node.value is None else walk.read(node.value)
    if isinstance(value, ClassRef | Attr) and not value.free:
        walk.hidden(value, "", node.at)
    walk.flow.raises.append(Exit(value, node.at, walk.held))
    walk.alive = False


def assert_(walk: Walk, node: facts.Assert) -> None:
    """The test holds from here on."""
    walk.assumed(node.test, True)


def jump(walk: Walk, node: facts.Jump) -> None:
    """`break`, `continue` or `pass`."""
    if node.kind == "break" and walk.breaks:
        walk.breaks[-1].append(walk.held)
    if node.kind != "pass":
        walk.alive = False


def scope(walk: Walk, node: facts.Scope) -> None:
    """`global` and `nonlocal`: these names are not local."""
    walk.globals.update(node.names)


STATEMENT: dict[type, Callable[[Walk, Any], None]] = {
    facts.ExprStmt: expression,
    facts.Assign: assignments.assign,
    facts.AugAssign: assignments.aug_assign,
    facts.Return: return_,
    facts.Raise: raise_,
    facts.Assert: assert_,
    facts.Delete: assignments.delete,
    facts.Jump: jump,
    facts.Scope: scope,
    facts.If: branches.if_,
    facts.For: branches.for_,
    facts.While: branches.while_,
    facts.Try: branches.try_,
    facts.With: branches.with_,
    facts.Def: definitions.function,
    facts.Class: definitions.class_,
    facts.Import: definitions.imports,
    facts.ImportFrom: definitions.imports,
}
"""How each kind of statement is walked."""
