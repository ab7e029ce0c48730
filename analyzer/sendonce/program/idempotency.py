"""The idempotency layer of a server that sends mail: what it does with a key that its clients name.

A layer is told by its key: a value of an `Idempotency-Key` header or parameter, with which something stored is
read, claimed, written or deleted around the work that leads to a mail.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from sendonce.findings import Place
from sendonce.program import arguments
from sendonce.program import held as h
from sendonce.program.claims import Claims
from sendonce.program.dependencies import injected
from sendonce.program.flow import Exit, Flow, Flows, Write
from sendonce.program.held import Held, Site
from sendonce.program.link import Linker
from sendonce.program.matching import Matched
from sendonce.program.memory import Memory
from sendonce.program.paths import Path
from sendonce.program.requestkeys import RequestKeys
from sendonce.program.symbols import Function
from sendonce.program.values import Attr, Call, Const, Param, Seq, Table, Value, substitute, unchanged

MAX_DEPTH = 4
How = Literal["read", "claim", "lock", "store", "delete", "expire"]


@dataclass(frozen=True, eq=False)
class Access:
    """One thing that a layer does under its key.

    `site` is the call in the function of a layer, `chain` the calls from there to the one that does it (`call`, with
    what is known of its arguments put in); `after` if it stands behind the work.
    """

    how: How
    call: Call
    place: Place
    site: Site | None
    chain: tuple[Site, ...]
    after: bool
    held: Held | None
    stored: tuple[Value, ...] = ()
    matched: Matched | None = None

    @property
    def is_asked(self) -> bool:
        """Whether the answer is looked at, where it is made and where it is handed out."""
        raises = self.matched is not None and self.matched.entry.win == "no_exception"
        return raises or all(one.used for one in self.chain)

    @property
    def site_place(self) -> Place:
        """Where the function of the layer makes it, or asks a helper to."""
        return self.place if self.site is None else Place(self.site.path, *self.site.at)

    @property
    def function(self) -> str:
        """The function in which it stands."""
        return self.chain[-1].function if self.chain else ""

    @property
    def failed(self) -> bool:
        """Whether it is made in the handler of an error."""
        return any(isinstance(fact, h.Caught) for one in self.chain for fact in h.newest_first(one.held))


@dataclass(frozen=True, eq=False)
class Layer:
    """What is done under a client's key around the work that leads to the mails of some paths."""

    paths: tuple[Path, ...]
    accesses: tuple[Access, ...]
    functions: tuple[Function, ...]
    work: tuple[Site, ...]
    """The calls by which its functions lead to the mail."""

    def of(self, *hows: How, after: bool | None = None) -> Iterator[Access]:
        """The accesses of some kinds, in their order; only behind or before the work if asked."""
        return (one for one in self.accesses if one.how in hows and after in (None, one.after))


class Idempotency:
    """Finds the layers around the mails of a program."""

    def __init__(self, linker: Linker, flows: Flows, claims: Claims, memory: Memory) -> None:
        self.linker = linker
        self.flows = flows
        self.claims = claims
        self.memory = memory
        self.evaluator = linker.evaluator
        self.program = linker.program
        self.packs = linker.packs
        self.keys = RequestKeys(self.evaluator)
        self._found: tuple[Layer, ...] | None = None
        self._ways: dict[tuple[Site, frozenset[tuple[Param, Value]]], tuple[Access, ...]] = {}

    def layers(self, paths: tuple[Path, ...]) -> tuple[Layer, ...]:
        """The layers of the requests that lead to mail, each once: in handlers, their wrappers and dependencies."""
        if self._found is None:
            requests = tuple(path for path in paths if path.trigger.kind in ("controller", "webhook"))
            found = [layer for path in requests if (layer := self._around(path)) is not None]
            self._found = (*_merged(found), *self._of_middleware(requests))
        return self._found

    # ------------------------------------------------------------------ around a handler

    def _around(self, path: Path) -> Layer | None:
        if not self.keys.are_read:
            return None
        accesses: list[Access] = []
        functions: list[Function] = []
        work: list[Site] = []
        handler = self.program.function(path.start.function)
        for ref in injected(self.linker, handler):
            accesses += self._in(self.program.function(ref.id), None, {})
        for site, known in path.known():
            function = self.program.function(site.function)
            if function not in functions:
                accesses += self._on_way(function, site, known)
                functions.append(function)
                work.append(site)
        return Layer((path,), tuple(accesses), tuple(functions), tuple(work)) if accesses else None

    def _on_way(self, function: Function, site: Site, known: Mapping[Param, Value]) -> tuple[Access, ...]:
        """What a function on the way to a mail does, with what is known of its parameters; once for equal ones."""
        params = (Param(function.id, param.name) for param in function.params)
        own = {param: known[param] for param in params if known.get(param, param) is not param}
        key = (site, frozenset(own.items()))
        if key not in self._ways:
            self._ways[key] = tuple(self._in(function, site, own))
        return self._ways[key]

    def _of_middleware(self, paths: tuple[Path, ...]) -> Iterator[Layer]:
        """Layers in functions around all requests: they call what handles the request (`call_next(request)`)."""
        seen = {site.function for path in paths for site in path.sites()}
        for function in self.keys.reading() if paths and self.keys.are_read else ():
            if function.id in seen:
                continue
            # Requests without a key go on at once: the last call is that of a request with one.
            inner = next((site for site in reversed(self.flows.of(function).sites) if _goes_on(site)), None)
            accesses = tuple(self._in(function, inner, {})) if inner is not None else ()
            if accesses and inner is not None:
                yield Layer(paths, accesses, (function,), (inner,))

    # ------------------------------------------------------------------ what a function does under the key

    def _in(self, function: Function, work: Site | None, known: dict[Param, Value]) -> Iterator[Access]:
        flow = self.flows.of(function)
        for site in flow.sites:
            if site is not work:
                after = work is not None and site.index > work.index
                yield from self._by(site, (site,), known, after, MAX_DEPTH)
        yield from self._assigned(flow, work, known)

    def _by(
        self, site: Site, chain: tuple[Site, ...], known: dict[Param, Value], after: bool, depth: int
    ) -> Iterator[Access]:
        """What a call does, itself or in the functions of the project that it runs."""
        inner = chain[-1]
        call = substitute(inner.call, known)
        if not isinstance(call, Call):
            return
        own = self._own(call)
        if own is not None:
            how, matched = own
            if self.keys.names_one(self._key_of(call)):
                place = Place(inner.path, *inner.at)
                stored = tuple(self._values(call)) if how == "store" or how == "claim" else ()
                yield Access(how, call, place, site, chain, after, inner.held, stored, matched)
            return
        for ref, names, args, *_ in self.linker.callables(call.func) if depth > 0 else ():
            function = self.program.function(ref.id)
            if not (self.keys.names_one((*args, *call.args, call.func)) or self.keys.speaks(function)):
                continue
            binding = arguments.bind(self.evaluator, ref, (*names, *call.names), (*args, *call.args))
            for below in self.flows.of(function).sites:
                yield from self._by(site, (*chain, below), binding, after, depth - 1)
            yield from self._assigned(self.flows.of(function), None, binding, site, chain, after)

    def _own(self, call: Call) -> tuple[How, Matched | None] | None:
        """What a call of a library does with what is stored."""
        matched = self.claims.reservations.matched(call)
        if matched is not None and not self.evaluator.lookup(self.packs.store_deletes, call.func):
            return ("lock" if matched.entry.win == "held" else "claim"), matched
        name = call.func.name if isinstance(call.func, Attr) else ""
        if name in _EXPIRES:
            return "expire", None
        tables: tuple[tuple[object, How], ...] = (
            (self.packs.store_deletes, "delete"),
            (self.packs.store_updates, "store"),
            (self.packs.store_inserts, "store"),
            (self.packs.store_reads, "read"),
        )
        for table, how in tables:
            if self.evaluator.lookup(table, call.func):  # type: ignore[arg-type]  # tables of one kind of entry
                return how, None
        if name and not any(True for _ in self.linker.callables(call.func)):
            return self._by_name(call, name)
        return None

    def _by_name(self, call: Call, name: str) -> tuple[How, Matched | None] | None:
        """What a method of an unknown store does, by its name: the key that it is given tells that it is one."""
        for names, how in _NAMED.items():
            if name in names and not any(one.startswith("builtins.") for one in self.evaluator.shapes(call.func)):
                return how, None
        return None

    def _key_of(self, call: Call) -> tuple[Value, ...]:
        """What may name what is stored: the arguments of a call, and of the query or row that it is about."""
        # A name written out is that of the header, not what a client put into it.
        found: list[Value] = [arg for arg in call.args if not isinstance(arg, Const)]
        for one in (*call.args, call.func.base if isinstance(call.func, Attr) else call):
            for inner in self.memory.spots.fields.chain(one):
                found += inner.args
            made = unchanged(self.evaluator.resolve(one))
            if isinstance(made, Call):
                found += made.args
        return tuple(found)

    def _values(self, call: Call) -> Iterator[Value]:
        """What a call stores: all that it is given, the row that it is given taken apart."""
        for arg in call.args:
            yield arg
            made = self.memory.spots.fields.made(arg)
            if made is not None:
                yield from made.args

    # ------------------------------------------------------------------ rows that are changed

    def _assigned(
        self,
        flow: Flow,
        work: Site | None,
        known: dict[Param, Value],
        site: Site | None = None,
        chain: tuple[Site, ...] = (),
        after: bool = False,
    ) -> Iterator[Access]:
        """Fields of a row that was found under the key (`record.body = body`), and items under the key itself."""
        for write in flow.writes:
            base = substitute(unchanged(write.base), known)
            resolved = unchanged(self.evaluator.resolve(base))
            about = self._key_of(resolved) if isinstance(resolved, Call) else ()
            if isinstance(base, Call) and self.keys.names_one((*self._key_of(base), *about)):
                yield self._field(write, flow, base, work, known, site, chain, after)

    def _field(
        self,
        write: Write,
        flow: Flow,
        base: Call,
        work: Site | None,
        known: dict[Param, Value],
        site: Site | None,
        chain: tuple[Site, ...],
        after: bool,
    ) -> Access:
        place = Place(flow.function.module.path, *write.at)
        behind = after or (work is not None and write.at[:2] > work.at[:2])
        return Access("store", base, place, site, chain, behind, write.held, (substitute(write.value, known),))


_EXPIRES = frozenset(["expire", "pexpire", "expireat", "pexpireat", "touch"])
_NAMED: dict[frozenset[str], How] = {
    frozenset(["get", "aget", "hget", "exists", "fetch", "find", "find_one", "load", "lookup", "look_up", "get_item",
               "fetch_one", "fetchone", "fetchrow", "get_record", "get_result", "get_response"]): "read",
    frozenset(["set", "aset", "setex", "hset", "save", "put", "store", "put_item", "insert", "insert_one", "update",
               "update_one", "upsert", "write", "set_result", "save_result", "save_response"]): "store",
    frozenset(["delete", "adelete", "unlink", "release", "remove", "hdel", "delete_one"]): "delete",
}  # fmt: skip


def _goes_on(site: Site) -> bool:
    """Whether a call runs what a middleware stands around: a function that it was given."""
    func = site.call.func
    name = func.name if isinstance(func, Attr | Param) else ""
    return name in ("call_next", "get_response", "next_handler", "handler", "app", "call_app") and bool(func.free)


def _merged(layers: list[Layer]) -> Iterator[Layer]:
    """Layers whose accesses are the same, as one."""
    groups: dict[tuple[object, ...], list[Layer]] = {}
    for layer in layers:
        groups.setdefault(tuple((one.how, one.place, one.after) for one in layer.accesses), []).append(layer)
    for group in groups.values():
        first = group[0]
        paths = tuple(path for layer in group for path in layer.paths)
        yield Layer(paths, first.accesses, first.functions, first.work)


def answers_after(flow: Flow, site: Site) -> list[Exit]:
    """The returns of a function that come behind a call."""
    return [exit for exit in flow.returns if _has(h.newest_first(exit.held), site)]


def _has(passed: Iterator[h.Fact] | tuple[h.Fact, ...], site: Site) -> bool:
    for fact in passed:
        if isinstance(fact, h.Done) and fact.site is site:
            return True
        if isinstance(fact, h.Either) and any(_has(branch, site) for branch in fact.branches):
            return True
    return False


def shown_parts(value: Value) -> Iterator[Value]:
    """What a stored value holds: its items and arguments, not the objects that attributes are read from."""
    yield value
    match value:
        case Call(args=args):
            for arg in args:
                yield from shown_parts(arg)
        case Table(values=values):
            for one in values:
                yield from shown_parts(one)
        case Seq(items=items):
            for one in items:
                yield from shown_parts(one)
        case Attr():
            return
        case _:
            for part in value.parts():
                yield from shown_parts(part)
