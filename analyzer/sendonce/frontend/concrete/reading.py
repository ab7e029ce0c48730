"""The facts of a text by libcst, on a stack that holds its recursion, and what its errors are called.

This module and its neighbours are imported only when a file needs them: importing libcst takes
longer than many whole runs.
"""

from __future__ import annotations

import ast
import re
import threading
import warnings
from collections.abc import Callable
from typing import TypeVar

import libcst as cst

from sendonce.errors import ParseError
from sendonce.facts import ModuleFacts, Stmt
from sendonce.frontend.collector import paused_collector
from sendonce.frontend.concrete import displays, expressions, patterns, simple, strings  # noqa: F401  (to register)
from sendonce.frontend.concrete.cursor import Cursor, OutOfStepError
from sendonce.frontend.concrete.statements import block
from sendonce.frontend.lowering import docstring
from sendonce.frontend.text import line_behind

DEEPEST_BRACKETS = 200
"""CPython's own limit; libcst's parser needs time out of all proportion beyond it."""

LONGEST_CHAIN = 3000
"""Operators, calls and attributes in one expression: CPython compiles no longer ones, libcst's parser needs time that
grows with the square, and in the end all memory."""

_STACK = 512 * 1024 * 1024
"""Bytes of address space, used only as far as a file nests; libcst's parser crashes where the stack ends."""

_SHALLOW = 2048
"""Files of fewer characters cannot nest deeply enough to need such a stack."""

_T = TypeVar("_T")


def facts_of(text: str) -> ModuleFacts:
    """The facts of a text; raises ParseError if it is not Python 3 or cannot be read for another reason."""
    _check_brackets(text)
    _check_chains(text)
    if len(text) < _SHALLOW:
        return _facts(text)
    return _with_deep_stack(lambda: _facts(text))


def _facts(text: str) -> ModuleFacts:
    cursor = Cursor(text)
    with paused_collector():
        body = _body(cursor, text)
    return ModuleFacts(body, docstring(body))


def _body(cursor: Cursor, text: str) -> tuple[Stmt, ...]:
    try:
        body = block(cursor, _parse(text).body)
        cursor.end()
    except RecursionError:
        raise ParseError("the code is nested too deeply", cursor.line) from None
    except OutOfStepError:
        raise ParseError("the parser's tree does not fit the text; please report this file", cursor.line) from None
    return body


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
                line = line_behind(text[: token.start()].encode())
                raise ParseError(f"brackets are nested deeper than {DEEPEST_BRACKETS}", line)
        elif token[0] in (")", "]", "}"):
            depth -= 1


_CHAIN_TOKEN = re.compile(
    r'(?s)#[^\r\n]*|("""|\'\'\')(?:\\.|.)*?\1|"(?:\\.|[^"\\\r\n])*"|\'(?:\\.|[^\'\\\r\n])*\''
    r"|[()\[\]{}]|[,;:=\n]|[-+*/%&|^~@<>]|\.(?=[^\W\d])|\b(?:and|or|not|in|is|if|else|await)\b"
)


def _check_chains(text: str) -> None:
    """Raises ParseError if an expression has more operators, calls and attributes in a row than Python compiles."""
    if len(text) < LONGEST_CHAIN:
        return
    depth = length = 0
    for token in _CHAIN_TOKEN.finditer(text):
        word = token[0]
        if word in ("(", "[", "{"):
            depth += 1
            length += 1
        elif word in (")", "]", "}"):
            depth -= 1
        elif word in (",", ";", ":", "=") or (word == "\n" and depth <= 0):
            length = 0
        elif word != "\n" and word[0] not in "#\"'":
            length += 1
        if length > LONGEST_CHAIN:
            line = line_behind(text[: token.start()].encode())
            raise ParseError(f"an expression is nested too deeply: more than {LONGEST_CHAIN} parts in a row", line)


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
    (re.compile(r"\s*def\s+\w+\s*\([^)]*\("), "a Python 2 tuple parameter?"),
)


def _parse(text: str) -> cst.Module:
    try:
        return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        kind, _, detail = error.message.partition(" error: ")
        if kind == "parser":  # its message lists all tokens that could follow
            raise _syntax_error(text, "invalid syntax", error.raw_line) from None
        raise _syntax_error(text, detail or kind, _interpreter_line(text)) from None
    except cst.CSTValidationError as error:
        raise _syntax_error(text, str(error), _interpreter_line(text)) from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # what a failure of the native parser is raised as
            raise
        raise ParseError(f"libcst cannot read the file: {error}", _interpreter_line(text)) from None


def _syntax_error(text: str, message: str, line: int) -> ParseError:
    source = re.split(r"\r\n?|\n", text)[line - 1] if line else ""
    hint = next((words for pattern, words in _PYTHON_2 if pattern.match(source)), None)
    return ParseError(f"{message} ({hint})" if hint else message, line)


def _interpreter_line(text: str) -> int:
    """Where the running interpreter sees an error, for those that libcst does not place; 0 for nowhere."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        return error.lineno or 0
    except (ValueError, MemoryError, RecursionError):
        return 0
    return 0
