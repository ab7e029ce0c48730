"""Which function turns which kind of node into facts."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from sendonce.facts import Expr, Stmt
from sendonce.frontend.abstract.source import Node, Source

EXPRESSIONS: dict[type[ast.AST], Callable[[Source, Node], Expr]] = {}
"""Filled by the modules that hold the functions, as are the others. The walk looks functions up itself where
a call in between would show: it visits some ten nodes a line."""

STATEMENTS: dict[type[ast.AST], Callable[[Source, Node], Stmt]] = {}

SEVERAL: dict[type[ast.AST], Callable[[Source, Node], list[Stmt]]] = {}
"""Statements that become several facts, such as one for each imported name."""


def expression(s: Source, node: Node) -> Expr:
    """The facts of an expression."""
    return EXPRESSIONS[type(node)](s, node)


def optional(s: Source, node: Node | None) -> Expr | None:
    """The facts of an expression that may be missing."""
    return None if node is None else EXPRESSIONS[type(node)](s, node)


def expressions(s: Source, nodes: Sequence[Node]) -> tuple[Expr, ...]:
    """The facts of several expressions."""
    return tuple([EXPRESSIONS[type(node)](s, node) for node in nodes])


def block(s: Source, nodes: Sequence[Node]) -> tuple[Stmt, ...]:
    """The facts of statements in their order."""
    found: list[Stmt] = []
    for node in nodes:
        one = STATEMENTS.get(type(node))
        if one is None:
            found += SEVERAL[type(node)](s, node)
        else:
            found.append(one(s, node))
    return tuple(found)


def register(table: dict[type[ast.AST], Callable[[Source, Node], Any]], name: str, function: Any) -> None:
    """Enters a function for a kind of node that not every supported Python has."""
    kind = getattr(ast, name, None)
    if kind is not None:
        table[kind] = function
