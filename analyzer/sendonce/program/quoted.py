"""Annotations in quotes, or with names in quotes, as the expressions that they mean."""

from __future__ import annotations

import ast

from sendonce import facts


def unquoted(node: facts.Expr) -> facts.Expr | None:
    """An annotation without quotes (`list["Order"]` as `list[Order]`); None for a text that is no annotation."""
    match node:
        case facts.Constant(at=at, value=str() as source):
            parsed = _parsed_annotation(source, at)
            return None if parsed is None else unquoted(parsed)
        case facts.Subscript(at=at, value=value, index=index) if not _is_literal(value):
            return facts.Subscript(at, value, unquoted(index) or index)
        case facts.BinOp(at=at, left=left, op="|", right=right):
            return facts.BinOp(at, unquoted(left) or left, "|", unquoted(right) or right)
        case facts.Sequence(at=at, kind=kind, items=items):
            return facts.Sequence(at, kind, tuple(unquoted(item) or item for item in items))
        case _:
            return node


def _is_literal(node: facts.Expr) -> bool:
    """Whether an annotation is a `Literal`, whose texts are no names."""
    name = node.id if isinstance(node, facts.Name) else node.attr if isinstance(node, facts.Attribute) else ""
    return name == "Literal"


def _parsed_annotation(source: str, at: facts.Span) -> facts.Expr | None:
    """A string annotation as an expression: names, attributes, subscripts and `|`; None for anything else."""
    if len(source) > 200:
        return None
    try:
        return _from_ast(ast.parse(source.strip(), mode="eval").body, at)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _from_ast(node: ast.expr, at: facts.Span) -> facts.Expr:
    match node:
        case ast.Name(id=name):
            return facts.Name(at, name)
        case ast.Attribute(value=value, attr=attr):
            return facts.Attribute(at, _from_ast(value, at), attr)
        case ast.Subscript(value=value, slice=index):
            return facts.Subscript(at, _from_ast(value, at), _from_ast(index, at))
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return facts.BinOp(at, _from_ast(left, at), "|", _from_ast(right, at))
        case ast.Tuple(elts=items):
            return facts.Sequence(at, "tuple", tuple(_from_ast(item, at) for item in items))
        case ast.Constant(value=str() | None as value):
            return facts.Constant(at, value)
        case _:
            raise ValueError("not an annotation that names a class")
