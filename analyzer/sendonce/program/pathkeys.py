"""The keys under which the mail of a path is claimed, and where each is made and used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sendonce import facts
from sendonce import vocabulary as v
from sendonce.findings import Place
from sendonce.program import arguments
from sendonce.program import held as h
from sendonce.program.claims import Claims
from sendonce.program.held import Site
from sendonce.program.link import Crossing
from sendonce.program.paths import Path, place_of
from sendonce.program.reservations import Reservation
from sendonce.program.scene import Scene
from sendonce.program.symbols import Function, own_nodes
from sendonce.program.values import Call, Param, Value, substitute, walk


@dataclass(frozen=True, eq=False)
class KeyUse:
    """A key on a path: the claim it is given to, or None where the call at `site` passes it to a provider or queue.

    `number` is that of `site`, the call that the claim stands before; `values` are the parts of the key there.
    """

    number: int
    site: Site
    claim: Reservation | None
    values: tuple[Value, ...]
    provider: bool = False


@dataclass(frozen=True)
class Written:
    """Where a key is made, in which function, and the places where it is handed on and claimed."""

    place: Place
    function: str
    others: tuple[Place, ...] = ()


class PathKeys:
    """Answers for paths; `claims` say what counts as a claim."""

    def __init__(self, claims: Claims) -> None:
        self.claims = claims
        self.evaluator = claims.evaluator
        self.program = claims.program

    def uses(self, path: Path) -> Iterator[KeyUse]:
        """The keys of a path, nearest to the send first."""
        crossings = list(path.crossings())
        sites = list(path.sites())
        for number in range(len(sites) - 1, -1, -1):
            site = sites[number]
            if number == len(crossings):
                key = self.claims.provider_keys.of(site.call)
                if key is not None:
                    yield KeyUse(number, site, None, (key,), provider=True)
            elif crossings[number].unique:
                found = tuple(self._job_keys(site))
                yield from (KeyUse(number, site, None, found) for _ in found[:1])
            claim = self.claims.claim_at(site)
            if claim is not None:
                yield KeyUse(number, site, claim, claim.given)

    def _job_keys(self, site: Site) -> Iterator[Value]:
        found: tuple[tuple[object, v.Enqueue], ...] = self.evaluator.lookup(self.claims.packs.enqueues, site.call.func)
        for _, entry in found:
            named = tuple(name for name, wanted in entry.unique.items() if wanted == "*")
            yield from arguments.given(self.evaluator, site.call, named)

    def outward(self, path: Path, use: KeyUse) -> tuple[Value, ...]:
        """The parts of a key in terms of the trigger."""
        crossings = list(path.crossings())[: use.number]
        return tuple(self._bound(value, crossings) for value in use.values)

    def _bound(self, value: Value, crossings: list[Crossing]) -> Value:
        for crossing in reversed(crossings):
            if not value.free:
                break
            value = substitute(value, crossing.binding)
        return value

    # ------------------------------------------------------------------ places

    def written(self, path: Path, use: KeyUse) -> Written:
        """Where the key of a use is made."""
        function = self.program.function(use.site.function)
        place, call = self._asked(use)
        others = [*self._claimed(use), *self._texts(function, call)]
        crossings, sites = list(path.crossings()), list(path.sites())
        values, number = use.values, use.number
        while number > 0 and len(values) == 1 and isinstance(values[0], Param):
            number -= 1
            values = (substitute(values[0], crossings[number].binding),)
            function = self.program.function(sites[number].function)
            others.append(place)
            place = place_of(sites[number])
            others.extend(self._texts(function, sites[number].call))
        return Written(place, function.dotted, tuple(dict.fromkeys(others)))

    def _asked(self, use: KeyUse) -> tuple[Place, Call]:
        """The call by which the function of a use claims."""
        site, claim = use.site, use.claim
        if claim is None:
            return place_of(site), site.call
        scene = Scene(h.oldest_first(site.held), function=site.function)
        for index in range(len(scene.facts) - 1, -1, -1):
            fact = scene.facts[index]
            found = self.claims.of_fact(scene, index)
            if found is not None and found.key == claim.key:
                call = self._call_of(fact, site)
                if call is not None:
                    return self._place_of(call, site), call
        return Place(claim.path, claim.line), claim.call or site.call

    def _call_of(self, fact: h.Fact, site: Site) -> Call | None:
        if isinstance(fact, h.Done):
            return fact.site.call
        value = fact.value if isinstance(fact, h.Test | h.Inside) else None
        calls = (part for part in walk(value) if isinstance(part, Call)) if value is not None else ()
        return next((call for call in calls if call.at[0] == site.path), None)

    def _place_of(self, call: Call, site: Site) -> Place:
        """The stretch of a call in the function of a site."""
        for other in self.claims.flows.of(self.program.function(site.function)).sites:
            if other.call.at == call.at:
                return place_of(other)
        return Place(*call.at)

    def _claimed(self, use: KeyUse) -> Iterator[Place]:
        claim = use.claim
        if claim is not None:
            yield Place(claim.path, claim.line)
            if claim.call is not None and claim.call.at[0]:
                yield Place(*claim.call.at)

    def _texts(self, function: Function, call: Call) -> Iterator[Place]:
        """The texts that are put together for a call, in it or in variables before it."""
        for node in own_nodes(function.node):
            if isinstance(node, facts.Call) and node.at[:2] == call.at[1:]:
                for arg in node.args:
                    made = _assigned(function, arg.value) or arg.value
                    if isinstance(made, facts.FString | facts.BinOp | facts.Call | facts.Constant):
                        yield Place(function.module.path, *made.at)


def _assigned(function: Function, node: facts.Expr) -> facts.Expr | None:
    """What a variable was last assigned before it is read."""
    if not isinstance(node, facts.Name):
        return None
    before = (one for one in own_nodes(function.node) if isinstance(one, facts.Assign) and one.at[:2] < node.at[:2])
    found = [one.value for one in before if node.id in (getattr(target, "id", "") for target in one.targets)]
    return found[-1] if found else None
