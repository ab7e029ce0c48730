"""What items stand for: those of tables, sequences and collections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sendonce.program.values import (
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    FunctionRef,
    Item,
    Seq,
    Some,
    Table,
    Updated,
    Value,
    options,
    union,
)

if TYPE_CHECKING:
    from sendonce.program.evaluate.evaluator import Evaluator


class Items:
    """Answers for `base[index]`."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.packs = evaluator.packs
        self.hierarchy = evaluator.hierarchy

    def item(self, base: Value, index: Value, unresolved: Value | None = None) -> Value:
        """`base[index]`: an exact item where both are known, else any of a known table's or sequence's values."""
        found = [self._of_option(option, index) for option in options(self.evaluator.resolve(base))]
        known = [value for value in found if value is not None]
        return union(known) if known else (unresolved if unresolved is not None else Item(base, index))

    def _of_option(self, base: Value, index: Value) -> Value | None:
        key = self.evaluator.resolve(index)
        match base:
            case Updated(base=inner, field=field, value=value):
                if isinstance(key, Const) and field == f"[{key.value}]":
                    return value
                return self._of_option(self.evaluator.resolve(inner), index)
            case Table(keys=keys, values=values):
                exact = [v for k, v in zip(keys, values, strict=True) if self.evaluator.resolve(k) is key]
                if exact:
                    return self.evaluator.resolve(exact[-1])
                known = isinstance(key, Const) and all(isinstance(k, Const) for k in keys)
                found = UNKNOWN if key.free or known else union(values)
                return None if found is UNKNOWN else found
            case Seq(kind="each", items=items):
                return self.evaluator.resolve(items[0]) if items else None
            case Seq(items=items):
                if isinstance(key, Const) and isinstance(key.value, int) and -len(items) <= key.value < len(items):
                    return self.evaluator.resolve(items[key.value])
                return None
            case ClassRef(id=id) if isinstance(key, Const) and self.hierarchy.is_enum(id):
                return Attr(base, str(key.value))
            case Item(base=Table(keys=keys, values=values), index=choice) if isinstance(key, Const):
                return self._of_rows(keys, values, choice, index)
            case Call(func=ClassRef(id=id)) | Some(cls=ClassRef(id=id)) if (
                method := self.hierarchy.method_of(ClassRef(id), "__getitem__")
            ) is not None:
                asked = Call(FunctionRef(method.id, base), ("",), (index,), method.place)
                found = self.evaluator.resolve(asked)
                return None if found is asked else found
            case Call() if isinstance(key, Const) and key.value == 0:
                return self._first_of_pair(base) or self._of_collection(base, index)
            case _:
                return self._of_collection(base, index)

    def _of_rows(self, keys: tuple[Value, ...], values: tuple[Value, ...], choice: Value, index: Value) -> Value | None:
        """A part of a row that is chosen from a table, `task, name = TABLE[kind]`: one of the parts of its rows."""
        rows = tuple(self.evaluator.resolve(value) for value in values)
        if not all(isinstance(row, Seq | Table) for row in rows):
            return None
        return Item(Table(keys, tuple(self.item(row, index) for row in rows)), choice)

    def put_in(self, base: Value, key: Value) -> Value | None:
        """What was put in a dict under a key after it was made."""
        constant = self.evaluator.constant(key)
        found = self.evaluator.resolve(base)
        while isinstance(found, Updated) and constant is not None:
            if found.field == f"[{constant.value}]":
                return found.value
            found = self.evaluator.resolve(found.base)
        return None

    def _first_of_pair(self, call: Call) -> Value | None:
        for _, entry in self.evaluator.lookup(self.packs.returns, call.func):
            if entry.value == "pair" and isinstance(call.func, Attr):
                return self.evaluator.resolve(Element(call.func.base))
        return None

    def _of_collection(self, base: Value, index: Value) -> Value | None:
        if isinstance(index, Call):
            return None
        found = self.evaluator.resolve(Element(base))
        return None if isinstance(found, Element) else found
