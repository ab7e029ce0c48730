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
    Table,
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
    elif all(isinstance(option, Table) for option in options(base)):
        _table_effect(walk, call, base, node)


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


def _table_effect(walk: Walk, call: Call, base: Value, node: facts.Call | None) -> None:
    """`table.update(…)` and `table.setdefault(…)` on a dict whose entries are known."""
    if not (isinstance(node, facts.Call) and isinstance(node.func, facts.Attribute)):
        return
    changed = [_changed_by(walk, option, node.func.attr, call) for option in options(base)]
    if all(one is not None for one in changed):
        _put_back(walk, node.func.value, base, union(one for one in changed if one is not None))


def _changed_by(walk: Walk, table: Value, method: str, call: Call) -> Value | None:
    """The dict after a call of one of its methods; None where nobody knows."""
    if method == "setdefault" and len(call.args) == 2 and isinstance(table, Table):
        return table if call.args[0] in table.keys else with_item(table, *call.args)
    if method != "update":
        return None
    for name, value in zip(call.names, call.args, strict=True):
        given = walk.evaluator.resolve(value) if name == "" else None
        if isinstance(given, Table):
            for key, one in zip(given.keys, given.values, strict=True):
                table = with_item(table, key, one)
        elif name in ("", "*", "**"):
            return None
        else:
            table = with_item(table, Const(name), value)
    return table


def with_item(base: Value, key: Value, value: Value) -> Value:
    """A dict or list whose entries are known after `base[key] = value`; itself where it would become too large."""
    value = value if value.size <= MAX_SIZE // 8 else thinned(value)
    found: Value = UNKNOWN
    if isinstance(base, Table):
        kept = [(k, v) for k, v in zip(base.keys, base.values, strict=True) if k is not key or k is UNKNOWN]
        kept.append((key if isinstance(key, Const) else UNKNOWN, value))
        found = Table(tuple(k for k, _ in kept), tuple(v for _, v in kept))
    elif isinstance(base, Seq) and base.kind == "list":
        items = base.items
        if isinstance(key, Const) and isinstance(key.value, int) and -len(items) <= key.value < len(items):
            at = key.value % len(items)
            found = Seq("list", (*items[:at], value, *items[at + 1 :]))
    return base if found is UNKNOWN else found


def _put_back(walk: Walk, owner: facts.Expr, old: Value, new: Value) -> None:
    """Gives what an expression names its changed dict or list: a variable, or an entry of another dict or list."""
    match owner:
        case facts.Name(id=name) if walk.locals.get(name) is old:
            walk.locals[name] = new
        case facts.Subscript(value=outer, index=index):
            base = walk.read(outer)
            if isinstance(base, Table | Seq):
                _put_back(walk, outer, base, with_item(base, walk.read(index), new))
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
            if walk.cls is None and walk.function is walk.function.module.body:
                value = walk.evaluator.filled.shared(walk.function.module, name) or value
            if name not in walk.globals:
                walk.locals[name] = value
                walk.flow.assigned.setdefault(name, []).append(value)
        case facts.Attribute(value=owner, attr=attr):
            _write(walk, owner, attr, value, target.at)
            if isinstance(owner, facts.Name):
                walk.locals[f"{owner.id}.{attr}"] = value
        case facts.Subscript(value=owner, index=index):
            key = walk.read(index)
            _write(walk, owner, f"[{key.value}]" if isinstance(key, Const) else "[]", value, target.at, key)
            _put_in(walk, owner, key, value)
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


def _write(walk: Walk, owner: facts.Expr, field: str, value: Value, at: facts.Span, key: Value | None = None) -> None:
    """Notes that an attribute or item is written; the variable holds the changed object from here on."""
    base = walk.read(owner)
    walk.flow.writes.append(Write(base, field, value, at, walk.held, key))
    walk.held = h.add(walk.held, h.Wrote(base, field, value, at))
    if (
        isinstance(base, Call | Updated | Item | Element | Some)
        or (isinstance(base, Attr | Param) and isinstance(owner, facts.Name))
    ) and not (isinstance(base, Param) and walk.function.is_method and _is_first(walk, base)):
        _replace(walk, base, Updated(base, field, value))


def _put_in(walk: Walk, owner: facts.Expr, key: Value, value: Value) -> None:
    """`table[key] = value` where the entries of the dict or list are known."""
    base = walk.read(owner)
    held = walk.evaluator.resolve(base) if isinstance(base, Item) else base
    if all(isinstance(option, Table | Seq) for option in options(held)):
        _put_back(walk, owner, base, union(with_item(option, key, value) for option in options(held)))


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
