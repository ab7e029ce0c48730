"""`ast` literals, f-strings and templates → facts."""

from __future__ import annotations

import ast
import re

from sendonce.facts import Constant, Ellipsis_, Expr, FString, Opaque
from sendonce.frontend.abstract.dispatch import EXPRESSIONS, expression, register
from sendonce.frontend.abstract.holes import Holes, UnsureError
from sendonce.frontend.abstract.places import PLACES_HOLES
from sendonce.frontend.abstract.source import Node, Source, span
from sendonce.frontend.literals import NUMBER_OF_BITS
from sendonce.frontend.lowering import shown, text_constant


def _constant(s: Source, n: Node) -> Expr:
    d = n.__dict__
    value = d["value"]
    at = (d["lineno"], d["col_offset"] + 1, d["end_lineno"], d["end_col_offset"] + 1)
    kind = type(value)
    if kind is str:
        return Constant(at, value) if value.isascii() else text_constant(at, value, s.segment(at))
    if kind is int:
        return Constant(at, value) if value.bit_length() <= NUMBER_OF_BITS else Opaque(at, s.segment(at))
    if value is ...:
        return Ellipsis_(at)
    if kind is bytes or kind is complex:
        return Opaque(at, s.segment(at))
    return Constant(at, value)


# ------------------------------------------------------------------ f-strings

_PROBE: Node = ast.parse("f\"{'#'=}\"", mode="eval").body
_LOSES_HASHES = _PROBE.values[0].value != "'#'="
"""Whether this Python takes a `#` in a string for a comment, where a hole shows its own source: 3.12 and 3.13.0 do."""
_LABELLED_HASH = re.compile(r"#.*=\s*[!:}#]", re.DOTALL)
"""A hash before the `=` that such a hole ends with."""


def _fstring(s: Source, n: Node) -> Expr:
    at = span(n)
    places = None if PLACES_HOLES else Holes(s, n)
    if _LOSES_HASHES and _LABELLED_HASH.search(s.segment(at)):
        raise UnsureError
    parts = []
    for part in n.values:
        if type(part) is ast.Constant:
            parts.append(text_constant(at, str(part.value), ""))
        else:
            parts.append(_hole(s, part, places))
    if places is not None:
        places.close()
    return FString(at, tuple(parts))


def _hole(s: Source, n: Node, places: Holes | None) -> Expr:
    value = expression(s, n.value if places is None else places.take(n.value))
    spec, inner = _format_spec(s, n.format_spec, places)
    return shown(value, chr(n.conversion) if n.conversion >= 0 else None, spec, inner)


def _format_spec(s: Source, n: Node | None, places: Holes | None) -> tuple[str, tuple[Expr, ...]]:
    """The text behind the colon of a hole with {} for each hole of its own, and these."""
    if n is None:
        return "", ()
    text, inner = "", []
    for part in n.values:
        if type(part) is ast.Constant:
            text += str(part.value)
        else:
            text += "{}"
            inner.append(_hole(s, part, places))
    return text, tuple(inner)


def _template(s: Source, n: Node) -> Expr:
    at = span(n)
    inner = [_hole(s, value, None) for value in n.values if type(value) is not ast.Constant]
    return Opaque(at, s.segment(at), tuple(inner))


EXPRESSIONS[ast.Constant] = _constant
EXPRESSIONS[ast.JoinedStr] = _fstring
register(EXPRESSIONS, "TemplateStr", _template)
