"""Whether a write makes a check come out the other way: what the check reads, put against what is written."""

from __future__ import annotations

from collections.abc import Iterator

from sendonce import vocabulary as v
from sendonce.program.conditions import Conditions, mentions_field
from sendonce.program.evaluate import Evaluator
from sendonce.program.possible import COMPARE, OBJECT, chained, compared, negated, truth
from sendonce.program.reads import Check
from sendonce.program.spots import Read, Written
from sendonce.program.values import (
    FALSE,
    NONE,
    TRUE,
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
    Updated,
    Value,
    options,
    walk,
)

MAX_PARTS = 12
_ORDERS = frozenset(["<", "<=", ">", ">="])


class Aftermath:
    """Answers for checks and writes."""

    def __init__(self, evaluator: Evaluator, conditions: Conditions) -> None:
        self.evaluator = evaluator
        self.conditions = conditions

    def changed(self, check: Check, written: Written) -> bool:
        """Whether a write makes a check come out the other way in a later run, as far as that can be told."""
        touched = [read for read in check.reads if self._touches(read, written)]
        if not touched or _lets_several_through(check.value, touched):
            return False
        after = truth(self._after(check.value, touched, written, MAX_PARTS))
        if after is None and written.spot.kind == "field" and not self._is_state(check, written):
            return False
        if after is None:
            plainly = isinstance(check.value, Attr | Item) and written.spot.kind in ("field", "entry")
            return not plainly
        if written.spot.kind == "field" and not self._is_state(check, written):
            return False
        return after is not check.holds

    def _is_state(self, check: Check, written: Written) -> bool:
        """Whether a field is set to a state or a time, or to what the check compares it with."""
        value = self.evaluator.resolve(written.value)
        if any(_is_fixed(one) for one in options(value)):
            return True
        if mentions_field(value, written.spot.name):
            return False  # it counts on from the value before
        found = (one for part in walk(value) if isinstance(part, Call) for one in self._unstable(part))
        return any(one.why == "time" for one in found) or (
            isinstance(check.value, Op) and written.value in check.value.operands
        )

    def _unstable(self, call: Call) -> Iterator[v.Unstable]:
        known: tuple[tuple[object, v.Unstable], ...] = self.evaluator.lookup(self.evaluator.packs.unstables, call.func)
        yield from (entry for _, entry in known)

    def _touches(self, read: Read, written: Written) -> bool:
        """Whether a write may change what was read; where neither model is known, only of the same object."""
        if not read.spot.meets(written.spot):
            return False
        if read.spot.owner or written.spot.owner or read.spot.kind not in ("field", "entry"):
            return True
        owner = _owner_of(read.part)
        return _origin(owner) == _origin(written.row) or _is_linked(self.evaluator.resolve(owner), written.row)

    def _after(self, value: Value, touched: list[Read], written: Written, depth: int) -> Value:
        """What a value is after a write, as far as that can be told."""
        for read in touched:
            if read.part is value:
                return self._new(value, read, written)
        if depth <= 0:
            return UNKNOWN
        match value:
            case Const():
                return value
            case Op(op="not", operands=(one,)):
                return negated(self._after(one, touched, written, depth - 1))
            case Op(op="and" | "or" as op, operands=operands):
                found = [frozenset((self._after(one, touched, written, depth - 1),)) for one in operands]
                results = set(chained(op, found))
                return results.pop() if len(results) == 1 else UNKNOWN
            case Op(op=op, operands=(left, right)) if op in COMPARE or op in ("in", "not in"):
                return _compared(
                    op, self._after(left, touched, written, depth - 1), self._after(right, touched, written, depth - 1)
                )
            case Attr(base=ClassRef()):
                return value
            case Seq(kind=kind, items=items) if kind != "each":
                return Seq(kind, tuple(self._after(one, touched, written, depth - 1) for one in items))
            case _:
                resolved = self.evaluator.resolve(value)
                return self._after(resolved, touched, written, depth - 1) if resolved is not value else UNKNOWN

    def _new(self, value: Value, read: Read, written: Written) -> Value:
        """What the part that reads a spot gives after the write."""
        if read.spot.kind == "items":
            there = written.how != "delete"
            inside = isinstance(value, Op) and value.op == "in"
            return Const(there is inside) if isinstance(value, Op) else UNKNOWN
        if read.spot.kind == "row":
            return NONE if written.how == "delete" else OBJECT
        if read.spot.kind in ("key", "file"):
            return NONE if written.how == "delete" else _known(written.value)
        if isinstance(value, Call):
            return self._queried(value, written)
        return _known(self.evaluator.resolve(written.value))

    def _queried(self, query: Call, written: Written) -> Value:
        """Whether a query finds a row after one of its fields was set."""
        tests = [test for test in self.conditions.tests(query) if test.field == written.spot.name]
        if not tests:
            return UNKNOWN
        return FALSE if any(self.conditions.ends(test, written.value) for test in tests) else TRUE


def _is_fixed(value: Value) -> bool:
    """Whether a value is a constant or a member of an enum, whichever it may be."""
    return isinstance(value, Const) or (isinstance(value, Attr | Item) and isinstance(value.base, ClassRef))


def _lets_several_through(value: Value, touched: list[Read]) -> bool:
    """Whether a test limits how often something may happen: a rate is reckoned, or rows are counted up to a number."""
    for part in walk(value):
        if not isinstance(part, Op) or not any(read.part in walk(part) for read in touched):
            continue
        if part.op in ("*", "/", "//", "%"):
            return True
        if part.op in COMPARE and any(isinstance(one, Const) and _is_many(one.value) for one in part.operands):
            return True
    return False


def _is_many(number: object) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and number > 1


def _owner_of(part: Value) -> Value:
    """The object that a field or entry is read from."""
    if isinstance(part, Call) and isinstance(part.func, Attr):
        return part.func.base
    return part.base if isinstance(part, Attr | Item) else part


def _is_linked(row: Value, statement: Value) -> bool:
    """Whether a statement changes rows of the collection that a row was read from, or is told by the row."""
    if not (isinstance(statement, Call) and isinstance(statement.func, Attr)):
        return False
    return statement.func.base in walk(row) or row in walk(statement)


def _origin(value: Value) -> str:
    """What an object is told by where neither it nor its class is known: the name that it goes by."""
    while isinstance(value, Updated):
        value = value.base
    match value:
        case Param(name=name) | Attr(name=name):
            return name
        case Call(at=at):
            return str(at)
        case Element(base=base) | Item(base=base):
            return f"{_origin(base)}[]"
        case _:
            return repr(value)


def _known(value: Value) -> Value:
    """A written value: a constant, a member of an enum, or something that is true (the clock, a new object)."""
    if isinstance(value, Const) or (isinstance(value, Attr) and isinstance(value.base, ClassRef)):
        return value
    return OBJECT if isinstance(value, Call) else UNKNOWN


def _compared(op: str, left: Value, right: Value) -> Value:
    """A comparison; members of enums are equal to themselves only."""
    if op in ("in", "not in"):
        if not isinstance(right, Seq) or left in (UNKNOWN, OBJECT):
            return UNKNOWN
        known = all(isinstance(one, Const | Attr) for one in right.items)
        there = left in right.items
        return Const(there is (op == "in")) if known or there else UNKNOWN
    if op in _ORDERS and NONE in (left, right):
        return FALSE  # nothing comes before or after what is not there
    if left is right and left not in (UNKNOWN, OBJECT):
        return Const(op in ("==", "is", "<=", ">="))
    if op in ("==", "!=", "is", "is not") and isinstance(left, Attr) and isinstance(right, Attr):
        return Const(op in ("!=", "is not"))
    return compared(op, left, right)
