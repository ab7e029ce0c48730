"""Whether two mails of one run go to the same address, as far as the code names it."""

from __future__ import annotations

from collections.abc import Iterator

from sendonce import vocabulary as v
from sendonce.packs import Table as PackTable
from sendonce.program.evaluate import Evaluator
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
    Param,
    Seq,
    Some,
    Table,
    Text,
    Updated,
    Value,
    options,
    walk,
)

_KEYS = frozenset(["pk", "id", "uuid", "uid"])
"""Attributes that name a row: a row that is read by one of them is that row."""
MAX_LOADS = 4


class Recipients:
    """Compares the recipients of two mails."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    def same(self, left: Value | None, right: Value | None) -> bool | None:
        """True if both mails reach one address, False if none, None if that cannot be told."""
        if left is None or right is None:
            return None
        answers = [self._same(a, b) for a in self._addresses(left) for b in self._addresses(right)]
        if True in answers:
            return True
        return None if None in answers or not answers else False

    def _addresses(self, value: Value) -> Iterator[Value]:
        """The addresses of a list, or the one that a value is."""
        found = self.evaluator.seen_through(value) if isinstance(value, Call) else value
        if isinstance(found, Call) and isinstance(found.func, External) and found.args:
            found = found.args[0]  # a provider's own class of addresses: `To(email)`
        for option in options(found if isinstance(found, Seq) else self._resolved(found)):
            if isinstance(option, Seq) and option.kind != "each":
                for item in option.items:
                    yield from self._addresses(item)
            elif isinstance(option, Text):
                yield from (piece for piece in option.pieces if not isinstance(piece, Const))
            else:
                yield option

    def _resolved(self, value: Value) -> Value:
        """A recipient as the code names it: a constant or setting as itself, an attribute as it is written."""
        found = self.evaluator.resolve(value)
        return found if isinstance(found, Const | External | Seq) or not isinstance(value, Attr | Item) else value

    def _same(self, left: Value, right: Value) -> bool | None:
        if UNKNOWN in (left, right):
            return None
        if left is right:
            return None if _is_cut(left) else True
        if any(isinstance(one, Const | External) for one in (left, right)):
            return False  # a literal or setting beside an address of an object, or two of them
        names, others = list(_names(left)), list(_names(right))
        if any(x != y for x, y in zip(names, others, strict=False)):
            return False
        common = min(len(names), len(others))
        return self.same_row(_without(left, common), _without(right, common))

    def things(self, call: Call) -> tuple[Value, ...]:
        """What a call is given, constants left out; a row for its key."""
        given = (arg.base if isinstance(arg, Attr) and arg.name in _KEYS else arg for arg in call.args)
        return tuple(value for value in given if not isinstance(value, Const))

    def same_row(self, left: Value, right: Value) -> bool | None:
        """Whether two values are one object, a row that is read again by its key included."""
        a, b = self._row(left), self._row(right)
        if a is b or self._is_of_one_view(a, b):
            return True
        if any(isinstance(one, Some) or one is UNKNOWN for one in (a, b)):
            return None
        if isinstance(a, Param) and isinstance(b, Param):
            return False if a.function == b.function else None
        if isinstance(a, Element) != isinstance(b, Element):
            return None if self._works(a) or self._works(b) else False  # one of many, and another row
        return self._same_made(a, b)

    def _same_made(self, a: Value, b: Value) -> bool | None:
        """Whether two expressions that are not the same give one object."""
        if _form(a) == _form(b):
            return True
        if isinstance(a, Element) and isinstance(b, Element):
            return False
        if isinstance(a, Call) and isinstance(b, Call):
            if all(isinstance(one.func, ClassRef) for one in (a, b)):
                return a.at == b.at  # two objects, each made here
            if _form(a.func) == _form(b.func) and a.names == b.names and _differ(a.args, b.args):
                return False
        heads = _head(a), _head(b)
        return False if all(isinstance(one, Param) for one in heads) and heads[0] is not heads[1] else None

    def _row(self, value: Value, depth: int = 0) -> Value:
        """The row behind a value: without what was set on it, and without reading it again by its key."""
        while isinstance(value, Updated):
            value = value.base
        owner = self._owner(value)
        if owner is not None:
            return Element(owner)
        if not isinstance(value, Call) or depth > MAX_LOADS:
            return value
        func = self.evaluator.resolve(value.func)
        if isinstance(func, ClassRef):
            return Call(func, value.names, value.args, value.at)
        if isinstance(func, FunctionRef):
            found = self.evaluator.resolve(value)
            return value if found is value else self._row(found, depth + 1)
        key = self._key(value)
        return value if key is None else self._row(key, depth + 1)

    def _owner(self, value: Value) -> Value | None:
        """The form, serializer or view whose row a value is: `form.instance`, `form.save()`, `self.get_object()`."""
        if isinstance(value, Attr) and self._gives_row(self.evaluator.packs.returned_attributes, value):
            return value.base
        func = value.func if isinstance(value, Call) else None
        if isinstance(func, Attr) and self._works(Element(func.base)):
            return func.base if self._gives_row(self.evaluator.packs.returns, func) else None
        return None

    def _key(self, call: Call) -> Value | None:
        """The row by whose key a call reads a row."""
        for name, arg in zip(call.names, call.args, strict=True):
            if isinstance(arg, Attr) and arg.name in _KEYS and name in ("", *_KEYS) and self.evaluator.types(call):
                return arg.base
        return None

    def _gives_row(self, table: PackTable[v.Returns], value: Value) -> bool:
        """Whether packs say that an attribute or call gives the row that a form, serializer or view works on."""
        return any(entry.value == "element" for _, entry in self.evaluator.lookup(table, value))

    def _works(self, row: Value) -> bool:
        """Whether a row is the one that a form, serializer or view works on."""
        return isinstance(row, Element) and self.evaluator.models.is_worker(row.base)

    def _is_of_one_view(self, a: Value, b: Value) -> bool:
        """Whether one row is that of a view and the other that of the form that the view works with."""
        if not (self._works(a) and self._works(b)):
            return False
        given = all(isinstance(_head(one), Param | Some) for one in (a, b))  # by the framework, as the view itself
        return given and self.evaluator.types(a) == self.evaluator.types(b)


def _is_cut(value: Value) -> bool:
    """Whether a value comes out of a list or dict of which not all is known: two such may be told by the same words."""
    return any(isinstance(part, Seq | Table) and UNKNOWN in part.parts() for part in walk(value))


def _names(value: Value) -> Iterator[str]:
    """The names of an attribute chain, last first."""
    while isinstance(value, Attr | Updated):
        if isinstance(value, Attr):
            yield value.name
        value = value.base


def _without(value: Value, names: int) -> Value:
    """An attribute chain without its last names."""
    while names:
        value, names = value.base, names - isinstance(value, Attr)  # type: ignore[attr-defined]
    return value


def _differ(left: tuple[Value, ...], right: tuple[Value, ...]) -> bool:
    """Whether arguments differ in constants: two rows that are read by different ones."""
    return any(isinstance(a, Const) and isinstance(b, Const) and a is not b for a, b in zip(left, right, strict=True))


def _head(value: Value) -> Value:
    """What a value is read from at the very start."""
    while True:
        match value:
            case Attr(base=base) | Item(base=base) | Updated(base=base) | Element(base=base):
                value = base
            case Call(func=Attr(base=base)):
                value = base
            case _:
                return value


def _form(value: Value) -> object:
    """A value without the places at which its calls were made, and without what was set on its objects."""
    while isinstance(value, Updated):
        value = value.base
    if isinstance(value, Call):
        return (Call, _form(value.func), value.names, tuple(map(_form, value.args)))
    parts = value.parts()
    return (type(value), *(_form(part) for part in parts), getattr(value, "name", "")) if parts else value
