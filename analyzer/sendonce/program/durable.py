"""What is kept even if the process dies: rows, keys of a store, jobs that a queue holds, messages of a broker."""

from __future__ import annotations

from collections.abc import Iterable

from sendonce.findings import Place
from sendonce.program import held as h
from sendonce.program.claims import Claims
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.link import Linker
from sendonce.program.memory import Memory
from sendonce.program.values import Attr, Call

MAX_DEPTH = 4
_KEPT = ("row", "field", "key", "file")
_STORES = frozenset(
    ["save", "asave", "insert", "insert_one", "upsert", "create", "acreate", "record", "persist", "store", "commit",
     "enqueue", "send_task", "write", "add_event", "save_event"]
)  # fmt: skip
"""Names of methods that may keep something, on an object of which nothing is known."""
_PUTS = frozenset(["put_item", "publish", "xadd", "lpush", "rpush", "produce", "basic_publish", "put_events"])
"""Names of methods that keep something, whatever the library."""


class Durable:
    """Answers for calls, memoised."""

    def __init__(self, evaluator: Evaluator, flows: Flows, linker: Linker, claims: Claims, memory: Memory) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.flows = flows
        self.linker = linker
        self.claims = claims
        self.memory = memory
        self._known: dict[tuple[Call, int], bool] = {}

    def before(self, site: Site) -> bool:
        """Whether something may have been kept in the function of a site on the way to it."""
        return self.among(h.newest_first(site.held))

    def among(self, passed: Iterable[h.Fact]) -> bool:
        """Whether one of the calls that were made, in some branch, may have kept something."""
        return any(self.keeps(done.site) for done in calls_among(passed))

    def keeps(self, site: Site) -> bool:
        """Whether a call may keep something, itself or in the functions of the tree that it runs."""
        return self._enqueues(site) or self._keeps(site.call, Place(site.path, *site.at), MAX_DEPTH)

    def _keeps(self, call: Call, at: Place, depth: int) -> bool:
        key = (call, depth)
        if key not in self._known:
            self._known[key] = False
            self._known[key] = self._writes(call, at) or self._below(call, depth)
        return self._known[key]

    def _writes(self, call: Call, at: Place) -> bool:
        if any(one.spot.kind in _KEPT for one in self.memory.writes.stored.written(call)):
            return True
        matched = self.claims.reservations.matched(call)
        if matched is not None and matched.entry.win != "held":
            return True
        tables = (self.packs.enqueues, self.packs.transaction_commits, self.packs.store_saves)
        return any(self.evaluator.lookup(table, call.func) for table in tables) or self._by_name(call)

    def _by_name(self, call: Call) -> bool:
        """Whether a method is called as those that keep something."""
        name = call.func.name if isinstance(call.func, Attr) else ""
        return name in _PUTS or (name in _STORES and not self.evaluator.shapes(call.func))

    def _below(self, call: Call, depth: int) -> bool:
        if depth <= 0:
            return False
        for ref, *_ in self.linker.callables(call.func):
            for site in self.flows.of(self.program.function(ref.id)).sites:
                if self._enqueues(site) or self._keeps(site.call, Place(site.path, *site.at), depth - 1):
                    return True
        return False

    def _enqueues(self, site: Site) -> bool:
        edges = self.linker.reached(site).edges
        return any(crossing.hop == "enqueue" for edge in edges for crossing in edge.crossings)


def calls_among(passed: Iterable[h.Fact]) -> Iterable[h.Done]:
    """The calls among facts, those in branches that joined included."""
    for fact in passed:
        if isinstance(fact, h.Done):
            yield fact
        elif isinstance(fact, h.Either):
            for branch in fact.branches:
                yield from calls_among(branch)
