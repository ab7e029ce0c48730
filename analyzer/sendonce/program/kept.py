"""Claims that do not outlive their transaction: it is rolled back, or its session is closed, and nothing commits it."""

from __future__ import annotations

from functools import cached_property

from sendonce.program import held as h
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flow, Flows
from sendonce.program.held import Held, Site
from sendonce.program.link import Linker
from sendonce.program.locks import only_caught
from sendonce.program.reservations import Reservation
from sendonce.program.scene import Scene
from sendonce.program.transactions import Transactions
from sendonce.program.units import Kind
from sendonce.program.values import Attr, Call, Element, Updated, Value, walk


class Kept:
    """Answers for claims in a scene."""

    def __init__(self, evaluator: Evaluator, flows: Flows, linker: Linker, transactions: Transactions) -> None:
        self.evaluator = evaluator
        self.packs = evaluator.packs
        self.program = evaluator.program
        self.flows = flows
        self.linker = linker
        self.transactions = transactions

    def lost(self, claim: Reservation, scene: Scene, index: int) -> bool:
        """Whether a claim, won by the fact at `index`, is taken back whatever way the function of a scene goes on.

        An `index` behind all facts is that of a lock and the mark under it.
        """
        if not claim.stored or claim.call is None or not scene.function:
            return False
        session = self._made(claim.call)
        start = self._start(claim.call, scene, index)
        known = self._first(claim.call, session, scene, start)
        if known:
            return known == "ends"
        flow = self.flows.of(self.program.function(scene.function))
        first = scene.facts[start] if start < len(scene.facts) else None
        after = first.site.held if isinstance(first, h.Done) else None
        return session is not None and self._is_own(session, flow) and not self._may_commit(session, after, flow)

    # ------------------------------------------------------------------ sessions

    def _made(self, call: Call) -> Call | None:
        """The call that made the session or connection on which another call is made, cursors seen through."""
        found = _owner(call)
        while isinstance(found, Element | Updated | Call):
            if self._has_commit(found):
                while isinstance(found, Element | Updated):
                    found = found.base
                return found if isinstance(found, Call) else None
            found = _owner(found) if isinstance(found, Call) else found.base
        return None

    def _has_commit(self, value: Value) -> bool:
        table = self.packs.transaction_commits
        return any(self.evaluator.lookup(table, Attr(value, name)) for name in self._commits)

    @cached_property
    def _commits(self) -> tuple[str, ...]:
        return tuple(sorted({shape.rpartition(".")[2] for shape in self.packs.transaction_commits}))

    # ------------------------------------------------------------------ on the way

    @staticmethod
    def _start(call: Call, scene: Scene, index: int) -> int:
        """The index of the fact with which the claim was made: its answer may be tested later."""
        tested = scene.facts[index] if index < len(scene.facts) else None
        parts = set(walk(tested.value)) if isinstance(tested, h.Test) else set()
        for number, fact in enumerate(scene.facts[:index]):
            if isinstance(fact, h.Done) and (fact.site.call.at == call.at or fact.site.call in parts):
                return number
        return index

    def _first(self, call: Call, session: Call | None, scene: Scene, start: int) -> Kind:
        """What first became of a claim's transaction on the way to the end of a scene."""
        for index in range(start, len(scene.facts)):
            fact = scene.facts[index]
            kind: Kind = ""
            if isinstance(fact, h.Done):
                kind = self._done(fact.site, call, session, scene)
            elif isinstance(fact, h.Left) and any(one is fact.inside for one in scene.facts[:start]):
                kind = self._left(fact.inside.value, session, scene)
            if kind:
                return kind
        return ""

    def _done(self, site: Site, call: Call, session: Call | None, scene: Scene) -> Kind:
        """What a call does to the transaction of a claim."""
        kind = self.transactions.units.kind(site)
        if kind == "ends":
            put = scene.put(site.call)
            same = isinstance(put, Call) and self._is_same(put, call, session)
            return "ends" if same else ""
        return "commits" if kind == "commits" else ""

    def _is_same(self, end: Call, call: Call, session: Call | None) -> bool:
        """Whether a rollback or close is of the session in which a claim was made, or of the only one there is."""
        if session is not None or self._made(end) is not None:
            return session is self._made(end)
        if any(True for _ in self.linker.callables(end.func)):
            return False
        return _owner(end) is _owner(call) or self._is_ambient(end)

    def _is_ambient(self, end: Call) -> bool:
        """Whether a call ends the transaction of the whole thread: a function, no method of a session."""
        return all("()" not in shape for shape in self.evaluator.shapes(end.func))

    def _left(self, context: Value, session: Call | None, scene: Scene) -> Kind:
        """What the end of a `with` block does: a transaction commits, a session of its own rolls back."""
        put = scene.put(context)
        if self.transactions.is_transaction(put):
            return "commits"
        return "ends" if session is not None and put is session else ""

    # ------------------------------------------------------------------ later on

    def _is_own(self, session: Call, flow: Flow) -> bool:
        """Whether a function made a session for itself, in which each statement waits for a commit."""
        if not any(site.call is session for site in flow.sites) or "scoped" in _shown(self.evaluator, session):
            return False
        return not self._commits_by_itself(session, flow)

    def _commits_by_itself(self, session: Call, flow: Flow) -> bool:
        """Whether something makes every statement a transaction of its own, here or where the session is configured."""
        made = [session, self.evaluator.resolve(session.func)]
        named = {name for value in made for part in walk(value) if isinstance(part, Call) for name in part.names}
        return not self._autocommits.isdisjoint(named | {write.field for write in flow.writes} | flow.function.words)

    @cached_property
    def _autocommits(self) -> frozenset[str]:
        """The words that switch transactions off: options, attributes."""
        entries = (entry for pack in self.packs.packs for entry in pack.transaction)
        return frozenset(one.rpartition(".")[2] for entry in entries for one in entry.autocommits)

    def _may_commit(self, session: Call, after: Held | None, flow: Flow) -> bool:
        """Whether anything that a function does beside a claim may commit it, or lets the session out of it."""
        for site in flow.sites:
            if after is not None and (flow.exclusive(after, site.held) or only_caught(after, site.held)):
                continue
            made = self._made(site.call)
            if self.transactions.units.kind(site) == "commits" and made in (None, session):
                return True
            if self._lets_out(site, session):
                return True
        blocks = (fact.value for site in flow.sites for fact in h.blocks(site.held) if isinstance(fact, h.Inside))
        if any(self.transactions.is_transaction(block) for block in blocks):
            return True
        exits = (exit.value for exit in (*flow.returns, *flow.yields))
        written = (write.value for write in flow.writes)
        return any(part is session for value in (*exits, *written) for part in walk(value))

    def _lets_out(self, site: Site, session: Call) -> bool:
        """Whether a call is given a session and may commit it: nobody knows what it runs, or that mentions a commit."""
        given = any(part is session for arg in site.call.args for part in walk(arg))
        if not given:
            return False
        known = list(self.linker.callables(site.call.func))
        words = (self.program.function(ref.id).words for ref, *_ in known)
        return not (known or self._is_of_library(site)) or any(not _ENDS.isdisjoint(one) for one in words)

    def _is_of_library(self, site: Site) -> bool:
        return bool(self.evaluator.shapes(site.call.func))


_ENDS = frozenset(["commit", "begin", "transaction"])


def _owner(call: Call) -> Value | None:
    """The object whose method a call is."""
    found = call.func.base if isinstance(call.func, Attr) else None
    while isinstance(found, Updated):
        found = found.base
    return found


def _shown(evaluator: Evaluator, call: Call) -> str:
    return " ".join(sorted(evaluator.shapes(call.func)))
