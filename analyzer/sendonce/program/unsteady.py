"""Keys that differ on every attempt: claims, job keys and provider keys that would guard a path if they did not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program.claims import Claims
from sendonce.program.held import Site
from sendonce.program.keyplace import KeyPlaces, Made
from sendonce.program.link import Crossing
from sendonce.program.origins import Origin
from sendonce.program.paths import Path
from sendonce.program.reservations import Reservation
from sendonce.program.values import Call, Const, Value, substitute


@dataclass(frozen=True, eq=False)
class Unsteady:
    """A key on a path that differs on every attempt.

    `claim` is what it is given to, None for a provider's or a job's key, which the call at `site` passes; `level` is
    the number of the call on the path in whose function the differing part appears; `key` the key as seen there.
    """

    site: Site
    claim: Reservation | None
    origin: Origin
    level: int
    key: Value
    made: Made | None
    provider: bool = False

    @property
    def source(self) -> tuple[str, int, int]:
        """Where the call stands that gives something else each time."""
        value = self.origin.value
        while not isinstance(value, Call):
            value = value.parts()[0] if value.parts() else self.site.call
        return value.at


class UnsteadyKeys:
    """Answers for paths."""

    def __init__(self, claims: Claims) -> None:
        self.claims = claims
        self.evaluator = claims.evaluator
        self.stability = claims.stability
        self.lenient = claims.leniently(frozenset(("unstable",)))
        self.places = KeyPlaces(claims.evaluator, claims.flows)

    def on(self, path: Path) -> Unsteady | None:
        """The key nearest to the send of a path that differs on every attempt."""
        crossings = list(path.crossings())
        sites = list(path.sites())
        for number in range(len(sites) - 1, -1, -1):
            crossing = crossings[number] if number < len(crossings) else None
            for claim, value, provider in self._keys(sites[number], crossing):
                found = self._level(value, number, crossings)
                if found is not None:
                    return self._unsteady(path, sites[number], claim, provider, *found)
        return None

    def _keys(self, site: Site, crossing: Crossing | None) -> Iterator[tuple[Reservation | None, Value, bool]]:
        """The keys that a call of a path passes, and those of the claim that it stands behind."""
        if crossing is None:
            key = self.claims.provider_keys.of(site.call)
            if key is not None:
                yield None, key, True
        elif crossing.unique:
            yield from ((None, key, False) for key in self._job_keys(site) if not self._is_name(key))
        claim = self.lenient.claim_at(site)
        if claim is not None and not claim.implied and not self._is_new_row(claim):
            yield from ((claim, value, False) for _, value in claim.parts)

    def _is_name(self, key: Value) -> bool:
        """Whether a key holds nothing of an event: it only gives something new a name of its own."""
        return all(one.fresh or isinstance(one.value, Const) for one in self.stability.origins.of(key))

    def _is_new_row(self, claim: Reservation) -> bool:
        """Whether an insert makes a row under a number or token that was just drawn for it."""
        matched = self.lenient.reservations.matched(claim.call) if claim.call is not None else None
        named = claim.row is not None or (matched is not None and matched.entry.win == "no_exception")
        return named and claim.model is not None and all(self._is_name(value) for _, value in claim.parts)

    def _job_keys(self, site: Site) -> Iterator[Value]:
        found: tuple[tuple[object, v.Enqueue], ...] = self.evaluator.lookup(self.claims.packs.enqueues, site.call.func)
        for _, entry in found:
            named = tuple(name for name, wanted in entry.unique.items() if wanted == "*")
            yield from arguments.given(self.evaluator, site.call, named)

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
                value = self.evaluator.resolve(substitute(value, binding))
                continue
            value = self.evaluator.resolve(substitute(value, self.stability.kept(binding)))
            origin = self.stability.fresh(value)
            return None if origin is None else (origin, level, value)
        return None

    def _unsteady(
        self, path: Path, site: Site, claim: Reservation | None, provider: bool, origin: Origin, level: int, key: Value
    ) -> Unsteady:
        found = Unsteady(site, claim, origin, level, key, None, provider)
        inner = [one.function for one in list(path.sites())[level:]]
        made = self.places.of(found.source, dict.fromkeys((*inner, *path.functions())))
        return Unsteady(site, claim, origin, level, key, made, provider)
