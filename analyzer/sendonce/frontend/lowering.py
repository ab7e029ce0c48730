"""What both front ends make of syntax that has no fact of its own."""

from __future__ import annotations

from typing import Literal

from sendonce import facts
from sendonce.facts import Expr, Span, Stmt
from sendonce.frontend.literals import storable

LONGEST_CHAIN = 100
"""A chain of more binary operators is one `Opaque`: nobody folds it, and it would nest as deep as it is long."""

Comparator = Literal["==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"]


def chained(at: Span, left: Expr, links: list[tuple[Comparator, Expr]]) -> Expr:
    """`left op right op right …` as an `and` of comparisons, each from its left to its right operand."""
    values: list[Expr] = []
    for op, right in links:
        values.append(facts.Compare(left.at[:2] + right.at[2:], left, op, right))
        left = right
    return facts.BoolOp(at, "and", tuple(values))


def docstring(body: tuple[Stmt, ...]) -> str | None:
    """The text of a first statement that is nothing but a string."""
    if body and isinstance(body[0], facts.ExprStmt) and isinstance(body[0].value, facts.Constant):
        value = body[0].value.value
        return value if isinstance(value, str) else None
    return None


def text_constant(at: Span, value: str, source: str) -> Expr:
    """The constant of a string; `Opaque` with its source text if the facts cannot be written with it."""
    return facts.Constant(at, value) if storable(value) else facts.Opaque(at, source)


def shown(value: Expr, conversion: str | None, spec: str, holes: tuple[Expr, ...]) -> Expr:
    """The hole of an f-string: `value` itself only if it is shown as it is; `holes` are those in its format."""
    if conversion in (None, "s") and not spec:
        return value
    text = (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "")
    return facts.Opaque(value.at, text, (value, *holes))
