"""Claims that are made before a mail, about that mail, and whose answer nobody looks at."""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.findings import Place
from sendonce.program import held as h
from sendonce.program.claims import Claims
from sendonce.program.held import Site
from sendonce.program.near import Near, Open
from sendonce.program.paths import Path
from sendonce.program.reservations import Reservation
from sendonce.program.scene import Scene
from sendonce.program.symbols import Function
from sendonce.program.values import Attr, Call, Const, Element, Item, Param, Text, Updated, Value, walk

_ANSWERS = ("truthy", "falsy", "not_none", "is_none", "rows", "created", "first")


class Dropped:
    """Answers for paths, memoised by call."""

    def __init__(self, claims: Claims) -> None:
        self.claims = claims
        self.reservations = claims.reservations
        self._lost: dict[Site, Reservation | None] = {}

    def on(self, path: Path) -> Open | None:
        """The claim nearest to the send of a path that was made and not asked."""
        for site in reversed(list(path.sites())):
            for fact in h.newest_first(site.held):
                claim = self._claim(fact.site) if isinstance(fact, h.Done) and fact.site is not site else None
                if isinstance(fact, h.Done) and claim is not None and self._is_about(claim, fact.site, site):
                    function = self.claims.program.function(site.function)
                    return Open(Near(claim, site), function.dotted, Place(fact.site.path, *fact.site.at))
        return None

    # ------------------------------------------------------------------ claims without an ear

    def _claim(self, site: Site) -> Reservation | None:
        if site not in self._lost:
            self._lost[site] = self._of_call(site) if self.claims.outcomes.potential.may(site.call) else None
        return self._lost[site]

    def _of_call(self, site: Site) -> Reservation | None:
        function = self.claims.program.function(site.function)
        matched = self.reservations.matched(site.call)
        if matched is None:
            return None if site.used else self._of_helper(site)
        if matched.entry.win not in _ANSWERS or not matched.sure or self._is_asked(function, site):
            return None
        found = self.reservations.reservation(matched)
        return found if found is not None and not found.assumes and self._is_claim(found, function, site) else None

    def _of_helper(self, site: Site) -> Reservation | None:
        """The claim of a function of the tree that answers whether it was won, called as a statement."""
        scene = Scene(h.oldest_first(site.held), function=site.function)
        found = self.claims.outcomes.won(site.call, True, scene)
        return found if found is not None and not found.assumes and found.confidence == "high" else None

    def _is_asked(self, function: Function, site: Site) -> bool:
        """Whether anything in the function is made of the result, or is done with the object that holds it."""
        flow = self.claims.flows.of(function)
        exits = (exit.value for exit in (*flow.returns, *flow.yields))
        return any(part is site.call for value in (*_values(flow.sites, site), *exits) for part in walk(value))

    def _is_claim(self, claim: Reservation, function: Function, site: Site) -> bool:
        """Whether a claim names one row or event, and its key is used for nothing else."""
        if claim.prefix == "key":
            keys = {value for _, value in claim.parts}
            others = (one for one in self.claims.flows.of(function).sites if one is not site)
            return not any(arg in keys for one in others for arg in one.call.args)
        return True

    # ------------------------------------------------------------------ about this mail

    def _is_about(self, claim: Reservation, made: Site, site: Site) -> bool:
        """Whether what a claim names is among what the mail is made of."""
        named = {part for value in self._named(claim, made) for part in _identities(value)}
        return any(part in named for value in _told(site) for part in walk(value))

    def _named(self, claim: Reservation, made: Site) -> Iterator[Value]:
        if claim.parts:
            yield from (value for _, value in claim.parts)
            return
        call = claim.call or made.call
        for test in self.reservations.conditions.tests(call):
            if test.field == "id":
                yield test.value


def _values(sites: list[Site], own: Site) -> Iterator[Value]:
    """The values that a function works with besides one call."""
    seen: set[int] = set()
    for site in sites:
        if site is not own:
            yield site.call
        for fact in h.newest_first(site.held):
            if id(fact) in seen:
                continue
            seen.add(id(fact))
            if isinstance(fact, h.Test | h.Inside):
                yield fact.value
            elif isinstance(fact, h.Loop) and fact.over is not None:
                yield fact.over
            elif isinstance(fact, h.Wrote):
                yield fact.value


def _told(site: Site) -> Iterator[Value]:
    """What a call is given, and the object whose method it is."""
    yield from site.call.args
    if isinstance(site.call.func, Attr):
        yield site.call.func.base


def _identities(value: Value) -> Iterator[Value]:
    """What a part of a key stands for: the value, and the object whose key it is."""
    while isinstance(value, Updated):
        value = value.base
    match value:
        case Text(pieces=pieces):
            for piece in pieces:
                yield from _identities(piece)
        case Attr(base=base) | Item(base=base):
            yield value
            if not isinstance(base, Const):
                yield base
        case Param() | Call() | Element():
            yield value
        case _:
            pass
