"""Checks before a call: the tests that hold there and what they read from what is stored.

A check may stand in a helper that answers, in one that raises, in a query that finds nothing, or in
the `try` around a query whose `except` goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sendonce import facts
from sendonce import vocabulary as v
from sendonce.findings import Place
from sendonce.program import held as h
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.outcomes import Outcomes
from sendonce.program.possible import COMPARE, OBJECT, chained, compared, negated, truth
from sendonce.program.scene import Scene
from sendonce.program.spots import Read, Written
from sendonce.program.stored_reads import StoredReads
from sendonce.program.symbols import Function
from sendonce.program.validators import Validators
from sendonce.program.values import (
    FALSE,
    NONE,
    TRUE,
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
    Updated,
    Value,
    walk,
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
        """The tests that a validator has passed where it raised nothing; they stand in it."""
        if not self.flows.of(method).raises:
            return
        call = Call(FunctionRef(method.id, Some(cls)), (), (), method.place)
        for exit, inside in self.outcomes.exits(call, Scene(function=method.id)) or ():
            for index, fact in enumerate(inside.facts if exit.held is not None else ()):
                if isinstance(fact, h.Test):
                    place = Place(method.module.path, *fact.at)
                    for check in self._tested(inside.put(fact.value), fact.holds, inside.before(index), place, ()):
                        yield replace(check, earlier=True)

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

    # ------------------------------------------------------------------ what a write changes

    def changed(self, check: Check, written: Written) -> bool:
        """Whether a write makes a check come out the other way in a later run, as far as that can be told."""
        touched = [read for read in check.reads if self._touches(read, written)]
        if not touched or _lets_several_through(check.value, touched):
            return False
        after = truth(self._after(check.value, touched, written, MAX_PARTS))
        if after is None and written.spot.kind == "field" and not self._is_state(check, written):
            return False
        if after is None:
            plainly = isinstance(check.value, Attr | Item) and written.spot.kind in ("field", "entry")
            return not plainly
        if written.spot.kind == "field" and not self._is_state(check, written):
            return False
        return after is not check.holds

    def _is_state(self, check: Check, written: Written) -> bool:
        """Whether a field is set to a state or a time, or to what the check compares it with."""
        value = self.evaluator.resolve(written.value)
        if isinstance(value, Const) or (isinstance(value, Attr) and isinstance(value.base, ClassRef)):
            return True
        found = (one for part in walk(value) if isinstance(part, Call) for one in self._unstable(part))
        return any(one.why == "time" for one in found) or (
            isinstance(check.value, Op) and written.value in check.value.operands
        )

    def _unstable(self, call: Call) -> Iterator[v.Unstable]:
        known: tuple[tuple[object, v.Unstable], ...] = self.evaluator.lookup(self.evaluator.packs.unstables, call.func)
        yield from (entry for _, entry in known)

    def _touches(self, read: Read, written: Written) -> bool:
        """Whether a write may change what was read; where neither model is known, only of the same object."""
        if not read.spot.meets(written.spot):
            return False
        if read.spot.owner or written.spot.owner or read.spot.kind not in ("field", "entry"):
            return True
        owner = _owner_of(read.part)
        return _origin(owner) == _origin(written.row) or _is_linked(self.evaluator.resolve(owner), written.row)

    def _after(self, value: Value, touched: list[Read], written: Written, depth: int) -> Value:
        """What a value is after a write, as far as that can be told."""
        for read in touched:
            if read.part is value:
                return self._new(value, read, written)
        if depth <= 0:
            return UNKNOWN
        match value:
            case Const():
                return value
            case Op(op="not", operands=(one,)):
                return negated(self._after(one, touched, written, depth - 1))
            case Op(op="and" | "or" as op, operands=operands):
                found = [frozenset((self._after(one, touched, written, depth - 1),)) for one in operands]
                results = set(chained(op, found))
                return results.pop() if len(results) == 1 else UNKNOWN
            case Op(op=op, operands=(left, right)) if op in COMPARE or op in ("in", "not in"):
                return _compared(
                    op, self._after(left, touched, written, depth - 1), self._after(right, touched, written, depth - 1)
                )
            case Attr(base=ClassRef()):
                return value
            case Seq(kind=kind, items=items) if kind != "each":
                return Seq(kind, tuple(self._after(one, touched, written, depth - 1) for one in items))
            case _:
                resolved = self.evaluator.resolve(value)
                return self._after(resolved, touched, written, depth - 1) if resolved is not value else UNKNOWN

    def _new(self, value: Value, read: Read, written: Written) -> Value:
        """What the part that reads a spot gives after the write."""
        if read.spot.kind == "items":
            there = written.how != "delete"
            inside = isinstance(value, Op) and value.op == "in"
            return Const(there is inside) if isinstance(value, Op) else UNKNOWN
        if read.spot.kind == "row":
            return NONE if written.how == "delete" else OBJECT
        if read.spot.kind in ("key", "file"):
            return NONE if written.how == "delete" else _known(written.value)
        if isinstance(value, Call):
            return self._queried(value, written)
        return _known(self.evaluator.resolve(written.value))

    def _queried(self, query: Call, written: Written) -> Value:
        """Whether a query finds a row after one of its fields was set."""
        tests = [test for test in self.conditions.tests(query) if test.field == written.spot.name]
        if not tests:
            return UNKNOWN
        return FALSE if any(self.conditions.ends(test, written.value) for test in tests) else TRUE


_ORDERS = frozenset(["<", "<=", ">", ">="])


def _lets_several_through(value: Value, touched: list[Read]) -> bool:
    """Whether a test limits how often something may happen: a rate is reckoned, or rows are counted up to a number."""
    for part in walk(value):
        if not isinstance(part, Op) or not any(read.part in walk(part) for read in touched):
            continue
        if part.op in ("*", "/", "//", "%"):
            return True
        if part.op in COMPARE and any(isinstance(one, Const) and _is_many(one.value) for one in part.operands):
            return True
    return False


def _is_many(number: object) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and number > 1


def _is_split(test: h.Test, branch: tuple[h.Fact, ...], branches: tuple[tuple[h.Fact, ...], ...]) -> bool:
    """Whether a test only parts the branches: it was made on the way into another as well."""
    return any(
        isinstance(fact, h.Test) and fact.at == test.at for other in branches if other is not branch for fact in other
    )


def _owner_of(part: Value) -> Value:
    """The object that a field or entry is read from."""
    if isinstance(part, Call) and isinstance(part.func, Attr):
        return part.func.base
    return part.base if isinstance(part, Attr | Item) else part


def _is_linked(row: Value, statement: Value) -> bool:
    """Whether a statement changes rows of the collection that a row was read from, or is told by the row."""
    if not (isinstance(statement, Call) and isinstance(statement.func, Attr)):
        return False
    return statement.func.base in walk(row) or row in walk(statement)


def _origin(value: Value) -> str:
    """What an object is told by where neither it nor its class is known: the name that it goes by."""
    while isinstance(value, Updated):
        value = value.base
    match value:
        case Param(name=name) | Attr(name=name):
            return name
        case Call(at=at):
            return str(at)
        case Element(base=base) | Item(base=base):
            return f"{_origin(base)}[]"
        case _:
            return repr(value)


def _known(value: Value) -> Value:
    """A written value: a constant, a member of an enum, or something that is true (the clock, a new object)."""
    if isinstance(value, Const) or (isinstance(value, Attr) and isinstance(value.base, ClassRef)):
        return value
    return OBJECT if isinstance(value, Call) else UNKNOWN


def _compared(op: str, left: Value, right: Value) -> Value:
    """A comparison; members of enums are equal to themselves only."""
    if op in ("in", "not in"):
        if not isinstance(right, Seq) or left in (UNKNOWN, OBJECT):
            return UNKNOWN
        known = all(isinstance(one, Const | Attr) for one in right.items)
        there = left in right.items
        return Const(there is (op == "in")) if known or there else UNKNOWN
    if op in _ORDERS and NONE in (left, right):
        return FALSE  # nothing comes before or after what is not there
    if left is right and left not in (UNKNOWN, OBJECT):
        return Const(op in ("==", "is", "<=", ">="))
    if op in ("==", "!=", "is", "is not") and isinstance(left, Attr) and isinstance(right, Attr):
        return Const(op in ("!=", "is not"))
    return compared(op, left, right)
