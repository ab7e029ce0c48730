"""Whether a key is the same on every attempt: nothing random, no clock, nothing of one process in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sendonce import vocabulary as v
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.values import (
    Attr,
    Call,
    ClassRef,
    Element,
    External,
    FunctionRef,
    Item,
    Op,
    Table,
    Updated,
    Value,
    options,
)

MAX_DEPTH = 12
_TIMES = ("%H", "%I", "%M", "%S", "%f", "%s", "%X", "%c", "%T", "%p")
"""What stands in a format that shows the time of day."""


class Stability:
    """Answers for values, memoised."""

    def __init__(self, evaluator: Evaluator, flows: Flows) -> None:
        self.evaluator = evaluator
        self.flows = flows
        self._looked_at: set[str] = set()
        self.packs = evaluator.packs
        self._known: dict[Value, v.Unstable | None] = {}

    def unstable(self, value: Value) -> v.Unstable | None:
        """The first part of a key that differs on every attempt; None for a stable key."""
        if value not in self._known:
            self._known[value] = None
            self._known[value] = next(self._found(value, (), MAX_DEPTH), None)
        return self._known[value]

    def any_unstable(self, values: Iterable[Value]) -> bool:
        """Whether one of the parts of a key is unstable."""
        return any(self.unstable(value) is not None for value in values)

    def _found(self, value: Value, above: tuple[str, ...], depth: int) -> Iterator[v.Unstable]:
        """The unstable parts of a value; `above` names what is applied to it, which may round it."""
        if depth <= 0:
            return
        for option in options(self.evaluator.resolve(value)):
            found = self._own(option)
            if found is not None:
                if not set(found.rounds).intersection(above):
                    yield found
                continue
            if isinstance(option, Call) and isinstance(self.evaluator.resolve(option.func), FunctionRef):
                yield from self._drawn(option, 3)
            for part, name in self._parts(option):
                yield from self._found(part, (*above, name) if name else above, depth - 1)

    def _drawn(self, call: Call, depth: int) -> Iterator[v.Unstable]:
        """What a function of the tree draws at random, where it cannot be told what it returns."""
        for ref in options(self.evaluator.resolve(call.func)):
            if isinstance(ref, FunctionRef) and ref.id not in self._looked_at and depth > 0:
                self._looked_at.add(ref.id)
                for site in self.flows.of(self.evaluator.program.function(ref.id)).sites:
                    found = self._own(site.call)
                    if found is not None and found.why == "random":
                        yield found
                    elif isinstance(self.evaluator.resolve(site.call.func), FunctionRef):
                        yield from self._drawn(site.call, depth - 1)
                self._looked_at.discard(ref.id)

    def _own(self, value: Value) -> v.Unstable | None:
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

    def _parts(self, value: Value) -> Iterator[tuple[Value, str]]:
        """The parts that make a value, each with the name of what is applied to it. A stored row ends the search."""
        match value:
            case Attr(base=base, name=name):
                if not self._is_stored(base):
                    yield base, name
            case Call(func=func, args=args):
                name = self._name(func)
                if isinstance(func, Attr):
                    if self._is_stored(func.base):
                        return
                    fine = name == "strftime" and any(map(self._is_fine, args))
                    yield func.base, "" if fine else name
                elif isinstance(func, ClassRef):
                    return
                if name in ("strftime", "format") and any(map(self._is_fine, args)):
                    name = ""
                for arg in args:
                    yield arg, "strftime" if name == "format" else name
            case Item(base=base):
                yield base, ""
            case Element() | Updated() | Table():
                return
            case Op(op=op, operands=operands):
                for operand in operands:
                    yield operand, op
            case _:
                for part in value.parts():
                    yield part, ""

    def _is_fine(self, value: Value) -> bool:
        """Whether a format shows more of a time than its day."""
        constant = self.evaluator.constant(value)
        text = constant.value if constant is not None else None
        return isinstance(text, str) and any(part in text for part in _TIMES)

    @staticmethod
    def _name(func: Value) -> str:
        if isinstance(func, Attr):
            return func.name
        return func.dotted.rpartition(".")[2] if isinstance(func, External) else ""

    def _is_stored(self, base: Value) -> bool:
        """Whether a value is a row or a query: what it holds was stored before."""
        if any(isinstance(one, ClassRef) for one in self.evaluator.types(base)):
            return True
        return bool(self.evaluator.lookup(self.packs.store_reads, base))
