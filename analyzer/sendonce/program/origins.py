"""What the parts of a key go back to: constants, values that were given or stored, the clock, chance.

A key is followed through helpers, f-strings, `%`, `format`, `join`, hashing and what else is made of values, up to
what the program did not make itself. A stored row ends the search: what it holds is as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sendonce import vocabulary as v
from sendonce.program.evaluate import Evaluator
from sendonce.program.fields import Fields
from sendonce.program.flow import Flows
from sendonce.program.periods import shows_moment, shows_period
from sendonce.program.values import (
    NONE,
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    External,
    FunctionRef,
    Item,
    Op,
    Seq,
    Table,
    Text,
    Union,
    Unknown,
    Updated,
    Value,
    options,
)

MAX_DEPTH = 12
_MAPPED = frozenset(f"builtins.{name}" for name in ("map", "filter", "sorted", "reversed", "list", "tuple", "set"))
_PERIOD = "strftime"
"""What is noted of a time that is shown as a day, a week or the like."""


@dataclass(frozen=True, eq=False)
class Origin:
    """One thing that a key is made of; `entry` is what packs say of a call of the clock or of chance."""

    value: Value
    entry: v.Unstable | None = None
    rounded: bool = False
    """A time that is cut to a period."""

    @property
    def fresh(self) -> bool:
        """Whether it differs on every attempt."""
        return self.entry is not None and not self.rounded

    @property
    def period(self) -> bool:
        """Whether it names the period in which the run falls."""
        return self.entry is not None and self.entry.why == "time" and self.rounded


class Origins:
    """Answers for values, memoised."""

    def __init__(self, evaluator: Evaluator, flows: Flows) -> None:
        self.evaluator = evaluator
        self.flows = flows
        self.packs = evaluator.packs
        self.fields = Fields(evaluator)
        self._looked_at: set[str] = set()
        self._known: dict[Value, tuple[Origin, ...]] = {}

    def of(self, value: Value) -> tuple[Origin, ...]:
        """What a value goes back to, each thing once, in the order of the key."""
        if value not in self._known:
            self._known[value] = ()
            found = {(one.value, one.rounded): one for one in self._found(value, (), MAX_DEPTH)}
            self._known[value] = tuple(found.values())
        return self._known[value]

    def _found(self, value: Value, above: tuple[str, ...], depth: int) -> Iterator[Origin]:
        """The origins of a value; `above` names what is applied to it, which may round it."""
        if depth <= 0 or self._is_column(value):
            yield Origin(value)
            return
        whole = isinstance(value, Text) or (isinstance(value, Op) and value.op in ("+", "or"))
        choices = (value,) if whole else options(self.evaluator.resolve(value))
        yield from self._one_of(choices, above, depth)

    def _one_of(self, choices: tuple[Value, ...], above: tuple[str, ...], depth: int) -> Iterator[Origin]:
        """The origins of the one of several values that counts: what is made afresh only where there is nothing."""
        found = [tuple(self._own(one, above, depth)) for one in choices if not _is_nothing(one)]
        lasting = [one for one in found if not any(origin.fresh for origin in one)]
        for one in lasting or found:
            yield from one
        if not found:
            yield from (Origin(one) for one in choices)

    def _own(self, value: Value, above: tuple[str, ...], depth: int) -> Iterator[Origin]:
        entry = self._entry(value)
        if entry is not None:
            rounded = not set(entry.rounds).isdisjoint(above) or (entry.period and not self._is_moment(value))
            yield Origin(value, entry, rounded)
            return
        if isinstance(value, Op) and value.op == "or":
            yield from self._one_of(value.operands, above, depth - 1)
            return
        if isinstance(value, Call) and isinstance(self.evaluator.resolve(value.func), FunctionRef):
            yield from self._drawn(value, 3)
        found = [
            origin
            for part, name in self._parts(value)
            for origin in self._found(part, (*above, name) if name else above, depth - 1)
        ]
        told = any(origin.entry is not None for origin in found)
        yield from found if found and (told or not _is_read(value)) else (Origin(value),)

    def _drawn(self, call: Call, depth: int) -> Iterator[Origin]:
        """What a function of the tree draws at random, where it cannot be told what it returns."""
        for ref in options(self.evaluator.resolve(call.func)):
            if isinstance(ref, FunctionRef) and ref.id not in self._looked_at and depth > 0:
                self._looked_at.add(ref.id)
                for site in self.flows.of(self.evaluator.program.function(ref.id)).sites:
                    found = self._entry(site.call)
                    if found is not None and found.why == "random":
                        yield Origin(site.call, found)
                    elif isinstance(self.evaluator.resolve(site.call.func), FunctionRef):
                        yield from self._drawn(site.call, depth - 1)
                self._looked_at.discard(ref.id)

    # ------------------------------------------------------------------ clocks and chance

    def _entry(self, value: Value) -> v.Unstable | None:
        shape = value.func if isinstance(value, Call) else value
        if not isinstance(value, Call | Attr):
            return None
        found: tuple[tuple[object, v.Unstable], ...] = self.evaluator.lookup(self.packs.unstables, shape)
        for _, entry in found:
            if entry.why != "order" and self._is_kind(entry, value, shape):
                return entry
        return None

    def _is_kind(self, entry: v.Unstable, value: Value, shape: Value) -> bool:
        """Calls match the calls of an entry, attributes its attributes."""
        named = entry.calls if isinstance(value, Call) else entry.attributes
        own = self.evaluator.shapes(shape)
        return any(self.packs.canonical(name) in own for name in named)

    def _is_moment(self, value: Value) -> bool:
        """Whether a call that shows the clock by a format shows more of it than a period."""
        return isinstance(value, Call) and any(map(self._shows_moment, value.args))

    def _shows_moment(self, value: Value) -> bool:
        constant = self.evaluator.constant(value)
        return constant is not None and isinstance(constant.value, str) and shows_moment(constant.value)

    def _shows_period(self, value: Value) -> bool:
        constant = self.evaluator.constant(value)
        return constant is not None and isinstance(constant.value, str) and shows_period(constant.value)

    # ------------------------------------------------------------------ parts

    def _parts(self, value: Value) -> list[tuple[Value, str]]:
        """The parts that make a value, each with the name of what is applied to it; none for an origin."""
        match value:
            case Attr(base=base, name=name):
                return [] if self._is_stored(base) or not self._is_made(base) else [(base, name)]
            case Call(func=func):
                return self._of_call(value, func)
            case Item(base=base, index=index):
                return [(base, "//" if isinstance(index, Unknown) else "")] if self._is_made(base) else []
            case Op(op="-", operands=(whole, Op(op="%", operands=(part, _)))) if part is whole:
                return [(whole, "//")]
            case Op(op=op, operands=operands):
                return [(operand, op) for operand in operands]
            case Seq(kind="each", items=items):
                return [(part, "") for item in items for part in options(item)]
            case Text() | Seq() | Union():
                return [(part, "") for part in value.parts()]
            case Element(base=base):
                made = self.evaluator.resolve(base)
                return [(made, "")] if isinstance(made, Seq) or self._is_mapped(made) else []
            case _:
                return []

    def _of_call(self, value: Call, func: Value) -> list[tuple[Value, str]]:
        if isinstance(func, ClassRef):
            return []
        if isinstance(func, Attr) and self._is_stored(func.base):
            return []
        name = self._applied(value, func)
        owner = [(func.base, name)] if isinstance(func, Attr) else []
        return [*owner, *((arg, name) for arg in value.args)]

    def _applied(self, call: Call, func: Value) -> str:
        """The name of what a call does to its arguments: a period for the formats that show one."""
        if isinstance(func, Attr):
            name = func.name
        else:
            name = func.dotted.rpartition(".")[2] if isinstance(func, External) else ""
        if name in ("format", "strftime"):
            return _PERIOD if any(map(self._shows_period, call.args)) else ""
        if name == "replace":
            return name if {"hour", "minute"}.intersection(call.names) else ""
        return name

    @staticmethod
    def _is_mapped(value: Value) -> bool:
        """Whether a value holds items that were made of others one by one: `map(str, parts)`."""
        func = value.func if isinstance(value, Call) else None
        return isinstance(func, External) and func.dotted in _MAPPED

    def _is_column(self, value: Value) -> bool:
        """Whether a value is read from a column of a row, which resolves to the column's declaration."""
        if not isinstance(value, Attr):
            return False
        if self._is_column(value.base):
            return True
        for cls in self.evaluator.types(value.base):
            if isinstance(cls, ClassRef) and self.fields.is_model(cls):
                method = self.evaluator.program.method(self.evaluator.hierarchy.mro(cls.id), value.name)
                return method is None
        return False

    def _is_made(self, base: Value) -> bool:
        """Whether reading from a value may lead back to something that the program made."""
        found = self.evaluator.resolve(base)
        return any(isinstance(one, Call | Attr | Item | Op | Text) for one in options(found))

    def _is_stored(self, base: Value) -> bool:
        """Whether a value is a row or a query: what it holds was stored before."""
        if isinstance(base, Element | Updated | Table):
            return True
        if any(isinstance(one, ClassRef) for one in self.evaluator.types(base)):
            return True
        return bool(self.evaluator.lookup(self.packs.store_reads, base))


def _is_read(value: Value) -> bool:
    """Whether a value is read from another: an attribute, an entry of a dict."""
    if isinstance(value, Call):
        return isinstance(value.func, Attr) and value.func.name in ("get", "pop", "getlist", "get_header")
    return isinstance(value, Attr | Item)


def _is_nothing(value: Value) -> bool:
    return value is NONE or (isinstance(value, Const) and value.value == "")
