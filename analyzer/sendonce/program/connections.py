"""Signals and ORM events: handlers attached to them, and the calls that fire them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from sendonce import facts
from sendonce import vocabulary as v
from sendonce.discovery import SourceFile
from sendonce.program import arguments
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.link import Crossing, Edge, Handed, Linker
from sendonce.program.models import setting_name
from sendonce.program.newness import Saved, newness, saved
from sendonce.program.symbols import Class, Function
from sendonce.program.values import (
    Attr,
    Call,
    ClassRef,
    Const,
    External,
    FunctionRef,
    Param,
    Seq,
    Some,
    Updated,
    Value,
    options,
    unchanged,
)

MAX_CARRIER_FILES = 400

Link = Callable[[Function, frozenset[str]], None]
"""Links the calls of a function in which one of some words stands."""


@dataclass(frozen=True, eq=False)
class Connection:
    """A handler attached to signals: where, to which (values), for which sender classes (none: for all)."""

    site: Site
    entry: v.Connect
    signals: tuple[Value, ...]
    senders: tuple[Value, ...]
    edges: tuple[Edge, ...]
    names: tuple[str, ...]
    """The names under which packs know the signals; empty for a project's own."""
    call: Call
    """The registering call with its options."""
    handler: Value


@dataclass(frozen=True, eq=False)
class Fired:
    """A call that fires a signal: the library's own transaction around it ("" for none), and the row that it saves."""

    site: Site
    within: str = ""
    saved: Saved | None = None


class Connections:
    """The connections noted so far and the edges from what fires them."""

    def __init__(self, evaluator: Evaluator, flows: Flows, linker: Linker) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.flows = flows
        self.linker = linker
        self.known: list[Connection] = []
        entries = (entry for pack in self.packs.packs for entry in pack.signal)
        self._stored = frozenset(self.packs.canonical(name) for entry in entries for name in entry.stored)
        self._noted: set[Site] = set()

    def note(self, site: Site) -> None:
        """Remembers a site that attaches a handler."""
        if site in self._noted:
            return
        self._noted.add(site)
        for register, handler in self.linker.registers(site.call):
            if isinstance(register.entry, v.Connect):
                self._add(site, register.entry, register.call, handler)

    def handed(self, handed: Handed) -> None:
        """Remembers a handler that a helper of the project attaches."""
        if isinstance(handed.register.entry, v.Connect):
            self._add(handed.site, handed.register.entry, handed.register.call, handed.handler)

    def _add(self, site: Site, entry: object, call: Call, handler: Value) -> None:
        assert isinstance(entry, v.Connect)
        signals = [s for given in arguments.given(self.evaluator, call, entry.signal) for s in self._each(given)]
        if not entry.signal:
            signals.append(self.evaluator.resolve(call.func))  # the decorator is the signal itself: `@post_save(Model)`
        senders = [
            s for given in arguments.given(self.evaluator, call, entry.sender) for s in self._classes(given, site)
        ]
        edges = tuple(self._typed(edge, entry, senders) for edge in self.linker.handler(handler, site))
        names = {n for signal in signals for n in self._names_of(signal)}
        known = Connection(site, entry, tuple(signals), tuple(senders), edges, tuple(sorted(names)), call, handler)
        self.known.append(known)

    def _typed(self, edge: Edge, entry: v.Connect, senders: list[Value]) -> Edge:
        """The edge into a handler, its parameters typed by the sender as the pack says."""
        target = self.program.function(edge.target)
        binding = dict(edge.crossings[-1].binding)
        for name, kind in entry.parameters.items():
            word, _, position = name.partition("|")
            declared = [p.name for p in target.params]
            if word not in declared and position and int(position) < len(declared):
                word = declared[int(position)]
            if kind == "element" and len(senders) == 1 and word in declared:
                binding[Param(target.id, word)] = Some(senders[0])
        return replace(edge, crossings=(*edge.crossings[:-1], replace(edge.crossings[-1], binding=binding)))

    def _names_of(self, signal: Value) -> Iterator[str]:
        """The names under which packs may know a signal: its shapes, or the event's name."""
        if isinstance(signal, Const):
            yield str(signal.value)
        yield from (shape for shape in self.evaluator.shapes(signal) if shape in self.packs.signals)

    def _each(self, value: Value) -> tuple[Value, ...]:
        resolved = self.evaluator.resolve(value)
        return tuple(map(self._object, resolved.items)) if isinstance(resolved, Seq) else (self._object(value),)

    def _object(self, value: Value) -> Value:
        """The object that a value is; one that a helper of the project makes is known by the call of the helper."""
        found = unchanged(self.evaluator.resolve(value))
        by_helper = isinstance(value, Call) and isinstance(self.evaluator.resolve(value.func), FunctionRef)
        return value if by_helper and isinstance(found, Call) else found

    def _classes(self, value: Value, site: Site) -> Iterator[Value]:
        for option in options(self.evaluator.resolve(value)):
            if isinstance(option, ClassRef):
                yield option
            elif isinstance(option, Const) and isinstance(option.value, str):
                cls = self.evaluator.hierarchy.named(option.value.rpartition(".")[2], site.path)
                if cls is not None:
                    yield ClassRef(cls.id)
            elif isinstance(option, Seq):
                for item in option.items:
                    yield from self._classes(item, site)
            elif name := setting_name(option):
                cls_of_setting = self.evaluator.by_name.setting_class(name, site.path)
                yield from () if cls_of_setting is None else (cls_of_setting,)

    # ------------------------------------------------------------------ firing

    def of(self, function: str) -> Iterator[Connection]:
        """The connections whose handler is, or leads straight to, a function."""
        for connection in self.known:
            if any(edge.target == function for edge in connection.edges):
                yield connection

    def firing(self, function: Function, link: Link) -> Iterator[Edge]:
        """The edges into a function from calls that fire a signal that it is attached to."""
        for connection in list(self.of(function.id)):
            for fired in self._fired(connection, link):
                for edge in connection.edges:
                    if edge.target == function.id:
                        stored = fired.saved is not None and fired.saved.new is True
                        stored = stored and not self._stored.isdisjoint(connection.names)
                        yield self._edge(edge, fired, stored)
            for site, event in self._published(connection, link):
                for edge in connection.edges:
                    if edge.target == function.id:
                        yield _with_event(self.program.function(edge.target), edge, site, event)

    def _fired(self, connection: Connection, link: Link) -> Iterator[Fired]:
        own = [signal for signal in connection.signals if isinstance(signal, Call)]
        for signal in own:
            yield from self._own_sends(connection, signal, link)
        entries = [entry for name in connection.names for _, entry in self.packs.signals.get(name, ())]
        for sender in connection.senders:
            if isinstance(sender, ClassRef):
                yield from self._model_sends(sender, entries, link)

    def _published(self, connection: Connection, link: Link) -> Iterator[tuple[Site, Value]]:
        """Calls that hand an instance of an event class of the project to something unknown: a bus, a registry."""
        for signal in connection.signals:
            if not isinstance(signal, ClassRef):
                continue
            wanted = {signal.id, *(cls.id for cls in self.evaluator.hierarchy.subclasses(signal.id))}
            for name in sorted({self.program.cls(id).name for id in wanted}):
                for function in self.program.mentioning(name):
                    link(function, frozenset((name,)))
                    for site in self.flows.of(function).sites:
                        yield from ((site, event) for event in self._events(site, wanted))

    def _events(self, site: Site, wanted: set[str]) -> Iterator[Value]:
        """The instances of some classes that a call on an unknown object is given."""
        func = site.call.func
        if not isinstance(func, Attr) or self.evaluator.types(func.base) or self.linker.reached(site).edges:
            return
        for value in site.call.args:
            made = self.evaluator.resolve(value)
            is_made = isinstance(made, Call) and isinstance(self.evaluator.resolve(made.func), ClassRef)
            if is_made and any(isinstance(t, ClassRef) and t.id in wanted for t in self.evaluator.types(made)):
                yield value

    def _own_sends(self, connection: Connection, signal: Call, link: Link) -> Iterator[Fired]:
        """Calls of `send` on a project's own signal object."""
        for name in self._bound_names(signal):
            for function in self.program.mentioning(name):
                link(function, frozenset((name,)))
                for site in self.flows.of(function).sites:
                    func = site.call.func
                    if (
                        isinstance(func, Attr)
                        and self._object(func.base) is signal
                        and self.evaluator.lookup(self.packs.signal_fires, func)
                    ):
                        yield Fired(site)

    def _bound_names(self, signal: Call) -> Iterator[str]:
        """The module variables that hold an object made at a place."""
        file = self.program.sources.by_path(signal.at[0])
        module = self.program.module_of(file) if file is not None else None
        for name, bindings in module.scope.items() if module is not None else ():
            if any(isinstance(b.node, facts.Call) and b.node.at[:2] == signal.at[1:] for b in bindings):
                yield name

    def _model_sends(self, sender: ClassRef, entries: list[v.Signal], link: Link) -> Iterator[Fired]:
        """Calls that save, create or delete rows of a sender."""
        words = sorted({send.rpartition(".")[2].removesuffix("()") for entry in entries for send in entry.sends})
        for function in self._near(sender, words):
            link(function, frozenset(words))
            for site in self.flows.of(function).sites:
                if not isinstance(site.call.func, Attr) or site.call.func.name not in words:
                    continue
                fired = [one for one in (self._fires(site, entry, sender) for entry in entries) if one is not None]
                if fired:
                    yield min(fired, key=lambda one: one.saved is None or one.saved.new is None)

    def _near(self, sender: ClassRef, words: list[str]) -> Iterator[Function]:
        """Functions with one of the words in files that know the model, or a class that works on it."""
        files = dict.fromkeys(self.program.index.files_with(self.program.cls(sender.id).name)[:MAX_CARRIER_FILES])
        for cls in self._workers(sender, tuple(files)):
            files[cls.module.file] = None
            files.update(dict.fromkeys(self.program.index.files_with(cls.name)[:MAX_CARRIER_FILES]))
        for file in sorted(files):
            module = self.program.module_of(file)
            for function in module.functions.values() if module is not None else ():
                if not function.words.isdisjoint(words):
                    yield function

    def _workers(self, sender: ClassRef, files: tuple[SourceFile, ...]) -> Iterator[Class]:
        """The project's forms, serializers and managers of a model."""
        for file in files:
            module = self.program.module_of(file)
            for cls in module.classes.values() if module is not None else ():
                if self.evaluator.models.works_on(cls) == sender.id:
                    yield cls
                    yield from self.evaluator.hierarchy.subclasses(cls.id)
        yield from self.evaluator.models.managers(sender)

    def _fires(self, site: Site, entry: v.Signal, sender: ClassRef) -> Fired | None:
        """The row that a site saves, if that fires the signal for this sender."""
        func = site.call.func
        if not isinstance(func, Attr) or not any(
            found is entry for _, found in self.evaluator.lookup(self.packs.signal_sends, func)
        ):
            return None
        if not arguments.holds(self.evaluator, site.call, entry.when):
            return None
        row = saved(self.evaluator, site.call, entry, sender)
        if row is None:
            return None
        within = {self.packs.canonical(one) for one in entry.within} & set(self._method_shapes(func))
        return Fired(site, min(within, default=""), row)

    def _method_shapes(self, func: Attr) -> Iterator[str]:
        for shape in self.evaluator.shapes(func):
            owner, _, member = shape.rpartition("().")
            yield shape
            yield from (f"{base}().{member}" for base in self.packs.bases(owner))

    def _edge(self, edge: Edge, fired: Fired, stored: bool) -> Edge:
        """The edge from the firing call into the handler, with what the signal passes."""
        crossing = edge.crossings[-1]
        binding = {**crossing.binding, **self._passed(self.program.function(edge.target), fired.saved)}
        callee = crossing.callee or edge.target
        signal = Crossing(
            fired.site, "signal", binding, within=fired.within, callee=callee, why="framework", stored=stored
        )
        return Edge(edge.target, (*edge.crossings[:-1], signal))

    def _passed(self, target: Function, row: Saved | None) -> dict[Param, Value]:
        """What a signal passes of a saved row, by name or among the handler's `**kwargs`."""
        told = {name: value for name in ("instance", "created") if (value := self._told(name, row)) is not None}
        declared = {param.name for param in target.params}
        binding = {Param(target.id, name): value for name, value in told.items() if name in declared}
        rest = next((param.name for param in target.params if param.kind == "**"), None)
        if rest is not None:
            others: Value = Some(External("builtins.dict"))
            for name, value in told.items():
                others = others if name in declared else Updated(others, f"[{name}]", value)
            binding[Param(target.id, rest)] = others
        return binding

    def _told(self, name: str, row: Saved | None) -> Value | None:
        """What a signal says of a saved row under the name of a handler's parameter."""
        if row is None or name not in ("instance", "created"):
            return None
        if name == "instance":
            return row.row
        return newness(self.evaluator, row.row) if row.new is None else Const(row.new)


def _with_event(target: Function, edge: Edge, site: Site, event: Value) -> Edge:
    """The edge from a call that hands over an event into its subscriber, which gets the event."""
    crossing = edge.crossings[-1]
    binding = dict(crossing.binding)
    free = [p.name for p in target.params if binding.get(Param(target.id, p.name)) is None]
    if free:
        binding[Param(target.id, free[0])] = event
    fired = Crossing(site, "signal", binding, "medium", callee=crossing.callee or edge.target, why="framework")
    return Edge(edge.target, (*edge.crossings[:-1], fired))
