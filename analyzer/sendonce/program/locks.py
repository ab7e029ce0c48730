"""Locks: a check, the mail and its mark under one lock, or a mark that was committed before the lock ended.

A lock alone reserves nothing: a later run finds it free. It counts with a check of something that
is stored and a mark that changes what the check reads, both while the lock is held.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from sendonce import facts
from sendonce.program import held as h
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.link import Linker
from sendonce.program.marks import Marks
from sendonce.program.matching import Matched
from sendonce.program.outcomes import Outcomes
from sendonce.program.reservations import Flaw, Reservation, flaw_of
from sendonce.program.scene import Scene
from sendonce.program.transactions import Transactions
from sendonce.program.values import Attr, Call, Element, Updated, Value, options, walk

MAX_DEPTH = 3

Taken = tuple[Call, bool, bool]
"""The call that takes a lock, whether it locks rows, and whether it is known for certain."""


@dataclass(frozen=True, eq=False)
class Lock:
    """A lock that was taken: the call, from which fact on it is held and up to which (None: still)."""

    call: Call
    start: int
    end: int | None
    of_rows: bool
    """A lock of database rows, which ends with the transaction."""
    sure: bool


class Locks:
    """Answers for scenes."""

    def __init__(
        self, evaluator: Evaluator, flows: Flows, linker: Linker, outcomes: Outcomes, transactions: Transactions
    ) -> None:
        self.evaluator = evaluator
        self.packs = evaluator.packs
        self.program = evaluator.program
        self.flows = flows
        self.linker = linker
        self.outcomes = outcomes
        self.reservations = outcomes.reservations
        self.transactions = transactions
        self.marks = Marks(evaluator, flows, linker, self.reservations)

    # ------------------------------------------------------------------ reservations

    def committed(self, scene: Scene) -> Reservation | None:
        """A check and a mark that were both made under a lock, before the end of the scene."""
        for lock in self.taken(scene):
            read = self.checked(scene, lock)
            marked = read & self.marked_inside(scene, lock) if read else read
            if marked:
                return self.reservation(lock, marked, lock.end is None and lock.of_rows, self._only_rows(scene, lock))
        return None

    def marked_inside(self, scene: Scene, lock: Lock) -> frozenset[str]:
        """What is written while a lock is held."""
        region = scene.facts[lock.start : lock.end]
        return self.marks.written(region, scene) | self._in_loops(scene, lock)

    def held_at(
        self, site: Site, scene: Scene, given_back: Iterable[tuple[Reservation, int]] = ()
    ) -> Reservation | None:
        """A lock that is still held at a site, checked before it and marked after it.

        So holds a claim that is `given_back` at the end; each comes with the index of its fact.
        """
        claims = (Lock(one.call, index, None, False, True) for one, index in given_back if one.call is not None)
        for lock in chain(self.taken(scene), claims):
            read = self.checked(scene, lock) if lock.end is None else frozenset()
            marked = read & self._written_after(site, scene, lock) if read else read
            if marked:
                return self.reservation(lock, marked, lock.of_rows, False)
        return None

    def reservation(self, lock: Lock, marked: frozenset[str], inside: bool, rows: bool) -> Reservation:
        """The reservation that a lock around a check and these marks is."""
        model = self.reservations.fields.model(lock.call) if lock.of_rows else None
        marks = ", ".join(sorted(marked))
        name = marks if model is None else f"{self.reservations.fields.name_of(model)}.{marks}"
        key = marks if model is None else f"{self.reservations.fields.id_of(model)}.{marks}"
        return Reservation(
            lock.call.at[0],
            lock.call.at[1],
            "",
            f"lock around the check and the mark of {name}",
            key,
            confidence="high" if lock.sure else "medium",
            rows=rows,
            inside=inside,
            stored=lock.of_rows,
            call=lock.call,
            flaw=self._flaw(lock.call),
        )

    def _flaw(self, call: Call) -> Flaw | None:
        matched = self.reservations.matched(call)
        return None if matched is None else flaw_of(self.reservations.backends.scope(matched.entry, matched.call)[0])

    # ------------------------------------------------------------------ locks

    def taken(self, scene: Scene) -> Iterator[Lock]:
        """The locks that were taken on the way to the end of a scene."""
        for index, fact in enumerate(scene.facts):
            if not isinstance(fact, h.Done | h.Inside | h.Left):
                continue
            for call, of_rows, sure in self._locks_of(fact, scene):
                start = _entered_at(scene.facts, index, fact.inside) if isinstance(fact, h.Left) else index
                end = index if isinstance(fact, h.Left) else self._end(scene, index, of_rows, fact)
                yield Lock(call, start, end, of_rows, sure)

    def _locks_of(self, fact: h.Fact, scene: Scene) -> Iterator[Taken]:
        """The locks that one fact takes, and whether they are of rows."""
        if isinstance(fact, h.Done):
            if not self.outcomes.potential.may(fact.site.call, held=True):
                return
            call = scene.put(fact.site.call)
            yield from self._in_call(call, scene) if isinstance(call, Call) else ()
        elif isinstance(fact, h.Inside | h.Left):
            value = scene.put(fact.value if isinstance(fact, h.Inside) else fact.inside.value)
            yield from self._in_context(value, scene)

    def _in_call(self, call: Call, scene: Scene) -> Iterator[Taken]:
        matched = self.reservations.matched(call)
        if matched is not None:
            if self._is_lock(matched) and (self._is_of_rows(matched) or self._acquires(matched)):
                yield matched.call, self._is_of_rows(matched), matched.sure
            return
        if scene.depth < MAX_DEPTH:
            # A helper that locks and returns with the lock held: in every one of its exits.
            found = [list(self._still_held(inside, True)) for _, inside in self.outcomes.exits(call, scene) or ()]
            if found and all(found):
                yield from found[0][:1]

    def _still_held(self, scene: Scene, left: bool) -> Iterator[Taken]:
        """The locks that are held at an exit of a function, once it is `left`."""
        for lock in self.taken(scene):
            if lock.end is None and not (left and self.ends_here(lock, scene)):
                yield lock.call, lock.of_rows, lock.sure

    def ends_here(self, lock: Lock, scene: Scene) -> bool:
        """Whether a lock ends when its function returns: the block that holds it is the function's own."""
        return any(isinstance(fact, h.Inside) and self.holds(fact, lock, scene) for fact in scene.facts)

    def _in_context(self, value: Value, scene: Scene) -> Iterator[Taken]:
        """`with redis.lock(…)`, `with lock:` of a lock made before, a context manager of the tree that holds one."""
        for option in options(self.evaluator.resolve(value)):
            while isinstance(option, Updated):
                option = self.evaluator.resolve(option.base)
            matched = self.reservations.matched(option) if isinstance(option, Call) else None
            if matched is not None and self._is_lock(matched) and not self._is_of_rows(matched):
                yield matched.call, False, matched.sure
        if isinstance(value, Call) and scene.depth < MAX_DEPTH and self.reservations.matched(value) is None:
            exits = self.outcomes.exits(value, scene, yields=True) or self.outcomes.entering(value, scene) or ()
            found = [list(self._still_held(inside, False)) for _, inside in exits]
            if found and all(found):
                yield from found[0][:1]

    def is_lock(self, call: Call) -> bool:
        """Whether a call makes or takes a lock that all processes share."""
        for part in (call, call.func):
            matched = self.reservations.matched(part) if isinstance(part, Call) else None
            if matched is not None and self._is_lock(matched):
                return True
        return False

    def _is_lock(self, matched: Matched) -> bool:
        scope, _, _ = self.reservations.backends.scope(matched.entry, matched.call)
        return matched.entry.win == "held" and self.reservations.counts(scope)

    def _is_of_rows(self, matched: Matched) -> bool:
        entry = matched.entry
        ends = any(name.endswith((".commit", ".rollback")) for name in entry.releases)
        return (
            bool(entry.needs)
            or ends
            or any("for" in pattern and "update" in pattern for pattern in entry.matches.values())
        )

    @staticmethod
    def _acquires(matched: Matched) -> bool:
        """A lock object that is only made is not taken; `acquire()` or SQL text takes it."""
        name = matched.call.func.name if isinstance(matched.call.func, Attr) else ""
        return bool(matched.entry.matches) or name.startswith("acquire")

    def _end(self, scene: Scene, start: int, of_rows: bool, fact: h.Fact) -> int | None:
        """The index of the fact that ends a lock; None if it is held to the end of the scene."""
        for index in range(start + 1, len(scene.facts)):
            later = scene.facts[index]
            if isinstance(later, h.Left):
                if later.inside is fact:
                    return index
                if of_rows and self._ends_transaction(later, scene, index):
                    return index
            if isinstance(later, h.Done) and self._releases(later.site, of_rows):
                return index
        return None

    def _ends_transaction(self, left: h.Left, scene: Scene, index: int) -> bool:
        if not self.transactions.is_transaction(left.inside.value):
            return self._is_session(left.inside.value)
        outer = [one for one in scene.facts[:index] if isinstance(one, h.Inside)]
        return not any(self.transactions.is_transaction(one.value) for one in outer if one is not left.inside)

    def _is_session(self, context: Value) -> bool:
        """Whether leaving a context closes a session, and with it its transaction."""
        entered = Attr(Element(context, True), "commit")
        return bool(self.evaluator.lookup(self.packs.transaction_commits, entered))

    def _releases(self, site: Site, of_rows: bool) -> bool:
        """Whether a call ends a lock."""
        if of_rows:
            return self.transactions.effect(site) == "commits"
        return bool(self.evaluator.lookup(self.packs.claim_releases, site.call.func))

    # ------------------------------------------------------------------ checks and marks

    def checked(self, scene: Scene, lock: Lock) -> frozenset[str]:
        """What the tests under a lock read, the condition of the locked query included."""
        found: set[str] = set()
        if lock.of_rows:
            found |= self.marks.read_by_query(lock.call, self._uses(scene, lock))
        region = scene.facts[lock.start : lock.end]
        for fact in region:
            if isinstance(fact, h.Test):
                found |= set() if self._is_stale(fact.value, scene, lock) else self._read(scene.put(fact.value), lock)
            elif isinstance(fact, h.Either):
                found |= self._checked_in(fact, scene, lock)
            elif isinstance(fact, h.Loop) and isinstance(fact.over, Value):
                found |= self.marks.read_by_query(lock.call, iter((scene.put(fact.over),)))
        return frozenset(found)

    def _is_stale(self, value: Value, scene: Scene, lock: Lock) -> bool:
        """Whether a tested value was read before the lock was taken, and not again."""
        calls = {part for part in walk(value) if isinstance(part, Call)}
        if not any(isinstance(f, h.Done) and f.site.call in calls for f in scene.facts[: lock.start]):
            return False
        region = [fact.site.call for fact in scene.facts[lock.start : lock.end] if isinstance(fact, h.Done)]
        return not any(call in calls or self._reads_again(call, value) for call in region)

    def _reads_again(self, call: Call, value: Value) -> bool:
        """`row.refresh_from_db()`, `session.refresh(row)`."""
        named = (*call.args, *((call.func.base,) if isinstance(call.func, Attr) else ()))
        rows = {part for part in walk(value) if isinstance(part, Call | Updated)}
        return any(one in rows for one in named) and bool(self.evaluator.lookup(self.packs.store_reads, call.func))

    def _read(self, value: Value, lock: Lock) -> frozenset[str]:
        """What a test reads. That the locked row is there at all, only its deletion changes."""
        found = self.marks.read(value)
        if not lock.of_rows or not self._is_of(value, lock):
            return found
        name = self.reservations.fields.name_of(self.reservations.fields.model(lock.call))
        return frozenset(f"deletion of {name}" if one == f"row of {name}" else one for one in found)

    def _checked_in(self, fact: h.Either, scene: Scene, lock: Lock) -> frozenset[str]:
        """What every branch has tested."""
        sets = [
            frozenset(t for f in branch if isinstance(f, h.Test) for t in self._read(scene.put(f.value), lock))
            for branch in fact.branches
        ]
        return frozenset.intersection(*sets)

    def _in_loops(self, scene: Scene, lock: Lock) -> frozenset[str]:
        """The marks that are set in a loop over the locked rows."""
        if not lock.of_rows or not scene.function:
            return frozenset()
        end = None if lock.end is None else scene.facts[lock.end]
        found: set[str] = set()
        flow = self.flows.of(self.program.function(scene.function))
        for write in flow.writes:
            if self._over_rows(write.held, scene, lock) and _is_before(write.at, write.held, end):
                found |= self.marks.of_write(write.base, write.field)
        for site in flow.sites:
            if self._over_rows(site.held, scene, lock) and _is_before(site.at, site.held, end):
                found |= self.marks.written_by(site, scene)
        return frozenset(found)

    def _over_rows(self, held: h.Held | None, scene: Scene, lock: Lock) -> bool:
        """Whether a point stands in a loop over rows of the locked query, on every turn of it."""
        for fact in h.newest_first(held):
            if isinstance(fact, h.Loop):
                return isinstance(fact.over, Value) and self._is_of(scene.put(fact.over), lock)
            if isinstance(fact, h.Test | h.Caught):
                return False
        return False

    def _is_of(self, value: Value, lock: Lock) -> bool:
        """Whether a value is made of the locked query."""
        return any(part is lock.call for part in walk(value)) or any(
            part is lock.call for part in walk(self.evaluator.resolve(value))
        )

    def _uses(self, scene: Scene, lock: Lock) -> Iterator[Value]:
        """Values made of the locked query: what later facts test, loop over or write."""
        for fact in scene.facts[lock.start :]:
            for value in _values(fact):
                put = scene.put(value)
                if self._is_of(put, lock):
                    yield put

    def _only_rows(self, scene: Scene, lock: Lock) -> bool:
        """Whether nothing tests that there was a row: only the rows themselves are claimed."""
        return not any(isinstance(fact, h.Test | h.Loop) for fact in scene.facts[lock.start :])

    def _written_after(self, site: Site, scene: Scene, lock: Lock) -> frozenset[str]:
        """The marks that the function writes after a site, while the lock is held."""
        flow = self.flows.of(self.program.function(site.function))
        inside = next((f for f in h.blocks(site.held) if isinstance(f, h.Inside) and self.holds(f, lock, scene)), None)
        found: set[str] = set()
        for other in flow.sites[site.index + 1 :]:
            if flow.exclusive(site.held, other.held) or only_caught(site.held, other.held):
                continue
            if lock.of_rows and inside is None and self._releases(other, True):
                found |= self.marks.written_by(other, scene)
                break
            if inside is None or any(fact is inside for fact in h.newest_first(other.held)):
                found |= self.marks.written_by(other, scene)
        for write in flow.writes:
            after = write.at[:2] > site.at[:2] and not only_caught(site.held, write.held)
            if after and (inside is None or any(fact is inside for fact in h.newest_first(write.held))):
                found |= self.marks.of_write(write.base, write.field)
        return frozenset(found)

    def holds(self, inside: h.Inside, lock: Lock, scene: Scene) -> bool:
        """Whether a `with` block holds a lock."""
        if lock.of_rows:
            return self.transactions.is_transaction(inside.value)
        return any(call is lock.call for call, *_ in self._in_context(scene.put(inside.value), scene))


def _values(fact: h.Fact) -> Iterator[Value]:
    match fact:
        case h.Test(value=value) | h.Loop(over=Value() as value):
            yield value
        case h.Wrote(base=base):
            yield base
        case h.Done(site=site):
            yield site.call
        case h.Either(branches=branches):
            for branch in branches:
                for inner in branch:
                    yield from _values(inner)
        case _:
            pass


def _position(fact: h.Fact) -> tuple[int, int] | None:
    """Where a fact stands in its file."""
    match fact:
        case h.Done(site=site):
            return site.at[:2]
        case h.Test(at=at) | h.Wrote(at=at) | h.Loop(at=at) | h.Inside(at=at):
            return at[:2]
        case _:
            return None


def _is_before(at: facts.Span, held: h.Held | None, end: h.Fact | None) -> bool:
    """Whether a point is reached before a lock ends with this fact."""
    if isinstance(end, h.Left):
        return any(fact is end.inside for fact in h.newest_first(held))
    place = None if end is None else _position(end)
    return place is None or at[:2] < place


def _entered_at(passed: tuple[h.Fact, ...], index: int, inside: h.Inside) -> int:
    """The index of the first fact of a `with` block that was left at `index`."""
    for number, fact in enumerate(passed[:index]):
        place = _position(fact)
        if place is not None and place > inside.at[:2] and not isinstance(fact, h.Left):
            return number
    return index


def only_caught(before: h.Held | None, after: h.Held | None) -> bool:
    """Whether a later point is reached only through an `except` of a block around the earlier one."""
    own = set(map(id, h.blocks(before)))
    return any(isinstance(fact, h.Caught) and id(fact) not in own for fact in h.blocks(after))
