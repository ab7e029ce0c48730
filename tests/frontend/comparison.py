"""Both front ends over one text, and where their facts differ."""

from __future__ import annotations

import ast
import warnings
from typing import Any

import msgspec

from sendonce.errors import ParseError
from sendonce.frontend.abstract import reading as abstract
from sendonce.frontend.concrete import reading as concrete
from sendonce.frontend.text import decode


def difference(source: bytes) -> str:
    """Where the two front ends differ first, or an empty text; what only one of them reads is no difference."""
    text = decode(source)
    ours = abstract.facts_of(text)
    assert abstract.can_read(text) == is_readable(text)
    assert ours is None or is_readable(text)
    try:
        theirs = concrete.facts_of(text)
    except ParseError:
        return ""
    if ours is None or msgspec.msgpack.encode(ours) == msgspec.msgpack.encode(theirs):
        return ""
    return first_difference(ours, theirs)


def is_readable(text: str) -> bool:
    """Whether the running interpreter can read a text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def first_difference(left: Any, right: Any, path: str = "module") -> str:
    """Where two facts differ first, or an empty text."""
    if type(left) is not type(right):
        return f"{path}: {left!r} != {right!r}"
    if isinstance(left, msgspec.Struct):
        place = f"{path} {type(left).__name__}{getattr(left, 'at', '')}"
        fields = ((getattr(left, f), getattr(right, f), f"{place}.{f}") for f in left.__struct_fields__)
        return next((found for item in fields if (found := first_difference(*item))), "")
    if isinstance(left, tuple) and len(left) == len(right) and not all(isinstance(item, int) for item in left):
        items = ((a, b, f"{path}[{i}]") for i, (a, b) in enumerate(zip(left, right, strict=True)))
        return next((found for item in items if (found := first_difference(*item))), "")
    return "" if left == right and repr(left) == repr(right) else f"{path}: {left!r} != {right!r}"
