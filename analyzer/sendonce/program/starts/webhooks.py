"""Signs that other programs, not people, call a controller."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from sendonce import facts
from sendonce import vocabulary as v
from sendonce.program.dependencies import injected
from sendonce.program.flow import Flows
from sendonce.program.link import Linker
from sendonce.program.namedjobs import is_within
from sendonce.program.reader import Reader
from sendonce.program.starts.start import Start
from sendonce.program.symbols import Class, Function
from sendonce.program.values import Attr, ClassRef, FunctionRef, Seq, Value, options


class Webhooks:
    """Tells webhooks from other controllers."""

    def __init__(self, linker: Linker, flows: Flows) -> None:
        self.linker = linker
        self.evaluator = linker.evaluator
        self.program = linker.program
        self.packs = linker.packs
        self.flows = flows
        self._known: dict[str, frozenset[int]] = {}

    def marked(self, start: Start) -> Start:
        """A controller with the signs of a webhook is one."""
        if start.trigger.kind != "controller":
            return start
        function = self.program.function(start.function)
        if self.is_webhook(function, start):
            return replace(start, trigger=replace(start.trigger, kind="webhook"))
        return start

    def is_webhook(self, function: Function, start: Start) -> bool:
        """Whether names, routes, signature checks or headers say that other programs call this handler."""
        names = f"{start.trigger.function} {start.trigger.detail}"
        words = set(_words(names))
        joined = names.lower()
        weak = strong = managed = False
        checking = self._checking(function)
        gates = tuple(self._gates(function, start))
        for number, (_, entry) in enumerate(self.packs.webhooks):
            if number in checking or self._verifies(gates, entry):
                return True
            if not entry.verifies and self._signs(gates, entry):
                return True
            wanted = {word.lower() for word in entry.words}
            strong = strong or bool(words & wanted) or any("_" in word and word in joined for word in wanted)
            weak = weak or bool(words & {word.lower() for word in entry.weak_words})
            managed = managed or self._is_managed(function, start, entry)
        return (strong and not managed) or (weak and self._is_exempt(function))

    def _checking(self, function: Function) -> frozenset[int]:
        """The numbers of the entries whose checks a handler makes: asked once where many classes inherit it."""
        if function.id not in self._known:
            nearby = tuple(self._nearby(function))
            self._known[function.id] = frozenset(
                number
                for number, (_, entry) in enumerate(self.packs.webhooks)
                if self._verifies(nearby, entry) and (not entry.signs or self._signs(nearby, entry))
            )
        return self._known[function.id]

    def _verifies(self, nearby: tuple[Function, ...], entry: v.Webhook) -> bool:
        headers = {_plain(header) for header in entry.headers}
        for one in nearby:
            for site in self.flows.of(one).sites:
                shapes = self.evaluator.shapes(site.call.func)
                if any(self.packs.canonical(verify) in shapes for verify in entry.verifies):
                    return True
            named = (*one.words, *(param.name for param in one.params))
            if headers and headers & {_plain(word) for word in named}:
                return True
        return False

    def _signs(self, gates: tuple[Function, ...], entry: v.Webhook) -> bool:
        """Whether what lets a request pass makes a signature to compare with, itself or in what it calls."""
        wanted = {self.packs.canonical(one) for one in entry.signs}
        inner = [self.program.function(edge.target) for one in gates if wanted for edge in self.linker.edges(one)]
        sites = (site for one in (*gates, *inner) for site in self.flows.of(one).sites)
        return bool(wanted) and any(not wanted.isdisjoint(self.evaluator.shapes(site.call.func)) for site in sites)

    def _is_managed(self, function: Function, start: Start, entry: v.Webhook) -> bool:
        """Whether a handler is a page on which people manage webhooks: for those logged in, or by its name."""
        names = [function.name, *([start.cls.name] if start.cls is not None else [])]
        for first, second, *_ in (words for words in map(_words, names) if len(words) > 1):
            if {first, second} & set(entry.words) and {first, second} & set(entry.managing):
                return True
        people = {self.packs.canonical(one) for one in entry.people}
        cls = start.cls or function.cls
        bases = set(self.evaluator.hierarchy.external_bases(cls.id)) if cls is not None else set()
        shapes = {shape for call in self.linker.decorations(function) for shape in self.evaluator.shapes(call.func)}
        gates = {shape for value in self._listed_gates(function, start) for shape in self.evaluator.shapes(value)}
        return not people.isdisjoint(bases | shapes | gates)

    def _nearby(self, function: Function) -> Iterator[Function]:
        """The handler, its dependencies and the project functions that it calls itself."""
        yield function
        for ref in injected(self.linker, function):
            yield self.program.function(ref.id)
        for edge in self.linker.edges(function):
            if len(edge.crossings) == 1 and edge.crossings[0].hop == "call":
                yield self.program.function(edge.target)

    def _gates(self, function: Function, start: Start) -> Iterator[Function]:
        """The project's functions that decide whether a request gets to the handler: decorators, permissions."""
        for value in self._listed_gates(function, start):
            if isinstance(value, ClassRef):
                for method in self._gate_methods(start.cls or function.cls):
                    found = self.evaluator.hierarchy.method_of(value, method)
                    if found is not None:
                        yield found
        node = function.node
        reader = Reader(self.evaluator, function.parent or function.module.body, function.cls)
        for decorator in node.decorators if isinstance(node, facts.Def) else ():
            made = reader.read(decorator.func if isinstance(decorator, facts.Call) else decorator)
            for one in options(self.evaluator.resolve(made)):
                if isinstance(one, FunctionRef):
                    outer = self.program.function(one.id)
                    yield from (f for f in outer.module.functions.values() if f is outer or is_within(f, outer))

    def _entries(self, cls: Class | None) -> Iterator[v.Trigger]:
        for base in self.evaluator.hierarchy.external_bases(cls.id) if cls is not None else ():
            yield from (entry for _, entry in self.packs.trigger_bases.get(base, ()) if entry.gates)

    def _gate_methods(self, cls: Class | None) -> set[str]:
        return {method for entry in self._entries(cls) for methods in entry.gates.values() for method in methods}

    def _listed_gates(self, function: Function, start: Start) -> Iterator[Value]:
        """The classes that a handler's class lists as deciding whether a request may pass."""
        cls = start.cls or function.cls
        for attribute in sorted({name for entry in self._entries(cls) for name in entry.gates}):
            assert cls is not None
            listed = self.evaluator.resolve(Attr(ClassRef(cls.id), attribute))
            yield from (self.evaluator.resolve(one) for one in (listed.items if isinstance(listed, Seq) else ()))

    def _is_exempt(self, function: Function) -> bool:
        shapes: set[str] = set()
        for call in self.linker.decorations(function):
            shapes |= self.evaluator.shapes(call.func)
        exempts = {self.packs.canonical(one) for _, entry in self.packs.webhooks for one in entry.exempts}
        return bool(shapes & exempts)


def _words(name: str) -> list[str]:
    """The words of a name, in lower case."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def _plain(header: str) -> str:
    return header.lower().replace("-", "_").removeprefix("http_")
