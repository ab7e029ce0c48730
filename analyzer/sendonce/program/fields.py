"""What an insert, update or query is about: its model or table and the fields that it gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sendonce import vocabulary as v
from sendonce.program import arguments, sql
from sendonce.program.collections import collection_of
from sendonce.program.constraints import plain
from sendonce.program.constructed import constructor
from sendonce.program.evaluate import Evaluator
from sendonce.program.forms import Forms
from sendonce.program.symbols import Class
from sendonce.program.values import (
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    Op,
    Seq,
    Table,
    Text,
    Updated,
    Value,
    options,
)

MAX_CHAIN = 30
"""How many chained calls of a statement or query are looked at."""

Model = Value | str
"""A class, a table object, or the name of a table."""


@dataclass(frozen=True)
class Given:
    """The fields of an insert; `whole` if it gives every column, `open` if some of its fields cannot be told."""

    fields: Mapping[str, Value]
    whole: bool = False
    open: bool = False


def text_of(evaluator: Evaluator, value: Value, depth: int = 6) -> str | None:
    """The text of a value, holes as `{}`; wrappers such as `text("…")` are seen through. None for anything else."""
    for option in options(evaluator.resolve(value)):
        match option:
            case Const(value=str() as text):
                return text
            case Text(pieces=pieces):
                return "".join(str(piece.value) if isinstance(piece, Const) else "{}" for piece in pieces)
            case Op(op="+" | "%", operands=(left, *_)) if depth:
                return text_of(evaluator, left, depth - 1)
            case Call(func=Attr(base=base, name="format" | "strip" | "bindparams" | "columns")) if depth:
                return text_of(evaluator, base, depth - 1)
            case Call(args=(first, *_)) if depth and _is_wrapper(evaluator, option):
                return text_of(evaluator, first, depth - 1)
            case _:
                pass
    return None


def _is_wrapper(evaluator: Evaluator, call: Call) -> bool:
    found: tuple[tuple[object, v.Returns], ...] = evaluator.lookup(evaluator.packs.returns, call.func)
    if any(entry.value.startswith(("argument", "text:")) for _, entry in found):
        return True
    return any(
        shape.rpartition(".")[2] in ("SQL", "text", "dedent", "cleandoc") for shape in evaluator.shapes(call.func)
    )


class Fields:
    """Answers for calls."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.forms = Forms(evaluator)

    def chain(self, value: Value) -> Iterator[Call]:
        """The calls of a chain (`a(x).b(y).c()`), outermost first."""
        todo, count = [value], 0
        while todo and count < MAX_CHAIN:
            for option in options(self.evaluator.resolve(todo.pop())):
                count += 1
                while isinstance(option, Updated):
                    option = self.evaluator.resolve(option.base)
                if isinstance(option, Attr):
                    todo.append(option.base)
                if isinstance(option, Call):
                    yield option
                    if isinstance(option.func, Attr):
                        todo.append(option.func.base)

    # ------------------------------------------------------------------ models

    def model(self, call: Call) -> Model | None:
        """The model or table that a call reads or writes."""
        if isinstance(call.func, Attr):
            rows = self.evaluator.resolve(Element(call.func.base))
            for found in self.evaluator.types(rows):
                if isinstance(found, ClassRef):
                    return found
            for found in self.evaluator.types(call.func.base):
                if isinstance(found, ClassRef) and self.is_model(found):
                    return found
        return (
            self._of_statement(call)
            or self._of_text(call)
            or self._of_manager(call)
            or collection_of(self.evaluator, call)
            or self._by_relation(call)
        )

    def is_model(self, cls: ClassRef) -> bool:
        """Whether a class of the tree is a model of some library."""
        bases = self.evaluator.hierarchy.external_bases(cls.id)
        return bool(bases) and not any(name.endswith(("QuerySet", "Manager", "Query", "Session")) for name in bases)

    def _of_statement(self, call: Call) -> Model | None:
        """`insert(Model)`, `update(Model.__table__)`, `table.insert()`, `session.query(Model)`."""
        for inner in self.chain(call):
            for value in (*inner.args[:1], *((inner.func.base,) if isinstance(inner.func, Attr) else ())):
                found = self._as_model(value)
                if found is not None:
                    return found
        return None

    def _of_manager(self, call: Call) -> ClassRef | None:
        """The model on which a manager of the tree stands (`Model.objects`)."""
        value: Value = call
        while isinstance(value, Call) and isinstance(value.func, Attr):
            value = value.func.base
        owner = value.base if isinstance(value, Attr) else None
        return owner if isinstance(owner, ClassRef) and self.is_model(owner) else None

    def _as_model(self, value: Value) -> Model | None:
        for option in options(self.evaluator.resolve(value)):
            if isinstance(option, ClassRef):
                return option if self.is_model(option) else None
            if isinstance(option, Attr) and option.name in ("__table__", "id", "c"):
                return self._as_model(option.base)
            if isinstance(option, Call) and "sqlalchemy.Table" in self.evaluator.shapes(option.func):
                return option
        return None

    def _of_text(self, call: Call) -> str | None:
        text = text_of(self.evaluator, call.args[0]) if call.args else None
        if text is None:
            return None
        insert, change = sql.inserted(text), sql.changed(text)
        if insert is not None:
            return insert.table
        return change.table if change is not None else sql.deleted(text)

    def name_of(self, model: Model | None) -> str:
        """A model's or table's name for the user."""
        if isinstance(model, ClassRef):
            return self.program.cls(model.id).name
        if isinstance(model, str):
            return model
        if isinstance(model, Call) and model.args:
            constant = self.evaluator.constant(model.args[0])
            return str(constant.value) if constant is not None else "a table"
        return "a table that could not be found"

    def id_of(self, model: Model | None) -> str:
        """A model's or table's name that no other has."""
        return model.id if isinstance(model, ClassRef) else self.name_of(model)

    # ------------------------------------------------------------------ relations

    def _by_relation(self, call: Call) -> ClassRef | None:
        """The model behind `order.deliveries`, by the name that a relation of that model declares."""
        owner = self.related(call)
        if owner is None:
            return None
        found = {cls.id for cls, _ in self._declaring(owner)}
        return ClassRef(min(found)) if len(found) == 1 else None

    def related(self, call: Call) -> Attr | None:
        """The attribute of a row through which a call reaches the rows of another model."""
        for inner in (call, *self.chain(call)):
            if isinstance(inner.func, Attr):
                base = inner.func.base
                if isinstance(base, Attr) and base.name not in ("objects", "query", "session"):
                    return base
        return None

    def _declaring(self, owner: Attr) -> Iterator[tuple[Class, str]]:
        """Models with a relation whose other side has this name, and the field that makes it."""
        for file in self.program.index.files_with(owner.name):
            module = self.program.module_of(file)
            for cls in module.classes.values() if module is not None else ():
                for field in self._backwards(cls, owner.name):
                    yield cls, field

    def _backwards(self, cls: Class, name: str) -> Iterator[str]:
        for field, bindings in cls.scope.items():
            value = self.evaluator.binding_value(cls.module, cls, bindings[-1])
            if not isinstance(value, Call):
                continue
            found: tuple[tuple[object, v.Relation], ...] = self.evaluator.lookup(self.packs.relations, value.func)
            for _, entry in found:
                back = arguments.first_argument(self.evaluator, value, entry.back)
                constant = None if back is None else self.evaluator.constant(back)
                named = entry.back_default.replace("{model}", cls.name.lower()) if back is None else ""
                if (named if constant is None else constant.value) == name:
                    yield field

    def _relation_fields(self, call: Call, model: Model | None) -> Iterator[tuple[str, Value]]:
        """The foreign key that a related manager sets by itself."""
        owner = self.related(call)
        if owner is None or not isinstance(model, ClassRef):
            return
        for cls in self.evaluator.hierarchy.mro(model.id):
            for field in self._backwards(cls, owner.name):
                yield field, owner.base

    # ------------------------------------------------------------------ fields

    def is_filled(self, entry: v.Claim, call: Call) -> bool:
        """Whether an insert of a list of rows has a row for certain: else no run need lose it."""
        lists = [name.removesuffix("/*") for name in entry.fields if name.endswith("/*")]
        values = arguments.given(self.evaluator, call, tuple(lists)) if lists else ()
        return all(map(self.has_items, values))

    def has_items(self, value: Value) -> bool:
        """Whether a list has an item for certain."""
        found = options(self.evaluator.resolve(value))
        return all(isinstance(one, Seq) and one.kind != "each" and bool(one.items) for one in found)

    def given(self, entry: v.Claim, call: Call, run: Call) -> Given:
        """The fields that an insert gives."""
        text = text_of(self.evaluator, run.args[0]) if run.args else None
        insert = sql.inserted(text) if text is not None else None
        if insert is not None:
            return self._of_insert(insert, run)
        if entry.runs:
            return self._of_values(call, run)
        if entry.fields:
            rows = list(arguments.given(self.evaluator, call, tuple(map(_row, entry.fields))))
            return self.of_row(rows[0]) if rows else Given({}, open=True)
        found, is_open = self._keywords(call, entry.besides)
        found.update(self._relation_fields(call, self.model(call)))
        return Given(found, open=is_open)

    def _of_insert(self, insert: sql.Inserted, run: Call) -> Given:
        """The columns of SQL text with the values of the parameters, as far as they can be told."""
        values = self.evaluator.resolve(run.args[1]) if len(run.args) > 1 else UNKNOWN
        items = values.items if isinstance(values, Seq) and values.kind != "each" else ()
        if insert.columns is None:
            return Given({f"#{number}": item for number, item in enumerate(items)}, whole=True)
        found: dict[str, Value] = dict.fromkeys(insert.columns, UNKNOWN)
        if len(items) == len(insert.columns):
            found.update(zip(insert.columns, items, strict=True))
        if isinstance(values, Table):
            found.update((name, value) for name, value in _entries(values) if name in found)
        return Given(found)

    def _of_values(self, call: Call, run: Call) -> Given:
        """The fields of a statement: what `values(…)` is given, or the second argument of the call that runs it."""
        found: dict[str, Value] = {}
        is_open = False
        for inner in (one for start in (call, run, *run.args[:1]) for one in self.chain(start)):
            if isinstance(inner.func, Attr) and inner.func.name in ("values", "insert"):
                keywords, more = self._keywords(inner, ())
                found.update(keywords)
                is_open |= more
                for arg in inner.args[:1]:
                    row = self.of_row(arg) if inner.names[0] == "" else Given({})
                    found.update(row.fields)
                    is_open |= row.open
        for arg, name in zip(run.args[1:2], run.names[1:2], strict=True):
            if name in ("", "params", "parameters"):
                found.update(self.of_row(arg).fields)
        return Given(found, open=is_open or not found)

    def _keywords(self, call: Call, besides: tuple[str, ...]) -> tuple[dict[str, Value], bool]:
        found: dict[str, Value] = {}
        is_open = False
        for name, value in zip(call.names, call.args, strict=True):
            if name == "**":
                handed = self.forms.handed(value)
                found.update(dict.fromkeys(sorted(handed), UNKNOWN))
                for table in () if handed else arguments.joined(self.evaluator, value):
                    if isinstance(table, Table):
                        found.update(_entries(table))
                    is_open |= not isinstance(table, Table) or any(not isinstance(key, Const) for key in table.keys)
            elif name not in ("", "*") and name not in besides:
                found[name] = value
        return found, is_open

    def of_row(self, value: Value) -> Given:
        """The fields of a row: a constructor's keywords and what was set on it, or a dict; of a list, its first row."""
        found: dict[str, Value] = {}
        for option in options(self.evaluator.resolve(value)):
            while isinstance(option, Updated):
                if not option.field.endswith("()"):
                    found.setdefault(option.field.strip("[]"), option.value)
                option = self.evaluator.resolve(option.base)
            match option:
                case Table():
                    return Given({**dict(_entries(option)), **found})
                case Seq(items=(first, *_)):
                    return self.of_row(first)
                case Call() if made := self._constructed(option):
                    keywords, is_open = self._keywords(made, ())
                    return Given({**keywords, **found}, open=is_open or "" in made.names)
                case _:
                    pass
        return Given(found, open=True)

    def made(self, value: Value) -> Call | None:
        """The constructor's call of a row that was made here, so that saving it inserts it."""
        for option in options(self.evaluator.resolve(value)):
            while isinstance(option, Updated):
                option = self.evaluator.resolve(option.base)
            made = constructor(self.evaluator, option)
            if made is not None:
                return made
        return None

    def _constructed(self, call: Call) -> Call | None:
        """The constructor's call that a call is, of one model or of several that it may be."""
        if any(isinstance(one, ClassRef) for one in options(self.evaluator.resolve(call.func))):
            return call
        return constructor(self.evaluator, call)

    def conflict_target(self, entry: v.Claim, call: Call, run: Call) -> frozenset[str]:
        """The columns of `ON CONFLICT (…)`."""
        text = text_of(self.evaluator, run.args[0]) if run.args else None
        insert = sql.inserted(text) if text is not None else None
        if insert is not None:
            return insert.target or frozenset()
        found: set[str] = set()
        for value in arguments.given(self.evaluator, call, entry.key if entry.unique == "fields" else ()):
            for option in options(self.evaluator.resolve(value)):
                for item in option.items if isinstance(option, Seq) else ():
                    name = item if isinstance(item, Attr) else self.evaluator.resolve(item)
                    if isinstance(name, Const) and isinstance(name.value, str):
                        found.add(plain(name.value))
                    elif isinstance(name, Attr):
                        found.add(plain(name.name))
        return frozenset(found)


def _row(notation: str) -> str:
    """`receiver:|*` (what the receiver was made with) is a row like `receiver`; `objs|0/*` like its list."""
    return "receiver" if notation.startswith("receiver") else notation.removesuffix("/*")


def _entries(table: Table) -> Iterator[tuple[str, Value]]:
    for key, value in zip(table.keys, table.values, strict=True):
        if isinstance(key, Const) and isinstance(key.value, str):
            yield key.value, value
        elif isinstance(key, Attr):
            yield key.name, value
