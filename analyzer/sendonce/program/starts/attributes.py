"""Functions and classes that framework classes name in attributes (`actions`, `serializer_class`)."""

from __future__ import annotations

from collections.abc import Iterator

from sendonce import vocabulary as v
from sendonce.findings import Place, Trigger
from sendonce.program.link import Linker
from sendonce.program.starts.details import Details
from sendonce.program.starts.registry import Registry
from sendonce.program.starts.start import Start
from sendonce.program.symbols import Class, Function
from sendonce.program.values import (
    Attr,
    Call,
    ClassRef,
    Const,
    FunctionRef,
    Param,
    Seq,
    Some,
    Value,
    options,
)


class Attributes:
    """Finds the triggers of what attributes name."""

    def __init__(self, linker: Linker, registry: Registry, details: Details) -> None:
        self.linker = linker
        self.evaluator = linker.evaluator
        self.program = linker.program
        self.packs = linker.packs
        self.registry = registry
        self.details = details

    def lists(self, value: Value, function: Function) -> bool:
        found = self.evaluator.resolve(value)
        for item in found.items if isinstance(found, Seq) else ():
            resolved = self.evaluator.resolve(item)
            if isinstance(resolved, Const):
                if resolved.value == function.name and function.cls is not None:
                    return True
                continue
            if any(ref.id == function.id for ref, *_ in self.linker.callables(resolved)):
                return True
        return False

    def of_method(self, function: Function, home: Class) -> Iterator[Start]:
        """Methods of a class that a framework class names in an attribute (`serializer_class`)."""
        for base, pairs in sorted(self.packs.trigger_bases.items()):
            for _, entry in pairs:
                for attribute, methods in entry.attributes.items():
                    if function.name in methods:
                        yield from self._naming(function, home, base, entry, attribute)

    def _naming(self, function: Function, home: Class, base: str, entry: v.Trigger, attribute: str) -> Iterator[Start]:
        hierarchy = self.evaluator.hierarchy
        wanted = {home.id, *(cls.id for cls in hierarchy.subclasses(home.id))}
        for name in sorted({self.program.cls(id).name for id in wanted}):
            for file in self.program.index.files_with(name, attribute):
                module = self.program.module_of(file)
                views = [cls for cls in module.classes.values() if attribute in cls.scope] if module else []
                for cls in [one for view in views for one in (view, *hierarchy.subclasses(view.id))]:
                    if base not in hierarchy.external_bases(cls.id):
                        continue
                    given = self._given_by(cls, attribute)
                    named = [one for one in options(given) if isinstance(one, ClassRef) and one.id in wanted]
                    for one in named:
                        if self.program.method(hierarchy.mro(one.id), function.name) is function:
                            yield self._named_by(function, self.program.cls(one.id), cls, entry)

    def _given_by(self, cls: Class, attribute: str) -> Value:
        """What a class attribute is, or what a method of that name returns (`get_serializer_class`)."""
        method = self.program.method(self.evaluator.hierarchy.mro(cls.id), attribute)
        if method is None:
            return self.evaluator.resolve(Attr(ClassRef(cls.id), attribute))
        ref = FunctionRef(method.id, Some(ClassRef(cls.id)))
        return self.evaluator.resolve(Call(ref, (), (), method.place))

    def _named_by(self, function: Function, cls: Class, view: Class, entry: v.Trigger) -> Start:
        routes = [self.details.of(one) for one in self.registry.by_class.get(view.id, ())]
        place = Place(view.module.path, view.node.name_at[0], view.node.name_at[1])
        trigger = Trigger(place, entry.kind, view.id, routes[0] if routes else "")
        return Start(trigger, function.id, (), self.self_binding(function, cls), view, entry)

    def of_function(self, function: Function) -> Iterator[Start]:
        """A function that a framework class names in a list (`actions = [invite]` of an admin)."""
        for base, pairs in sorted(self.packs.trigger_bases.items()):
            for _, entry in pairs:
                for attribute in entry.lists:
                    for cls in self._with_attribute(function.name, attribute):
                        known = base in self.evaluator.hierarchy.external_bases(cls.id)
                        if known and self.lists(Attr(Some(ClassRef(cls.id)), attribute), function):
                            yield Start(self.details.trigger(entry.kind, function, ""), function.id, entry=entry)

    def _with_attribute(self, word: str, attribute: str) -> Iterator[Class]:
        """The classes whose body binds an attribute, in files that have a word."""
        for file in self.program.index.files_with(word, attribute):
            module = self.program.module_of(file)
            yield from (cls for cls in module.classes.values() if attribute in cls.scope) if module is not None else ()

    def self_binding(self, function: Function, cls: Class) -> dict[Param, Value]:
        if not (function.is_method and function.params):
            return {}
        own: Value = ClassRef(cls.id)
        own = own if function.has_decorator("classmethod") else Some(own)
        return {Param(function.id, function.params[0].name): own}
