"""libcst literals → facts: numbers, strings, joined strings, f-strings and templates."""

from __future__ import annotations

from typing import Any

import libcst as cst

from sendonce import facts
from sendonce.facts import Expr, Span
from sendonce.frontend import literals
from sendonce.frontend.concrete.cursor import Cursor
from sendonce.frontend.concrete.dispatch import EXPRESSIONS, expression, register
from sendonce.frontend.lowering import shown, text_constant


def _integer(c: Cursor, node: cst.Integer) -> Expr:
    start = c.opened(node.lpar)
    c.pos += len(node.value)
    at = c.closed(start, node.rpar)
    value = literals.integer(node.value)
    return facts.Opaque(at, node.value) if value is None else facts.Constant(at, value)


def _float(c: Cursor, node: cst.Float) -> Expr:
    start = c.opened(node.lpar)
    c.pos += len(node.value)
    return facts.Constant(c.closed(start, node.rpar), literals.floating(node.value))


def _imaginary(c: Cursor, node: cst.Imaginary) -> Expr:
    start = c.opened(node.lpar)
    c.pos += len(node.value)
    return facts.Opaque(c.closed(start, node.rpar), node.value)


def _ellipsis(c: Cursor, node: cst.Ellipsis) -> Expr:
    start = c.opened(node.lpar)
    c.pos += 3
    return facts.Ellipsis_(c.closed(start, node.rpar))


def _string(c: Cursor, node: cst.SimpleString) -> Expr:
    start = c.opened(node.lpar)
    source = node.value
    c.string(len(source))
    at = c.closed(start, node.rpar)
    value = literals.string(source)
    return facts.Opaque(at, source) if value is None else text_constant(at, value, source)


def _formatted(c: Cursor, node: cst.FormattedString) -> Expr:
    start = c.opened(node.lpar)
    pieces = _pieces(c, node)
    return facts.FString(at := c.closed(start, node.rpar), _parts(at, pieces))


def _templated(c: Cursor, node: cst.TemplatedString) -> Expr:
    start = c.opened(node.lpar)
    holes = tuple(piece for piece in _pieces(c, node) if not isinstance(piece, str))
    at = c.closed(start, node.rpar)
    return facts.Opaque(at, c.text_at(at), holes)


def _concatenated(c: Cursor, node: cst.ConcatenatedString) -> Expr:
    start = c.opened(node.lpar)
    pieces, kinds = _joined(c, node)
    at = c.closed(start, node.rpar)
    if "b" in kinds or "t" in kinds:
        return facts.Opaque(at, c.text_at(at), tuple(piece for piece in pieces if not isinstance(piece, str)))
    if "f" in kinds:
        return facts.FString(at, _parts(at, pieces))
    return text_constant(at, "".join(piece for piece in pieces if isinstance(piece, str)), c.text_at(at))


def _joined(c: Cursor, node: cst.ConcatenatedString) -> tuple[list[str | Expr], set[str]]:
    """The pieces of all joined strings, and which of bytes (b), f-strings (f) and templates (t) are among them."""
    pieces: list[str | Expr] = []
    kinds = set()
    rest: cst.BaseExpression = node
    while isinstance(rest, cst.ConcatenatedString):
        kinds.add(_joined_piece(c, rest.left, pieces))
        rest = rest.right
    kinds.add(_joined_piece(c, rest, pieces))
    return pieces, kinds


def _joined_piece(c: Cursor, node: cst.BaseExpression, pieces: list[str | Expr]) -> str:
    c.skip()
    if not isinstance(node, cst.SimpleString):
        pieces += _pieces(c, node)
        return "f" if isinstance(node, cst.FormattedString) else "t"
    c.string(len(node.value))
    value = literals.string(node.value)
    pieces.append(value or "")
    return "b" if value is None else ""


def _pieces(c: Cursor, node: Any) -> list[str | Expr]:
    """Texts and holes of one f-string or template, in their order."""
    raw = "r" in node.start.lower()
    pieces: list[str | Expr] = []
    c.pos += len(node.start)
    for part in node.parts:
        if hasattr(part, "expression"):
            pieces += _hole(c, part, raw)
        else:
            pieces.append(_text(c, part.value, raw))
    c.pos += len(node.end)
    return pieces


def _text(c: Cursor, source: str, raw: bool) -> str:
    c.string(len(source))
    return literals.unescaped(source.replace("{{", "{").replace("}}", "}"), raw)


def _hole(c: Cursor, part: Any, raw: bool) -> list[str | Expr]:
    """`{expression = !conversion:spec}`: the text of a self-documenting hole, and its value."""
    c.pos += 1
    begin = c.pos
    value = expression(c, part.expression)
    c.skip()
    label, conversion = "", part.conversion
    if part.equal is not None:
        c.pos += 1
        c.skip()
        label = literals.unescaped(literals.without_comments(c.text[begin : c.pos]), raw=True)
        conversion = conversion or ("r" if part.format_spec is None else None)
    if part.conversion is not None:
        c.pos += 1 + len(part.conversion)
        c.skip()  # blanks that libcst does not keep
    spec, holes = _format_spec(c, part, raw)
    c.pos += 1
    return [label, shown(value, conversion, spec, holes)]


def _format_spec(c: Cursor, part: Any, raw: bool) -> tuple[str, tuple[Expr, ...]]:
    """The text behind the colon of a hole with {} for each hole of its own, and these."""
    if part.format_spec is None:
        return "", ()
    c.pos += 1
    pieces: list[str | Expr] = []
    for piece in part.format_spec:
        if hasattr(piece, "expression"):
            pieces += _hole(c, piece, raw)
        else:
            pieces.append(_text(c, piece.value, raw))
    text = "".join(piece if isinstance(piece, str) else "{}" for piece in pieces)
    return text, tuple(piece for piece in pieces if not isinstance(piece, str))


def _parts(at: Span, pieces: list[str | Expr]) -> tuple[Expr, ...]:
    """Pieces as expressions: neighbouring texts are one constant that spans the whole string."""
    parts: list[Expr] = []
    text = ""
    for piece in pieces:
        if isinstance(piece, str):
            text += piece
            continue
        if text:
            parts.append(text_constant(at, text, ""))
            text = ""
        parts.append(piece)
    if text:
        parts.append(text_constant(at, text, ""))
    return tuple(parts)


EXPRESSIONS.update(
    {
        cst.Integer: _integer,
        cst.Float: _float,
        cst.Imaginary: _imaginary,
        cst.Ellipsis: _ellipsis,
        cst.SimpleString: _string,
        cst.FormattedString: _formatted,
        cst.ConcatenatedString: _concatenated,
    }
)
register(EXPRESSIONS, "TemplatedString", _templated)
