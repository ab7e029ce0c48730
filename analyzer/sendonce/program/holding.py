"""How long a claim of an idempotency layer holds: for ever, less than its own work takes, or not to its end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sendonce.program import arguments
from sendonce.program import held as h
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.idempotency import Access, Layer
from sendonce.program.values import NONE, Attr, Call, Const, Op, Value, unchanged, walk

_UNITS = {"days": 86400, "hours": 3600, "minutes": 60, "seconds": 1, "weeks": 604800, "milliseconds": 0.001}
_MILLISECONDS = ("px", "pexpire")


@dataclass(frozen=True, eq=False)
class Leak:
    """A claim that does not hold as long as it should, why, and the place that shows it (a release, a timeout)."""

    claim: Access
    why: str
    shown: Site | None = None


class Holding:
    """Answers for layers."""

    def __init__(self, evaluator: Evaluator, flows: Flows) -> None:
        self.evaluator = evaluator
        self.flows = flows

    def leak(self, layer: Layer) -> Leak | None:
        """What is wrong with the first claim of a layer that has a fault."""
        stores = [one for one in layer.of("store", after=True) if not one.failed]
        for claim in layer.of("claim", "lock", after=False):
            if self._is_keyed(claim) and claim.is_asked:
                found = self._of(claim, layer, stores)
                if found is not None:
                    return found
        return None

    def _of(self, claim: Access, layer: Layer, stores: list[Access]) -> Leak | None:
        released = self._released(claim, layer, stores)
        if released is not None:
            return Leak(claim, "is released before the result is stored", released)
        if not stores and claim.how == "claim":
            return None  # nothing says that the work is done: the claim is the mark itself
        seconds = self._seconds(claim)
        if seconds is None and not any(layer.of("expire")):
            return Leak(claim, "never runs out")
        slow = None if seconds is None else self._slower(layer, seconds)
        if slow is not None:
            return Leak(claim, f"runs out after {seconds:g} s, sooner than the work's own timeout", slow)
        return None

    def _is_keyed(self, claim: Access) -> bool:
        """Whether a claim stands in a store of keys, where it can run out by itself."""
        entry = None if claim.matched is None else claim.matched.entry
        if entry is None or entry.unique != "none" or entry.condition or entry.runs or entry.matches:
            return False
        return bool(entry.expiry) or (claim.how == "claim" and bool(entry.key))

    # ------------------------------------------------------------------ how long

    def _seconds(self, claim: Access) -> float | None:
        """The seconds after which a claim runs out; None if it never does. One that cannot be told is long."""
        assert claim.matched is not None
        entry, call = claim.matched.entry, claim.call
        for notation in entry.expiry:
            given = arguments.argument(self.evaluator, call, notation)
            if given is not None:
                if self.evaluator.resolve(given) is NONE:
                    return None
                seconds = self.seconds(given)
                if seconds is None:
                    return float("inf")
                return seconds / 1000 if notation.startswith(_MILLISECONDS) else seconds
        if any(isinstance(part, Const) and _is_expiry(str(part.value)) for part in walk(call)):
            return float("inf")
        return entry.expires or None

    def seconds(self, value: Value) -> float | None:
        """A number of seconds, given as such, as a product of constants, or as a time delta."""
        found = self.evaluator.resolve(value)
        match found:
            case Const(value=bool()):
                return None
            case Const(value=int() | float() as number):
                return float(number)
            case Op(op="*", operands=(left, right)):
                one, two = self.seconds(left), self.seconds(right)
                return None if one is None or two is None else one * two
            case Call(names=names, args=args) if self._is_delta(found):
                parts = [(_UNITS.get(name or "days"), self.seconds(arg)) for name, arg in zip(names, args, strict=True)]
                known = [unit * number for unit, number in parts if unit is not None and number is not None]
                return sum(known) if len(known) == len(parts) else None
            case _:
                return None

    def _is_delta(self, call: Call) -> bool:
        return "datetime.timedelta" in self.evaluator.shapes(call.func)

    def _slower(self, layer: Layer, seconds: float) -> Site | None:
        """A call of the work that may take longer than that by its own timeout."""
        for path in layer.paths:
            inside = [site for site in path.sites() if site.function not in self._before(layer)]
            for site in (*inside, path.mail.provider.site):
                if any(timeout > seconds for timeout in self._timeouts(site.call)):
                    return site
        return None

    @staticmethod
    def _before(layer: Layer) -> frozenset[str]:
        """The functions of a layer in which it makes its claim: their own timeouts are not the work's."""
        return frozenset(one.site.function for one in layer.accesses if one.site is not None and not one.after)

    def _timeouts(self, call: Call) -> Iterator[float]:
        """The timeouts that a call, or the client that it is made on, was given."""
        client = unchanged(self.evaluator.resolve(call.func.base)) if isinstance(call.func, Attr) else call
        for part in (*walk(call), *walk(client)):
            if isinstance(part, Call):
                for name, value in zip(part.names, part.args, strict=True):
                    seconds = self.seconds(value) if "timeout" in name else None
                    if seconds is not None:
                        yield seconds

    # ------------------------------------------------------------------ released too soon

    def _released(self, claim: Access, layer: Layer, stores: list[Access]) -> Site | None:
        """The release of a claim behind the work and before the result is stored."""
        for store in stores:
            if store.site is None:
                continue
            for fact in h.newest_first(store.site.held):
                if isinstance(fact, h.Left) and claim.site is not None and self._is_of(fact.inside, claim):
                    return claim.site
            for release in layer.of("delete", after=True):
                if (
                    release.site is not None
                    and self._comes_first(release.site, store.site)
                    and self._same(release, claim)
                ):
                    return release.site
        return None

    @staticmethod
    def _is_of(inside: h.Inside, claim: Access) -> bool:
        return inside.site is claim.site or any(part is claim.call for part in walk(inside.value))

    def _comes_first(self, release: Site, store: Site) -> bool:
        if release.function != store.function or release.index > store.index:
            return False
        flow = self.flows.of(self.evaluator.program.function(release.function))
        return not flow.exclusive(release.held, store.held)

    def _same(self, release: Access, claim: Access) -> bool:
        """Whether a release is about the key of a claim, as far as the keys tell."""
        assert claim.matched is not None
        if isinstance(release.call.func, Attr) and any(part is claim.call for part in walk(release.call.func)):
            return True
        keys = list(arguments.given(self.evaluator, claim.call, claim.matched.entry.key))
        shown = {self.evaluator.resolve(key) for key in keys}
        return any(self.evaluator.resolve(arg) in shown for arg in release.call.args)


def _is_expiry(name: str) -> bool:
    return name.lower() in ("ttl", "expires", "expires_at", "expire_at", "expiration")
