"""Where an expression stands, and what it can be there in a run that won no claim."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from sendonce.program import held as h
from sendonce.program.reservations import Reservation
from sendonce.program.values import UNKNOWN, Param, Value, substitute

MAX_OUTCOMES = 12


@dataclass(frozen=True)
class Scene:
    """Where an expression stands: what holds there (oldest first), what its parameters are, how deep in calls."""

    facts: tuple[h.Fact, ...] = ()
    env: Mapping[Param, Value] = field(default_factory=dict)
    depth: int = 0
    function: str = ""

    def put(self, value: Value) -> Value:
        """A value with the parameters that are known here put in."""
        found = substitute(value, self.env)
        return value if found is UNKNOWN else found

    def before(self, index: int) -> Scene:
        """The scene before one of its facts."""
        return replace(self, facts=self.facts[:index])

    def branch(self, index: int, branch: tuple[h.Fact, ...]) -> Scene:
        """The end of one branch of the `Either` at `index`."""
        return replace(self, facts=(*self.facts[:index], *branch))


@dataclass(frozen=True)
class Lost:
    """The values that an expression can have when no claim was won, and the claims that were looked at."""

    outcomes: frozenset[Value]
    claims: tuple[Reservation, ...] = ()


ANYTHING = Lost(frozenset((UNKNOWN,)))


def joined(parts: Iterable[Lost]) -> Lost:
    found = list(parts)
    outcomes = frozenset(one for part in found for one in part.outcomes)
    claims = tuple(dict.fromkeys(claim for part in found for claim in part.claims))
    return Lost(frozenset((UNKNOWN,)) if len(outcomes) > MAX_OUTCOMES else outcomes, claims)
