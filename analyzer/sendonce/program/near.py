"""Claims that would guard a path but for one flaw, and where on the path they stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from sendonce import facts
from sendonce.findings import Place, Related
from sendonce.program import held as h
from sendonce.program.claims import Claims
from sendonce.program.handlers import Handler, Handlers
from sendonce.program.held import Site
from sendonce.program.paths import Path
from sendonce.program.program import Program
from sendonce.program.reservations import Flaw, Reservation
from sendonce.program.values import UNKNOWN, ClassRef, Const, Value, walk

MOST_HANDLERS = 12


@dataclass(frozen=True, eq=False)
class Near:
    """A claim and the call that it stands before, in the innermost function from which both are reached."""

    claim: Reservation
    site: Site


@dataclass(frozen=True, eq=False)
class Open:
    """A claim that would guard a path if a handler ended the run: the function and place of that handler."""

    near: Near
    function: str
    place: Place


def statement(claims: Claims, near: Near) -> tuple[str, Place]:
    """The function in which a claim is written, by its name, and the stretch of its call."""
    claim, program = near.claim, claims.program
    at = claim.call.at if claim.call is not None else (claim.path, claim.line, 0)
    for module in program.parsed():
        for function in module.functions.values() if module.path == at[0] else ():
            for site in claims.flows.of(function).sites:
                if site.call.at == at:
                    return function.dotted, Place(at[0], *site.at)
    return program.function(near.site.function).dotted, Place(claim.path, claim.line)


def parts_of(claim: Reservation) -> list[Related]:
    """Where the statement that a claim runs, or the row that it inserts, is made."""
    found = [Related(Place(claim.path, claim.line), "the claim")]
    return [*found, Related(Place(*claim.row.at[:2]), "the row that is made")] if claim.row is not None else found


def model_place(claims: Claims, claim: Reservation) -> Place | None:
    """Where the model of a claim is defined, if that is in the tree."""
    id = claim.prefix.partition("(")[0]
    for module in claims.program.parsed():
        if id in module.classes:
            return Place(module.path, module.classes[id].node.at[0])
    return None


def nearest(path: Path, found: Callable[[Site], Reservation | None]) -> Near | None:
    """The claim that stands nearest to the send of a path."""
    for site in reversed(list(path.sites())):
        claim = found(site)
        if claim is not None:
            return Near(claim, site)
    return None


def flawed(claims: Claims, path: Path, flaw: Flaw) -> Near | None:
    """The claim that would guard a path if it had not this flaw."""
    near = nearest(path, claims.leniently(frozenset((flaw,))).claim_at)
    return near if near is not None and near.claim.flaw == flaw else None


class FailOpen:
    """Handlers that let a run go on although its claim failed, by path."""

    def __init__(self, claims: Claims, program: Program) -> None:
        self.claims = claims
        self.program = program
        self.all = Handlers(None)
        self.closed = claims.leniently(handlers=self.all)
        self._one: dict[Handler, Claims] = {}

    def on(self, path: Path) -> Open | None:
        """The claim that would guard a path if one handler ended the run."""
        near = nearest(path, self.closed.claim_at)
        for handler, caught in self._around(near) if near is not None else ():
            one = self._one.setdefault(handler, self.claims.leniently(handlers=Handlers(frozenset((handler,)))))
            assert near is not None
            found = one.claim_at(near.site)
            if found is not None and self._may_raise(found, caught) and not _keeps_row(near.site, caught, found):
                return Open(Near(found, near.site), self._function(handler, near), Place(handler[0], *handler[1]))
        return None

    def _around(self, near: Near) -> list[tuple[Handler, h.Caught]]:
        """The handlers of blocks around the claim, and those in the function that it stands before."""
        own = self.program.function(near.site.function).module.path
        found = [
            (handler, caught)
            for handler, caught in sorted(self.all.met.items(), key=lambda one: one[0])
            if handler[0] == own or (handler[0] == near.claim.path and _holds(caught.trying.at, near.claim.line))
        ]
        return found[:MOST_HANDLERS]

    def _may_raise(self, claim: Reservation, caught: h.Caught) -> bool:
        """Whether a handler catches what a claim can raise: its conflict, or that its store cannot be asked."""
        evaluator = self.claims.evaluator
        if not caught.types or any(isinstance(one, ClassRef) for one in map(evaluator.resolve, caught.types)):
            return True
        shapes = {shape for one in caught.types for shape in evaluator.shapes(one)}
        roots = self._roots(claim.call.func) if claim.call else frozenset()
        return any(
            shape in _BROAD or shape.rpartition(".")[2] in self._conflicts or shape.partition(".")[0] in roots
            for shape in shapes
        )

    def _roots(self, func: Value) -> frozenset[str]:
        """The packages whose errors a call may raise: those of the library's class and of its ancestors."""
        packs = self.claims.packs
        found: set[str] = set()
        for shape in self.claims.evaluator.shapes(func):
            owner, _, method = shape.rpartition("().")
            found.update((shape, *(packs.bases(owner) if method else ())))
        return frozenset(name.partition(".")[0] for name in found)

    @cached_property
    def _conflicts(self) -> frozenset[str]:
        """The errors by which some store tells that a claim was lost."""
        entries = (entry for pack in self.claims.packs.packs for entry in pack.claim)
        return frozenset(name.rpartition(".")[2] for entry in entries for name in entry.conflicts)

    def _function(self, handler: Handler, near: Near) -> str:
        found = [
            function
            for module in self.program.parsed()
            for function in (module.functions.values() if module.path == handler[0] else ())
            if isinstance(function.node, facts.Def) and _holds(function.node.at, handler[1][0])
        ]
        return (
            max(found, key=lambda one: one.line).dotted if found else self.program.function(near.site.function).dotted
        )


def _keeps_row(site: Site, caught: h.Caught, claim: Reservation) -> bool:
    """Whether the handler gives another row in place of the one that was to be made: get-or-create by hand."""
    for fact in h.newest_first(site.held):
        for index, branch in enumerate(fact.branches if isinstance(fact, h.Either) else ()):
            if isinstance(fact, h.Either) and any(one is caught for one in branch):
                for _, values in fact.chosen:
                    own, others = values[index], [*values[:index], *values[index + 1 :]]
                    if not _is_of(own, claim) and any(_is_of(other, claim) for other in others):
                        return not isinstance(own, Const) and own is not UNKNOWN
    return False


def _is_of(value: Value, claim: Reservation) -> bool:
    return any(part is claim.call or part is claim.row for part in walk(value))


def _holds(at: facts.Span, line: int) -> bool:
    return at[0] <= line <= at[2]


_BROAD = frozenset(
    f"builtins.{name}" for name in ("Exception", "BaseException", "OSError", "ConnectionError", "TimeoutError")
)
"""The language's own errors that a store's error is one of."""
