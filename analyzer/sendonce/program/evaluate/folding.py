"""Operations that are done where their operands are known."""

from __future__ import annotations

from sendonce.program.values import ClassRef, Const, Op, Table, Text, Value, text


def operation(value: Op, operands: tuple[Value, ...]) -> Value:
    """What an operation gives for resolved operands; the operation itself where they do not tell."""
    if all(isinstance(operand, Const) for operand in operands):
        return _folded(value.op, [operand.value for operand in operands], value)  # type: ignore[attr-defined]
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
