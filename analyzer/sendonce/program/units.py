"""Units of work: what was written to a session before a call, and where it is committed only after it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from sendonce import facts
from sendonce.findings import Place
from sendonce.packs.tables import Table
from sendonce.program import arguments
from sendonce.program import held as h
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flow, Flows, Write
from sendonce.program.held import Held, Site
from sendonce.program.link import Edge, Linker
from sendonce.program.reader import Reader
from sendonce.program.symbols import Function
from sendonce.program.values import (
    Attr,
    Call,
    ClassRef,
    Const,
    External,
    FunctionRef,
    Param,
    Text,
    Updated,
    Value,
    options,
    substitute,
    walk,
)
from sendonce.vocabulary import Transaction as Entry

Kind = Literal["", "writes", "commits", "ends"]
"""What a call does to a unit of work; "ends" is a rollback or a close."""

_WRITES = re.compile(
    r"\s*(?:--.*\n\s*)*(?:insert|update|delete|replace|merge|with\b.*\b(?:insert|update|delete))\b", re.I | re.S
)
MAX_GIVEN = 3
"""Through how many functions a session is followed back to where it is made."""

_STATEMENTS = ("insert", "update", "delete")

MAX_DEPTH = 5
"""Through how many calls a write or commit is looked for."""


@dataclass(frozen=True)
class Event:
    """A write, a commit or an end, where it happens in a function; `session` is the object it is done on, if known."""

    at: facts.Span
    place: Place
    kind: Kind
    session: Value | None = None
    entry: Entry | None = None


class Units:
    """Follows writes and commits through the calls of one function and of what it calls."""

    def __init__(
        self, evaluator: Evaluator, flows: Flows, linker: Linker, is_transaction: Callable[[Value], bool]
    ) -> None:
        self.evaluator = evaluator
        self.packs = evaluator.packs
        self.program = evaluator.program
        self.flows = flows
        self.linker = linker
        self.is_transaction = is_transaction
        self._depth = 0
        self._events_of: dict[str, list[tuple[Site, Kind]]] = {}
        self._writes: dict[str, list[Write]] = {}
        self._kinds: dict[Site, Kind | tuple[Edge, ...]] = {}
        self._left: dict[tuple[object, ...], Kind] = {}
        self._asked: dict[Param, tuple[Value, ...]] = {}
        self._before: dict[Site, Event | None] = {}

    # ------------------------------------------------------------------ around a call

    def before(self, site: Site) -> Event | None:
        """What was last done to a unit of work before a call: an open write, or the commit that left none."""
        if site not in self._before:
            self._before[site] = self._last_before(site)
        return self._before[site]

    def _last_before(self, site: Site) -> Event | None:
        flow = self.flows.of(self.program.function(site.function))
        events = list(self._events(flow, site.index, site.held, {}))
        for number in reversed(range(len(events))):
            event = events[number]
            if event.kind == "writes" and not any(_same(event, later) for later in events[number + 1 :]):
                return event
        ended = (event for event in reversed(events) if event.kind != "writes" and not isinstance(event.session, Call))
        return next(ended, None)

    def after(self, site: Site, written: Event | None) -> Site | None:
        """The call, in the same function, that commits after another; of the session that was written, if known."""
        flow = self.flows.of(self.program.function(site.function))
        for other, kind in self._telling(flow, {}):
            if other.index <= site.index or kind != "commits" or flow.exclusive(site.held, other.held):
                continue
            if written is None or _same(written, Event(other.at, written.place, "commits", self._session(other))):
                return other
        return None

    def around(self, site: Site) -> Site | None:
        """The commit that follows when a block around a call ends: of a project's own context manager."""
        for fact in h.newest_first(site.held):
            if isinstance(fact, h.Inside):
                for function, start in self._leaving(fact.value):
                    found = self._commit_in(function, start)
                    if found is not None:
                        return found
        return None

    def on_exit(self, function: Function) -> Site | None:
        """The commit after the `yield` of a dependency that the framework injects into a function."""
        for declared in function.params:
            for ref in self._dependencies(function, declared):
                flow = self.flows.of(self.program.function(ref.id))
                if flow.yields:
                    found = self._commit_in(flow.function, min(exit.at for exit in flow.yields))
                    if found is not None:
                        return found
        return None

    def is_lent(self, param: Param) -> bool:
        """Whether a parameter is made by a dependency for one run and thrown away after it, without a commit."""
        function = self.program.function(param.function)
        for declared in function.params:
            if declared.name == param.name:
                flows = [self.flows.of(self.program.function(ref.id)) for ref in self._dependencies(function, declared)]
                exits = [exit for flow in flows for exit in flow.yields]
                blocks = [fact for exit in exits for fact in h.newest_first(exit.held) if isinstance(fact, h.Inside)]
                kept = any(self._commits_at_end(fact.value) for fact in blocks)
                return bool(exits) and not kept and self.on_exit(function) is None
        return False

    def _leaving(self, context: Value) -> Iterator[tuple[Function, facts.Span]]:
        """The functions that run when a block is left, from a place on: a generator's rest, `__exit__`."""
        for option in options(context):
            for ref, *_ in self.linker.callables(option.func) if isinstance(option, Call) else ():
                function = self.program.function(ref.id)
                yields = self.flows.of(function).yields
                if yields:
                    yield function, min(exit.at for exit in yields)
        leave = self.evaluator.hierarchy.method_of_instance(self.evaluator.types(context), "__exit__", "__aexit__")
        if leave is not None:
            yield leave, facts.NOWHERE

    def _commit_in(self, function: Function, start: facts.Span) -> Site | None:
        for site in self.flows.of(function).sites:
            if site.at > start and self.kind(site) == "commits":
                return site
        return None

    # ------------------------------------------------------------------ events of a function

    def _events(self, flow: Flow, before: int, held: Held | None, binding: dict[Param, Value]) -> Iterator[Event]:
        """Writes and commits ahead of a site (by index), in order, on branches that can lead to it."""
        found: list[Event] = []
        for other, kind in self._telling(flow, binding):
            if other.index >= before:
                break
            if self._possible(other.held, binding) and not flow.exclusive(other.held, held):
                if kind == "writes" and self._is_left(other.held, held):
                    kind = "commits"
                place = Place(other.path, *other.at)
                found.append(Event(other.at, place, kind, self._session(other), self._entry(other)))
        limit = flow.sites[before].at if before < len(flow.sites) else (1 << 30, 0, 0, 0)
        for write in self._rows_written(flow):
            if write.at < limit and not flow.exclusive(write.held, held):
                kind = "commits" if self._is_left(write.held, held) else "writes"
                found.append(Event(write.at, Place(flow.function.module.path, *write.at), kind))
        yield from sorted(found, key=lambda event: event.at)

    def _telling(self, flow: Flow, binding: dict[Param, Value]) -> Iterable[tuple[Site, Kind]]:
        """The calls of a function that do something to a unit of work, with what they do."""
        id = flow.function.id
        if binding or (self._depth and id not in self._events_of):
            return [(site, kind) for site in flow.sites if (kind := self.kind(site, binding))]
        if id not in self._events_of:
            self._events_of[id] = [(site, kind) for site in flow.sites if (kind := self.kind(site))]
        return self._events_of[id]

    def _rows_written(self, flow: Flow) -> list[Write]:
        """The assignments of a function to attributes of rows."""
        id = flow.function.id
        if id not in self._writes:
            self._writes[id] = [write for write in flow.writes if self._is_row(flow, write.base, write.at)]
        return self._writes[id]

    def _is_left(self, inner: Held | None, outer: Held | None) -> bool:
        """Whether a point stands in a block that commits when it ends, and that another point is no longer in."""
        still = {id(fact) for fact in h.newest_first(outer)}
        return any(
            isinstance(fact, h.Inside) and id(fact) not in still and self._commits_at_end(fact.value)
            for fact in h.newest_first(inner)
        )

    def _commits_at_end(self, context: Value) -> bool:
        if self.is_transaction(context):
            return True
        return any(self._commit_in(function, start) is not None for function, start in self._leaving(context))

    def _possible(self, held: Held | None, binding: dict[Param, Value]) -> bool:
        """Whether a point can be reached with these arguments: `if commit:` after `save(commit=False)`."""
        for fact in h.newest_first(held) if binding else ():
            if isinstance(fact, h.Test) and fact.value.free:
                value = self.evaluator.constant(substitute(fact.value, binding))
                if value is not None and bool(value.value) != fact.holds:
                    return False
        return True

    def kind(self, site: Site, binding: dict[Param, Value] | None = None) -> Kind:
        """What a call does to a unit of work, the last thing if it does several."""
        if site not in self._kinds:
            self._kinds[site] = self._library_kind(site)
        known = self._kinds[site]
        if not isinstance(known, tuple):
            return known
        kinds = {self._function_kind(edge, binding or {}) for edge in known}
        return next((kind for kind in ("commits", "ends", "writes") if kind in kinds), "")

    def _library_kind(self, site: Site) -> Kind | tuple[Edge, ...]:
        """What a call of a library does; for other calls the edges into the functions that tell."""
        if self._matches(self.packs.transaction_commits, site):
            return "commits"
        if self._matches(self.packs.transaction_rollbacks, site):
            return "ends"
        if self._matches(self.packs.transaction_writes, site) or self._begins(site):
            return "writes"
        if self._matches(self.packs.transaction_statements, site):
            return "writes" if self._statement_writes(site.call) else ""
        return tuple(e for e in self.linker.reached(site).edges if all(c.hop == "call" for c in e.crossings))

    def _function_kind(self, edge: Edge, outer: dict[Param, Value]) -> Kind:
        """What a function leaves behind when it returns from a call: its last write or commit."""
        given = {param: substitute(value, outer) for param, value in edge.crossings[0].binding.items()}
        constants = {param: value for param, value in given.items() if self.evaluator.constant(value) is not None}
        key = (edge.target, *sorted((param.name, id(self.evaluator.constant(v))) for param, v in constants.items()))
        if key not in self._left:
            if self._depth >= MAX_DEPTH:
                return ""
            self._left[key] = ""
            self._depth += 1
            flow = self.flows.of(self.program.function(edge.target))
            for event in self._events(flow, len(flow.sites), None, constants):
                self._left[key] = event.kind
            self._depth -= 1
        return self._left[key]

    def _begins(self, site: Site) -> bool:
        """A transaction that is begun by a statement of its own (a context manager is a block)."""
        return not site.used and self._matches(self.packs.transaction_begins, site)

    def _statement_writes(self, call: Call) -> bool:
        """Whether the statement that a call runs is an insert, update or delete, as text or as built by calls."""
        for name, value in zip(call.names[:1], call.args[:1], strict=True):
            for option in options(self.evaluator.resolve(value)) if name == "" else ():
                if _is_writing_text(option):
                    return True
                while isinstance(option, Call | Attr):
                    inner = option.func if isinstance(option, Call) else option.base
                    if isinstance(option, Call):
                        names = {shape.rpartition(".")[2] for shape in self.evaluator.shapes(inner)}
                        names |= {inner.name} if isinstance(inner, Attr) else set()
                        if not names.isdisjoint(_STATEMENTS) or any(map(_is_writing_text, option.args[:1])):
                            return True
                    option = self.evaluator.resolve(inner)
        return False

    # ------------------------------------------------------------------ rows and sessions

    def _is_row(self, flow: Flow, value: Value, at: facts.Span) -> bool:
        """Whether a value is a row of a session, loaded or added: what is set on it is written with the next commit."""
        while isinstance(value, Updated):
            value = value.base
        if isinstance(value, Call) and isinstance(self.evaluator.resolve(value.func), ClassRef):
            return any(site.at < at and self._adds(site, value) for site in flow.sites)
        bases = {
            base
            for cls in self.evaluator.types(value)
            if isinstance(cls, ClassRef)
            for base in self.evaluator.hierarchy.external_bases(cls.id)
        }
        return not bases.isdisjoint(self._rows)

    def _adds(self, site: Site, row: Value) -> bool:
        given = [arg for arg in site.call.args if _root(arg) is row]
        return bool(given) and self._matches(self.packs.transaction_writes, site)

    @cached_property
    def _rows(self) -> frozenset[str]:
        entries = (entry for pack in self.packs.packs for entry in pack.transaction)
        return frozenset(self.packs.canonical(row) for entry in entries for row in entry.rows)

    def _session(self, site: Site) -> Value | None:
        """The session that a call is made on, where it is surely an object of its own."""
        func = site.call.func
        if not isinstance(func, Attr) or not self._entry(site):
            return None
        found = _root(self.evaluator.resolve(func.base))
        if isinstance(found, Param):
            return found
        if isinstance(found, Call) and not self._is_shared(found):
            return found
        return None

    def _is_shared(self, made: Call) -> bool:
        """Whether calling the same thing again gives the same session (a scoped registry)."""
        return any("scoped" in shape for shape in self.evaluator.shapes(made.func))

    def _entry(self, site: Site) -> Entry | None:
        for table in (self.packs.transaction_commits, self.packs.transaction_rollbacks, self.packs.transaction_writes):
            for _, entry in self._entries(table, site):
                return entry
        return None

    def _matches(self, table: Table[Entry], site: Site) -> bool:
        return any(True for _ in self._entries(table, site))

    def _entries(self, table: Table[Entry], site: Site) -> Iterator[tuple[object, Entry]]:
        func = site.call.func
        found: tuple[tuple[object, Entry], ...] = self.evaluator.lookup(table, func)
        yield from found
        if not found and isinstance(func, Attr) and func.base.free and func.name in _members(table):
            for cls in dict.fromkeys(self._given_types(func.base)):
                yield from self.packs.find(table, f"{cls}().{func.name}")

    def _given_types(self, value: Value, depth: int = 0) -> Iterator[str]:
        """The library classes of a session that a function or an object is given by those who call or make it."""
        found = self.evaluator.resolve(value)
        types = self.evaluator.types(found)
        yield from (one.dotted for one in types if isinstance(one, External))
        if types or depth > MAX_GIVEN:
            return
        if isinstance(found, Param):
            for given in self._arguments(found):
                yield from self._given_types(given, depth + 1)
        elif isinstance(found, Attr):
            for cls in self.evaluator.types(found.base):
                for method in self.evaluator.hierarchy.writers(cls.id, found.name) if isinstance(cls, ClassRef) else ():
                    for written in self.flows.of(method).written(found.name):
                        yield from self._given_types(written, depth + 1)

    def _arguments(self, param: Param) -> tuple[Value, ...]:
        """What the callers of a function give one of its parameters."""
        if param not in self._asked:
            self._asked[param] = ()
            function = self.program.function(param.function)
            cls = function.cls if function.name == "__init__" else None
            found = [
                edge.crossings[0].binding.get(param)
                for caller in self.program.mentioning(cls.name if cls is not None else function.name)
                for site in self.flows.of(caller).sites
                for edge in self.linker.reached(site).edges
                if edge.target == function.id
            ]
            self._asked[param] = tuple(dict.fromkeys(value for value in found if value is not None))
        return self._asked[param]

    # ------------------------------------------------------------------ dependencies

    def _dependencies(self, function: Function, declared: facts.Param) -> Iterator[FunctionRef]:
        """The functions behind `Depends(f)` in a parameter's annotation or default."""
        reader = Reader(self.evaluator, function.module.body, function.cls)
        given = [reader.read(declared.default)] if declared.default is not None else []
        if declared.annotation is not None:
            given += walk(self.evaluator.resolve(reader.annotation(declared.annotation)))
        for value in given:
            if isinstance(value, Call):
                for _, entry in self.evaluator.lookup(self.packs.invokes, value.func):
                    if entry.injects:
                        for inner in arguments.given(self.evaluator, value, entry.function):
                            yield from (ref for ref, *_ in self.linker.callables(inner))


def _same(written: Event, later: Event) -> bool:
    """Whether a later commit or end is of the session that was written, as far as can be told."""
    if later.kind == "writes":
        return False
    known = (written.session, later.session)
    return None in known or known[0] is known[1] or not any(isinstance(one, Call) for one in known)


def _members(table: Table[Entry]) -> frozenset[str]:
    """The names of the methods in a table."""
    return frozenset(shape.rpartition(".")[2] for shape in table)


def _root(value: Value) -> Value:
    while isinstance(value, Updated):
        value = value.base
    return value


def _is_writing_text(value: Value) -> bool:
    match value:
        case Const(value=str() as text):
            return _WRITES.match(text) is not None
        case Text(pieces=(Const(value=str() as text), *_)):
            return _WRITES.match(text) is not None
        case _:
            return False
