"""Questions that lead to questions: each is answered once, and none waits for itself.

A question that comes back to itself while it is being answered, or that lies too deep, gets
"unknown"; what was answered with the help of such an answer is not kept, since it may know more
when it is asked from somewhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

MAX_DEPTH = 40
"""How deep one question may lead to others before the answer is unknown."""
MAX_FLOOR = 80
"""How deep a question may be that starts a walk."""
MAX_REPEATS = 2
"""How often a question that leads back to itself is answered anew before its answer is kept."""

MAX_UNSURE = 40
"""The same for one that hangs on a walk which is not over."""
UNSURE = -1

T = TypeVar("T")
Key = tuple[object, ...]


class Memo:
    """The answers given so far, and the questions that are being answered."""

    def __init__(self) -> None:
        self._known: dict[Key, object] = {}
        self._busy: dict[Key, int] = {}
        self._lowest = 0
        self._floor = 0
        self._thrown: dict[Key, int] = {}

    def once(self, key: Key, answer: Callable[[], T], unknown: T) -> T:
        """The memoised answer to a question; `unknown` while it is being answered or too deep."""
        if key in self._known:
            return self._known[key]  # type: ignore[return-value]
        index = len(self._busy)
        if key in self._busy:
            self._lowest = min(self._lowest, self._busy[key])
            return unknown
        if index - self._floor > MAX_DEPTH:
            return unknown
        self._busy[key] = index
        outer, self._lowest = self._lowest, index
        try:
            found = answer()
        finally:
            del self._busy[key]
            inner, self._lowest = self._lowest, min(outer, self._lowest)
        if inner >= index:
            self._lowest = outer
        repeats = MAX_REPEATS if inner > UNSURE else MAX_UNSURE
        if (inner >= index and index - self._floor < MAX_DEPTH // 2) or self._asked(key) > repeats:
            # An answer that hangs on a question further out, or was found too deep, may have been cut short.
            self._known[key] = found
        return found

    def unsure(self) -> None:
        """Nothing that is being answered just now is kept: part of what it hangs on is not known yet."""
        self._lowest = UNSURE

    @contextmanager
    def afresh(self) -> Iterator[None]:
        """Lets questions inside go as deep as if nothing was being answered: what a walk finds is kept for good."""
        before = self._floor
        self._floor = max(before, min(len(self._busy), MAX_FLOOR))
        try:
            yield
        finally:
            self._floor = before

    def _asked(self, key: Key) -> int:
        """Counts the answers that were thrown away: a knot of questions must end some time."""
        self._thrown[key] = self._thrown.get(key, 0) + 1
        return self._thrown[key]
