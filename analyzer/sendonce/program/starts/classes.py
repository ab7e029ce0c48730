"""Methods of framework classes that the framework calls, as packs tell by base class."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator

from sendonce import vocabulary as v
from sendonce.program.link import Linker
from sendonce.program.starts.attributes import Attributes
from sendonce.program.starts.details import VERBS, Details
from sendonce.program.starts.registry import Registry
from sendonce.program.starts.start import Registration, Start
from sendonce.program.symbols import Class, Function
from sendonce.program.values import (
    Attr,
    ClassRef,
    Some,
)

MAX_SUPERS = 3
"""Through how many methods of base classes a call is followed."""


class ClassMethods:
    """Finds the triggers of methods."""

    def __init__(self, linker: Linker, registry: Registry, details: Details, attributes: Attributes) -> None:
        self.linker = linker
        self.evaluator = linker.evaluator
        self.program = linker.program
        self.packs = linker.packs
        self.registry = registry
        self.details = details
        self.attributes = attributes

    def of(self, function: Function, home: Class) -> Iterator[Start]:
        hierarchy = self.evaluator.hierarchy
        for cls in (home, *hierarchy.subclasses(home.id)):
            if cls.module.file.role != "application":
                continue
            if self.program.method(hierarchy.mro(cls.id), function.name) is not function:
                continue
            registrations = self.registry.by_class.get(cls.id, ())
            entries = [entry for base in hierarchy.external_bases(cls.id) for entry in self.entries(base)]
            entries += [registration.entry for registration in registrations]
            for entry in {id(one): one for one in entries}.values():
                if self._is_entry(entry, function, cls):
                    yield from self._of_class(function, cls, entry, registrations)
                    break
            else:
                if registrations and self._is_dispatched(function, cls, entries):
                    yield from self._of_class(function, cls, registrations[0].entry, registrations)
        yield from self.attributes.of_method(function, home)

    def _is_dispatched(self, function: Function, cls: Class, entries: list[v.Trigger]) -> bool:
        """Whether a method of a registered class is called by its base classes alone: an own way to handle requests.

        A method that one of the framework's own handler methods calls is a hop of that one.
        """
        above = {one.id for one in self.evaluator.hierarchy.mro(cls.id)} - {cls.id}
        edges = self.registry.into(function.id)
        for edge in edges:
            caller = self.program.function(edge.site.function)
            if caller.cls is None or caller.cls.id not in above or edge.crossings[0].method is None:
                return False
            if any(self._is_entry(entry, caller, cls) for entry in entries if entry.bases):
                return False
        if not edges or function.cls is None or not function.is_method:
            return False
        return not self._dispatches(function, cls, MAX_SUPERS)

    def _dispatches(self, function: Function, cls: Class, depth: int) -> bool:
        """Whether a method hands on to methods of subclasses: then those are where the run is told apart."""
        order = [one.id for one in self.evaluator.hierarchy.mro(cls.id)]
        for edge in self.linker.edges(function):
            target = self.program.function(edge.target)
            if target.cls is None or function.cls is None or target is function:
                continue
            above = {one.id for one in self.evaluator.hierarchy.mro(target.cls.id)} - {target.cls.id}
            if edge.crossings[0].method is not None and function.cls.id in above:
                return True
            above_it = depth and target.name == function.name and target.cls.id in order
            if above_it and self._dispatches(target, cls, depth - 1):
                return True
        return False

    def entries(self, base: str) -> Iterator[v.Trigger]:
        for _, entry in self.packs.trigger_bases.get(base, ()):
            yield entry

    def _is_entry(self, entry: v.Trigger, function: Function, cls: Class) -> bool:
        if any(fnmatch.fnmatchcase(function.name, method) for method in entry.methods):
            return True
        for name in entry.lists:
            listed = self.evaluator.hierarchy.find(cls.id, name)
            if listed is not None and self.attributes.lists(Attr(Some(ClassRef(cls.id)), name), function):
                return True
        return False

    def _of_class(
        self,
        function: Function,
        cls: Class,
        entry: v.Trigger,
        registrations: tuple[Registration, ...] | list[Registration],
    ) -> Iterator[Start]:
        binding = self.attributes.self_binding(function, cls)
        routes = dict.fromkeys(self.details.of(one) for one in registrations)
        verb = function.name.upper() if function.name.upper() in VERBS else ""
        for route in routes or ("",):
            detail = " ".join(part for part in (verb, route) if part)
            trigger = self.details.trigger(entry.kind, function, detail, cls)
            yield Start(trigger, function.id, (), binding, cls, entry, saves=function.name in entry.saves)
