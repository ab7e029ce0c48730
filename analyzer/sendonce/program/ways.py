"""The ways that functions have to mails: which of them tell something new.

Ways of one function that differ in their conditions alone are kept apart only as far as that
tells anything: one with fewer conditions stands for those with more, and two that a single test
parts stand for one without it. A function with a hundred branches has so few ways, not 2^100.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sendonce.program.link import Edge
from sendonce.program.mail import Condition, Mail

MAX_ALIKE = 100
"""How many ways to one mail, under different conditions, a function may have before the rest is left out (and said)."""
MAX_WAYS = 4000
"""How many ways to mails one function may have altogether."""
MAX_LENGTH = 1000
"""How many hops a way may have."""
MAX_AGAIN = 6
"""How many more calls of one function that lead to one mail are remembered."""


@dataclass(frozen=True, eq=False)
class Entry:
    """One way from a function to a mail: over `edge` to the callee's `next`; both None at the provider send itself."""

    function: str
    mail: Mail
    edge: Edge | None = None
    next: Entry | None = None
    length: int = 1


class Ways:
    """All ways found so far."""

    def __init__(self) -> None:
        self.entries: dict[str, list[Entry]] = {}
        """For each function that leads to mail its ways, shortest first."""
        self.full: set[str] = set()
        """Functions of which some ways were left out."""
        self.again: dict[Entry, list[Entry]] = {}
        """For an entry, later ones of the same function that tell the same: other calls that lead to the same mail."""
        self._alike: dict[tuple[object, ...], list[Entry]] = {}
        self._replaced: set[Entry] = set()

    def stands(self, entry: Entry) -> bool:
        """Whether no other way stands for this one by now."""
        return entry not in self._replaced

    def add(self, way: Entry) -> Entry | None:
        """Adds a way; gives what is to be carried on to the callers, None if it tells nothing new."""
        alike = self._alike.setdefault((way.function, *way.mail.key), [])
        entry = self._merged(way, alike)
        if entry is None:
            return None
        known = self.entries.setdefault(entry.function, [])
        self._replace(entry, [one for one in alike if _asked(entry) < _asked(one)], alike, known)
        if len(alike) >= MAX_ALIKE or len(known) >= MAX_WAYS or entry.length > MAX_LENGTH:
            self.full.add(entry.function)
            return None
        known.append(entry)
        alike.append(entry)
        return entry

    def _merged(self, way: Entry, alike: list[Entry]) -> Entry | None:
        """The way, without conditions that a known way makes needless; None if a known way stands for it."""
        entry, changed = way, True
        while changed:
            changed = False
            for other in alike:
                if _asked(other) <= _asked(entry):
                    self._note_again(other, way)
                    return None
                agreed = _agreed(other.mail.conditions, entry.mail.conditions)
                if agreed is not None:
                    entry, changed = replace(other, mail=replace(other.mail, conditions=agreed)), True
                    self._note_again(entry, way)
                    break
        return entry

    def _replace(self, entry: Entry, others: list[Entry], alike: list[Entry], known: list[Entry]) -> None:
        """Lets one way stand for others that ask for more."""
        for other in others:
            alike.remove(other)
            known.remove(other)
            self._replaced.add(other)
            for one in (other, *self.again.pop(other, ())):
                self._note_again(entry, one)

    def _note_again(self, first: Entry, entry: Entry) -> None:
        """Remembers another call of a function that leads to a mail which one is known for."""
        known = self.again.setdefault(first, [])
        sites = {one.edge.site for one in (first, *known) if one.edge is not None}
        if entry.edge is not None and entry.edge.site not in sites and len(known) < MAX_AGAIN:
            known.append(entry)


def _asked(entry: Entry) -> frozenset[Condition]:
    return frozenset(entry.mail.conditions)


def _agreed(left: tuple[Condition, ...], right: tuple[Condition, ...]) -> tuple[Condition, ...] | None:
    """What two lists of conditions agree on, if all that parts them is one test that came out either way."""
    one, other = set(left) - set(right), set(right) - set(left)
    if len(one) != 1 or len(other) != 1:
        return None
    (this,), (that,) = one, other
    opposite = not this.function and replace(this, holds=that.holds) == that
    return tuple(condition for condition in left if condition != this) if opposite else None
