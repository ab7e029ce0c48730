"""Entries of packs by the names of their methods, for calls on objects of which nothing is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, Protocol, TypeVar

from sendonce.packs import Packs
from sendonce.program.evaluate import Evaluator
from sendonce.program.values import Attr, Value


class Named(Protocol):
    """An entry that says which of its methods tell by their names alone: `setnx`, `objects.create`."""

    @property
    def named(self) -> tuple[str, ...]: ...


E = TypeVar("E", bound=Named)


class ByName(Generic[E]):
    """The entries of one table of packs."""

    def __init__(self, evaluator: Evaluator, table: Mapping[str, tuple[tuple[object, E], ...]]) -> None:
        self.evaluator = evaluator
        self._entries: dict[str, tuple[E, ...]] = {}
        for shape in table:
            name = shape.rpartition("().")[2] if "()." in shape else ""
            for _, entry in table[shape] if name else ():
                known = self._entries.get(name, ())
                if not any(one is entry for one in known):
                    self._entries[name] = (*known, entry)

    def having(self, func: Value) -> tuple[E, ...]:
        """The entries that have a method of this name."""
        return self._entries.get(func.name, ()) if isinstance(func, Attr) else ()

    @staticmethod
    def tells(entry: Named, func: Value) -> bool:
        """Whether the name of a method is enough to tell that it is one of an entry's."""
        if not isinstance(func, Attr):
            return False
        owner = func.base.name if isinstance(func.base, Attr) else ""
        return func.name in entry.named or f"{owner}.{func.name}" in entry.named

    def of(self, func: Value) -> tuple[E, ...]:
        """The entries that a method of an unknown object is one of, as its name tells."""
        if not isinstance(func, Attr) or self.evaluator.shapes(func):
            return ()
        return tuple(entry for entry in self.having(func) if self.tells(entry, func))


def saving(packs: Packs) -> frozenset[str]:
    """The names of the methods by which rows of some library save themselves."""
    found = packs.store_saves.items()
    return frozenset(shape.rpartition(".")[2] for shape, pairs in found if any(not one.object for _, one in pairs))
