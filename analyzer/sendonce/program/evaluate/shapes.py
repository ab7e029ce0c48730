"""The names under which packs may know a value, and what packs say of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from sendonce import vocabulary as v
from sendonce.packs import Table as PackTable
from sendonce.program.values import (
    Attr,
    Call,
    ClassRef,
    Element,
    External,
    FunctionRef,
    Item,
    ModuleRef,
    Super,
    Updated,
    Value,
    options,
    unchanged,
)

if TYPE_CHECKING:
    from sendonce.program.evaluate.evaluator import Evaluator

T = TypeVar("T")


class Shapes:
    """Gives the shapes of values and looks them up in the tables of packs."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.hierarchy = evaluator.hierarchy
        self._once = evaluator.memo.once
        self._found: dict[int, tuple[object, dict[frozenset[str], tuple[tuple[v.Pack, Any], ...]]]] = {}
        """What was found in a table (kept with it, as its id is the key) for some shapes."""

    def shapes(self, value: Value) -> frozenset[str]:
        """The names under which packs may know a value: see `vocabulary` for the notation."""
        return self._once(("shapes", value), lambda: frozenset(self._shapes(value)), frozenset())

    def _shapes(self, value: Value) -> Iterator[str]:
        for option in options(self.evaluator.resolve(value)):
            match option:
                case External(dotted=dotted):
                    yield dotted
                case ModuleRef(name=name):
                    yield name
                case ClassRef(id=id):
                    yield from self.hierarchy.external_bases(id)
                case Attr():
                    yield from self.of_attribute(option)
                    yield from self._of_type(option)
                case Call(func=func):
                    yield from self._of_type(option)
                    yield from (f"{shape}()" for shape in self.shapes(func))
                    yield from (
                        shape for one in self.evaluator.calls.of_subclasses(option) for shape in self.shapes(one)
                    )
                case Item(base=base):
                    yield from self._of_type(option)
                    yield from (f"{shape}[]" for shape in self.shapes(base))
                case Element(base=base, entered=entered):
                    yield from self.shapes(base) if entered else (f"{shape}[]" for shape in self.shapes(base))
                    yield from () if entered else self._of_type(option)
                case Updated():
                    yield from self.shapes(unchanged(option))
                case Super(cls=cls):
                    yield from (f"{base}()" for base in self.hierarchy.external_bases(cls))
                case FunctionRef():
                    pass
                case _:
                    yield from self._of_type(option)

    def overridden_shapes(self, value: Value) -> frozenset[str]:
        """The shapes of a value, and those of library methods that a project method in it overrides."""
        found = set(self.shapes(value))
        for option in options(self.evaluator.resolve(value)):
            if isinstance(option, FunctionRef) and option.receiver is not None:
                name = self.program.function(option.id).name
                found.update(self.packs.canonical(f"{shape}.{name}") for shape in self._of_type(option.receiver))
        return frozenset(found)

    def of_attribute(self, value: Attr) -> Iterator[str]:
        """The shapes of an attribute by what it is an attribute of, without what its own type adds."""
        return (self.packs.canonical(f"{shape}.{value.name}") for shape in self.shapes(value.base))

    def _of_type(self, value: Value) -> Iterator[str]:
        for cls in self.evaluator.types(value):
            if isinstance(cls, ClassRef):
                yield from (f"{base}()" for base in self.hierarchy.external_bases(cls.id))
            elif isinstance(cls, External):
                yield f"{cls.dotted}()"

    def lookup(self, table: PackTable[T], value: Value) -> tuple[tuple[v.Pack, T], ...]:
        """The entries of a pack table for a value, each once, in the order of its shapes."""
        return self.found(table, self.shapes(value))

    def lookup_overridden(self, table: PackTable[T], value: Value) -> tuple[tuple[v.Pack, T], ...]:
        """As `lookup`, methods of the project that override a library's included."""
        return self.found(table, self.overridden_shapes(value))

    def found(self, table: PackTable[T], shapes: frozenset[str]) -> tuple[tuple[v.Pack, T], ...]:
        """The entries for some shapes; remembered, as few values have shapes of their own."""
        if not shapes:
            return ()
        _, known = self._found.setdefault(id(table), (table, {}))
        if shapes not in known:
            found: dict[int, tuple[v.Pack, Any]] = {}
            for shape in sorted(shapes):
                for pair in self.packs.find(table, shape):
                    found.setdefault(id(pair[1]), pair)
            known[shapes] = tuple(found.values())
        return known[shapes]
