"""Python source → facts, by libcst.

libcst reads the syntax of every Python 3 on any interpreter. This module and its neighbours are
imported only when a file must be parsed: importing libcst takes longer than many whole runs.
"""

from __future__ import annotations

import io
import re
import threading
import tokenize
from collections.abc import Callable
from typing import TypeVar

import libcst as cst

from sendonce.errors import ParseError
from sendonce.facts import ModuleFacts
from sendonce.frontend import displays, expressions, patterns, simple, strings  # noqa: F401  (they register their functions)
from sendonce.frontend.cursor import Cursor
from sendonce.frontend.statements import block, docstring

DEEPEST_BRACKETS = 200
"""CPython's own limit; libcst's parser needs time out of all proportion beyond it."""

_STACK = 512 * 1024 * 1024
"""Bytes of address space, used only as far as a file nests; libcst's parser crashes where the stack ends."""

_T = TypeVar("_T")


def extract(source: bytes) -> ModuleFacts:
    """The facts of a file with the given content.

    Raises ParseError if it is not Python 3 or cannot be read for another reason.
    """
    text = decode(source)
    _check_brackets(text)
    return _with_deep_stack(lambda: _facts(text))


def _facts(text: str) -> ModuleFacts:
    cursor = Cursor(text)
    try:
        body = block(cursor, _parse(text).body)
    except RecursionError:
        raise ParseError("the code is nested too deeply", cursor.line) from None
    if not cursor.at_end():
        raise ParseError("the parser lost its place in the text; please report this file", cursor.line)
    return ModuleFacts(body, docstring(body))


# ------------------------------------------------------------------ text


def decode(source: bytes) -> str:
    """The text of a file in the encoding that it declares, without byte order mark; raises ParseError."""
    place = source.find(b"\0")
    if place >= 0:
        raise ParseError("the file holds NUL bytes: it is binary or not in UTF-8", _line_of(source, place))
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        return source.decode(encoding)
    except UnicodeDecodeError as error:
        line = _line_of(source, error.start)
        raise ParseError(f"the file is not in {error.encoding}: byte {source[error.start]:#04x}", line) from None
    except (SyntaxError, LookupError, UnicodeError) as error:
        raise ParseError(str(error), 1) from None


def _line_of(source: bytes, place: int) -> int:
    return len(re.findall(rb"\r\n?|\n", source[:place])) + 1


# ------------------------------------------------------------------ depth


_NOT_BRACKETS = bytes(byte for byte in range(256) if byte not in b"()[]{}")
_NESTING_TOKEN = re.compile(
    r'(?s)#[^\r\n]*|("""|\'\'\')(?:\\.|.)*?\1|"(?:\\.|[^"\\\r\n])*"|\'(?:\\.|[^\'\\\r\n])*\'|[()\[\]{}]'
)


def _check_brackets(text: str) -> None:
    """Raises ParseError if brackets nest deeper than Python allows."""
    if _depth_bound(text) <= DEEPEST_BRACKETS:
        return
    depth = 0
    for token in _NESTING_TOKEN.finditer(text):
        if token[0] in ("(", "[", "{"):
            depth += 1
            if depth > DEEPEST_BRACKETS:
                line = text.count("\n", 0, token.start()) + 1
                raise ParseError(f"brackets are nested deeper than {DEEPEST_BRACKETS}", line)
        elif token[0] in (")", "]", "}"):
            depth -= 1


def _depth_bound(text: str) -> int:
    """A number that the nesting of brackets does not exceed, found without looking at strings and comments."""
    brackets = text.encode("utf-8", "replace").translate(None, _NOT_BRACKETS)
    rounds = 0
    while rounds <= DEEPEST_BRACKETS:
        shorter = brackets.replace(b"()", b"").replace(b"[]", b"").replace(b"{}", b"")
        if len(shorter) == len(brackets):
            break
        brackets = shorter
        rounds += 1
    return 3 * rounds + len(brackets)


def _with_deep_stack(work: Callable[[], _T]) -> _T:
    """What `work` returns or raises, run on a stack that holds any file that Python itself could compile."""
    outcome: list[_T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # raised again in the caller's thread
            failure.append(error)

    before = threading.stack_size(_STACK)
    try:
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
    except RuntimeError:  # no address space for such a stack
        run()
    else:
        thread.join()
    finally:
        threading.stack_size(before)
    if failure:
        raise failure[0]
    return outcome[0]


# ------------------------------------------------------------------ syntax errors


_PYTHON_2 = (
    (re.compile(r"\s*print\s+[^\s=(.,\[]|.*[:;]\s*print\s+[\"'\w]"), "a Python 2 print statement?"),
    (re.compile(r"\s*exec\s+[\"'\w]"), "a Python 2 exec statement?"),
    (re.compile(r"\s*raise\s+[\w.]+\s*,"), "a Python 2 raise statement?"),
    (re.compile(r"[^\"'#]*<>"), "the Python 2 operator <>?"),
    (re.compile(r"[^\"'#]*`"), "Python 2 backticks?"),
    (re.compile(r"[^\"'#]*\b0[0-7]+\b|[^\"'#]*\b\d+[lL]\b"), "a Python 2 number?"),
    (re.compile(r".*\bur[\"']"), "a Python 2 string prefix?"),
)
_PLACE = re.compile(r"error at (\d+):(\d+): ")


def _parse(text: str) -> cst.Module:
    try:
        return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        raise _syntax_error(error, text) from None
    except RecursionError:
        raise
    except Exception as error:  # libcst checks some rules while it makes the nodes
        raise ParseError(f"not valid Python: {error}") from None


def _syntax_error(error: cst.ParserSyntaxError, text: str) -> ParseError:
    found = _PLACE.search(error.message)
    line = int(found[1]) if found else error.raw_line
    source = text.splitlines()[line - 1] if 0 < line <= len(text.splitlines()) else ""
    hint = next((words for pattern, words in _PYTHON_2 if pattern.match(source)), None)
    detail = error.message.rpartition("error: ")[2] if not found else "invalid syntax"
    return ParseError(f"{detail} ({hint})" if hint else detail, line)
