"""Handlers that settings name in tables and lists (`CELERY_BEAT_SCHEDULE`, `MIDDLEWARE`)."""

from __future__ import annotations

from collections.abc import Iterator

from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program.link import Linker
from sendonce.program.named import Named, Row
from sendonce.program.starts.attributes import Attributes
from sendonce.program.starts.details import Details
from sendonce.program.starts.start import Start
from sendonce.program.symbols import Class, Function
from sendonce.program.values import UNKNOWN, ClassRef, Const, Value


class Tables:
    """Finds the triggers of functions that settings name."""

    def __init__(self, linker: Linker, details: Details, attributes: Attributes) -> None:
        self.linker = linker
        self.evaluator = linker.evaluator
        self.program = linker.program
        self.packs = linker.packs
        self.details = details
        self.attributes = attributes
        self._named = Named(self.evaluator)
        self._known: dict[str, tuple[Row, ...]] = {}

    def of(self, function: Function) -> Iterator[Start]:
        """Handlers named in a table or list of the settings."""
        for pack in self.packs.packs:
            for entry in pack.trigger:
                for path in entry.settings:
                    for row in self._rows(path):
                        yield from self._from_row(function, entry, row)

    def _rows(self, path: str) -> tuple[Row, ...]:
        """What stands at a path, looked for once."""
        if path not in self._known:
            self._known[path] = tuple(self._named.at(path))
        return self._known[path]

    def _from_row(self, function: Function, entry: v.Trigger, row: Row) -> Iterator[Start]:
        """The trigger of a function that a row names, itself, by its class or by what makes it (middleware)."""
        if entry.methods:
            if function.parent is not None and self._is_named(row.value, function.parent):
                yield Start(self.details.trigger(entry.kind, function, ""), function.id, entry=entry)
            cls = self._class_named(row.value) if function.name in entry.methods else None
            if cls is not None and self.program.method(self.evaluator.hierarchy.mro(cls.id), function.name) is function:
                trigger = self.details.trigger(entry.kind, function, "", cls)
                yield Start(trigger, function.id, (), self.attributes.self_binding(function, cls), cls, entry)
        elif self._is_named(row.value, function):
            beside = (self.details.shown(row.siblings[one].read()) for one in entry.detail if one in row.siblings)
            detail = " ".join(filter(None, beside)) or self.details.shown(row.key)
            yield Start(self.details.trigger(entry.kind, function, detail), function.id, entry=entry)

    def _class_named(self, value: Value) -> Class | None:
        """The class that a row gives, as itself or by its dotted path."""
        if isinstance(value, Const) and isinstance(value.value, str):
            value = self.evaluator.by_name.dotted(value.value) or UNKNOWN
        return self.program.cls(value.id) if isinstance(value, ClassRef) else None

    def _is_named(self, value: Value, function: Function) -> bool:
        """Whether a row gives a function, as itself or by its path or its name as a job."""
        if isinstance(value, Const):
            return isinstance(value.value, str) and self.means(value.value, function)
        return any(edge.target == function.id for edge in self.linker.handler(value, None))

    def means(self, name: str, function: Function) -> bool:
        """Whether a text that names a job means a function."""
        last = name.replace(":", ".").rpartition(".")[2]
        if last != function.name and function.name not in name:
            return name in self._job_names(function)
        return any(
            edge.target == function.id for ref in self.linker.named(name) for edge in self.linker.handler(ref, None)
        )

    def _job_names(self, function: Function) -> set[str]:
        """Names that a job's decorator gives it."""
        found: set[str] = set()
        for call in self.linker.decorations(function):
            for job, described in self.evaluator.jobs_of(call):
                for given in arguments.given(self.evaluator, described, job.name):
                    constant = self.evaluator.constant(given)
                    if constant is not None:
                        found.add(str(constant.value))
        return found
