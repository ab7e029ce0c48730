"""A source text as the walk over its tree needs it, and where the tree's nodes stand in it."""

from __future__ import annotations

from typing import Any

from sendonce.facts import Span
from sendonce.frontend.text import LINE_END

Node = Any
"""A node of `ast`. Not typed closer, as `ast` holds the end of a node to be optional: a parsed one has it."""


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

    def _offset(self, line: int, column: int) -> int:
        """The offset in the text of a line and a column, both from 1."""
        if not self._starts:
            self._starts = [0, *(end.end() for end in LINE_END.finditer(self.text))]
        return self._starts[line - 1] + column - 1

    def segment(self, at: Span) -> str:
        """The text of a span."""
        line, column, end_line, end_column = at
        if line == end_line:
            return self.lines[line - 1][column - 1 : end_column - 1]
        return self.text[self._offset(line, column) : self._offset(end_line, end_column)]

    def header(self, node: Node, last: Node | None) -> Span:
        """From the start of a function or class to its colon; `last` is the last node inside its header.

        Between the two stand names and brackets only, and comments.
        """
        line, column = (node.lineno, node.col_offset) if last is None else (last.end_lineno, last.end_col_offset)
        while True:
            text = self.lines[line - 1]
            colon, comment = text.find(":", column), text.find("#", column)
            if colon >= 0 and not 0 <= comment < colon:
                return (node.lineno, node.col_offset + 1, line, colon + 1)
            line += 1
            column = 0


def span(n: Node) -> Span:
    """Where a node stands."""
    return (n.lineno, n.col_offset + 1, n.end_lineno, n.end_col_offset + 1)
