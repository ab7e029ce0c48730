"""Which function turns which kind of libcst node into facts, and what all these functions use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from sendonce.facts import Expr, Stmt
from sendonce.frontend import literals
from sendonce.frontend.concrete.cursor import Cursor

EXPRESSIONS: dict[type[cst.CSTNode], Callable[[Cursor, Any], Expr]] = {}
"""Filled by the modules that hold the functions."""

STATEMENTS: dict[type[cst.CSTNode], Callable[[Cursor, Any], list[Stmt]]] = {}
"""As `EXPRESSIONS`; a statement may become several facts, such as one for each imported name."""


def expression(c: Cursor, node: cst.CSTNode) -> Expr:
    """The facts of the expression that `c` stands before; `c` then stands behind it."""
    return EXPRESSIONS[type(node)](c, node)


def register(table: dict[type[cst.CSTNode], Callable[[Cursor, Any], Any]], name: str, function: Any) -> None:
    """Enters a function for a kind of node that not every supported libcst has."""
    kind = getattr(cst, name, None)
    if kind is not None:
        table[kind] = function


def name_token(c: Cursor, node: cst.Name) -> str:
    """The identifier of a name that is no expression of its own, such as that of a keyword argument."""
    c.word(node.value)
    return literals.identifier(node.value)
