"""Rows that were put into a session: the insert, and with it the conflict, comes when the session is flushed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program import held as h
from sendonce.program.byname import ByName
from sendonce.program.evaluate import Evaluator
from sendonce.program.held import Site
from sendonce.program.matching import Matched
from sendonce.program.outcomes import Outcomes
from sendonce.program.reservations import Reservation
from sendonce.program.scene import Scene
from sendonce.program.transactions import Transactions
from sendonce.program.values import Attr, Call, Seq, Value, options

MAX_DEPTH = 3


class Rows:
    """Answers for the calls that insert rows and for the transactions that flush them."""

    def __init__(self, evaluator: Evaluator, outcomes: Outcomes, transactions: Transactions) -> None:
        self.evaluator = evaluator
        self.packs = evaluator.packs
        self.outcomes = outcomes
        self.reservations = outcomes.reservations
        self.transactions = transactions
        self._inserts = ByName(evaluator, self.packs.store_inserts)
        self._saves = ByName(evaluator, self.packs.store_saves)
        self._words = frozenset(shape.rpartition(".")[2] for shape in self.packs.store_deletes)

    def inserted(self, matched: Matched, before: Scene) -> Reservation | None:
        """The reservation of an insert that has been made."""
        if matched.entry.fields and matched.entry.fields[0].startswith("receiver"):
            row = arguments.argument(self.evaluator, matched.call, "receiver")
            return None if row is None else self.reservations.inserted_row(row, matched)
        if self._flushes(matched.call):
            return self._flushed(before, matched)
        return self.reservations.reservation(matched)

    def committed(self, inside: h.Inside, before: Scene) -> Reservation | None:
        """The reservation of rows that a transaction inserted at its end."""
        context = before.put(inside.value)
        shape = context.func if isinstance(context, Call) else context
        saved = self.evaluator.lookup(self.packs.transaction_savepoints, shape)
        if not saved and not self.transactions.is_transaction(context):
            return None
        return self._flushed(before, None)

    def added(self, before: Scene) -> Reservation | None:
        """The reservation of rows that wait for the next commit, whose conflict nobody catches."""
        found = self._flushed(before, None)
        return None if found is None else replace(found, implied=True)

    def cleared(self, claim: Reservation, before: Scene) -> bool:
        """Whether rows of the same model were deleted first, so that the insert meets no earlier one."""
        return any(
            self._deletes(site.call, claim, before, 0)
            for site in _made(before.facts)
            if self.evaluator.lookup(self.packs.store_deletes, site.call.func) or isinstance(site.call.func, Attr)
        )

    def _deletes(self, call: Call, claim: Reservation, scene: Scene, depth: int) -> bool:
        """Whether a call, or a function of the tree that it runs, deletes rows of the claim's model."""
        fields = self.reservations.fields
        if self.evaluator.lookup(self.packs.store_deletes, call.func):
            put = scene.put(call)
            return isinstance(put, Call) and fields.id_of(fields.model(put)) == claim.prefix
        if depth >= MAX_DEPTH or not self._may_delete(call):
            return False
        put = scene.put(call)
        exits = self.outcomes.exits(put, scene) if isinstance(put, Call) else None
        return any(
            self._deletes(site.call, claim, inside, depth + 1)
            for _, inside in (exits or ())[:1]
            for site in _made(inside.facts)
        )

    def _may_delete(self, call: Call) -> bool:
        """Whether the function that a call runs mentions something that deletes."""
        for ref, *_ in self.outcomes.linker.callables(call.func):
            if not self._words.isdisjoint(self.outcomes.program.function(ref.id).words):
                return True
        return False

    def _flushes(self, call: Call) -> bool:
        found: tuple[tuple[object, v.Store], ...] = self.evaluator.lookup(self.packs.store_saves, call.func)
        entries = (*(entry for _, entry in found), *self._saves.of(call.func))
        return any(not entry.object and not entry.only for entry in entries)

    def _flushed(self, before: Scene, matched: Matched | None) -> Reservation | None:
        for row in self._added(before, 0):
            found = self.reservations.inserted_row(row, matched)
            if found is not None:
                return found
        return None

    def _added(self, scene: Scene, depth: int) -> Iterator[Value]:
        """The rows that were added on the way to the end of a scene, newest first."""
        for index in range(len(scene.facts) - 1, -1, -1):
            fact = scene.facts[index]
            if not isinstance(fact, h.Done):
                continue
            call = scene.put(fact.site.call)
            if not isinstance(call, Call):
                continue
            rows = list(self._rows(call))
            yield from rows
            if not rows and depth < MAX_DEPTH and self.reservations.matched(call) is None:
                for _, inside in self.outcomes.exits(call, scene) or ():
                    yield from self._added(inside, depth + 1)
                    break

    def _rows(self, call: Call) -> Iterator[Value]:
        """The rows that a call puts into a session, which may be one of which nothing is known."""
        if self.evaluator.lookup(self.packs.look_alikes, call.func):
            return
        found: tuple[tuple[object, v.Store], ...] = self.evaluator.lookup(self.packs.store_inserts, call.func)
        for entry in (*(entry for _, entry in found), *self._inserts.of(call.func)):
            for notation in entry.object:
                given = arguments.argument(self.evaluator, call, notation.removesuffix("/*"))
                if given is not None and notation.endswith("/*") and not self.reservations.fields.has_items(given):
                    continue
                for option in options(self.evaluator.resolve(given)) if given is not None else ():
                    rows = option.items if isinstance(option, Seq) else (option,)
                    yield from (row for row in rows if self.reservations.fields.made(row) is not None)


def _made(passed: tuple[h.Fact, ...]) -> Iterator[Site]:
    """The calls that were made on the way, on some of the branches that joined too."""
    for fact in passed:
        if isinstance(fact, h.Done):
            yield fact.site
        elif isinstance(fact, h.Either):
            for branch in fact.branches:
                yield from _made(branch)
