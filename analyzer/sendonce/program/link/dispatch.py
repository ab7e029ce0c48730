"""Functions that hand a call on by the type of its first argument (`functools.singledispatch`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sendonce import facts
from sendonce.program.evaluate import Evaluator
from sendonce.program.reader import Reader
from sendonce.program.symbols import Function
from sendonce.program.values import UNKNOWN, ClassRef, External, FunctionRef, Param, Value

if TYPE_CHECKING:
    from sendonce.program.link.callables import Callables

DISPATCHES = ("singledispatch", "singledispatchmethod")
MAX_FILES = 25
"""A function whose name stands in more files than this has the implementations of its own file only."""


class Dispatch:
    """Finds the implementations of such a function, and those that a call may mean."""

    def __init__(self, evaluator: Evaluator, callables: Callables) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.callables = callables
        self._known: dict[str, tuple[tuple[Function, Value], ...]] = {}

    def of(self, ref: FunctionRef, args: tuple[Value, ...]) -> list[FunctionRef]:
        """The functions that a call may run: one where the type of the argument is known, else all of them."""
        function = self.program.function(ref.id)
        if not function.has_decorator(*DISPATCHES):
            return [ref]
        known = self._implementations(function)
        types = self._types(args[0]) if args else ()
        found = [one for cls in types for one in self._for_type(cls, known)]
        chosen = found if types else [one for one, _ in known]
        refs = [FunctionRef(one.id, ref.receiver) for one in dict.fromkeys(chosen)]
        return refs if found else [ref, *refs]

    def _types(self, value: Value) -> tuple[Value, ...]:
        constant = self.evaluator.constant(value)
        if constant is not None:
            return (External(f"builtins.{type(constant.value).__name__}"),)
        return self.evaluator.types(value)

    def _for_type(self, cls: Value, known: tuple[tuple[Function, Value], ...]) -> list[Function]:
        """The implementation for the nearest class above a class."""
        order: list[Value] = [cls]
        if isinstance(cls, ClassRef):
            order = [ClassRef(one.id) for one in self.evaluator.hierarchy.mro(cls.id)]
            order += map(External, self.evaluator.hierarchy.external_bases(cls.id))
        for above in order:
            found = [function for function, wanted in known if wanted is above]
            if found:
                return found[-1:]
        return []

    def _implementations(self, function: Function) -> tuple[tuple[Function, Value], ...]:
        """The registered functions of one that dispatches, each with its class, by file."""
        if function.id not in self._known:
            self._known[function.id] = ()
            self._known[function.id] = tuple(self._registered(function))
        return self._known[function.id]

    def _registered(self, function: Function) -> Iterator[tuple[Function, Value]]:
        files = self.program.index.files_with(function.name, "register")
        modules = [self.program.module_of(file) for file in files] if len(files) <= MAX_FILES else [function.module]
        for module in modules:
            for one in module.functions.values() if module is not None else ():
                for decorator in one.node.decorators if isinstance(one.node, facts.Def) else ():
                    for cls in self._classes(one, decorator, function):
                        yield one, cls

    def _classes(self, one: Function, decorator: facts.Expr, function: Function) -> Iterator[Value]:
        """The classes for which a decorator registers a function."""
        given = decorator.args if isinstance(decorator, facts.Call) else ()
        name = decorator.func if isinstance(decorator, facts.Call) else decorator
        if not (isinstance(name, facts.Attribute) and name.attr == "register"):
            return
        reader = Reader(self.evaluator, one.parent or one.module.body, one.cls)
        if all(callee.ref.id != function.id for callee in self.callables.callables(reader.read(name.value))):
            return
        if given:
            yield self.evaluator.resolve(reader.read(given[0].value))
            return
        params = one.params[1:] if one.is_method else one.params
        annotated = self.evaluator.annotated(Param(one.id, params[0].name)) if params else None
        yield from self.evaluator.types(annotated) if annotated is not None else (UNKNOWN,)
