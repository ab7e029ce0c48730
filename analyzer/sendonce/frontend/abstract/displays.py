"""`ast` displays and comprehensions → facts."""

from __future__ import annotations

import ast
from typing import Literal

from sendonce.facts import Comprehension, Dict, Expr, Generator, Sequence, Starred
from sendonce.frontend.abstract.dispatch import EXPRESSIONS, expression, expressions, optional
from sendonce.frontend.abstract.source import Node, Source, span

_KINDS: dict[type[ast.AST], Literal["list", "set", "generator"]] = {
    ast.ListComp: "list",
    ast.SetComp: "set",
    ast.GeneratorExp: "generator",
}


def _tuple(s: Source, n: Node) -> Expr:
    return Sequence(span(n), "tuple", expressions(s, n.elts))


def _list(s: Source, n: Node) -> Expr:
    return Sequence(span(n), "list", expressions(s, n.elts))


def _set(s: Source, n: Node) -> Expr:
    return Sequence(span(n), "set", expressions(s, n.elts))


def _starred(s: Source, n: Node) -> Expr:
    return Starred(span(n), expression(s, n.value))


def _dict(s: Source, n: Node) -> Expr:
    items = [(optional(s, key), expression(s, value)) for key, value in zip(n.keys, n.values, strict=True)]
    return Dict(span(n), tuple(items))


def _comprehension(s: Source, n: Node) -> Expr:
    return Comprehension(span(n), _KINDS[type(n)], None, expression(s, n.elt), _generators(s, n))


def _dict_comprehension(s: Source, n: Node) -> Expr:
    """`{**mapping for …}`, of newer Pythons, has a key and no value: the facts hold the mapping as the element."""
    key, value = (None, n.key) if n.value is None else (n.key, n.value)
    return Comprehension(span(n), "dict", optional(s, key), expression(s, value), _generators(s, n))


def _generators(s: Source, n: Node) -> tuple[Generator, ...]:
    return tuple([_generator(s, item) for item in n.generators])


def _generator(s: Source, n: Node) -> Generator:
    return Generator(expression(s, n.target), expression(s, n.iter), expressions(s, n.ifs), bool(n.is_async))


EXPRESSIONS.update(
    {
        ast.Tuple: _tuple,
        ast.List: _list,
        ast.Set: _set,
        ast.Starred: _starred,
        ast.Dict: _dict,
        ast.ListComp: _comprehension,
        ast.SetComp: _comprehension,
        ast.GeneratorExp: _comprehension,
        ast.DictComp: _dict_comprehension,
    }
)
