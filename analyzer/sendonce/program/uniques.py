"""Which fields of a model a unique constraint covers: declared in the model, in a migration or in SQL text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sendonce import facts
from sendonce import vocabulary as v
from sendonce.discovery import Role, SourceFile
from sendonce.program import arguments, sql
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.symbols import Class, Module
from sendonce.program.values import FALSE, TRUE, UNKNOWN, Attr, Call, ClassRef, Const, Op, Seq, Value, options, walk

Answer = Literal["yes", "partly", "no", "unknown"]


@dataclass(frozen=True)
class Constraint:
    """Fields that together are unique; `partial` if for some rows only."""

    fields: frozenset[str]
    partial: bool = False


@dataclass(frozen=True)
class Cover:
    """Whether given fields cover a unique constraint, and which fields that has."""

    answer: Answer
    fields: frozenset[str] = frozenset()


def plain(field: str) -> str:
    """A field's own name: look-ups stripped, `order_id` and `order` as one, `pk` as the key."""
    name = field.lower().partition("__")[0] if not field.startswith("_") else field.lower()
    return "id" if name in ("pk", "id", "_id") else name.removesuffix("_id")


class Uniques:
    """Answers for models (as values) and table names, memoised."""

    def __init__(self, evaluator: Evaluator, flows: Flows) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.flows = flows
        self._known: dict[Value | str, tuple[Constraint, ...] | None] = {}
        self._texts: dict[str, tuple[sql.Declared, ...]] = {}
        self._files: dict[str, tuple[sql.Declared, ...]] = {}

    def cover(
        self, model: Value | str | None, given: frozenset[str] | None, worse: frozenset[str] = frozenset()
    ) -> Cover:
        """Whether the fields given (None: all of the row) cover a constraint of a model, or of a table by its name.

        Of several constraints, one without the fields in `worse` is told.
        """
        known = None if model is None else self.constraints(model)
        if known is None:
            return Cover("unknown")
        names = None if given is None else {plain(one) for one in given}
        covered = [one for one in known if one.fields and (names is None or one.fields <= names)]
        avoided = {plain(one) for one in worse}
        for one in sorted(
            covered, key=lambda c: (bool(c.fields & avoided), c.partial, len(c.fields), sorted(c.fields))
        ):
            return Cover("partly" if one.partial else "yes", one.fields)
        return Cover("unknown" if names and isinstance(model, ClassRef) and self._foreign(model, names) else "no")

    def _foreign(self, model: ClassRef, names: set[str]) -> bool:
        """Whether one of some fields is declared outside the tree, by a library's own model."""
        declared = {plain(name) for cls in self.evaluator.hierarchy.mro(model.id) for name in cls.scope}
        return not names <= declared | {"id"}

    def constraints(self, model: Value | str) -> tuple[Constraint, ...] | None:
        """The unique constraints of a model or table; None if it is not in the tree."""
        if model not in self._known:
            self._known[model] = None
            self._known[model] = self._constraints(model)
        return self._known[model]

    def _constraints(self, model: Value | str) -> tuple[Constraint, ...] | None:
        if isinstance(model, ClassRef):
            return tuple(dict.fromkeys(self._of_class(model.id)))
        if isinstance(model, Call):
            return tuple(dict.fromkeys(self._of_table_object(model)))
        if isinstance(model, str):
            cls = self.class_of_table(model)
            if cls is not None:
                return self.constraints(ClassRef(cls.id))
            found = tuple(dict.fromkeys(self._in_sql(model)))
            migrated = tuple(self._in_migrations(frozenset((model,)), ""))
            return (*found, *migrated) if self._created(model) or migrated else None
        return None

    # ------------------------------------------------------------------ classes

    def _of_class(self, id: str) -> Iterator[Constraint]:
        keys: set[str] = set()
        for cls in self.evaluator.hierarchy.mro(id):
            for name, bindings in cls.scope.items():
                value = self.evaluator.binding_value(cls.module, cls, bindings[-1])
                yield from self._declared(name, value, keys)
        if keys:
            yield Constraint(frozenset(map(plain, keys)))
            yield from (Constraint(frozenset(("id",))) for _ in range(len(keys) == 1))
        elif "django.db.models.Model" in self.evaluator.hierarchy.external_bases(id):
            yield Constraint(frozenset(("id",)))
        yield from self._in_options(id)
        cls = self.program.cls(id)
        tables = self.tables_of(cls)
        for table in sorted(tables):
            yield from self._in_sql(table)
        yield from self._in_migrations(tables | {cls.name.lower()}, cls.module.path)

    def _declared(self, name: str, value: Value, keys: set[str]) -> Iterator[Constraint]:
        """What one class attribute says: a unique column; a part of the primary key goes into `keys`."""
        for option in options(value):
            if not isinstance(option, Call):
                continue
            for entry in self._entries(option):
                if self._stands(entry.foreign, option):
                    yield Constraint(frozenset((plain(name),)))
                elif self._stands(entry.columns, option):
                    for field in self._switched_on(entry, option):
                        if field == "primary_key":
                            keys.add(name)
                        else:
                            yield Constraint(frozenset((plain(name),)))

    def _switched_on(self, entry: v.Unique, call: Call) -> Iterator[str]:
        for field, wanted in entry.fields.items():
            given = arguments.argument(self.evaluator, call, field)
            constant = None if given is None else self.evaluator.constant(given)
            if constant is not None and constant.value == wanted:
                yield field

    def _in_options(self, id: str) -> Iterator[Constraint]:
        """`Meta` options and `__table_args__`: field tuples under known names, calls that make constraints."""
        bases = self.evaluator.hierarchy.external_bases(id)
        roots = {base.partition(".")[0] for base in bases}
        packs = [pack for pack in self.packs.packs if not roots.isdisjoint(self.packs.roots(pack))]
        names = {name for pack in packs for entry in pack.unique for name in entry.meta}
        for value, name in self._option_values(id):
            if name in names:
                yield from (Constraint(fields) for fields in self._field_sets(value))
            else:
                for part in walk(value):
                    if isinstance(part, Call):
                        yield from self._of_constraint(part)

    def _option_values(self, id: str) -> Iterator[tuple[Value, str]]:
        for cls in self.evaluator.hierarchy.mro(id):
            inner = [one for one in (f"{cls.id}.Meta",) if one in cls.module.classes]
            for owner in [cls, *(cls.module.classes[one] for one in inner)]:
                homes = self.evaluator.hierarchy.mro(owner.id) if owner is not cls else (owner,)
                for home in homes:
                    for name, bindings in home.scope.items():
                        if owner is not cls or name in _TABLE_OPTIONS:
                            yield self._option(home, bindings[-1].node, name), name

    def _option(self, cls: Class, node: object, name: str) -> Value:
        if isinstance(node, facts.Def):  # a declared_attr
            return self.flows.of(cls.methods[name]).returned if name in cls.methods else UNKNOWN
        return self.evaluator.resolve(self.evaluator.binding_value(cls.module, cls, cls.scope[name][-1]))

    # ------------------------------------------------------------------ constraints

    def _entries(self, call: Call) -> tuple[v.Unique, ...]:
        found: tuple[tuple[object, v.Unique], ...] = self.evaluator.lookup(self.packs.uniques, call.func)
        return tuple(entry for _, entry in found)

    def _stands(self, shapes: tuple[str, ...], call: Call) -> bool:
        own = self.evaluator.shapes(call.func)
        return any(self.packs.canonical(shape) in own for shape in shapes)

    def _of_constraint(self, call: Call) -> Iterator[Constraint]:
        """The constraint that a call makes where it stands in its model or table."""
        for entry in self._entries(call):
            if entry.model or not self._stands(entry.constraints, call) or not self._meets(entry, call):
                continue
            partial = any(arguments.argument(self.evaluator, call, one) is not None for one in entry.partial)
            given = _listed(self.evaluator, call, entry.names)
            fields = frozenset(name for value in given for name in self._names(value))
            if fields:
                yield Constraint(fields, partial)

    def _meets(self, entry: v.Unique, call: Call) -> bool:
        for name, wanted in entry.when.items():
            given = arguments.argument(self.evaluator, call, name)
            constant = None if given is None else self.evaluator.constant(given)
            if constant is None or constant.value != wanted:
                return False
        return True

    def _names(self, value: Value) -> Iterator[str]:
        """The field names in a value: texts, attributes of the model, names inside expressions."""
        for option in options(self.evaluator.resolve(value)):
            match option:
                case Const(value=str() as name):
                    yield plain(name)
                case Attr(name=name):
                    yield plain(name)
                case Seq(items=items):
                    for item in items:
                        yield from self._names(item)
                case Call(args=args):
                    for arg in args:
                        yield from self._names(arg)
                case Op(op="+", operands=operands):
                    for operand in operands:
                        yield from self._names(operand)
                case _:
                    pass

    def _field_sets(self, value: Value) -> Iterator[frozenset[str]]:
        """`("a", "b")`, `[("a", "b"), …]`, a constraint: the sets of fields that are unique together."""
        for option in options(self.evaluator.resolve(value)):
            if isinstance(option, Call):
                yield from (one.fields for one in self._of_constraint(option))
            elif isinstance(option, Seq) and len(option.items) == 2 and option.items[1] in (TRUE, FALSE):
                # peewee's pairs of names and whether they are unique
                yield from self._field_sets(option.items[0]) if option.items[1] is TRUE else ()
            elif isinstance(option, Seq):
                nested = [item for item in option.items if isinstance(self.evaluator.resolve(item), Seq | Call)]
                if nested:
                    for item in nested:
                        yield from self._field_sets(item)
                else:
                    yield frozenset(self._names(option))
            elif isinstance(option, Const) and isinstance(option.value, str):
                yield frozenset((plain(option.value),))

    # ------------------------------------------------------------------ tables

    def _of_table_object(self, call: Call) -> Iterator[Constraint]:
        """The constraints of a `Table(…)` or `create_table(…)` call: its columns and constraints are arguments."""
        keys: set[str] = set()
        for arg in call.args:
            for part in walk(self.evaluator.resolve(arg)):
                if isinstance(part, Call):
                    first = part.args[0] if part.args else UNKNOWN
                    constant = self.evaluator.constant(first)
                    if constant is not None and isinstance(constant.value, str):
                        yield from self._declared(constant.value, part, keys)
                    yield from self._of_constraint(part)
        if keys:
            yield Constraint(frozenset(map(plain, keys)))
        name = self.evaluator.constant(call.args[0]) if call.args else None
        if name is not None and isinstance(name.value, str):
            yield from self._in_sql(name.value.lower())
            yield from self._in_migrations(frozenset((name.value.lower(),)), "")

    def tables_of(self, cls: Class) -> frozenset[str]:
        """The names that a model's table may have: the declared one, else those that libraries derive."""
        names = [name for pack in self.packs.packs for entry in pack.unique for name in entry.table]
        meta = cls.module.classes.get(f"{cls.id}.Meta")
        for owner in (cls, *((meta,) if meta is not None else ())):
            for name in names:
                if name in owner.scope:
                    value = self.evaluator.binding_value(owner.module, owner, owner.scope[name][-1])
                    constant = self.evaluator.constant(value)
                    if constant is not None and isinstance(constant.value, str):
                        return frozenset((constant.value.rpartition(".")[2].lower(),))
        snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.name).lower()
        labels = cls.module.path.split("/")[:-1]
        return frozenset((snake, cls.name.lower(), *(f"{label}_{cls.name.lower()}".lower() for label in labels)))

    def class_of_table(self, table: str) -> Class | None:
        """The model whose table has this name."""
        for file in self.program.index.files_with(table):
            module = self.program.module_of(file)
            for cls in _classes(module):
                names = self.tables_of(cls)
                if table in names and len(names) == 1:
                    return cls
        name = table.partition("_")[2]
        for word in {name, name.title(), "".join(part.title() for part in table.split("_"))} - {""}:
            for file in self.program.index.files_with(word):
                for cls in _classes(self.program.module_of(file)):
                    same = cls.name.lower() in (name, table.replace("_", ""))
                    if same and self._is_model(cls) and table in self.tables_of(cls):
                        return cls
        return None

    def _is_model(self, cls: Class) -> bool:
        return bool(self.evaluator.hierarchy.external_bases(cls.id))

    # ------------------------------------------------------------------ migrations and SQL

    def _in_migrations(self, names: frozenset[str], path: str) -> Iterator[Constraint]:
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
        for entry in self._entries(call):
            if not entry.model or not self._meets(entry, call):
                continue
            model = arguments.first_argument(self.evaluator, call, entry.model)
            constant = None if model is None else self.evaluator.constant(model)
            if constant is None or str(constant.value).lower() not in names:
                continue
            partial = any(arguments.argument(self.evaluator, call, one) is not None for one in entry.partial)
            for value in _listed(self.evaluator, call, entry.names):
                for fields in self._field_sets(value):
                    yield Constraint(fields, partial)
                for part in walk(self.evaluator.resolve(value)):
                    if isinstance(part, Call):
                        yield from self._of_table_object(Call(UNKNOWN, ("",), (part,), part.at))

    def _in_sql(self, table: str) -> Iterator[Constraint]:
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

    def _created(self, table: str) -> bool:
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
_TABLE_OPTIONS = ("__table_args__", "__table__", "__mapper_args__")


def _classes(module: Module | None) -> tuple[Class, ...]:
    return () if module is None else tuple(cls for cls in module.classes.values() if cls.node.bases)


def _listed(evaluator: Evaluator, call: Call, names: tuple[str, ...]) -> list[Value]:
    """The arguments in which field names stand; `"|1*"` is every positional one from 1 on."""
    found: list[Value] = []
    for name in names:
        if name.startswith("|") and name.endswith("*"):
            first = int(name[1:-1] or 0)
            positional = [value for key, value in zip(call.names, call.args, strict=True) if key == ""]
            found.extend(positional[first:])
        else:
            given = arguments.argument(evaluator, call, name)
            if given is not None:
                found.append(given)
    return found


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
