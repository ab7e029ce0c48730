"""Writes around a call: what its function writes before and after it, itself or in the helpers that it runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sendonce import facts
from sendonce.findings import Place
from sendonce.program import arguments
from sendonce.program import held as h
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flow, Flows
from sendonce.program.held import Held, Site
from sendonce.program.link import Linker
from sendonce.program.spots import Written
from sendonce.program.stored_writes import StoredWrites
from sendonce.program.symbols import Function
from sendonce.program.values import Call, Param, Value, substitute

Known = tuple[tuple[Param, Value], ...]
"""Objects and functions that functions on a path are given."""
MAX_DEPTH = 3
STORING = frozenset(
    ["save", "asave", "commit", "flush", "bulk_update", "abulk_update", "update", "merge", "save_base", "replace_one",
     "put", "write", "persist", "store", "add", "db_set", "refresh_from_db"]
)  # fmt: skip
"""Words of functions that may store a row."""
MAX_SITES = 150
"""A helper with more calls than this does more than to mark."""


@dataclass(frozen=True, eq=False)
class Mark:
    """A write, where it is made, and where the function of the site makes or asks for it (`at`).

    `after` if that stands behind the site; `held` is what holds there.
    """

    written: Written
    place: Place
    at: Place
    after: bool
    held: Held | None
    asked: Call | None = None
    """The call of the function that makes it, where it is no assignment."""

    @property
    def start(self) -> tuple[int, int]:
        return self.at.line, self.at.column


class Writes:
    """Answers for sites, memoised."""

    def __init__(self, evaluator: Evaluator, flows: Flows, linker: Linker, stored: StoredWrites) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.flows = flows
        self.linker = linker
        self.stored = stored
        self._around: dict[tuple[Site, Known], tuple[Mark, ...]] = {}
        self._made: dict[tuple[Call, int], tuple[tuple[Written, Place], ...]] = {}
        self._helpers: dict[tuple[object, ...], tuple[tuple[Written, Place], ...]] = {}

    def around(self, site: Site, known: Known = ()) -> tuple[Mark, ...]:
        """What the function of a site writes in a run that passes the site and goes well, in its order."""
        own = tuple((param, value) for param, value in known if param.function == site.function)
        key = (site, own)
        if key not in self._around:
            self._around[key] = ()
            found = [*self._own(site, dict(own)), *self._of_contexts(site, dict(own))]
            self._around[key] = tuple(sorted(found, key=lambda mark: (mark.start, mark.place)))
        return self._around[key]

    def _own(self, site: Site, known: dict[Param, Value]) -> Iterator[Mark]:
        flow = self.flows.of(self.program.function(site.function))
        for write in flow.writes:
            if not _apart(flow, site, write.held):
                place = Place(site.path, *write.at)
                after = write.at[:2] > site.at[:2]
                for one in self.stored.assigned(write.base, write.field, write.value):
                    if _is_stored(one, flow):
                        yield Mark(one, place, place, after, write.held)
        for other in flow.sites:
            if other is site:
                continue
            at = Place(other.path, *other.at)
            call = called(other.call, known)
            made = self.made(call, at, 0)
            if made and not _apart(flow, site, other.held):
                after = other.index > site.index
                yield from (Mark(one, place, at, after, other.held, call) for one, place in made)

    # ------------------------------------------------------------------ calls

    def made(self, call: Call, at: Place, depth: int) -> tuple[tuple[Written, Place], ...]:
        """What a call writes, itself or in the functions of the tree that it runs, each with its place."""
        key = (call, depth)
        if key not in self._made:
            self._made[key] = ()
            self._made[key] = tuple(self._written_by(call, at, depth))
        return self._made[key]

    def _written_by(self, call: Call, at: Place, depth: int) -> Iterator[tuple[Written, Place]]:
        own = list(self.stored.written(call))
        yield from ((one, at) for one in own)
        if own or depth >= MAX_DEPTH:
            return
        for ref, names, args, *_ in self.linker.callables(call.func):
            function = self.program.function(ref.id)
            flow = self.flows.of(function)
            if len(flow.sites) <= MAX_SITES and not flow.yields:
                binding = arguments.bind(self.evaluator, ref, (*names, *call.names), (*args, *call.args))
                yield from self._in_helper(flow, binding, depth)

    def _in_helper(self, flow: Flow, binding: dict[Param, Value], depth: int) -> tuple[tuple[Written, Place], ...]:
        """What a helper writes, worked out once for equal arguments, whoever gives them."""
        key = (flow.function.id, frozenset(binding.items()), depth)
        if key not in self._helpers:
            self._helpers[key] = ()
            self._helpers[key] = tuple(self._inside(flow, binding, depth, None))
        return self._helpers[key]

    def _inside(
        self, flow: Flow, binding: dict[Param, Value], depth: int, part: tuple[facts.Span, bool] | None
    ) -> Iterator[tuple[Written, Place]]:
        """What a helper writes; with `part`, only behind (true) or before a point of it."""
        path = flow.function.module.path
        makes = flow.function.name == "__init__"  # what an object is made with marks nothing
        for write in () if makes else flow.writes:
            if not _is_caught(write.held) and _is_in(write.at, part):
                base, value = substitute(write.base, binding), substitute(write.value, binding)
                for one in self.stored.assigned(base, write.field, value):
                    if _is_stored(one, flow):
                        yield one, Place(path, *write.at)
        for site in flow.sites:
            inner = substitute(site.call, binding)
            if isinstance(inner, Call) and not _is_caught(site.held) and _is_in(site.at, part):
                yield from self.made(inner, Place(path, *site.at), depth + 1)

    # ------------------------------------------------------------------ context managers

    def _of_contexts(self, site: Site, known: dict[Param, Value]) -> Iterator[Mark]:
        """What the context managers around a site write when they are entered and left."""
        for fact in h.newest_first(site.held):
            if isinstance(fact, h.Inside) and isinstance(fact.value, Call):
                at = Place(site.path, *fact.at)
                for after, function, binding, part in self._halves(called(fact.value, known)):
                    for one, place in self._inside(self.flows.of(function), binding, 1, part):
                        yield replace(Mark(one, place, at, after, site.held))

    def _halves(
        self, context: Call
    ) -> Iterator[tuple[bool, Function, dict[Param, Value], tuple[facts.Span, bool] | None]]:
        """The code of a context manager that runs on the way in (false) and on the way out (true)."""
        for ref, names, args, *_ in self.linker.callables(context.func):
            function = self.program.function(ref.id)
            flow = self.flows.of(function)
            if flow.yields:
                binding = arguments.bind(self.evaluator, ref, (*names, *context.names), (*args, *context.args))
                for after in (False, True):
                    yield after, function, binding, (flow.yields[0].at, after)
        for name, after in (("__enter__", False), ("__aenter__", False), ("__exit__", True), ("__aexit__", True)):
            method = self.evaluator.hierarchy.method_of_instance(self.evaluator.types(context), name)
            if method is not None and method.params:
                yield after, method, {Param(method.id, method.params[0].name): context}, None


def _is_stored(written: Written, flow: Flow) -> bool:
    """Whether an attribute may be stored: of a known class, or in a function that stores something."""
    spot = written.spot
    return spot.kind != "field" or bool(spot.owner) or not STORING.isdisjoint(flow.function.words)


def called(call: Call, known: dict[Param, Value]) -> Call:
    """A call with what is known of the object that it is made on; its arguments stay as they are."""
    func = substitute(call.func, known)
    return call if func is call.func else Call(func, call.names, call.args, call.at)


def _apart(flow: Flow, site: Site, held: Held | None) -> bool:
    """Whether a point is not passed in a run that passes the site and meets no error."""
    own = set(map(id, h.blocks(site.held)))
    caught = any(isinstance(fact, h.Caught) and id(fact) not in own for fact in h.blocks(held))
    return caught or flow.exclusive(site.held, held)


def _is_caught(held: Held | None) -> bool:
    return any(isinstance(fact, h.Caught) for fact in h.blocks(held))


def _is_in(at: facts.Span, part: tuple[facts.Span, bool] | None) -> bool:
    if part is None:
        return True
    point, behind = part
    return (at[:2] > point[:2]) is behind
