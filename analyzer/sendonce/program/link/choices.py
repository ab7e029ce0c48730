"""Callees that hang on something: the key of a table, or what the function itself was given."""

from __future__ import annotations

from sendonce.program.evaluate import Evaluator
from sendonce.program.getattrs import possible_names
from sendonce.program.held import Site
from sendonce.program.values import (
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    External,
    FunctionRef,
    Item,
    Op,
    Param,
    Seq,
    Table,
    Value,
    walk,
)

GETATTR = External("builtins.getattr")
MAX_TABLE = 200
"""A table with more entries than this is not followed into each."""


class Choices:
    """Tells what a callee may be, and who can tell where the function itself cannot."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program

    def of(self, callee: Value, site: Site) -> list[tuple[Value, Value | None]]:
        """The callees that a table (`HANDLERS[kind](…)`) may give, each with the test on the key; else the callee."""
        resolved = self.evaluator.resolve(callee)
        if isinstance(resolved, Call) and resolved.func is GETATTR and len(resolved.args) > 1:
            named = possible_names(self.evaluator, resolved)
            return [(Attr(resolved.args[0], name), test) for name, test in named] or [(callee, None)]
        head = _head(resolved)
        if not isinstance(head, Item):
            return [(callee, None)]
        entries = _entries(self.evaluator.resolve(head.base))
        if not entries:
            return [(callee, None)]
        if len(entries) > MAX_TABLE or [value for _, value in entries] == [UNKNOWN]:
            self.program.cuts.at(site, "calls one of the entries of a table, which has more than are followed")
            return [(callee, None)]
        return [
            (_replaced(resolved, head, value), Op("==", (head.index, key)) if isinstance(key, Const) else None)
            for key, value in ((self.evaluator.resolve(key), value) for key, value in entries)
        ]

    def carries(self, value: Value) -> bool:
        """Whether a value may hold a function that the callee calls."""
        if isinstance(value, Param):
            return True
        # A class stands in its instances, which bring their methods.
        return any(isinstance(part, FunctionRef | Param | ClassRef) for part in walk(self.evaluator.resolve(value)))

    def is_open(self, callee: Value) -> bool:
        """Whether the callee depends on what the function is given, in a way that a caller can settle."""
        if self.asks_by_name(callee):
            return True
        head, first = callee, ""
        while isinstance(head, Attr | Element | Item) or (
            isinstance(head, Call) and not isinstance(head.func, ClassRef)
        ):
            first = head.name if isinstance(head, Attr) else first
            head = head.func if isinstance(head, Call) else head.base
        return isinstance(head, Param) and bool(callee.free) and not self._is_library_member(head, first)

    def asks_by_name(self, callee: Value) -> bool:
        """Whether the callee belongs to something that is looked up by a name which the function is given."""
        head = callee
        while isinstance(head, Attr | Element) or (isinstance(head, Call) and not isinstance(head.func, ClassRef)):
            if isinstance(head, Call) and head.free and (head.func is GETATTR or self._is_by_name(head)):
                return True
            head = head.func if isinstance(head, Call) else head.base
        return False

    def _is_by_name(self, call: Call) -> bool:
        """Whether a call gives something of the project by the name that it is given (`apps.get_model(name)`)."""
        found = self.evaluator.lookup(self.evaluator.packs.returns, call.func)
        return any(entry.value.startswith("named:") for _, entry in found)

    def _is_library_member(self, owner: Param, name: str) -> bool:
        """Whether an attribute of a method's own object is one that only a library can have put there."""
        function = self.program.function(owner.function)
        if not (function.is_method and function.params[0].name == owner.name and function.cls is not None):
            return False
        hierarchy = self.evaluator.hierarchy
        for cls in (function.cls, *hierarchy.subclasses(function.cls.id)):
            if hierarchy.find(cls.id, name) is not None or hierarchy.writers(cls.id, name):
                return False
        return bool(hierarchy.external_bases(function.cls.id))


def is_by_given_name(callee: Value) -> bool:
    """Whether a callee is an attribute looked up by a name that the function was given (`getattr(plugin, name)`)."""
    return isinstance(callee, Call) and callee.func is GETATTR and len(callee.args) > 1 and bool(callee.args[1].free)


def _entries(table: Value) -> list[tuple[Value, Value]]:
    """The keys and values of a dict, the numbers and items of a list."""
    if isinstance(table, Table):
        return list(zip(table.keys, table.values, strict=True))
    if isinstance(table, Seq) and table.kind != "each":
        return [(Const(number), item) for number, item in enumerate(table.items)]
    return []


def _head(value: Value) -> Value:
    """What a chain of attributes and calls begins with."""
    while isinstance(value, Attr | Element) or (
        isinstance(value, Call) and not isinstance(value.func, ClassRef | FunctionRef)
    ):
        value = value.func if isinstance(value, Call) else value.base
    return value


def _replaced(value: Value, old: Value, new: Value) -> Value:
    """`value` with `new` for the `old` at the head of its calls and attributes."""
    match value:
        case Attr(base=base, name=name):
            return Attr(_replaced(base, old, new), name)
        case Element(base=base, entered=entered):
            return Element(_replaced(base, old, new), entered)
        case Call(func=func, names=names, args=args, at=at):
            return Call(_replaced(func, old, new), names, args, at)
        case _:
            return new if value is old else value
