"""Where the expressions inside f-strings stand, for Pythons whose `ast` does not know: those before 3.12.

There an f-string is a string token first and looked into afterwards, so it ends at its own quote and
its expressions hold neither that quote nor a backslash nor a comment. This reads a token by the same
rules, then has each expression parsed as a text of its own and moved to its place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sendonce.frontend.abstract.places import count_characters, move
from sendonce.frontend.abstract.source import Node, Source, span
from sendonce.frontend.text import LINE_END

Hole = tuple[int, str]
"""The offset of an expression in its f-string, and its text."""


class UnsureError(Exception):
    """The places of an f-string's expressions could not be found for sure."""


class Holes:
    """The expressions of one f-string in the order of the source, each to be taken once."""

    def __init__(self, source: Source, node: Node) -> None:
        self._text = text = source.segment(span(node))
        self._line, self._column = node.lineno, node.col_offset
        self._one_line = node.lineno == node.end_lineno
        if _SIMPLE.fullmatch(text):
            self._found: Iterator[Hole] = iter([(hole.start(1), hole[1]) for hole in _SIMPLE_HOLE.finditer(text)])
        else:
            self._found = _of_pieces(text)

    def take(self, node: Node) -> Node:
        """The next expression in its place, for one that stands somewhere else; raises UnsureError if there is none."""
        hole = next(self._found, None)
        if hole is None:
            raise UnsureError
        offset, text = hole
        line, column = self._place(offset)
        if _DOTTED.fullmatch(text) and _put(node, line, column, text):
            return node
        return _parsed(text, line, column)

    def close(self) -> None:
        """Raises UnsureError if there is a further expression."""
        if next(self._found, None) is not None:
            raise UnsureError

    def _place(self, offset: int) -> tuple[int, int]:
        """The line and the column, from 0, of an offset in the f-string."""
        if self._one_line:
            return self._line, self._column + offset
        lines = LINE_END.split(self._text[:offset])
        return self._line + len(lines) - 1, len(lines[-1]) + (self._column if len(lines) == 1 else 0)


# ------------------------------------------------------------------ to their places

_BLANKS = " \t\f\r\n"


def _put(node: Node, line: int, column: int, text: str) -> bool:
    """Places a dotted name, most expressions there are, on a line; whether it is one."""
    end = column + len(text)
    while type(node) in (ast.Name, ast.Attribute):
        node.lineno = node.end_lineno = line
        node.col_offset, node.end_col_offset = column, end
        if type(node) is ast.Name:
            return True
        end -= len(node.attr) + 1
        node = node.value
    return False


def _parsed(text: str, line: int, column: int) -> Node:
    inner = f"({text})"
    tree = ast.parse(inner, mode="eval").body
    if not text.isascii():
        count_characters(tree, LINE_END.split(inner))
    if tree.col_offset == 0 and tree.lineno == 1:
        _without_parentheses(tree, text)
    move(tree, line - 1, column - 1)
    return tree


def _without_parentheses(tree: Node, text: str) -> None:
    """Takes the parentheses that only the parse needs from a tuple or generator that took them for its own."""
    before, after = text[: len(text) - len(text.lstrip(_BLANKS))], text.rstrip(_BLANKS)
    for name, part in (("", before), ("end_", after)):
        line_end = max(part.rfind("\n"), part.rfind("\r"))
        setattr(tree, f"{name}lineno", 1 + len(LINE_END.findall(part)))
        setattr(tree, f"{name}col_offset", len(part) - line_end - (0 if line_end < 0 else 1))


# ------------------------------------------------------------------ reading

_DOTTED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")
_SIMPLE_HOLE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.]*)\}")
_SIMPLE = re.compile(
    r"""[fF](?:"[^{}"\\\r\n]*(?:\{[A-Za-z_][A-Za-z0-9_.]*\}[^{}"\\\r\n]*)*"|'[^{}'\\\r\n]*(?:\{[A-Za-z_][A-Za-z0-9_.]*\}[^{}'\\\r\n]*)*')"""
)
"""Most f-strings: one piece without braces, escapes or formats, in which dotted names stand."""

_BETWEEN = re.compile(r"(?:[ \t\f\r\n]+|\\(?:\r\n?|\n)|#[^\r\n]*)*")
_PIECE = re.compile(
    r"""(?P<prefix>[A-Za-z]*)(?:"{3}(?P<a>[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*)"{3}"""
    r"""|'{3}(?P<b>[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*)'{3}|"(?P<c>[^"\\]*(?:\\.[^"\\]*)*)"|'(?P<d>[^'\\]*(?:\\.[^'\\]*)*)')""",
    re.DOTALL,
)
_TEXT = re.compile(r"[^{}\\]*(?:(?:\{\{|\}\}|\\N\{[^}]*\}|\\[^{}]|\\)[^{}\\]*)*", re.DOTALL)
_RAW_TEXT = re.compile(r"[^{}]*(?:(?:\{\{|\}\})[^{}]*)*")
_FORMAT = re.compile(r"[^{}\\]*(?:(?:\\N\{[^}]*\}|\\[^{}]|\\)[^{}\\]*)*", re.DOTALL)
_RAW_FORMAT = re.compile(r"[^{}]*")
_STEP = re.compile(
    r"""[^'"()\[\]{}!:=<>#\\]+|\"{3}.*?\"{3}|'{3}.*?'{3}|"[^"]*"|'[^']*'|[!=<>]=|[<>]|(?P<open>[(\[{])|(?P<other>.)""",
    re.DOTALL,
)
_CONVERSION = re.compile(r"(?:=\s*)?(?:![a-z])?")


def _of_pieces(text: str) -> Iterator[Hole]:
    """The holes of joined strings."""
    begin = 0
    while begin < len(text):
        piece = _PIECE.match(text, begin)
        if piece is None or piece.lastgroup is None:
            raise UnsureError
        prefix = piece["prefix"].lower()
        if "f" in prefix:
            yield from _Reader(text, piece.end(piece.lastgroup), "r" in prefix).top(piece.start(piece.lastgroup))
        between = _BETWEEN.match(text, piece.end())
        begin = between.end() if between else len(text)


class _Reader:
    """Reads one f-string that ends, without its quotes, at an offset of a text."""

    def __init__(self, text: str, end: int, raw: bool) -> None:
        self.text = text
        self.end = end
        self.raw = raw
        self.pos = 0

    def top(self, begin: int) -> Iterator[Hole]:
        """The holes in an f-string, and in their formats, from the offset of its first character."""
        self.pos = begin
        literal = _RAW_TEXT if self.raw else _TEXT
        self._skip(literal)
        while self.pos < self.end:
            yield from self._hole()
            self._skip(literal)

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self.text, self.pos, self.end)
        self.pos = match.end() if match else self.pos

    def _expect(self, char: str) -> None:
        if self.pos >= self.end or self.text[self.pos] != char:
            raise UnsureError
        self.pos += 1

    def _hole(self) -> Iterator[Hole]:
        self._expect("{")
        begin = self.pos
        self._to_end_of_expression()
        yield begin, self.text[begin : self.pos]
        self._skip(_CONVERSION)
        if self.text[self.pos : self.pos + 1] == ":" and self.pos < self.end:
            self.pos += 1
            yield from self._format()
        self._expect("}")

    def _format(self) -> Iterator[Hole]:
        literal = _RAW_FORMAT if self.raw else _FORMAT
        self._skip(literal)
        while self.pos < self.end and self.text[self.pos] == "{":
            yield from self._hole()
            self._skip(literal)

    def _to_end_of_expression(self) -> None:
        """Goes to the `!`, `:`, `=` or `}` behind an expression."""
        depth = 0
        while True:
            step = _STEP.match(self.text, self.pos, self.end)
            if step is None:
                raise UnsureError
            if step.lastgroup == "other":
                if step[0] in "#\\'\"":
                    raise UnsureError
                if depth == 0:
                    return
                depth -= step[0] in ")]}"
            elif step.lastgroup == "open":
                depth += 1
            self.pos = step.end()
