"""The values of string and number literals, as the language defines them."""

from __future__ import annotations

import re
import unicodedata

NUMBER_OF_BITS = 60
_ESCAPE = re.compile(r"\\(?:N\{[^}]*\}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|.)", re.DOTALL)
_STRING_OR_COMMENT = re.compile(
    r"""("{3}(?:\\.|.)*?"{3}|'{3}(?:\\.|.)*?'{3}|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|#[^\r\n]*""", re.DOTALL
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_SIMPLE = {
    "\n": "",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}


def identifier(text: str) -> str:
    """The name that `text` means: the language compares identifiers in normal form KC."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def storable(value: str) -> bool:
    """Whether the facts can be written with it: a lone surrogate has no UTF-8."""
    return value.isascii() or not _SURROGATE.search(value)


def without_comments(source: str) -> str:
    """The source of an expression with its comments taken out, as a self-documenting hole shows it."""
    return _STRING_OR_COMMENT.sub(r"\1", source) if "#" in source else source


def integer(text: str) -> int | None:
    """The value of an integer literal, or None if it has more than 60 bits."""
    try:
        value = int(text, 0)
    except ValueError:  # more digits than the interpreter wants to convert
        return None
    return value if value.bit_length() <= NUMBER_OF_BITS else None


def floating(text: str) -> float:
    """The value of a float literal."""
    return float(text.replace("_", ""))


def string(source: str) -> str | None:
    """The value of one string literal without holes; None for bytes."""
    quote_at = min(place for place in (source.find("'"), source.find('"')) if place >= 0)
    prefix = source[:quote_at].lower()
    if "b" in prefix:
        return None
    quote = source[quote_at]
    width = 3 if source.startswith(quote * 3, quote_at) else 1
    return unescaped(source[quote_at + width : -width], raw="r" in prefix)


def unescaped(body: str, raw: bool) -> str:
    """What the text between the quotes of a literal stands for."""
    if "\r" in body:
        body = body.replace("\r\n", "\n").replace("\r", "\n")
    if raw or "\\" not in body:
        return body
    return _ESCAPE.sub(_unescape, body)


def _unescape(match: re.Match[str]) -> str:
    escape = match[0]
    simple = _SIMPLE.get(escape[1:])
    if simple is not None:
        return simple
    if escape[1] in "01234567":
        return chr(int(escape[1:], 8))
    if len(escape) == 2:
        return escape  # unknown escapes stand for themselves
    try:
        return escape.encode("ascii").decode("unicode_escape")
    except UnicodeError:  # such as an unknown \N{name}
        return escape
