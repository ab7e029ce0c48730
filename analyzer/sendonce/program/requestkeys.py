"""Values by which a client names one request: an `Idempotency-Key` header, or a parameter of that name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from sendonce import facts
from sendonce.program.evaluate import Evaluator
from sendonce.program.reader import Reader
from sendonce.program.symbols import Function, own_nodes
from sendonce.program.values import Attr, Const, Param, Value, walk


class RequestKeys:
    """Answers for values and functions."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self._params: dict[Param, bool] = {}
        self._known: dict[Value, bool] = {}
        self._speaking: dict[str, bool] = {}

    @cached_property
    def _names(self) -> frozenset[str]:
        headers = (header for pack in self.evaluator.packs.packs for one in pack.request_key for header in one.headers)
        return frozenset(_plain(header) for header in headers)

    @cached_property
    def are_read(self) -> bool:
        """Whether a file of the application speaks of such a key at all."""
        return any(True for _ in self._files())

    def _files(self) -> Iterator[object]:
        for name in sorted(self._names):
            yield from self._files_with(name)

    def _files_with(self, name: str) -> Iterator[object]:
        index = self.program.index
        upper = "_".join(part for part in name.split("_")).upper()
        dashed = [part for part in name.split("_") if len(part) > 3]
        for words in ([name], [f"HTTP_{upper}"], [one.capitalize() for one in dashed], dashed):
            yield from index.files_with(*words)

    def reading(self) -> Iterator[Function]:
        """The functions that speak of such a key, by path."""
        seen: dict[str, Function] = {}
        for file in self._files():
            module = self.program.module_of(file)  # type: ignore[arg-type]  # the index gives source files
            for function in module.functions.values() if module is not None else ():
                if self.speaks(function):
                    seen.setdefault(function.id, function)
        return iter([seen[id] for id in sorted(seen)])

    def speaks(self, function: Function) -> bool:
        """Whether a function itself names such a key."""
        if function.id not in self._speaking:
            texts = (node.value for node in own_nodes(function.node) if isinstance(node, facts.Constant))
            names = (param.name for param in function.params)
            found = any(isinstance(text, str) and _plain(text) in self._names for text in (*texts, *names))
            self._speaking[function.id] = found
        return self._speaking[function.id]

    def names_one(self, values: Iterable[Value]) -> bool:
        """Whether one of some values is made from a client's key."""
        return any(self.is_key(value) for value in values)

    def is_key(self, value: Value) -> bool:
        """Whether a value is made from a client's key."""
        if value not in self._known:
            self._known[value] = False
            parts = (*walk(value), *walk(self.evaluator.resolve(value)))
            self._known[value] = any(self._is_named(part) for part in parts)
        return self._known[value]

    def _is_named(self, value: Value) -> bool:
        match value:
            case Const(value=str() as text):
                return _plain(text) in self._names
            case Attr(name=name):
                return _plain(name) in self._names
            case Param():
                return self._is_parameter(value)
            case _:
                return False

    def _is_parameter(self, param: Param) -> bool:
        """Whether a parameter is named so, or is filled from such a header."""
        if param not in self._params:
            function = self.program.function(param.function)
            declared = next((one for one in function.params if one.name == param.name), None)
            self._params[param] = declared is not None and self._is_filled(function, declared)
        return self._params[param]

    def _is_filled(self, function: Function, declared: facts.Param) -> bool:
        if _plain(declared.name) in self._names:
            return True
        reader = Reader(self.evaluator, function.module.body, function.cls)
        given = [reader.read(declared.default)] if declared.default is not None else []
        given += [reader.annotation(declared.annotation)] if declared.annotation is not None else []
        texts = (part.value for value in given for part in walk(value) if isinstance(part, Const))
        return any(isinstance(text, str) and _plain(text) in self._names for text in texts)


def _plain(name: str) -> str:
    return name.lower().replace("-", "_").removeprefix("http_")
