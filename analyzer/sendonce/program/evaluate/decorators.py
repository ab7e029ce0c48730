"""What a `def` binds: its decorators called with the function, inner functions with what they enclose."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from sendonce import facts
from sendonce.program.reader import Reader
from sendonce.program.symbols import Function
from sendonce.program.values import (
    UNKNOWN,
    At,
    Call,
    External,
    FunctionRef,
    Param,
    Value,
    options,
)

if TYPE_CHECKING:
    from sendonce.program.evaluate.evaluator import Evaluator

_PLAIN_DECORATORS = frozenset(f"builtins.{name}" for name in ("staticmethod", "classmethod", "property")) | {
    "functools.cached_property",
    "typing.overload",
    "typing.final",
    "abc.abstractmethod",
    "functools.lru_cache",
}


class Decorators:
    """Gives the values that `def` and decorators bind."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._once = evaluator.memo.once

    def decorated(self, function: Function) -> Value:
        """The value that a `def` binds: its decorators, innermost first, called with the function."""
        key = ("decorated", function.id)
        return self._once(key, lambda: self._decorated(function), cast(Value, FunctionRef(function.id)))

    def _decorated(self, function: Function) -> Value:
        value: Value = FunctionRef(function.id)
        if not isinstance(function.node, facts.Def):
            return value
        if function.parent is not None:
            value = self.closed(function, value)
        reader = Reader(self.evaluator, function.parent or function.module.body, function.cls)
        for decorator in reversed(function.node.decorators):
            applied = reader.read(decorator)
            if isinstance(applied, External) and applied.dotted in _PLAIN_DECORATORS:
                continue
            value = self.applied(applied, value, (function.module.path, *decorator.at[:2]))
        return value

    def applied(self, decorator: Value, value: Value, at: At) -> Value:
        """What a decorator makes of a function; plain ones of the language change nothing here."""
        if isinstance(decorator, External) and decorator.dotted in _PLAIN_DECORATORS:
            return value
        return self._kept(Call(decorator, ("",), (value,), at))

    def direct(self, call: Call) -> Call:
        """The call with partials undone: of the function inside, with all arguments."""
        func = self.evaluator.resolve(call.func)
        if isinstance(func, Call) and func.args and "functools.partial" in self.evaluator.shapes(func.func):
            return self.direct(
                Call(func.args[0], (*func.names[1:], *call.names), (*func.args[1:], *call.args), call.at)
            )
        return call

    def closed(self, function: Function, value: Value) -> Value:
        """An inner function with its enclosing functions' parameters as its closure."""
        pairs: list[tuple[Param, Value]] = []
        outer = function.parent
        while outer is not None:
            pairs.extend((Param(outer.id, p.name),) * 2 for p in outer.params)
            outer = outer.parent
        return FunctionRef(function.id, None, tuple(pairs)) if pairs else value

    def _kept(self, value: Call) -> Value:
        """What an own decorator returns: the wrapper, or the function it was given; unknown ones keep the function."""
        found = self.evaluator.resolve(value)
        if found is value or found is UNKNOWN:
            project = any(isinstance(one, FunctionRef) for one in options(self.evaluator.resolve(value.func)))
            return value.args[0] if project else value
        return found
