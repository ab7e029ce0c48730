"""Unique constraints outside models: what migrations add, what SQL text in the tree creates."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sendonce import facts
from sendonce.discovery import Role, SourceFile
from sendonce.program import arguments, sql
from sendonce.program.constraints import Constraint, Declarations, listed, plain
from sendonce.program.flow import Flows
from sendonce.program.symbols import Module
from sendonce.program.values import UNKNOWN, Call, walk


class Scripts:
    """Answers for names of tables."""

    def __init__(self, declarations: Declarations, flows: Flows) -> None:
        self.declarations = declarations
        self.evaluator = declarations.evaluator
        self.program = declarations.evaluator.program
        self.flows = flows
        self._texts: dict[str, tuple[sql.Declared, ...]] = {}
        self._files: dict[str, tuple[sql.Declared, ...]] = {}

    def in_migrations(self, names: frozenset[str], path: str) -> Iterator[Constraint]:
        """What migrations and scripts add to the table or model of one of these names."""
        for module in self._mentioning(names):
            if not _same_application(module.path, path):
                continue
            for site in self.flows.of(module.body).sites:
                yield from self._migrated(site.call, names)
            for function in module.functions.values():
                if function is not module.body and function.name in ("upgrade", "forwards"):
                    for site in self.flows.of(function).sites:
                        yield from self._migrated(site.call, names)

    def _mentioning(self, names: frozenset[str]) -> Iterator[Module]:
        words = {word for name in names for word in (name, name.title())}
        files = {file for word in words for file in self.program.index.files_with(word, roles=_MIGRATIONS)}
        for file in sorted(files):
            module = self.program.module_of(file)
            if module is not None:
                yield module

    def _migrated(self, call: Call, names: frozenset[str]) -> Iterator[Constraint]:
        for entry in self.declarations.entries(call):
            if not entry.model or not self.declarations.meets(entry, call):
                continue
            model = arguments.first_argument(self.evaluator, call, entry.model)
            constant = None if model is None else self.evaluator.constant(model)
            if constant is None or str(constant.value).lower() not in names:
                continue
            partial = any(arguments.argument(self.evaluator, call, one) is not None for one in entry.partial)
            for value in listed(self.evaluator, call, entry.names):
                for fields in self.declarations.field_sets(value):
                    yield Constraint(fields, partial)
                for part in walk(self.evaluator.resolve(value)):
                    if isinstance(part, Call):
                        yield from self.declarations.of_table(Call(UNKNOWN, ("",), (part,), part.at))

    def in_sql(self, table: str) -> Iterator[Constraint]:
        for one in self._sql_texts(table):
            if one.table == table:
                yield Constraint(frozenset(map(plain, one.columns)), one.partial)

    def _sql_texts(self, table: str) -> tuple[sql.Declared, ...]:
        """The constraints in the texts of files that mention a table and create something."""
        if table not in self._texts:
            files = {file for verb in _VERBS for file in self.program.index.files_with(table, verb, roles=_SCRIPTS)}
            found = [one for file in sorted(files) for one in self._declarations(file)]
            self._texts[table] = tuple(dict.fromkeys(found))
        return self._texts[table]

    def _declarations(self, file: SourceFile) -> tuple[sql.Declared, ...]:
        """The constraints in the texts of one file."""
        if file.path not in self._files:
            self._files[file.path] = ()
            module = self.program.module_of(file) if self._creates(file) else None
            if module is not None:
                self._files[file.path] = tuple(one for text in _texts(module.content) for one in sql.declared(text))
        return self._files[file.path]

    def _creates(self, file: SourceFile) -> bool:
        return _DEFINITION.search(self.program.sources.read(file)) is not None

    def created(self, table: str) -> bool:
        """Whether the tree has the text that creates a table."""
        pattern = re.compile(rf"\bcreate\s+(?:\w+\s+)*table\s+[^(]*\b{re.escape(table)}\b", re.IGNORECASE)
        for verb in ("CREATE", "create"):
            for file in self.program.index.files_with(table, verb, roles=_SCRIPTS):
                module = self.program.module_of(file) if self._creates(file) else None
                if module is not None and any(pattern.search(text) for text in _texts(module.content)):
                    return True
        return False


_MIGRATIONS: tuple[Role, ...] = ("migration",)
_SCRIPTS: tuple[Role, ...] = ("application", "migration")
_VERBS = ("CREATE", "create", "ALTER", "alter")
_DEFINITION = re.compile(rb"(?i)\bcreate\s+(?:\w+\s+)*table\b|\bcreate\s+unique\b|\balter\s+table\b")


def _texts(node: object) -> Iterator[str]:
    """The string constants of a module that look like SQL definitions."""
    todo = [node]
    while todo:
        found = todo.pop()
        if isinstance(found, tuple):
            todo.extend(found)
        elif isinstance(found, facts.Constant):
            if isinstance(found.value, str) and re.search(r"\b(?:create|alter)\b", found.value, re.IGNORECASE):
                yield found.value
        elif hasattr(found, "__struct_fields__"):
            todo.extend(getattr(found, name) for name in found.__struct_fields__ if name != "at")


def _same_application(migration: str, model: str) -> bool:
    """Whether a Django migration lies in the application of a model; other migrations serve the whole tree."""
    home, found, _ = migration.partition("/migrations/")
    if not model or not found:
        return True
    return model.startswith(f"{home}/")
