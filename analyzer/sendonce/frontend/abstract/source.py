"""A source text as the walk over its tree needs it, and where the tree's nodes stand in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Any

from sendonce.facts import Span
from sendonce.frontend.text import LINE_END

Node = Any
"""A node of `ast`. Not typed closer, as `ast` holds the end of a node to be optional: a parsed one has it."""

_TO_COLON = re.compile(r"[^:#]*(?:#[^\r\n]*[^:#]*)*")


class Source:
    """A text with its line table.

    `yields` is the walker's note that the function around this place has a `yield` of its own.
    """

    __slots__ = ("_starts", "lines", "text", "yields")

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = LINE_END.split(text) if "\r" in text else text.split("\n")
        self.yields = False
        self._starts: list[int] = []

    def offset(self, line: int, column: int) -> int:
        """The offset in the text of a line and a column, both from 1."""
        return self._line_starts()[line - 1] + column - 1

    def place(self, offset: int) -> tuple[int, int]:
        """The line and column, both from 1, of an offset in the text."""
        starts = self._line_starts()
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def segment(self, at: Span) -> str:
        """The text of a span."""
        line, column, end_line, end_column = at
        if line == end_line:
            return self.lines[line - 1][column - 1 : end_column - 1]
        return self.text[self.offset(line, column) : self.offset(end_line, end_column)]

    def header(self, node: Node, last: Node | None) -> Span:
        """From the start of a function or class to its colon; `last` is the last node inside its header."""
        line, column = (node.lineno, node.col_offset) if last is None else (last.end_lineno, last.end_col_offset)
        text = self.lines[line - 1]
        colon = text.find(":", column)
        if colon < 0 or text.find("#", column, colon) >= 0:
            return (node.lineno, node.col_offset + 1, *self._colon_behind(line, column + 1))
        return (node.lineno, node.col_offset + 1, line, colon + 1)

    def _colon_behind(self, line: int, column: int) -> tuple[int, int]:
        match = _TO_COLON.match(self.text, self.offset(line, column))
        assert match is not None
        return self.place(match.end())

    def _line_starts(self) -> list[int]:
        if not self._starts:
            self._starts = [0, *(end.end() for end in LINE_END.finditer(self.text))]
        return self._starts


def span(n: Node) -> Span:
    """Where a node stands."""
    return (n.lineno, n.col_offset + 1, n.end_lineno, n.end_col_offset + 1)
