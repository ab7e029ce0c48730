"""Handlers that settings name in tables (`CELERY_BEAT_SCHEDULE`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program.flow import Flows
from sendonce.program.link import Linker
from sendonce.program.starts.details import Details
from sendonce.program.starts.start import Start
from sendonce.program.symbols import Class, Function, Module
from sendonce.program.values import (
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Const,
    External,
    Op,
    Seq,
    Table,
    Updated,
    Value,
    options,
)

MAX_NESTING = 8
"""Through how many tables that are made of tables a setting is followed."""


class Tables:
    """Finds the triggers of functions that settings name."""

    def __init__(self, linker: Linker, flows: Flows, details: Details) -> None:
        self.linker = linker
        self.evaluator = linker.evaluator
        self.program = linker.program
        self.packs = linker.packs
        self.flows = flows
        self.details = details
        self._known: dict[str, list[tuple[str, str]]] = {}

    def of(self, function: Function) -> Iterator[Start]:
        """Handlers named in a table of the settings (`CELERY_BEAT_SCHEDULE`)."""
        for pack in self.packs.packs:
            for entry in pack.trigger:
                for path in entry.settings:
                    for detail, name in self._named_in(path, entry):
                        if self.means(name, function):
                            yield Start(self.details.trigger(entry.kind, function, detail), function.id, entry=entry)
                    if function.cls is not None and function.name in entry.methods and path.endswith("/*"):
                        yield from self._listed_class(function, function.cls, path, entry)

    def _listed_class(self, function: Function, cls: Class, path: str, entry: v.Trigger) -> Iterator[Start]:
        """A method of a class that a setting lists (`MIDDLEWARE`)."""
        setting = path.partition("/")[0]
        for one in (cls, *self.evaluator.hierarchy.subclasses(cls.id)):
            name = f"{one.module.file.module}.{one.name}"
            if any(name in self._texts(value) for value in self.evaluator.by_name.settings(setting)):
                yield Start(self.details.trigger(entry.kind, function, "", one), function.id, entry=entry)
                return

    def _texts(self, value: Value) -> list[object]:
        """The texts of a list."""
        found = self.evaluator.resolve(value)
        return [item.value for item in found.items if isinstance(item, Const)] if isinstance(found, Seq) else []

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

    def _named_in(self, path: str, entry: v.Trigger) -> list[tuple[str, str]]:
        """The (detail, name) pairs at a path into module constants and assigned attributes."""
        if path not in self._known:
            head, *keys = path.split("/")
            word = re.split(r"[.()]+", head)[-1]
            found: list[tuple[str, str]] = []
            for file in self.program.index.files_with(word):
                module = self.program.module_of(file)
                if module is not None:
                    for value in self._tables_in(module, word):
                        found.extend(self._at_keys(value, keys, entry))
            self._known[path] = found
        return self._known[path]

    def _tables_in(self, module: Module, word: str) -> Iterator[Value]:
        for cls in module.classes.values():
            if word in cls.scope:
                yield self.evaluator.resolve(Attr(ClassRef(cls.id), word))
        value = self.evaluator.module_attr(module, word)
        if value is not None:
            yield self.evaluator.resolve(value)
        for function in module.functions.values():
            if word in function.words:
                for write in self.flows.of(function).writes:
                    if write.field == word:
                        yield self.evaluator.resolve(write.value)

    def _at_keys(self, value: Value, keys: list[str], entry: v.Trigger) -> Iterator[tuple[str, str]]:
        if len(keys) != 2 or keys[0] != "*":
            return
        for table in self._merged(value):
            yield from self._rows(table, keys[1], entry)

    def _merged(self, value: Value, depth: int = 0) -> Iterator[Table]:
        """The tables that one is made of: `dict(A)`, `A | B`, one of several."""
        for option in options(self.evaluator.resolve(value)) if depth < MAX_NESTING else ():
            match option:
                case Table():
                    yield option
                    for inner in option.values if UNKNOWN in option.keys else ():
                        yield from self._merged(inner, depth + 1)
                case Op(op="|", operands=parts) | Call(func=External(dotted="builtins.dict"), args=parts):
                    for part in parts:
                        yield from self._merged(part, depth + 1)
                case Updated(base=base):
                    yield from self._merged(base, depth + 1)
                case _:
                    pass

    def _rows(self, table: Table, name: str, entry: v.Trigger) -> Iterator[tuple[str, str]]:
        """The (detail, name) pairs of a table of tables."""
        for key, item in zip(table.keys, table.values, strict=True):
            row = self.evaluator.resolve(item)
            if not isinstance(row, Table):
                continue
            given = {str(k.value): v for k, v in zip(row.keys, row.values, strict=True) if isinstance(k, Const)}
            if name in given:
                detail = " ".join(filter(None, (self.details.shown(given[d]) for d in entry.detail if d in given)))
                task = self.evaluator.constant(given[name])
                if task is not None:
                    yield detail or self.details.shown(key), str(task.value)
