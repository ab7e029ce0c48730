"""A place in a source text that moves from token to token and knows its line and column.

libcst keeps no positions and its own provider costs several times the parse. But its tree holds
every token in source order, so a walk in that order needs only to step over each token's length
and over the blanks between tokens.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from sendonce.facts import Span

Start = tuple[int, int]
"""Line and column, both from 1."""

_BLANKS = frozenset(" \t\f\r\n\\#")
_BLANK_RUN = re.compile(r"(?:[ \t\f\r\n]+|\\(?:\r\n?|\n)|#[^\r\n\0]*)*").match
_LINE_END = re.compile(r"\r\n?|\n")
_END = "\0"  # stops every look at the next character; source text never holds it


class OutOfStepError(Exception):
    """Tree and text do not agree: the parser kept a token out of the tree, or the walk missed one."""


class Cursor:
    """Stands before, in or after a token of `text`; all methods move forward only.

    `yields` is the walker's note that the function around this place has a `yield` of its own.
    """

    __slots__ = ("_next_line", "_starts", "_zero", "line", "pos", "text", "yields")

    def __init__(self, text: str) -> None:
        self.text = text + _END
        self.pos = 0
        self.yields = False
        self._starts = [0, *(end.end() for end in _LINE_END.finditer(text)), len(text) + 1]
        self._enter_line()

    def _enter_line(self) -> None:
        self.line = bisect_right(self._starts, self.pos)
        self._zero = self._starts[self.line - 1] - 1  # the offset that has column 0
        self._next_line = self._starts[self.line]

    def skip(self) -> None:
        """Goes over blanks, comments and line ends to the next token."""
        text, pos = self.text, self.pos
        if text[pos] not in _BLANKS:
            return
        pos += 1
        if text[pos] in _BLANKS or text[pos - 1] != " ":
            match = _BLANK_RUN(text, pos - 1)
            pos = match.end() if match else pos
        self.pos = pos
        if pos >= self._next_line:
            self._enter_line()

    def token(self, width: int) -> None:
        """Goes to the next token and over it. It has `width` characters and no line end."""
        self.skip()
        self.pos += width

    def word(self, word: str) -> None:
        """Goes to the next token and over it; raises OutOfStepError if it is not `word`."""
        self.skip()
        if not self.text.startswith(word, self.pos):
            raise OutOfStepError
        self.pos += len(word)

    def string(self, width: int) -> None:
        """Goes over `width` characters that may hold line ends."""
        self.pos += width
        if self.pos >= self._next_line:
            self._enter_line()

    def comma(self) -> None:
        """Goes to the next token, and over it if it is a comma. Only where a token must follow."""
        self.skip()
        if self.text[self.pos] == ",":
            self.pos += 1

    def start(self) -> Start:
        """Goes to the next token and says where it stands."""
        self.skip()
        return self.line, self.pos - self._zero

    def opened(self, parens: Sequence[object]) -> Start:
        """Like `start`, behind the given parentheses."""
        self.skip()
        for _ in parens:
            self.pos += 1
            self.skip()
        return self.line, self.pos - self._zero

    def here(self, start: Start) -> Span:
        """The span from `start` to this place."""
        return (*start, self.line, self.pos - self._zero)

    def closed(self, start: Start, parens: Sequence[object]) -> Span:
        """The span from `start` to this place; then goes over the given parentheses."""
        span = (*start, self.line, self.pos - self._zero)
        for _ in parens:
            self.token(1)
        return span

    def text_at(self, span: Span) -> str:
        """The text of a span."""
        line, column, end_line, end_column = span
        return self.text[self._starts[line - 1] + column - 1 : self._starts[end_line - 1] + end_column - 1]

    def end(self) -> None:
        """Goes to the end of the text; raises OutOfStepError if more than blanks is left."""
        self.skip()
        if self.pos != len(self.text) - 1:
            raise OutOfStepError
