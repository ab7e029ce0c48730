"""Objects that the project puts into a registry and asks for elsewhere, by a class or a name.

`config.register_service_factory("shop.mailer.factory", name="mailer")` and later
`request.find_service(name="mailer")`: what is asked for is what the factory makes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program.symbols import Function
from sendonce.program.values import UNKNOWN, Attr, Call, Const, Value, union

if TYPE_CHECKING:
    from sendonce.program.evaluate import Evaluator


@dataclass(frozen=True)
class Key:
    """What an object is asked for by: a class or interface, a name, or both."""

    cls: Value | None
    name: str


@dataclass(frozen=True, eq=False)
class Registered:
    """An object that was put in, or (`made`) the function that makes it."""

    key: Key
    value: Value
    made: bool


class Services:
    """Finds what stands in such registries."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs

    @cached_property
    def _finding(self) -> dict[str, tuple[v.Service, ...]]:
        """By the name of the method that asks, what packs say of it."""
        found: dict[str, tuple[v.Service, ...]] = {}
        for pack in self.packs.packs:
            for entry in pack.service:
                for shape in entry.finds:
                    name = shape.rpartition(".")[2]
                    found[name] = (*found.get(name, ()), entry)
        return found

    def asked_for(self, call: Call) -> Value | None:
        """What a call that asks a registry gives; None for any other call, and where nothing is known of it."""
        if not isinstance(call.func, Attr):
            return None
        for entry in self._finding.get(call.func.name, ()):
            wanted = self._key(call, entry.key, entry.name)
            given = (self._given(one, call) for one in self._registered(entry) if _answers(one.key, wanted))
            found = [one for one in given if self.evaluator.types(one)]
            if found:
                return union(found)
        return None

    def _given(self, one: Registered, call: Call) -> Value:
        """The object itself, or what its factory makes of the place that asks."""
        if not one.made:
            return self.evaluator.resolve(one.value)
        owner = call.func.base if isinstance(call.func, Attr) else UNKNOWN
        return self.evaluator.resolve(Call(one.value, ("", ""), (UNKNOWN, owner), call.at))

    def _registered(self, entry: v.Service) -> tuple[Registered, ...]:
        """What the project puts into a registry, by file and place."""
        key = ("services", entry.registers)
        return self.evaluator.memo.once(key, lambda: tuple(self._registrations(entry)), ())

    def _registrations(self, entry: v.Service) -> Iterator[Registered]:
        words = {shape.rpartition(".")[2] for shape in entry.registers}
        for word in sorted(words):
            for function in self.program.mentioning(word):
                yield from self._in(function, entry, words)

    def _in(self, function: Function, entry: v.Service, words: set[str]) -> Iterator[Registered]:
        for site in self.evaluator.flow_of(function).sites:
            call = site.call
            if not (isinstance(call.func, Attr) and call.func.name in words):
                continue
            key = self._key(call, entry.register_key, entry.register_name)
            factory = arguments.first_argument(self.evaluator, call, entry.factory)
            value = factory if factory is not None else arguments.first_argument(self.evaluator, call, entry.object)
            if value is not None:
                yield Registered(key, self._by_path(value), factory is not None)

    def _by_path(self, value: Value) -> Value:
        """A factory given as itself or by its dotted path."""
        found = self.evaluator.resolve(value)
        if isinstance(found, Const) and isinstance(found.value, str):
            return self.evaluator.by_name.dotted(found.value) or UNKNOWN
        return value

    def _key(self, call: Call, classes: tuple[str, ...], names: tuple[str, ...]) -> Key:
        cls = arguments.first_argument(self.evaluator, call, classes)
        name = arguments.first_argument(self.evaluator, call, names)
        constant = self.evaluator.constant(name) if name is not None else None
        return Key(None if cls is None else self.evaluator.resolve(cls), str(constant.value) if constant else "")


def _answers(key: Key, wanted: Key) -> bool:
    """Whether what was put in under a key is what is asked for."""
    if wanted.name != key.name:
        return False
    return wanted.cls is key.cls if wanted.cls is not None else bool(wanted.name)
