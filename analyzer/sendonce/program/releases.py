"""Claims that are given back: what is deleted again once the mail has gone is a lock, and reserves nothing."""

from __future__ import annotations

from collections.abc import Iterator

from sendonce import vocabulary as v
from sendonce.program import held as h
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Held, Site
from sendonce.program.outcomes import Outcomes
from sendonce.program.reservations import Reservation, as_text
from sendonce.program.scene import Scene
from sendonce.program.values import Attr, Call, Value, options, walk

MAX_DEPTH = 2


class Releases:
    """Answers for claims in a scene."""

    def __init__(self, evaluator: Evaluator, flows: Flows, outcomes: Outcomes) -> None:
        self.evaluator = evaluator
        self.packs = evaluator.packs
        self.program = evaluator.program
        self.flows = flows
        self.outcomes = outcomes

    def given_back(self, claim: Reservation, scene: Scene) -> bool:
        """Whether the function of a scene gives a claim back on the way on which all goes well."""
        if claim.prefix != "key" or not scene.function or claim.call is None:
            return False
        flow = self.flows.of(self.program.function(scene.function))
        passed = set(map(id, scene.facts))
        return any(
            self._gives_back(site.call, claim, scene, 0)
            for site in flow.sites
            if self._is_passed(site, passed, claim, scene)
        )

    def _is_passed(self, site: Site, passed: set[int], claim: Reservation, scene: Scene) -> bool:
        """Whether a call is made in each run that won the claim and met no error."""
        tests = [fact for fact in scene.facts if isinstance(fact, h.Test)]
        for fact in h.newest_first(site.held):
            if id(fact) in passed:
                continue
            if isinstance(fact, h.Caught):
                return False
            if isinstance(fact, h.Test):
                if any(other.value is fact.value and other.holds != fact.holds for other in tests):
                    return False
                found = self.outcomes.won(fact.value, fact.holds, Scene(_before(site.held, fact), scene.env))
                is_own = found is not None and found.key == claim.key
                if not is_own and not self._is_clock(fact.value):
                    return False
        return True

    def _is_clock(self, value: Value) -> bool:
        """Whether a test asks what time it is: a lock that may have run out."""
        return any(
            (found := self.outcomes.reservations.stability.unstable(part)) is not None and found.why == "time"
            for part in walk(value)
            if isinstance(part, Call)
        )

    def _gives_back(self, call: Call, claim: Reservation, scene: Scene, depth: int) -> bool:
        put = scene.put(call)
        if not isinstance(put, Call):
            return False
        if self._releases(put, claim):
            return True
        exits = self.outcomes.exits(put, scene) if depth < MAX_DEPTH and self._may(put) else None
        if not exits:
            return False
        _, inside = exits[0]
        flow = self.flows.of(self.program.function(inside.function))
        return any(
            self._gives_back(site.call, claim, inside, depth + 1)
            for site in flow.sites
            if not any(isinstance(fact, h.Caught) for fact in h.blocks(site.held))
        )

    def _may(self, call: Call) -> bool:
        """Whether the function that a call runs mentions something that gives claims back."""
        words = {shape.rpartition(".")[2] for shape in self.packs.claim_releases}
        for ref, *_ in self.outcomes.linker.callables(call.func):
            if words.intersection(self.program.function(ref.id).words):
                return True
        return False

    def _releases(self, call: Call, claim: Reservation) -> bool:
        """Whether a call deletes the key of a claim."""
        name = call.func.name if isinstance(call.func, Attr) else ""
        entries: tuple[tuple[object, v.Claim], ...] = self.evaluator.lookup(self.packs.claim_releases, call.func)
        if name.endswith("expire") or not (entries or self._is_by_name(call, name)):
            return False
        keys = {as_text(value) for _, value in claim.parts}
        return any(as_text(self.evaluator.resolve(key)) in keys for key in _keys(call))

    def _is_by_name(self, call: Call, name: str) -> bool:
        """A script that deletes, or `delete` of a store of which nothing is known."""
        return name in ("eval", "evalsha") or (
            name in ("delete", "unlink", "srem", "hdel") and not self.evaluator.shapes(call.func)
        )


def _keys(call: Call) -> Iterator[Value]:
    for value in call.args:
        yield from options(value)


def _before(held: Held | None, fact: h.Fact) -> tuple[h.Fact, ...]:
    found = h.oldest_first(held)
    return found[: next((i for i, one in enumerate(found) if one is fact), len(found))]
