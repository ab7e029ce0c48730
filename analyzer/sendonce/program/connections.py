"""Signals and ORM events: handlers attached to them, and the calls that fire them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from sendonce import facts
from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.link import Crossing, Edge, Handed, Linker
from sendonce.program.newness import made_here, newness
from sendonce.program.symbols import Function
from sendonce.program.values import (
    FALSE,
    TRUE,
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    Param,
    Seq,
    Some,
    Value,
    options,
)

MAX_CARRIER_FILES = 400


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


class Connections:
    """The connections noted so far and the edges from what fires them."""

    def __init__(self, evaluator: Evaluator, flows: Flows, linker: Linker) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.flows = flows
        self.linker = linker
        self.known: list[Connection] = []
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
        senders = [
            s for given in arguments.given(self.evaluator, call, entry.sender) for s in self._classes(given, site)
        ]
        edges = tuple(self._typed(edge, entry, senders) for edge in self.linker.handler(handler, site))
        names = {n for signal in signals for n in self._names_of(signal)}
        self.known.append(Connection(site, entry, tuple(signals), tuple(senders), edges, tuple(sorted(names))))

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
        return tuple(map(self.evaluator.resolve, resolved.items)) if isinstance(resolved, Seq) else (resolved,)

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

    # ------------------------------------------------------------------ firing

    def of(self, function: str) -> Iterator[Connection]:
        """The connections whose handler is, or leads straight to, a function."""
        for connection in self.known:
            if any(edge.target == function for edge in connection.edges):
                yield connection

    def firing(self, function: Function, link: Callable[[Function], None]) -> Iterator[Edge]:
        """The edges into a function from calls that fire a signal that it is attached to."""
        for connection in list(self.of(function.id)):
            for site, within, row in self._fired(connection, link):
                for edge in connection.edges:
                    if edge.target == function.id:
                        yield self._edge(edge, site, within, row)

    def _fired(self, connection: Connection, link: Callable[[Function], None]) -> Iterator[tuple[Site, str, str]]:
        own = [signal for signal in connection.signals if isinstance(signal, Call)]
        for signal in own:
            yield from self._own_sends(connection, signal, link)
        if not connection.senders:
            return
        for name in connection.names:
            for _, entry in self.packs.signals.get(name, ()):
                yield from self._model_sends(connection, entry, link)

    def _own_sends(
        self, connection: Connection, signal: Call, link: Callable[[Function], None]
    ) -> Iterator[tuple[Site, str, str]]:
        """Calls of `send` on a project's own signal object."""
        for name in self._bound_names(signal):
            for function in self.program.mentioning(name):
                link(function)
                for site in self.flows.of(function).sites:
                    func = site.call.func
                    if (
                        isinstance(func, Attr)
                        and self.evaluator.resolve(func.base) is signal
                        and self.evaluator.lookup(self.packs.signal_fires, func)
                    ):
                        yield site, "", "any"

    def _bound_names(self, signal: Call) -> Iterator[str]:
        """The module variables that hold an object made at a place."""
        file = self.program.sources.by_path(signal.at[0])
        module = self.program.module_of(file) if file is not None else None
        for name, bindings in module.scope.items() if module is not None else ():
            if any(isinstance(b.node, facts.Call) and b.node.at[:2] == signal.at[1:] for b in bindings):
                yield name

    def _model_sends(
        self, connection: Connection, entry: v.Signal, link: Callable[[Function], None]
    ) -> Iterator[tuple[Site, str, str]]:
        """Calls that save, create or delete rows of the senders."""
        words = sorted({send.rpartition(".")[2].removesuffix("()") for send in entry.sends})
        for sender in connection.senders:
            assert isinstance(sender, ClassRef)
            for function in self._near(self.program.cls(sender.id).name, words):
                link(function)
                for site in self.flows.of(function).sites:
                    fired = self._fires(site, entry, sender)
                    if fired is not None:
                        yield site, fired, self._row(site, entry)

    def _near(self, name: str, words: list[str]) -> Iterator[Function]:
        """Functions with one of the words in files that know the model."""
        files = self.program.index.files_with(name)[:MAX_CARRIER_FILES]
        for file in files:
            module = self.program.module_of(file)
            for function in module.functions.values() if module is not None else ():
                if not function.words.isdisjoint(words):
                    yield function

    def _fires(self, site: Site, entry: v.Signal, sender: ClassRef) -> str | None:
        """The name of the library's own transaction ("" for none) if a site fires the signal for this sender."""
        func = site.call.func
        if not isinstance(func, Attr) or not any(
            found is entry for _, found in self.evaluator.lookup(self.packs.signal_sends, func)
        ):
            return None
        models = (*self.evaluator.types(func.base), *self.evaluator.types(Element(func.base)))
        wanted = {sender.id, *(cls.id for cls in self.evaluator.hierarchy.subclasses(sender.id))}
        if not any(isinstance(model, ClassRef) and model.id in wanted for model in models):
            return None
        shapes = {self.packs.canonical(one) for one in entry.within}
        bases = set(self._method_shapes(func))
        return min(shapes & bases, default="")

    def _method_shapes(self, func: Attr) -> Iterator[str]:
        for shape in self.evaluator.shapes(func):
            owner, _, member = shape.rpartition("().")
            yield shape
            yield from (f"{base}().{member}" for base in self.packs.bases(owner))

    def _row(self, site: Site, entry: v.Signal) -> str:
        """Whether the row that is saved is new: made here, or loaded before."""
        if entry.row != "any":
            return entry.row
        base = site.call.func.base if isinstance(site.call.func, Attr) else site.call.func
        made = made_here(self.evaluator, base)
        return "any" if made is None else "new" if made.value else "loaded"

    def _edge(self, edge: Edge, site: Site, within: str, row: str) -> Edge:
        """The edge from the firing call into the handler, with what the signal passes."""
        crossing = edge.crossings[-1]
        binding = dict(crossing.binding)
        func = site.call.func
        owner = func.base if isinstance(func, Attr) else None
        target = self.program.function(edge.target)
        for declared in target.params:
            param = Param(target.id, declared.name)
            if declared.name == "instance" and owner is not None and self.evaluator.types(owner):
                binding[param] = owner
            elif declared.name == "created" and row in ("new", "loaded"):
                binding[param] = TRUE if row == "new" else FALSE
            elif declared.name == "created" and owner is not None:
                told = newness(self.evaluator, owner)
                if told is not None:
                    binding[param] = told
        fired = Crossing(site, "signal", binding, within=within, callee=crossing.callee or edge.target)
        return Edge(edge.target, (*edge.crossings[:-1], fired))
