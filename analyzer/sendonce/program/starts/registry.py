"""The registrations noted while functions are linked."""

from __future__ import annotations

from collections.abc import Callable

from sendonce import vocabulary as v
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.link import Edge, Handed, Linker
from sendonce.program.starts.start import Registration
from sendonce.program.symbols import Class
from sendonce.program.values import (
    Attr,
    Call,
    ClassRef,
    External,
    Value,
    options,
)


class Registry:
    """The registrations noted while functions are linked."""

    def __init__(self, evaluator: Evaluator, flows: Flows, linker: Linker) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.flows = flows
        self.linker = linker
        self.by_function: dict[str, list[Registration]] = {}
        self.by_class: dict[str, list[Registration]] = {}
        self.into: Callable[[str], tuple[Edge, ...]] = lambda function: ()
        """The edges known to lead into a function."""
        self._noted: set[Site] = set()

    def note(self, site: Site) -> None:
        """Remembers a site that registers a handler with a framework."""
        if site in self._noted:
            return
        self._noted.add(site)
        for register, handler in self.linker.registers(site.call):
            if isinstance(register.entry, v.Trigger):
                self._add(site, register.entry, register.call, handler)

    def handed(self, handed: Handed) -> None:
        """Remembers a handler that a helper of the project registers."""
        if isinstance(handed.register.entry, v.Trigger):
            self._add(handed.site, handed.register.entry, handed.register.call, handed.handler)

    def _add(self, site: Site, entry: object, call: Call, handler: Value) -> None:
        assert isinstance(entry, v.Trigger)
        for option in options(self.evaluator.resolve(handler)):
            cls = self._class_of(option)
            if cls is not None:
                self.by_class.setdefault(cls.id, []).append(Registration(site, entry, call, (), cls))
                continue
            edges = self.linker.handler(option, site)
            for edge in edges:
                self.by_function.setdefault(edge.target, []).append(Registration(site, entry, call, edges))

    def _class_of(self, value: Value) -> Class | None:
        """The class behind a class, `View.as_view()` or a wrapped one."""
        for _ in range(6):
            match value:
                case ClassRef(id=id):
                    return self.program.cls(id)
                case Call(func=Attr(base=base, name="as_view")):
                    value = self.evaluator.resolve(base)
                case Call(args=args) if args and not self.evaluator.types(value):
                    value = self.evaluator.resolve(args[-1])
                case Call(func=func, args=args) if args and isinstance(
                    self.evaluator.resolve(func), External | Attr | Call
                ):
                    value = self.evaluator.resolve(args[-1])
                case _:
                    return None
        return None
