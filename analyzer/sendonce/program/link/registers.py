"""Calls that hand a handler to a framework, by themselves or in a helper of the project."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

from sendonce import vocabulary as v
from sendonce.packs import Table as PackTable
from sendonce.program import arguments
from sendonce.program.evaluate import Evaluator
from sendonce.program.held import Site
from sendonce.program.link.callables import MAX_NESTING
from sendonce.program.link.choices import Choices
from sendonce.program.link.edges import Crossing, Handed, Open, Reached, Register
from sendonce.program.mentions import mentions
from sendonce.program.values import (
    Attr,
    Call,
    ClassRef,
    Const,
    External,
    FunctionRef,
    Param,
    Value,
    substitute,
    unchanged,
)


class Registers:
    """Finds registrations, and settles those of helpers where the helper is called."""

    def __init__(self, evaluator: Evaluator, choices: Choices) -> None:
        self.evaluator = evaluator
        self.packs = evaluator.packs
        self.choices = choices

    def of(self, call: Call) -> Iterator[tuple[Register, Value]]:
        """What a call hands to a framework, as packs say: triggers' handlers and those of signals."""
        if not self._may_register(call.func):
            return
        decorators = [(call, call.func)]
        if isinstance(call.func, Call):
            decorators.append((call.func, call.func.func))
        last = call.args[-1] if call.args else None
        for described, shape in decorators:
            for entry in self._entries(self.packs.trigger_decorators, self.packs.connect_decorators, shape):
                if last is not None and not isinstance(last, Const) and _decorates(entry, described, call):
                    yield Register(entry, described), last
        for entry in self._entries(self.packs.trigger_registers, self.packs.connect_registers, call.func):
            handler = arguments.first_argument(self.evaluator, call, entry.handler)
            fits = isinstance(entry, v.Connect) or arguments.holds(self.evaluator, call, entry.when)
            if handler is not None and fits:
                yield Register(entry, call), handler

    def _may_register(self, func: Value) -> bool:
        """Whether a callee has a name under which packs know a registration, or is a class or result of the project."""
        head = func.func if isinstance(func, Call) else func
        if isinstance(head, ClassRef) or (isinstance(func, Call) and isinstance(head, FunctionRef)):
            return True
        return not self.names.isdisjoint(mentions(func))

    @cached_property
    def names(self) -> frozenset[str]:
        """The last names of all calls that register something."""
        packs = self.packs
        tables = (packs.trigger_decorators, packs.connect_decorators, packs.trigger_registers, packs.connect_registers)
        return frozenset(shape.removesuffix("()").rpartition(".")[2] for table in tables for shape in table)

    def takes_handlers(self, value: Value) -> bool:
        """Whether a value is an object of a library on which handlers are registered (`app`, `mcp`, `bot`)."""
        made = unchanged(value)
        made = unchanged(self.evaluator.resolve(made)) if isinstance(made, Call | Attr) else made
        if not (isinstance(made, Call) and isinstance(made.func, External)):
            return False
        name = self.packs.canonical(made.func.dotted)
        return not self._owners.isdisjoint((name, *self.packs.bases(name)))

    @cached_property
    def _owners(self) -> frozenset[str]:
        """The classes whose methods register handlers."""
        packs = self.packs
        tables = (packs.trigger_decorators, packs.connect_decorators, packs.trigger_registers, packs.connect_registers)
        return frozenset(shape.partition("()")[0] for table in tables for shape in table if "()." in shape)

    def _entries(
        self, triggers: PackTable[v.Trigger], connects: PackTable[v.Connect], shape: Value
    ) -> Iterator[v.Trigger | v.Connect]:
        """What two tables of packs say of a shape."""
        yield from (entry for _, entry in self.evaluator.lookup_overridden(triggers, shape))
        yield from (entry for _, entry in self.evaluator.lookup_overridden(connects, shape))

    def note_open(self, found: Reached, site: Site) -> None:
        """Registrations of a handler that the function is given: known where the function is called."""
        for register, handler in self.of(site.call):
            if isinstance(handler, Param) or self._is_open(handler):
                found.opens.append(Open(handler, (), (), site, "trigger", (), None, register))

    def note_known(self, found: Reached, call: Value, site: Site) -> None:
        """Registrations of a helper that became known at `site`, where the helper is called (`signal.connect`)."""
        for register, handler in self.of(call) if isinstance(call, Call) else ():
            if not self._is_open(handler):
                found.handed.append(Handed(site, register, handler))

    def lift(
        self, found: Reached, inner: Open, handler: Value, crossing: Crossing, around: tuple[Crossing, ...]
    ) -> None:
        """A registration in a helper, where the helper is called: known now, or still up to the next caller."""
        assert inner.register is not None
        call = substitute(inner.register.call, crossing.binding)
        if not isinstance(call, Call) or len(around) > MAX_NESTING:
            return
        register = replace(inner.register, call=call)
        if self._is_open(handler):
            found.opens.append(replace(inner, callee=handler, outer=around, register=register))
        else:
            found.handed.append(Handed(around[-1].site, register, handler))

    def _is_open(self, handler: Value) -> bool:
        return bool(handler.free) and self.choices.is_open(handler)


def _decorates(entry: v.Trigger | v.Connect, described: Call, call: Call) -> bool:
    """Whether a call is the use of a decorator, not the making of one (`receiver(signal)` before its function)."""
    if isinstance(entry, v.Connect):
        return described is not call or not entry.signal or entry.signal == ("receiver",)
    return True
