"""Methods that a library calls to check what it was given, before it lets a form or serializer be saved."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from sendonce import vocabulary as v
from sendonce.program.evaluate import Evaluator
from sendonce.program.symbols import Class, Function
from sendonce.program.values import Attr, Call, ClassRef


class Validators:
    """Answers for methods and calls."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self._entries = [entry for pack in evaluator.packs.packs for entry in pack.validation]

    def passed_before(self, function: Function) -> Iterator[tuple[ClassRef, Function]]:
        """The validators that have let pass what a method of a form or serializer works on, with its class."""
        if function.cls is not None and function.parent is None:
            yield from self._of_class(function.cls, function)

    def asked(self, call: Call) -> Iterator[tuple[ClassRef, Function]]:
        """The validators that a call such as `form.is_valid()` runs, with the class of the form."""
        if isinstance(call.func, Attr) and any(call.func.name in entry.asked for entry in self._entries):
            for value in self.evaluator.types(call.func.base):
                if isinstance(value, ClassRef):
                    yield from self._of_class(self.program.cls(value.id), None)

    def refuses(self, call: Call) -> bool:
        """Whether a validator refuses by a call of a method of its own (`self.add_error(…)`)."""
        return isinstance(call.func, Attr) and any(call.func.name in entry.refuses for entry in self._entries)

    def _of_class(self, cls: Class, function: Function | None) -> Iterator[tuple[ClassRef, Function]]:
        bases = frozenset(self.evaluator.hierarchy.external_bases(cls.id))
        entries = [entry for entry in self._entries if not bases.isdisjoint(entry.bases)]
        if function is not None and any(_is_one(entry, function.name) for entry in entries):
            return
        methods = [method for one in self.evaluator.hierarchy.mro(cls.id) for method in one.methods.values()]
        for name in sorted({method.name for method in methods}):
            own = any(name in method.words for method in methods if method.name != name)  # the class calls it itself
            if not own and any(_is_one(entry, name) for entry in entries):
                method = self.program.method(self.evaluator.hierarchy.mro(cls.id), name)
                if method is not None:
                    yield ClassRef(cls.id), method


def _is_one(entry: v.Validation, name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in entry.methods)
