"""What an object was made with: fields, and attributes that methods assign to `self`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sendonce.program import arguments
from sendonce.program.symbols import Function
from sendonce.program.values import (
    Attr,
    Call,
    ClassRef,
    FunctionRef,
    Param,
    Value,
    substitute,
    unchanged,
)

if TYPE_CHECKING:
    from sendonce.program.evaluate.evaluator import Evaluator

MAX_SUPERS = 5
"""Through how many constructors an argument is followed."""


class Construction:
    """Follows arguments from the call that made an object to its attributes."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.hierarchy = evaluator.hierarchy

    def given_field(self, id: str, owner: Value, name: str) -> Value | None:
        """What the generated constructor of a class of fields (a dataclass) got for one of them."""
        owner = unchanged(owner)
        fields = self.hierarchy.fields(id)
        if name not in fields or not isinstance(owner, Call):
            return None
        if not isinstance(self.evaluator.resolve(owner.func), ClassRef):
            return None
        given = arguments.argument(self.evaluator, owner, f"{name}|{fields.index(name)}")
        return None if given is None else self.evaluator.resolve(given)

    def fields_of(self, value: Value) -> dict[str, Value]:
        """The fields that an object of a class of fields was made with, where all of them are known by name."""
        if not isinstance(value, Call) or "*" in value.names:
            return {}
        cls = self.evaluator.resolve(value.func)
        names = self.hierarchy.fields(cls.id) if isinstance(cls, ClassRef) else ()
        given = (
            (name, arguments.argument(self.evaluator, value, f"{name}|{index}")) for index, name in enumerate(names)
        )
        return {name: found for name, found in given if found is not None}

    def written(self, id: str, owner: Value, name: str) -> Iterator[Value]:
        """What methods of the class and its bases assign to `self.name`, as seen from `owner`.

        A value that depends on arguments which are not known here is the attribute itself: whoever
        knows more of the owner may ask again.
        """
        for method in self.hierarchy.writers(id, name):
            binding: dict[Param, Value] = {Param(method.id, method.params[0].name): owner}
            if method.name == "__init__":
                binding.update(self._constructed_with(method, owner))
            for value in self.evaluator.flow_of(method).written(name):
                found = self.evaluator.resolve(substitute(value, binding))
                assert method.cls is not None
                found = self.evaluator.filled.of_object(method.cls, owner, name, found)
                unbound = any(param.function == method.id and param not in owner.free for param in found.free)
                yield Attr(owner, name) if unbound else found

    def _constructed_with(self, method: Function, owner: Value) -> dict[Param, Value]:
        """What an `__init__` is given when `owner` is made, through the `super().__init__()` of subclasses."""
        owner = unchanged(owner)
        if not isinstance(owner, Call):
            return {}
        direct = self.hierarchy.method_of(self.evaluator.resolve(owner.func), "__init__")
        if direct is None:
            return {}
        binding = arguments.bind(self.evaluator, FunctionRef(direct.id, owner), owner.names, owner.args)
        return binding if direct is method else self._handed_on(direct, method, binding, owner, 0)

    def _handed_on(
        self, direct: Function, method: Function, binding: dict[Param, Value], owner: Value, depth: int
    ) -> dict[Param, Value]:
        """What the `__init__` of a subclass hands on to that of a base class."""
        for site in self.evaluator.flow_of(direct).sites:
            func = site.call.func
            if not (isinstance(func, Attr) and func.name == "__init__"):
                continue
            called = self.evaluator.resolve(func)
            if not isinstance(called, FunctionRef):
                continue
            args = tuple(substitute(arg, binding) for arg in site.call.args)
            if called.receiver is None and args:
                args = (owner, *args[1:])
            ref = FunctionRef(called.id, owner if called.receiver is not None else None)
            inner = arguments.bind(self.evaluator, ref, site.call.names, args)
            if called.id == method.id:
                return inner
            if depth < MAX_SUPERS:
                return self._handed_on(self.program.function(called.id), method, inner, owner, depth + 1)
        return {}
