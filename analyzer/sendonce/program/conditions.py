"""Conditional updates: which fields an update sets that its own condition tests, so that it cannot match twice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sendonce.program import arguments, sql
from sendonce.program.constraints import plain
from sendonce.program.evaluate import Evaluator
from sendonce.program.fields import Fields, text_of
from sendonce.program.values import (
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Const,
    External,
    Item,
    Op,
    Seq,
    Table,
    Value,
    options,
    walk,
)

_DOCUMENTS = frozenset(["update_one", "update_many", "find_one_and_update", "find_one_and_replace", "modify"])
"""Updates of documents: the filter is the first argument, a dict."""
_FINDS = frozenset(["find", "find_one", "count_documents"])
"""Reads of documents whose first argument is such a filter, where that is a dict."""
_FILTERS = frozenset(["filter", "get", "aget", "where", "filter_by", "exclude", "get_object_or_404", "having"])


@dataclass(frozen=True)
class Tested:
    """One test of a query: the field, how it is compared ("any" if that is not understood) and with what.

    `op` is the comparison as it is spelled (`lt`, `<=`, `range`), for those that are "any".
    """

    field: str
    how: str
    value: Value
    negated: bool = False
    op: str = ""


class Conditions:
    """Answers for calls."""

    def __init__(self, evaluator: Evaluator, fields: Fields) -> None:
        self.evaluator = evaluator
        self.fields = fields

    def used_up(self, call: Call, run: Call) -> frozenset[str]:
        """The fields that an update sets and tests, if rows that it changed no longer meet the test."""
        text = text_of(self.evaluator, run.args[0]) if run.args else None
        change = sql.changed(text) if text is not None else None
        if change is not None:
            return _used_up(change)
        tests, given = list(self.tests(call, run)), [(plain(name), value) for name, value in self.set_fields(call, run)]
        found = {
            name
            for name, value in given
            if any(
                test.field == name and self.ends(test, value) and (_is_start(test) or not _is_step(name, value))
                for test in tests
            )
        }
        return frozenset() if found and self._is_lease(call, run, tests, dict(given)) else frozenset(found)

    # ------------------------------------------------------------------ leases

    def _is_lease(self, call: Call, run: Call, tests: list[Tested], given: dict[str, Value]) -> bool:
        """Whether a row that was taken can be taken again after some time, without having been finished.

        `Q(state="ready") | Q(state="taken", taken_at__lt=…)` sets the state that one alternative asks for;
        `Q(taken_at=None) | Q(taken_at__lt=…)` beside `sent=False` leaves the mark to a later write.
        """
        alternatives = list(self._alternatives(call, run))
        if any(any(self._is_met(test, given) for test in one) for one in alternatives):
            return True
        pending = any(_is_open_mark(test) and test.field not in given for test in tests)
        return pending and any(all(test.how == "any" and test.field in given for test in one) for one in alternatives)

    def _alternatives(self, call: Call, run: Call) -> Iterator[list[Tested]]:
        """The tests of each alternative of the conditions of a query."""
        for inner in self._calls(call, run):
            name = inner.func.name if isinstance(inner.func, Attr) else _last(inner.func)
            for key, value in zip(inner.names, inner.args, strict=True) if name in _FILTERS else ():
                for part in walk(self.evaluator.resolve(value)) if key == "" else ():
                    for operand in self._operands(part):
                        yield list(self._expression(operand, False))

    def _operands(self, value: Value) -> tuple[Value, ...]:
        if isinstance(value, Op) and value.op in ("|", "or"):
            return value.operands
        return value.args if isinstance(value, Call) and _last(value.func) == "or_" else ()

    def _is_met(self, test: Tested, given: dict[str, Value]) -> bool:
        """Whether a test asks for the value that the update sets."""
        if test.field not in given or test.how != "exact" or test.negated:
            return False
        wanted, new = self.evaluator.resolve(test.value), self.evaluator.resolve(given[test.field])
        return wanted is new

    # ------------------------------------------------------------------ what is set

    def set_fields(self, call: Call, run: Call) -> Iterator[tuple[str, Value]]:
        """The fields that an update sets, with their values."""
        for inner in self._calls(call, run):
            name = inner.func.name if isinstance(inner.func, Attr) else ""
            if name in _DOCUMENTS:
                yield from self._set_in_document(inner)
            elif name in ("update", "aupdate", "values"):
                for key, value in zip(inner.names, inner.args, strict=True):
                    if key in ("", "values", "**"):
                        yield from self.fields.of_row(value).fields.items()
                    elif key != "synchronize_session":
                        yield key, value

    def _set_in_document(self, call: Call) -> Iterator[tuple[str, Value]]:
        """The fields of `{"$set": {…}, "$unset": {…}}`."""
        update = arguments.first_argument(self.evaluator, call, ("update|1", "replacement|1"))
        for name, value in self.fields.of_row(update).fields.items() if update is not None else ():
            if name.startswith("$"):
                given = self.fields.of_row(value).fields.items()
                yield from ((key, Const(None) if name == "$unset" else one) for key, one in given)
            else:
                yield name, value

    def _of_document(self, call: Call) -> Iterator[Tested]:
        """The tests of a filter that is a dict: `{"mailed": False, "state": {"$ne": "sent"}}`."""
        given = arguments.first_argument(self.evaluator, call, ("filter|0", "query|0"))
        for name, value in self.fields.of_row(given).fields.items() if given is not None else ():
            operators = self.fields.of_row(value).fields if isinstance(value, Table) else {}
            if not operators:
                yield _lookup(name, value, False)
            for operator, operand in operators.items():
                how = {"$eq": "exact", "$ne": "exact", "$in": "in", "$nin": "in", "$exists": "isnull"}.get(
                    operator, "any"
                )
                yield Tested(plain(name), how, operand, operator in ("$ne", "$nin", "$exists"))

    def _calls(self, call: Call, run: Call) -> Iterator[Call]:
        """The calls of a statement as it is run, and of the query that an update stands on."""
        seen: set[Call] = set()
        for start in (call, run, *run.args[:1]):
            for inner in self.fields.chain(start):
                if inner not in seen:
                    seen.add(inner)
                    yield inner

    # ------------------------------------------------------------------ what is tested

    def has_filter(self, call: Call) -> bool:
        """Whether a call stands on a query that is filtered."""
        return any(isinstance(inner.func, Attr) and inner.func.name in _FILTERS for inner in self.fields.chain(call))

    def tests(self, call: Call, run: Call | None = None) -> Iterator[Tested]:
        """The tests of a query or statement."""
        for inner in self._calls(call, run or call):
            name = inner.func.name if isinstance(inner.func, Attr) else _last(inner.func)
            if name in _DOCUMENTS or (name in _FINDS and inner.args and isinstance(inner.args[0], Table)):
                yield from self._of_document(inner)
            if name not in _FILTERS:
                continue
            for key, value in zip(inner.names, inner.args, strict=True):
                if key in ("", "*"):
                    yield from self._expression(value, name == "exclude")
                elif key != "**":
                    yield _lookup(key, value, name == "exclude")
                else:
                    for field, given in self.fields.of_row(value).fields.items():
                        yield _lookup(field, given, name == "exclude")

    def _expression(self, value: Value, negated: bool) -> Iterator[Tested]:
        """The tests of a positional condition: `Q(…)`, `Model.field == x`, `Model.field.is_(None)`, `and_(…)`."""
        for option in options(value):
            match option:
                case Seq(items=items) | Op(op="&" | "and", operands=items):
                    for item in items:
                        yield from self._expression(item, negated)
                case Op(op="~" | "not", operands=(inner,)):
                    yield from self._expression(inner, not negated)
                case Op(op="==" | "!=" | "is" | "is not" as op, operands=(left, right)) if self._column(left):
                    yield Tested(self._column(left), "exact", right, negated != (op in ("!=", "is not")))
                case Op(op="<" | "<=" | ">" | ">=" as op, operands=(left, right)) if self._column(left):
                    yield Tested(self._column(left), "any", right, negated, op)
                case Attr() if self._column(option):
                    yield Tested(self._column(option), "exact", Const(True), negated)
                case Call():
                    yield from self._called(option, negated)
                case _:
                    yield from self._resolved(option, negated)

    def _called(self, call: Call, negated: bool) -> Iterator[Tested]:
        """The tests of `column.is_(None)`, `and_(…)`, `Q(field=x)`."""
        keywords = [(name, value) for name, value in zip(call.names, call.args, strict=True) if name.strip("*")]
        if isinstance(call.func, Attr) and self._column(call.func.base):
            yield _method(self._column(call.func.base), call.func.name, call.args, negated)
        elif _last(call.func) in ("and_", "not_"):
            for arg in call.args:
                yield from self._expression(arg, negated != (_last(call.func) == "not_"))
        elif keywords:
            yield from (_lookup(name, value, negated) for name, value in keywords)
        else:
            yield from self._resolved(call, negated)

    def _resolved(self, value: Value, negated: bool) -> Iterator[Tested]:
        """The tests of a condition that was made elsewhere."""
        found = self.evaluator.resolve(value)
        if found is not value and isinstance(found, Op | Call | Seq):
            yield from self._expression(found, negated)
        else:
            yield from self._mentioned(value)

    def _mentioned(self, value: Value) -> Iterator[Tested]:
        """Fields of a condition that is not understood further."""
        for part in walk(value):
            if isinstance(part, Attr) and self._column(part):
                yield Tested(self._column(part), "any", UNKNOWN)
            elif isinstance(part, Call):
                for name in part.names:
                    if name not in ("", "*", "**"):
                        yield Tested(plain(name), "any", UNKNOWN)

    def _column(self, value: Value) -> str:
        """The field's name where a value is a column of a model or table."""
        if isinstance(value, Attr) and self._is_table(value.base):
            return plain(value.name)
        if isinstance(value, Item) and isinstance(value.index, Const) and isinstance(value.index.value, str):
            return plain(value.index.value)
        return ""

    def _is_table(self, base: Value) -> bool:
        """Whether a value is a model or table (`Model`, `Model.__table__.c`, `table.c`), or might be one."""
        resolved = self.evaluator.resolve(base)
        if isinstance(resolved, ClassRef):
            return True
        if isinstance(resolved, Attr):
            return resolved.name in ("c", "columns") or self._is_table(resolved.base)
        return isinstance(resolved, Call) and "sqlalchemy.Table" in self.evaluator.shapes(resolved.func)

    # ------------------------------------------------------------------ whether the test still holds

    def ends(self, test: Tested, new: Value) -> bool:
        """Whether a row that has the new value fails the test; true as well where that cannot be told."""
        if test.how == "exact" and self._counts_on(test, test.value, new):
            return False
        value, new = self.evaluator.resolve(test.value), self.evaluator.resolve(new)
        if test.how == "exact":
            return (
                _differ(value, new) != test.negated if _comparable(value, new) else not (test.negated and value is new)
            )
        if test.how == "isnull":
            wants_null = isinstance(value, Const) and bool(value.value) != test.negated
            is_null = isinstance(new, Const) and new.value is None
            return wants_null != is_null
        if test.how == "in" and isinstance(value, Seq) and isinstance(new, Const):
            items = [self.evaluator.resolve(item) for item in value.items]
            if all(isinstance(item, Const) for item in items):
                return (new in items) == test.negated
        return True

    def _counts_on(self, test: Tested, value: Value, new: Value) -> bool:
        """`filter(version=row.version).update(version=F("version") + 1)`: a later run reads the new one and wins."""
        read = isinstance(value, Attr) and plain(value.name) == test.field
        return read and _is_step(test.field, new)


def mentions_field(value: Value, field: str) -> bool:
    """Whether a value is made of a field: `F("version")`, `row.version`."""
    names = (
        part.name if isinstance(part, Attr) else part.value if isinstance(part, Const) else "" for part in walk(value)
    )
    return any(isinstance(name, str) and plain(name) == field for name in names)


def _lookup(key: str, value: Value, negated: bool) -> Tested:
    """A keyword condition: `sent_at__isnull=True`."""
    how = key.partition("__")[2]
    last = how.rpartition("__")[2]
    kind = {"": "exact", "exact": "exact", "isnull": "isnull", "in": "in"}.get(last if how else "", "any")
    if kind == "exact" and isinstance(value, Const) and value.value is None:
        return Tested(plain(key), "isnull", Const(True), negated)
    return Tested(plain(key), kind, value, negated, last if how else "")


def _method(field: str, method: str, args: tuple[Value, ...], negated: bool) -> Tested:
    """`column.is_(None)`, `column.in_([…])`."""
    first = args[0] if args else UNKNOWN
    match method:
        case "is_" | "isnot" | "is_not" | "__eq__" | "__ne__":
            flipped = negated != (method in ("isnot", "is_not", "__ne__"))
            if isinstance(first, Const) and first.value is None:
                return Tested(field, "isnull", Const(True), flipped)
            return Tested(field, "exact", _truth(first), flipped)
        case "is_null":
            return Tested(field, "isnull", first if args else Const(True), negated)
        case "in_" | "not_in" | "notin_":
            return Tested(field, "in", first, negated != (method != "in_"))
        case _:
            return Tested(field, "any", UNKNOWN, negated)


def _truth(value: Value) -> Value:
    """SQLAlchemy's `true()` and `false()` as constants."""
    name = _last(value.func) if isinstance(value, Call) else _last(value)
    return {"true": Const(True), "false": Const(False), "null": Const(None)}.get(name, value)


def _last(value: Value) -> str:
    if isinstance(value, External):
        return value.dotted.rpartition(".")[2]
    return value.name if isinstance(value, Attr) else ""


def _comparable(left: Value, right: Value) -> bool:
    return isinstance(left, Const) and isinstance(right, Const)


def _differ(left: Value, right: Value) -> bool:
    assert isinstance(left, Const)
    assert isinstance(right, Const)
    return bool(left.value != right.value)


def _is_step(field: str, new: Value) -> bool:
    """Whether a value counts on from the field's own: a later run finds the next one."""
    if not (isinstance(new, Op) and new.op in ("+", "-")):
        return False
    for part in walk(new):
        if isinstance(part, Attr) and plain(part.name) == field:
            return True
        if isinstance(part, Call) and _last(part.func) == "F" and part.args:
            first = part.args[0]
            return isinstance(first, Const) and plain(str(first.value)) == field
    return False


def _is_start(test: Tested) -> bool:
    """Whether a test asks for one constant, which a count leaves for good."""
    return test.how == "exact" and isinstance(test.value, Const) and not test.negated


def _is_open_mark(test: Tested) -> bool:
    """Whether a test asks for what is not yet done: a field that is null or false."""
    value = test.value.value if isinstance(test.value, Const) else True
    if test.how == "isnull":
        return bool(value) != test.negated
    return test.how == "exact" and value is False and not test.negated


def _used_up(change: sql.Changed) -> frozenset[str]:
    """The columns that SQL text tests and sets to something else; none of a lease that can be taken again."""
    if change.either and any(pair in change.equal for pair in change.values):
        return frozenset()
    return frozenset(name for name, value in change.values if _is_used_up(change, name, value))


def _is_used_up(change: sql.Changed, name: str, value: str) -> bool:
    """Whether SQL text tests the column and sets it to something else."""
    same = any(column == name and other == value for column, other in change.equal)
    step = re.search(rf"\b{re.escape(name)}\b\s*[-+]", value) is not None
    start = any(column == name and other.isdigit() for column, other in change.equal)
    return name in change.tested and not same and (start or not step)
