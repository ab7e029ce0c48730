"""What a value is read from: the call or branch at the head of a chain of attributes, items and methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sendonce.program.values import (
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    External,
    Item,
    Seq,
    Table,
    Union,
    Updated,
    Value,
)


def itself(value: Value) -> Value:
    """The value as it is."""
    return value


def spine(value: Value) -> tuple[Value, Callable[[Value], Value]]:
    """The call or branch that a value is read from, and what is read from it (a function of another such call)."""
    match value:
        case Attr(base=base, name=name):
            inner, wrap = spine(base)
            return inner, lambda one: Attr(wrap(one), name)
        case Item(base=base, index=index):
            inner, wrap = spine(base)
            return inner, lambda one: item(wrap(one), index)
        case Element(base=base, entered=entered):
            inner, wrap = spine(base)
            return inner, lambda one: Element(wrap(one), entered)
        case Updated(base=base) if isinstance(base, Call | Union | Updated):
            return spine(base)
        case Call(func=Attr(base=base, name=name)) if isinstance(base, Call | Union | Item | Updated):
            if isinstance(base, Call) and isinstance(base.func, ClassRef | External):
                return value, itself
            inner, wrap = spine(base)
            if inner is value or not isinstance(inner, Call | Union):
                return value, itself
            return inner, lambda one: Call(Attr(wrap(one), name), value.names, value.args, value.at)
        case _:
            return value, itself


def item(base: Value, index: Value) -> Value:
    """An item of a known collection, else the item as it is written."""
    if isinstance(base, Table):
        found = [one for key, one in zip(base.keys, base.values, strict=True) if key is index]
        return found[-1] if found else Item(base, index)
    if isinstance(base, Seq) and base.kind != "each" and isinstance(index, Const) and isinstance(index.value, int):
        number = index.value
        return base.items[number] if -len(base.items) <= number < len(base.items) else UNKNOWN
    return Item(base, index)


def elements(value: Value) -> Iterator[Element]:
    """The items of other collections inside a comprehension's sample item."""
    todo = [value]
    while todo:
        found = todo.pop()
        if isinstance(found, Element):
            yield found
        else:
            todo.extend(found.parts())
