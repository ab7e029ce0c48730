"""Which fields of a model a unique constraint covers: declared in the model, in a migration or in SQL text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from sendonce import facts
from sendonce import vocabulary as v
from sendonce.program.constraints import Constraint, Declarations, plain
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.reader import Reader
from sendonce.program.scripts import Scripts
from sendonce.program.symbols import Binding, Class, Module
from sendonce.program.values import UNKNOWN, Attr, Call, ClassRef, Item, Seq, Table, Value, options, walk

MAX_DEPTH = 6
"""How many brackets of an annotation are looked into."""

Answer = Literal["yes", "partly", "no", "unknown"]


@dataclass(frozen=True)
class Cover:
    """Whether given fields cover a unique constraint, and which fields that has."""

    answer: Answer
    fields: frozenset[str] = frozenset()


class Uniques:
    """Answers for models (as values) and table names, memoised."""

    def __init__(self, evaluator: Evaluator, flows: Flows) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.flows = flows
        self.declarations = Declarations(evaluator)
        self.scripts = Scripts(self.declarations, flows)
        self._known: dict[Value | str, tuple[Constraint, ...] | None] = {}

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

    def required(self, model: Value | str | None) -> frozenset[str]:
        """The unique columns of a model that each of its rows is given when it is made: they have no default."""
        if not isinstance(model, ClassRef):
            return frozenset()
        return frozenset(
            name
            for cls in self.evaluator.hierarchy.mro(model.id)
            for name, bindings in cls.scope.items()
            for value in (*self._annotated(cls, bindings[-1]), self._bound(cls, bindings[-1]))
            if self.declarations.is_required(value)
        )

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
            found = tuple(dict.fromkeys(self.scripts.in_sql(model)))
            migrated = tuple(self.scripts.in_migrations(frozenset((model,)), ""))
            return (*found, *migrated) if self.scripts.created(model) or migrated else None
        return None

    # ------------------------------------------------------------------ classes

    def _of_class(self, id: str) -> Iterator[Constraint]:
        keys: set[str] = set()
        for cls in self.evaluator.hierarchy.mro(id):
            for name, bindings in cls.scope.items():
                for value in (*self._annotated(cls, bindings[-1]), self._bound(cls, bindings[-1])):
                    yield from self.declarations.declared(name, value, keys)
        if keys:
            yield Constraint(frozenset(map(plain, keys)))
            yield from (Constraint(frozenset(("id",))) for _ in range(len(keys) == 1))
        elif not self._keyed.isdisjoint(self.evaluator.hierarchy.external_bases(id)):
            yield Constraint(frozenset(("id",)))
        yield from self._in_options(id)
        cls = self.program.cls(id)
        yield from self._beside(cls)
        tables = self.tables_of(cls)
        for table in sorted(tables):
            yield from self.scripts.in_sql(table)
        yield from self.scripts.in_migrations(tables | {cls.name.lower()}, cls.module.path)

    def _bound(self, cls: Class, binding: Binding) -> Value:
        return self.evaluator.binding_value(cls.module, cls, binding)

    def _annotated(self, cls: Class, binding: Binding) -> Iterator[Call]:
        """The calls in an annotation: `Annotated[str, Field(unique=True)]`, `Mapped[key]` of such a type."""
        if binding.annotation is not None:
            yield from self._calls_in(Reader(self.evaluator, cls.module.body, cls).annotation(binding.annotation))

    def _calls_in(self, annotation: Value, depth: int = MAX_DEPTH) -> Iterator[Call]:
        for option in options(self.evaluator.resolve(annotation)):
            match option:
                case Call():
                    yield option
                case Item(index=inner) if depth:
                    yield from self._calls_in(inner, depth - 1)
                case Seq(items=items) if depth:
                    for item in items:
                        yield from self._calls_in(item, depth - 1)
                case _:
                    pass

    @cached_property
    def _keyed(self) -> frozenset[str]:
        """The library classes whose models have a key of their own."""
        return frozenset(self.packs.canonical(base) for entry in self._entries for base in entry.keyed)

    @cached_property
    def _entries(self) -> tuple[v.Unique, ...]:
        return tuple(entry for pack in self.packs.packs for entry in pack.unique)

    def _in_options(self, id: str) -> Iterator[Constraint]:
        """`Meta` options and `__table_args__`: field tuples under known names, calls that make constraints."""
        entries = self._of_library(id)
        names = {name for entry in entries for name in entry.meta}
        columns: dict[Value, str] = {
            value: name
            for cls in self.evaluator.hierarchy.mro(id)
            for name, bindings in cls.scope.items()
            if isinstance(value := self._bound(cls, bindings[-1]), Call)
        }
        for value, name in self._option_values(id):
            if name in names:
                yield from (Constraint(fields) for fields in self.declarations.field_sets(value))
                continue
            for part in walk(value):
                if isinstance(part, Call):
                    yield from self.declarations.of_constraint(part, columns)
                elif isinstance(part, Table):
                    for entry in entries:
                        yield from self.declarations.of_mapping(entry, part) if name in entry.mappings else ()

    def _of_library(self, id: str) -> tuple[v.Unique, ...]:
        """What the libraries of a model say of unique constraints."""
        roots = {base.partition(".")[0] for base in self.evaluator.hierarchy.external_bases(id)}
        packs = (pack for pack in self.packs.packs if not roots.isdisjoint(self.packs.roots(pack)))
        return tuple(entry for pack in packs for entry in pack.unique)

    def _option_values(self, id: str) -> Iterator[tuple[Value, str]]:
        for cls in self.evaluator.hierarchy.mro(id):
            for name, bindings in cls.scope.items():
                if name in self._options:
                    yield self._option(cls, bindings[-1].node, name), name
            for inner in self._nested(cls):
                for home in self.evaluator.hierarchy.mro(inner.id):
                    for name, bindings in home.scope.items():
                        yield self._option(home, bindings[-1].node, name), name

    def _nested(self, cls: Class) -> Iterator[Class]:
        """The classes inside a model that hold its options."""
        for name in dict.fromkeys(one for entry in self._entries for one in entry.nested):
            found = cls.module.classes.get(f"{cls.id}.{name}")
            if found is not None:
                yield found

    @cached_property
    def _options(self) -> frozenset[str]:
        """The names of class attributes in which constraints stand."""
        return frozenset(name for entry in self._entries for name in (*entry.options, *entry.mappings))

    def _option(self, cls: Class, node: object, name: str) -> Value:
        if isinstance(node, facts.Def):  # a declared_attr
            return self.flows.of(cls.methods[name]).returned if name in cls.methods else UNKNOWN
        return self.evaluator.resolve(self._bound(cls, cls.scope[name][-1]))

    def _beside(self, cls: Class) -> Iterator[Constraint]:
        """The constraints of a model that its module makes behind it: `Index("once", Sent.order_id, unique=True)`."""
        for site in self.flows.of(cls.module.body).sites:
            owners = {part.base for arg in site.call.args for part in walk(arg) if isinstance(part, Attr)}
            if ClassRef(cls.id) in owners:
                yield from self.declarations.of_constraint(site.call)

    # ------------------------------------------------------------------ tables

    def _of_table_object(self, call: Call) -> Iterator[Constraint]:
        """The constraints of a `Table(…)` or `create_table(…)` call: its columns and constraints are arguments."""
        yield from self.declarations.of_table(call)
        name = self.evaluator.constant(call.args[0]) if call.args else None
        if name is not None and isinstance(name.value, str):
            yield from self.scripts.in_sql(name.value.lower())
            yield from self.scripts.in_migrations(frozenset((name.value.lower(),)), "")

    def tables_of(self, cls: Class) -> frozenset[str]:
        """The names that a model's table may have: the declared one, else those that libraries derive."""
        names = [name for entry in self._entries for name in entry.table]
        for owner in (cls, *self._nested(cls)):
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


def _classes(module: Module | None) -> tuple[Class, ...]:
    return () if module is None else tuple(cls for cls in module.classes.values() if cls.node.bases)
