"""Claims that an open transaction can still take back: the mail leaves inside it, and more work follows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sendonce import facts
from sendonce.program import held as h
from sendonce.program.byname import saving
from sendonce.program.claims import Claims
from sendonce.program.constraints import plain
from sendonce.program.escapes import within
from sendonce.program.flow import Flow
from sendonce.program.held import Site
from sendonce.program.locks import only_caught
from sendonce.program.mail import Guard, Transaction
from sendonce.program.paths import Path
from sendonce.program.scene import Scene
from sendonce.program.transactions import Transactions
from sendonce.program.values import Attr, Call, ClassRef, Updated, walk

MAX_DEPTH = 3


@dataclass(frozen=True, eq=False)
class Following:
    """A transaction that is open around a claim and its mail, and the first work that follows the mail in it."""

    transaction: Transaction
    work: Site


class Followed:
    """Answers for paths."""

    def __init__(self, claims: Claims, transactions: Transactions) -> None:
        self.claims = claims
        self.program = claims.program
        self.packs = claims.packs
        self.transactions = transactions
        self.marks = claims.locks.marks
        self._saving = saving(self.packs)

    def on(self, path: Path) -> Following | None:
        """The work that can still take back the claim of a path when its mail has gone."""
        guard = path.mail.guard
        if guard is None or not guard.stored:
            return None
        sites = list(path.sites())
        for exposed in path.mail.exposed:
            opened = exposed.transaction
            start = next((number for number, site in enumerate(sites) if site is opened.site), None)
            if exposed.enqueue is not None or start is None or not self._is_inside(guard, opened, sites, start):
                continue
            for site in reversed(sites[start:]):
                work = next(self._work(site, opened, guard), None)
                if work is not None:
                    return Following(opened, work)
        return None

    # ------------------------------------------------------------------ the claim

    def _is_inside(self, guard: Guard, opened: Transaction, sites: list[Site], start: int) -> bool:
        """Whether a claim was made in a transaction."""
        claimed = next((number for number, site in enumerate(sites) if site.function == guard.function), None)
        if claimed is None or claimed != start:
            return claimed is not None and claimed > start
        if opened.kind == "library":
            return False
        inside = self.transactions.block_at(sites[start].held) if opened.kind == "block" else None
        if inside is None:
            return True
        return not self._was_made(guard, h.oldest_first(sites[start].held), inside)

    def _was_made(self, guard: Guard, passed: tuple[h.Fact, ...], inside: h.Inside) -> bool:
        """Whether a claim was made before a block was entered, wherever its answer was tested."""
        entered = next(number for number, fact in enumerate(passed) if fact is inside)
        if self.claims.dominating(Scene(passed[:entered], function=guard.function)) is not None:
            return True
        made = {fact.site.call for fact in passed[:entered] if isinstance(fact, h.Done)}
        asked = {part for fact in passed[entered:] if isinstance(fact, h.Test) for part in walk(fact.value)}
        return any(
            call.at[:2] == (guard.path, guard.line) or (call in asked and self.claims.outcomes.potential.may(call))
            for call in made
        )

    # ------------------------------------------------------------------ the work

    def _work(self, site: Site, opened: Transaction, guard: Guard) -> Iterator[Site]:
        """The calls after a site, in its function and the transaction, that change rows or can raise."""
        block = self.transactions.block_at(opened.site.held) if site is opened.site else None
        flow = self.claims.flows.of(self.program.function(site.function))
        for other in flow.sites[site.index + 1 :]:
            if flow.exclusive(site.held, other.held) or only_caught(site.held, other.held):
                continue
            if block is not None and not any(fact is block for fact in h.newest_first(other.held)):
                continue
            if self.transactions.effect(other) == "commits":
                return
            if self._is_work(other, guard, _is_swallowed(flow, site, other)):
                yield other

    def _is_work(self, site: Site, guard: Guard, swallowed: bool) -> bool:
        """Whether a call changes rows, or may raise an error that is not swallowed."""
        if self._is_of_claim(site.call, guard):
            return False
        if self.claims.evaluator.lookup(self.packs.store_saves, site.call.func) or self._saves(site.call, guard):
            return True
        scene = Scene(function=site.function)
        if self.marks.written_by(site, scene) - _own(guard):
            return True
        return not swallowed and self._raises(site.call, 0)

    def _saves(self, call: Call, guard: Guard) -> bool:
        """Whether a call saves an object of unknown class on which more was set than the claim's own mark."""
        if not (isinstance(call.func, Attr) and call.func.name in self._saving):
            return False
        written: set[str] = set()
        base = call.func.base
        while isinstance(base, Updated):
            written.add(plain(base.field))
            base = base.base
        return bool(written - _own(guard)) and not self.claims.evaluator.types(base)

    def _is_of_claim(self, call: Call, guard: Guard) -> bool:
        """Whether a call is a method of the row that is the claim, or was claimed."""
        types = self.claims.evaluator.types(call.func.base) if isinstance(call.func, Attr) else ()
        return any(isinstance(one, ClassRef) and _is_model(one.id, guard.prefix) for one in types)

    def _raises(self, call: Call, depth: int) -> bool:
        """Whether a call asks another service, or runs a function of the tree that does or raises an error itself."""
        asks = self.packs.http_clients, self.packs.effects
        if any(self.claims.evaluator.lookup(table, call.func) for table in asks):
            return True
        for ref, *_ in self.claims.linker.callables(call.func):
            function = self.program.function(ref.id)
            if isinstance(function.node, facts.Def) and any(True for _ in _raised(function.node.body)):
                return True
            if depth < MAX_DEPTH and any(
                not isinstance(self.claims.evaluator.resolve(site.call.func), ClassRef)
                and self._raises(site.call, depth + 1)
                for site in self.claims.flows.of(function).sites
            ):
                return True
        return False


def _is_swallowed(flow: Flow, site: Site, other: Site) -> bool:
    """Whether the errors of a later call end in handlers, which raise nothing, of blocks that do not hold the first."""
    around = set(map(id, h.blocks(site.held)))
    handled = [fact.handlers for fact in h.blocks(other.held) if isinstance(fact, h.Trying) and id(fact) not in around]
    return any(
        handlers and not any(within(exit.at, at) for _, at in handlers for exit in flow.raises) for handlers in handled
    )


def _own(guard: Guard) -> set[str]:
    """The marks of a claim: its row, the fields that it sets."""
    model, _, names = guard.prefix.rpartition(".")
    name = guard.prefix.rpartition(".")[2]
    own = {f"row of {one}" for one in (name, model.rpartition(".")[2], guard.prefix)}
    return own | {plain(one.strip()) for one in names.split(",")}


def _is_model(id: str, prefix: str) -> bool:
    return prefix == id or prefix.startswith(f"{id}.")


def _raised(node: object) -> Iterator[facts.Raise]:
    """The errors that statements raise, those raised again in handlers left out."""
    todo: list[object] = [node]
    while todo:
        found = todo.pop()
        if isinstance(found, tuple):
            todo.extend(found)
        elif isinstance(found, facts.Raise):
            yield found
        elif hasattr(found, "__struct_fields__") and not isinstance(found, facts.Handler | facts.Def | facts.Class):
            todo.extend(getattr(found, name) for name in found.__struct_fields__ if name != "at")
