"""Which log call of the code wrote a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sendonce.findings import Place
from sendonce.program.timeline import Logged, Timeline

_LEAST = 4
"""How many letters a text must have to be told from others."""


@dataclass(frozen=True)
class Pattern:
    """The text of a log call: `anchor` is its longest written piece, which every line of it has."""

    place: Place
    anchor: str
    text: re.Pattern[str]


class Patterns:
    """The log calls on some ways."""

    def __init__(self, timelines: Sequence[Timeline]) -> None:
        known = {line.place: line for timeline in timelines for line in timeline.logged}
        found = (_pattern(line) for line in known.values())
        self.all = sorted((one for one in found if one is not None), key=lambda one: (-len(one.anchor), one.place))

    def of(self, message: str) -> Place | None:
        """The log call that wrote a message: of those that fit, the one with the most text."""
        for pattern in self.all:
            if pattern.anchor in message and pattern.text.search(message):
                return pattern.place
        return None


def _pattern(line: Logged) -> Pattern | None:
    """None for a text that has too little to go by."""
    written = [piece for piece in line.pieces if piece]
    anchor = max(written, key=len, default="")
    if sum(char.isalnum() for char in anchor) < _LEAST:
        return None
    return Pattern(line.place, anchor, re.compile(_source(line.pieces), re.DOTALL))


def _source(pieces: Iterable[str | None]) -> str:
    """The expression: what is filled in is anything."""
    parts: list[str] = []
    for piece in pieces:
        wanted = ".*?" if piece is None else re.escape(piece)
        if wanted and not (wanted == ".*?" and parts and parts[-1] == ".*?"):
            parts.append(wanted)
    return "".join(parts)
