"""Checks before a call: the tests that hold there and what they read from what is stored.

A check may stand in a helper that answers, in one that raises, in a query that finds nothing, or in
the `try` around a query whose `except` goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sendonce import facts
from sendonce.findings import Place
from sendonce.program import held as h
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.outcomes import Outcomes
from sendonce.program.possible import truth
from sendonce.program.scene import Scene
from sendonce.program.spots import Read
from sendonce.program.stored_reads import StoredReads
from sendonce.program.symbols import Function
from sendonce.program.validators import Validators
from sendonce.program.values import (
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    FunctionRef,
    Item,
    Op,
    Param,
    Seq,
    Some,
    Value,
)
from sendonce.program.writes import Known, called

MAX_DEPTH = 3
MAX_PARTS = 12


@dataclass(frozen=True, eq=False)
class Check:
    """A test that came out `holds` on every way to a call, where it stands there, and what it reads.

    `inner` are places in helpers: the test itself, the query.
    """

    value: Value
    holds: bool
    place: Place
    reads: tuple[Read, ...]
    inner: tuple[Place, ...] = ()
    earlier: bool = False
    """It was passed before the function of the site began."""


class Checks:
    """Answers for sites, memoised."""

    def __init__(self, evaluator: Evaluator, flows: Flows, outcomes: Outcomes, reads: StoredReads) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.flows = flows
        self.outcomes = outcomes
        self.reads = reads
        self.conditions = reads.conditions
        self.validators = Validators(evaluator)
        self._known: dict[tuple[Site, Known], tuple[Check, ...]] = {}

    def before(self, site: Site, known: Known = ()) -> tuple[Check, ...]:
        """The checks that are passed on the way to a site within its function, in their order."""
        own = tuple((param, value) for param, value in known if param.function == site.function)
        key = (site, own)
        if key not in self._known:
            self._known[key] = ()
            self._known[key] = tuple(self._before(site, dict(own)))
        return self._known[key]

    def _before(self, site: Site, known: dict[Param, Value]) -> Iterator[Check]:
        for cls, method in self.validators.passed_before(self.program.function(site.function)):
            yield from self._validated(cls, method)
        scene = Scene(h.oldest_first(site.held), known, function=site.function)
        for index, fact in enumerate(scene.facts):
            yield from self._of_fact(fact, scene.before(index), site)

    def _of_fact(self, fact: h.Fact, scene: Scene, site: Site) -> Iterator[Check]:
        match fact:
            case h.Test(value=value, holds=holds, at=at):
                yield from self._tested(value, holds, scene, Place(site.path, *at), ())
            case h.Either(branches=branches):
                for branch in branches:
                    for inner in branch:
                        if isinstance(inner, h.Test) and not _is_split(inner, branch, branches):
                            yield from self._of_fact(inner, scene, site)
            case h.Caught(trying=trying, at=at):
                yield from self._missed(trying, at, site)
            case h.Done(site=done):
                yield from self._raising(done, scene)
            case _:
                pass

    def _validated(self, cls: ClassRef, method: Function) -> Iterator[Check]:
        """The tests by which a validator refuses what it is given; they stand in it or in a helper that it asks."""
        own = Param(method.id, method.params[0].name) if method.params else None
        env: dict[Param, Value] = {} if own is None else {own: Some(cls)}
        for check in (*self._passed(cls, method), *self._refusing(method, env)):
            yield replace(check, earlier=True)

    def _passed(self, cls: ClassRef, method: Function) -> Iterator[Check]:
        """The tests that a validator has passed where it raised nothing."""
        if not self.flows.of(method).raises:
            return
        call = Call(FunctionRef(method.id, Some(cls)), (), (), method.place)
        for exit, inside in self.outcomes.exits(call, Scene(function=method.id)) or ():
            for index, fact in enumerate(inside.facts if exit.held is not None else ()):
                if isinstance(fact, h.Test):
                    place = Place(method.module.path, *fact.at)
                    yield from self._tested(inside.put(fact.value), fact.holds, inside.before(index), place, ())

    def _refusing(self, method: Function, env: Mapping[Param, Value]) -> Iterator[Check]:
        """The tests that lead to a refusal which does not end the method there, or not before each item was seen."""
        flow = self.flows.of(method)
        points = [site.held for site in flow.sites if self.validators.refuses(site.call)]
        points += [exit.held for exit in flow.raises if _in_loop(exit.held)]
        for held in points:
            scene = Scene(h.oldest_first(held), env, function=method.id)
            last = next((n for n in reversed(range(len(scene.facts))) if isinstance(scene.facts[n], h.Test)), None)
            fact = None if last is None else scene.facts[last]
            if last is not None and isinstance(fact, h.Test):
                place = Place(method.module.path, *fact.at)
                yield from self._tested(scene.put(fact.value), not fact.holds, scene.before(last), place, ())
        for site in flow.sites:
            if _in_loop(site.held):
                yield from self._raising(site, Scene(h.oldest_first(site.held), env, function=method.id))

    # ------------------------------------------------------------------ tests

    def _tested(
        self, value: Value, holds: bool, scene: Scene, place: Place, inner: tuple[Place, ...], depth: int = MAX_DEPTH
    ) -> Iterator[Check]:
        """The checks that a test is: its operands, or those in the helper that it asks."""
        match value:
            case Op(op="not", operands=(one,)):
                yield from self._tested(one, not holds, scene, place, inner, depth)
            case Op(op="and" | "or", operands=operands):
                for one in operands:
                    yield from self._tested(one, holds, scene, place, inner, depth)
            case Call() if holds and (run := list(self.validators.asked(called(value, dict(scene.env))))):
                for cls, method in run:
                    yield from self._validated(cls, method)
            case Call() if depth > 0 and not self.outcomes.makes(value) and self._is_project(value, scene):
                yield from self._asked(value, holds, scene, place, inner, depth, False)
            case Item(base=Call() as call, index=Const(value=int() as at)) if depth > 0 and self._is_project(
                call, scene
            ):
                yield from self._asked(call, holds, scene, place, inner, depth, False, at)
            case Element(base=Call() as call, entered=True) if depth > 0:
                yield from self._asked(call, holds, scene, place, inner, depth, True)
            case _:
                resolved = self.evaluator.resolve(value)
                if isinstance(value, Attr) and isinstance(resolved, Op) and depth > 0:
                    yield from self._tested(resolved, holds, scene, place, inner, depth - 1)
                    return
                reads = self.reads.read(value)
                ran = self.reads.ran(value, scene.facts)
                if ran is not None:
                    reads = (*reads, *self.reads.read(ran))
                if reads:
                    yield Check(value, holds, place, reads, inner)

    def _is_project(self, call: Call, scene: Scene) -> bool:
        return any(True for _ in self.outcomes.linker.callables(called(call, dict(scene.env)).func))

    def _asked(
        self,
        call: Call,
        holds: bool,
        scene: Scene,
        place: Place,
        inner: tuple[Place, ...],
        depth: int,
        yields: bool,
        at: int | None = None,
    ) -> Iterator[Check]:
        """The checks on the ways out of a helper on which it answers so."""
        exits = self.outcomes.exits(called(call, dict(scene.env)), scene, yields=yields) or ()
        for exit, inside in exits:
            value = inside.put(exit.value)
            if at is not None:
                value = value.items[at] if isinstance(value, Seq) and at < len(value.items) else UNKNOWN
            known = truth(value)
            if known is not None and known is not holds:
                continue
            path = self.program.function(inside.function).module.path
            yield from self._on_the_way(inside, path, place, inner, depth)
            if known is None:
                where = (*inner, Place(path, *exit.at))
                yield from self._tested(value, holds, inside, place, where, depth - 1)

    def _on_the_way(
        self, inside: Scene, path: str, place: Place, inner: tuple[Place, ...], depth: int
    ) -> Iterator[Check]:
        """The tests that a helper has passed at one of its exits."""
        for index, fact in enumerate(inside.facts):
            if isinstance(fact, h.Test):
                where = (*inner, Place(path, *fact.at))
                yield from self._tested(
                    inside.put(fact.value), fact.holds, inside.before(index), place, where, depth - 1
                )

    # ------------------------------------------------------------------ checks that raise

    def _raising(self, done: Site, scene: Scene) -> Iterator[Check]:
        """A query that raises where it finds nothing, or a helper that raises where its test fails."""
        call = done.call
        place = Place(done.path, *done.at)
        for cls, method in self.validators.asked(called(call, dict(scene.env))):
            yield from self._validated(cls, method)
        if self._finds(call):
            reads = tuple(one for one in self.reads.of_query(call) if one.spot.kind == "field")
            if reads:
                yield Check(call, True, place, reads)
            return
        if not self._is_project(call, scene) or self.outcomes.makes(call):
            return
        for exit, inside in self.outcomes.exits(called(call, dict(scene.env)), scene) or ():
            function = self.program.function(inside.function)
            if self.flows.of(function).raises and exit.held is not None:
                yield from self._on_the_way(inside, function.module.path, place, (), MAX_DEPTH - 1)

    def _finds(self, call: Call) -> bool:
        """Whether a call raises, or leaves, where no row meets its conditions."""
        return bool(self.evaluator.lookup(self.evaluator.packs.store_finds, call.func))

    def _missed(self, trying: h.Trying, handler: facts.Span, site: Site) -> Iterator[Check]:
        """The query in a `try` whose `except` goes on: it found nothing."""
        flow = self.flows.of(self.program.function(site.function))
        for other in flow.sites:
            if trying.at[:2] <= other.at[:2] < handler[:2] and self._finds(other.call):
                reads = tuple(self.reads.of_query(other.call))
                yield Check(other.call, False, Place(other.path, *other.at), reads)


def _in_loop(held: h.Held | None) -> bool:
    return any(isinstance(block, h.Loop) for block in h.blocks(held))


def _is_split(test: h.Test, branch: tuple[h.Fact, ...], branches: tuple[tuple[h.Fact, ...], ...]) -> bool:
    """Whether a test only parts the branches: it was made on the way into another as well."""
    return any(
        isinstance(fact, h.Test) and fact.at == test.at for other in branches if other is not branch for fact in other
    )
