"""Keys that differ on every attempt: claims, job keys and provider keys that would guard a path if they did not."""

from __future__ import annotations

from dataclasses import dataclass

from sendonce.findings import Place
from sendonce.program.claims import Claims
from sendonce.program.held import Site
from sendonce.program.keyplace import KeyPlaces, Made
from sendonce.program.link import Crossing
from sendonce.program.origins import Origin
from sendonce.program.pathkeys import KeyUse, PathKeys
from sendonce.program.paths import Path
from sendonce.program.reservations import Reservation
from sendonce.program.values import Call, Const, Value, substitute


@dataclass(frozen=True, eq=False)
class Unsteady:
    """A key on a path that differs on every attempt.

    `level` is the number of the call on the path in whose function the differing part appears, `key` the key as seen
    there; `handed` are the places at which it is handed on and claimed.
    """

    use: KeyUse
    origin: Origin
    level: int
    key: Value
    made: Made | None
    handed: tuple[Place, ...]

    @property
    def site(self) -> Site:
        """The call of the path before which the key is claimed, or which passes it."""
        return self.use.site

    @property
    def provider(self) -> bool:
        """Whether the mail provider is given the key."""
        return self.use.provider

    @property
    def source(self) -> tuple[str, int, int]:
        """Where the call stands that gives something else each time."""
        return _source(self.origin, self.use)


def _source(origin: Origin, use: KeyUse) -> tuple[str, int, int]:
    value = origin.value
    while not isinstance(value, Call):
        value = value.parts()[0] if value.parts() else use.site.call
    return value.at


class UnsteadyKeys:
    """Answers for paths."""

    def __init__(self, claims: Claims) -> None:
        self.evaluator = claims.evaluator
        self.stability = claims.stability
        self.lenient = claims.leniently(frozenset(("unstable",)))
        self.keys = PathKeys(self.lenient)
        self.places = KeyPlaces(claims.evaluator, claims.flows)

    def on(self, path: Path) -> Unsteady | None:
        """The key nearest to the send of a path that differs on every attempt."""
        crossings = list(path.crossings())
        for use in self.keys.uses(path):
            for value in use.values if self._is_meant(use) else ():
                found = self._level(value, use.number, crossings)
                if found is not None:
                    return self._unsteady(path, use, *found)
        return None

    def _is_meant(self, use: KeyUse) -> bool:
        """Whether a key was meant to keep a second mail back, and does not only name something new."""
        if use.provider:
            return True
        named = all(self._is_name(value) for value in use.values)
        if use.claim is None:
            return not named
        return not use.claim.implied and not (named and self._is_row(use.claim))

    def _is_name(self, key: Value) -> bool:
        """Whether a key holds nothing of an event: it only gives something new a name of its own."""
        return all(one.fresh or isinstance(one.value, Const) for one in self.stability.origins.of(key))

    def _is_row(self, claim: Reservation) -> bool:
        """Whether a claim is a plain insert of a row."""
        matched = self.lenient.reservations.matched(claim.call) if claim.call is not None else None
        inserted = claim.row is not None or (matched is not None and matched.entry.win == "no_exception")
        return inserted and claim.model is not None

    def _level(self, value: Value, number: int, crossings: list[Crossing]) -> tuple[Origin, int, Value] | None:
        """The part of a key that differs, and the call of the path in whose function it does.

        What a job is given is the same for each attempt of the job.
        """
        for level in range(number, -1, -1):
            origin = self.stability.fresh(value)
            if origin is not None:
                return origin, level, value
            if level == 0 or not value.free:
                return None
            binding = crossings[level - 1].binding
            if crossings[level - 1].hop != "enqueue":
                value = substitute(value, binding)
                continue
            value = substitute(value, self.stability.kept(binding))
            origin = self.stability.fresh(value)
            return None if origin is None else (origin, level, value)
        return None

    def _unsteady(self, path: Path, use: KeyUse, origin: Origin, level: int, key: Value) -> Unsteady:
        inner = [one.function for one in list(path.sites())[level:]]
        made = self.places.of(_source(origin, use), dict.fromkeys((*inner, *path.functions())))
        written = self.keys.written(path, use)
        return Unsteady(use, origin, level, key, made, (written.place, *written.others))
