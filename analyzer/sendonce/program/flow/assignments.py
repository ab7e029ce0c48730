"""What assignments do: to variables, attributes, items, and to objects that calls of their methods change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sendonce import facts
from sendonce.program import held as h
from sendonce.program.flow.found import Write
from sendonce.program.values import (
    MAX_SIZE,
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    Item,
    Op,
    Param,
    Seq,
    Some,
    Updated,
    Value,
    options,
    thinned,
    union,
)

if TYPE_CHECKING:
    from sendonce.program.flow.walk import Walk


def method_effect(walk: Walk, call: Call, node: facts.Call | None) -> None:
    """`message.attach(x)` may change the object that a variable holds; `items.append(x)` makes a list longer."""
    if not isinstance(call.func, Attr):
        return
    base = call.func.base
    if isinstance(base, Call | Updated):
        _replace(walk, base, Updated(base, f"{call.func.name}()", call))
    elif all(isinstance(option, Seq) for option in options(base)):
        _list_effect(walk, call, base, node)


def _list_effect(walk: Walk, call: Call, base: Value, node: facts.Call | None) -> None:
    """Two lists of equal items are one value: only the variable that is named changes."""
    match node:
        case facts.Call(func=facts.Attribute(value=facts.Name(id=name), attr=attr)) if walk.locals.get(name) is base:
            if attr == "append" and call.names == ("",):
                walk.locals[name] = union(_longer(option, call.args[0]) for option in options(base))
            elif isinstance(base, Seq):
                walk.locals[name] = Updated(base, f"{attr}()", call)
        case _:
            pass


def _replace(walk: Walk, old: Value, new: Value) -> None:
    if new is UNKNOWN:
        return  # too many changes to keep them all: better the object without the last ones
    for name, known in walk.locals.items():
        if known is old:
            walk.locals[name] = new


def _annotated(walk: Walk, value: Value, annotation: facts.Expr) -> Value:
    """A value that is assigned to a variable with an annotation: its class tells where nothing else does."""
    if value is not UNKNOWN and not isinstance(value, Call):
        return value
    told = walk.evaluator.instance_of(walk.annotation(annotation))
    is_own = any(isinstance(cls, ClassRef) for cls in walk.evaluator.types(told))
    return told if value is UNKNOWN or (is_own and not walk.evaluator.types(value)) else value


def assign(walk: Walk, node: facts.Assign) -> None:
    """`x = value`, also with an annotation, which tells where the value does not."""
    if node.value is None:
        if node.annotation is not None and isinstance(node.targets[0], facts.Name):
            bind(walk, node.targets[0], walk.evaluator.instance_of(walk.annotation(node.annotation)))
        return
    value = walk.read(node.value)
    if node.annotation is not None:
        value = _annotated(walk, value, node.annotation)
    for target in node.targets:
        bind(walk, target, value)


def aug_assign(walk: Walk, node: facts.AugAssign) -> None:
    """`x += value`."""
    old = walk.read(node.target)
    value = walk.read(node.value)
    if node.op == "+" and isinstance(old, Seq) and isinstance(value, Seq) and "each" not in (old.kind, value.kind):
        bind(walk, node.target, Seq(old.kind, old.items + value.items))
    else:
        bind(walk, node.target, Op(node.op, (old, value)))


def bind(walk: Walk, target: facts.Expr, value: Value) -> None:
    """Gives a target of an assignment its value."""
    match target:
        case facts.Name(id=name):
            if name not in walk.globals:
                walk.locals[name] = value
                walk.flow.assigned.setdefault(name, []).append(value)
        case facts.Attribute(value=owner, attr=attr):
            _write(walk, owner, attr, value, target.at)
            if isinstance(owner, facts.Name):
                walk.locals[f"{owner.id}.{attr}"] = value
        case facts.Subscript(value=owner, index=index):
            key = walk.read(index)
            _write(walk, owner, f"[{key.value}]" if isinstance(key, Const) else "[]", value, target.at)
        case facts.Sequence(items=items):
            for number, item in enumerate(items):
                if isinstance(item, facts.Starred):
                    bind(walk, item.value, Seq("each", (Element(value),)))
                else:
                    bind(walk, item, _part(walk, value, number))
        case _:
            pass


def _part(walk: Walk, value: Value, number: int) -> Value:
    """What one target of an unpacking gets."""
    if isinstance(value, Seq) and value.kind != "each" and number < len(value.items):
        return value.items[number]
    return Item(value, Const(number))


def _write(walk: Walk, owner: facts.Expr, field: str, value: Value, at: facts.Span) -> None:
    """Notes that an attribute or item is written; the variable holds the changed object from here on."""
    base = walk.read(owner)
    walk.flow.writes.append(Write(base, field, value, at, walk.held))
    walk.held = h.add(walk.held, h.Wrote(base, field, value, at))
    if (
        isinstance(base, Call | Updated | Item | Element | Some)
        or (isinstance(base, Attr | Param) and isinstance(owner, facts.Name))
    ) and not (isinstance(base, Param) and walk.function.is_method and _is_first(walk, base)):
        _replace(walk, base, Updated(base, field, value))


def _is_first(walk: Walk, param: Param) -> bool:
    return bool(walk.function.params) and walk.function.params[0].name == param.name


def delete(walk: Walk, node: facts.Delete) -> None:
    """`del x`."""
    for target in node.targets:
        if isinstance(target, facts.Name):
            walk.locals.pop(target.id, None)


def _longer(items: Value, item: Value) -> Value:
    """A list with one more item."""
    item = item if item.size <= MAX_SIZE // 8 else thinned(item)
    return Seq(items.kind, (*items.items, item)) if isinstance(items, Seq) and items.kind == "list" else items
