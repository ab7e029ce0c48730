"""The text of a file, in whatever encoding it is written."""

from __future__ import annotations

import codecs
import io
import re
import tokenize

from sendonce.errors import ParseError

LINE_END = re.compile(r"\r\n?|\n")
_FIRST_LINES = re.compile(rb"[^\n]*\n?[^\n]*")


def decode(source: bytes) -> str:
    """The text of a file in the encoding that it declares, without byte order mark; raises ParseError."""
    place = source.find(b"\0")
    if place >= 0:
        raise ParseError("the file holds NUL bytes: it is binary or not in UTF-8", line_behind(source[:place]))
    try:
        return source.decode(_encoding(source))
    except UnicodeDecodeError as error:
        raise _undecodable(source, error) from None
    except (SyntaxError, LookupError, UnicodeError) as error:
        raise _undeclared(source, str(error)) from None


def _encoding(source: bytes) -> str:
    """What a file says of its encoding, in its first two lines."""
    head = _FIRST_LINES.match(source)
    if head and b"coding" not in head[0] and not source.startswith(codecs.BOM_UTF8):
        return "utf-8"
    return tokenize.detect_encoding(io.BytesIO(source).readline)[0]


def _undeclared(source: bytes, message: str) -> ParseError:
    """The error for a declaration that is wrong, or for a first line that needs one."""
    try:
        source.decode("utf-8")
    except UnicodeDecodeError as error:
        return _undecodable(source, error)
    return ParseError(message, 1)


def _undecodable(source: bytes, error: UnicodeDecodeError) -> ParseError:
    byte = source[error.start]
    return ParseError(f"byte {byte:#04x} is not valid {error.encoding}", line_behind(source[: error.start]))


def line_behind(before: bytes) -> int:
    """The line on which the bytes behind `before` stand."""
    return len(re.findall(rb"\r\n?|\n", before)) + 1
