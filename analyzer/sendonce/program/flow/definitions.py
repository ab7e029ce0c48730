"""What definitions inside functions and imports bind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sendonce import facts
from sendonce.program.symbols import Function, bindings_of
from sendonce.program.values import (
    Call,
    ClassRef,
    FunctionRef,
    Super,
    Value,
)

if TYPE_CHECKING:
    from sendonce.program.flow.walk import Walk


def imports(walk: Walk, node: facts.Import | facts.ImportFrom) -> None:
    """An import inside a function."""
    if walk.function is walk.function.module.body:
        return
    for binding in bindings_of(node, False):
        value = walk.evaluator.binding_value(walk.function.module, None, binding)
        walk.locals[binding.name] = value
        walk.flow.assigned.setdefault(binding.name, []).append(value)


def function(walk: Walk, node: facts.Def) -> None:
    """A `def`: its decorators are calls that happen here."""
    function = _defined(walk, node)
    if function is None:
        return
    value: Value = walk.evaluator.closed(function, FunctionRef(function.id))
    for decorator in reversed(node.decorators):
        value = _decorate(walk, walk.read(decorator), value, decorator.at)
    if walk.cls is None:
        if walk.function is not walk.function.module.body:
            walk.locals[node.name] = value
        walk.flow.assigned.setdefault(node.name, []).append(value)


def _decorate(walk: Walk, decorator: Value, value: Value, at: facts.Span) -> Value:
    """What a decorator makes of a function; the call is noted."""
    applied = walk.evaluator.applied(decorator, value, (walk.function.module.path, *at[:2]))
    walk.record(Call(decorator, ("",), (value,), (walk.function.module.path, *at[:2])), at)
    return applied


def _defined(walk: Walk, node: facts.Def) -> Function | None:
    """The function that a `def` defines."""
    for function in walk.function.module.functions.values():
        if function.node is node:
            return function
    return None


def class_(walk: Walk, node: facts.Class) -> None:
    """A `class`: its body runs here."""
    cls = next((c for c in walk.function.module.classes.values() if c.node is node), None)
    if cls is None:
        return
    saved, outer = dict(walk.locals), walk.cls
    walk.cls = cls
    walk.block(node.body)
    walk.locals, walk.cls = saved, outer
    value: Value = ClassRef(cls.id)
    walk.hidden(Super(cls.id, value), "__init_subclass__", node.name_at)
    for decorator in reversed(node.decorators):
        walk.record(
            Call(walk.read(decorator), ("",), (value,), (walk.function.module.path, *decorator.at[:2])),
            decorator.at,
        )
    if walk.function is not walk.function.module.body:
        walk.locals[node.name] = value
    walk.flow.assigned.setdefault(node.name, []).append(value)
