"""What calls say of unique columns: a column or field, a constraint over several, a whole table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program.evaluate import Evaluator
from sendonce.program.values import (
    FALSE,
    TRUE,
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Const,
    Op,
    Seq,
    Table,
    Value,
    options,
    walk,
)


@dataclass(frozen=True)
class Constraint:
    """Fields that together are unique; `partial` if for some rows only."""

    fields: frozenset[str]
    partial: bool = False


def plain(field: str) -> str:
    """A field's own name: look-ups stripped, `order_id` and `order` as one, `pk` as the key."""
    name = field.lower().partition("__")[0] if not field.startswith("_") else field.lower()
    return "id" if name in ("pk", "id", "_id") else name.removesuffix("_id")


class Declarations:
    """Answers for calls."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.packs = evaluator.packs

    def declared(self, name: str, value: Value, keys: set[str]) -> Iterator[Constraint]:
        """What one class attribute says: a unique column; a part of the primary key goes into `keys`."""
        for option in options(value):
            if not isinstance(option, Call):
                continue
            for entry in self.entries(option):
                if self._stands(entry.foreign, option):
                    yield Constraint(frozenset((plain(name),)))
                elif self._stands(entry.columns, option):
                    for field in self._switched_on(entry, option):
                        if field == "primary_key":
                            keys.add(name)
                        else:
                            yield Constraint(frozenset((plain(name),)))

    def is_required(self, value: Value) -> bool:
        """Whether a value is a column that each row must be given."""
        if not isinstance(value, Call):
            return False
        entries = [entry for entry in self.entries(value) if self._stands(entry.columns, value)]
        return bool(entries) and not any(self._is_on(value, name) for entry in entries for name in entry.optional)

    def _is_on(self, call: Call, name: str) -> bool:
        given = arguments.argument(self.evaluator, call, name)
        constant = None if given is None else self.evaluator.constant(given)
        return given is not None and (constant is None or constant.value is not False)

    def _switched_on(self, entry: v.Unique, call: Call) -> Iterator[str]:
        for field, wanted in entry.fields.items():
            given = arguments.argument(self.evaluator, call, field)
            constant = None if given is None else self.evaluator.constant(given)
            if constant is not None and constant.value == wanted:
                yield field

    def entries(self, call: Call) -> tuple[v.Unique, ...]:
        found: tuple[tuple[object, v.Unique], ...] = self.evaluator.lookup(self.packs.uniques, call.func)
        return tuple(entry for _, entry in found)

    def _stands(self, shapes: tuple[str, ...], call: Call) -> bool:
        own = self.evaluator.shapes(call.func)
        return any(self.packs.canonical(shape) in own for shape in shapes)

    def of_constraint(self, call: Call, columns: Mapping[Value, str] = MappingProxyType({})) -> Iterator[Constraint]:
        """The constraint that a call makes where it stands in its model, whose columns have names, or its table."""
        for entry in self.entries(call):
            if entry.model or not self._stands(entry.constraints, call) or not self.meets(entry, call):
                continue
            partial = any(arguments.argument(self.evaluator, call, one) is not None for one in entry.partial)
            given = listed(self.evaluator, call, entry.names)
            fields = frozenset(name for value in given for name in self._names(value, columns))
            if fields:
                yield Constraint(fields, partial)

    def meets(self, entry: v.Unique, call: Call) -> bool:
        for name, wanted in entry.when.items():
            given = arguments.argument(self.evaluator, call, name)
            constant = None if given is None else self.evaluator.constant(given)
            if constant is None or constant.value != wanted:
                return False
        return True

    def _names(self, value: Value, columns: Mapping[Value, str] = MappingProxyType({})) -> Iterator[str]:
        """The field names in a value: texts, attributes of the model, its columns, names inside expressions."""
        if isinstance(value, Attr) and isinstance(value.base, ClassRef):
            yield plain(value.name)
            return
        for option in options(self.evaluator.resolve(value)):
            match option:
                case Call() if option in columns:
                    yield plain(columns[option])
                case Const(value=str() as name):
                    yield plain(name)
                case Attr(name=name):
                    yield plain(name)
                case Seq(items=items):
                    for item in items:
                        yield from self._names(item, columns)
                case Call(args=args):
                    for arg in args:
                        yield from self._names(arg, columns)
                case Op(op="+", operands=operands):
                    for operand in operands:
                        yield from self._names(operand, columns)
                case _:
                    pass

    def field_sets(self, value: Value) -> Iterator[frozenset[str]]:
        """`("a", "b")`, `[("a", "b"), …]`, a constraint: the sets of fields that are unique together."""
        for option in options(self.evaluator.resolve(value)):
            if isinstance(option, Call):
                yield from (one.fields for one in self.of_constraint(option))
            elif isinstance(option, Seq) and len(option.items) == 2 and option.items[1] in (TRUE, FALSE):
                # peewee's pairs of names and whether they are unique
                yield from self.field_sets(option.items[0]) if option.items[1] is TRUE else ()
            elif isinstance(option, Seq):
                nested = [item for item in option.items if isinstance(self.evaluator.resolve(item), Seq | Call)]
                if nested:
                    for item in nested:
                        yield from self.field_sets(item)
                else:
                    yield frozenset(self._names(option))
            elif isinstance(option, Const) and isinstance(option.value, str):
                yield frozenset((plain(option.value),))

    def of_mapping(self, entry: v.Unique, table: Table) -> Iterator[Constraint]:
        """The constraint that a dict is: `{"fields": ["order", "kind"], "unique": True}`."""
        given = {
            key.value: value for key, value in zip(table.keys, table.values, strict=True) if isinstance(key, Const)
        }
        constants = {name: self.evaluator.constant(given[name]) for name in entry.when if name in given}
        if any(constants.get(name) != Const(wanted) for name, wanted in entry.when.items()):
            return
        fields = frozenset(name for one in entry.names if one in given for name in self._names(given[one]))
        if fields:
            yield Constraint(fields)

    def of_table(self, call: Call) -> Iterator[Constraint]:
        """The constraints of a `Table(…)` or `create_table(…)` call: its columns and constraints are arguments."""
        keys: set[str] = set()
        for arg in call.args:
            for part in walk(self.evaluator.resolve(arg)):
                if isinstance(part, Call):
                    first = part.args[0] if part.args else UNKNOWN
                    constant = self.evaluator.constant(first)
                    if constant is not None and isinstance(constant.value, str):
                        yield from self.declared(constant.value, part, keys)
                    yield from self.of_constraint(part)
        if keys:
            yield Constraint(frozenset(map(plain, keys)))


def listed(evaluator: Evaluator, call: Call, names: tuple[str, ...]) -> list[Value]:
    """The arguments in which field names stand; `"|1*"` is every positional one from 1 on."""
    found: list[Value] = []
    for name in names:
        if name.startswith("|") and name.endswith("*"):
            first = int(name[1:-1] or 0)
            positional = [value for key, value in zip(call.names, call.args, strict=True) if key == ""]
            found.extend(positional[first:])
        else:
            given = arguments.argument(evaluator, call, name)
            if given is not None:
                found.append(given)
    return found
