"""Operations that are done where their operands are known."""

from __future__ import annotations

from itertools import product

from sendonce.program.values import (
    NONE,
    ClassRef,
    Const,
    FunctionRef,
    Op,
    Seq,
    Table,
    Text,
    Union,
    Value,
    options,
    text,
)

_SOMETHING = (ClassRef, FunctionRef, Seq, Table, Text)
"""Values that are not None."""
_COMPARE = frozenset(["==", "!=", "in", "not in"])


def operation(value: Op, operands: tuple[Value, ...]) -> Value:
    """What an operation gives for resolved operands; the operation itself where they do not tell."""
    if all(isinstance(operand, Const) for operand in operands):
        return _folded(value.op, [operand.value for operand in operands], value)  # type: ignore[attr-defined]
    if value.op in ("is", "is not") and operands[-1] is NONE and isinstance(operands[0], _SOMETHING):
        return Const(value.op == "is not")
    if value.op in _COMPARE and any(isinstance(operand, Union) for operand in operands):
        return _agreed(value, operands)
    if value.op in ("in", "not in"):
        return _membership(value, *operands)
    if value.op == "|" and all(isinstance(operand, Table) for operand in operands):
        return _merged(operands)
    if value.op in ("==", "!=") and all(isinstance(operand, ClassRef) for operand in operands):
        return Const((operands[0] is operands[1]) == (value.op == "=="))
    if value.op == "or":
        # `a or b` is a where a is true: as a value it is one of them.
        truthy = [o for o in operands if not (isinstance(o, Const) and not o.value)]
        if truthy and isinstance(truthy[0], Const):
            return truthy[0]
    if value.op == "+" and any(isinstance(o, Const | Text) for o in operands):
        return text(operands)
    return value


def _agreed(value: Op, operands: tuple[Value, ...]) -> Value:
    """What a comparison gives whichever of its alternatives an operand is; itself where that differs."""
    found = {operation(value, one) for one in product(*map(options, operands))}
    first = next(iter(found))
    return first if len(found) == 1 and isinstance(first, Const) else value


def _membership(value: Op, item: Value, container: Value) -> Value:
    """Whether a constant is among the constants that were written out."""
    written: tuple[Value, ...] = ()
    if isinstance(container, Table):
        written = container.keys
    elif isinstance(container, Seq) and container.kind != "each":
        written = container.items
    if not written or not all(isinstance(one, Const) for one in (item, *written)):
        return value
    return Const((item in written) == (value.op == "in"))


def _merged(tables: tuple[Value, ...]) -> Value:
    """The dict that several are joined to: later entries win."""
    entries: dict[Value, Value] = {}
    for table in tables:
        if isinstance(table, Table):
            entries.update(zip(table.keys, table.values, strict=True))
    return Table(tuple(entries), tuple(entries.values()))


def _folded(op: str, values: list[object], unresolved: Value) -> Value:
    """A constant operation done; anything that fails stays as it is."""
    try:
        match op, values:
            case "not", [one]:
                return Const(not one)
            case "==", [left, right]:
                return Const(left == right)
            case "!=", [left, right]:
                return Const(left != right)
            case "is", [left, right]:
                return Const(left is right)
            case "is not", [left, right]:
                return Const(left is not right)
            case "and", _:
                return Const(next((v for v in values if not v), values[-1]))
            case "or", _:
                return Const(next((v for v in values if v), values[-1]))
            case "+", [str() as left, str() as right]:
                return Const(left + right)
            case "in", [str() as left, str() as right]:
                return Const(left in right)
            case _:
                return unresolved
    except Exception:
        return unresolved
