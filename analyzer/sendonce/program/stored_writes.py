"""What assignments and calls write to what the application remembers."""

from __future__ import annotations

from collections.abc import Iterator

from sendonce import vocabulary as v
from sendonce.program import arguments, sql
from sendonce.program.byname import ByName, saving
from sendonce.program.constraints import plain
from sendonce.program.fields import Fields, text_of
from sendonce.program.newness import made_here
from sendonce.program.spots import Spot, Spots, Written, is_telling
from sendonce.program.symbols import ADDS
from sendonce.program.values import (
    TRUE,
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Const,
    External,
    Seq,
    Table,
    Value,
)


class StoredWrites:
    """Answers for assignments and calls."""

    def __init__(self, spots: Spots) -> None:
        self.spots = spots
        self.evaluator = spots.evaluator
        self.packs = spots.evaluator.packs
        self.fields: Fields = spots.fields
        self.conditions = spots.reservations.conditions
        self._updates = ByName(self.evaluator, self.packs.store_updates)
        self._inserts = ByName(self.evaluator, self.packs.store_inserts)
        self._deletes = ByName(self.evaluator, self.packs.store_deletes)
        self._saves = saving(self.packs)

    def assigned(self, base: Value, field: str, value: Value) -> Iterator[Written]:
        """What an assignment to an attribute or item writes."""
        if field.startswith("["):
            place = self.spots.collection(base)
            if place is not None:
                yield Written(Spot("items", place), value)
            elif field.strip("[]") and not isinstance(self.evaluator.resolve(base), Table):
                yield Written(Spot("entry", plain(field.strip("[]"))), value, base)
            return
        if made_here(self.evaluator, base) is TRUE:
            return
        for owner in self.spots.owners(base):
            yield Written(Spot("field", plain(field), owner), value, base)

    def written(self, call: Call) -> Iterator[Written]:
        """What a call of a library writes: fields it sets, rows it makes or removes, keys, items in memory."""
        for table in (self.packs.store_updates, self.packs.store_inserts, self.packs.store_deletes):
            found: tuple[tuple[object, v.Store], ...] = self.evaluator.lookup(table, call.func)
            for _, entry in found:
                if entry.kind == "keys":
                    yield from self._key_written(call, entry, table is self.packs.store_deletes)
                elif table is self.packs.store_updates:
                    yield from self._fields_set(call, call)
                elif table is self.packs.store_inserts:
                    yield from self._inserted(call, entry)
                else:
                    yield from self._deleted(call, entry)
        for arg in call.args[:1]:
            for statement in self.fields.chain(arg) if call.names[0] == "" else ():
                yield from self._statement(statement)
        yield from self._text_written(call)
        file = self.spots.path(call, _LEAVES, "builtins.") or self.spots.path(call, _TAKES, "os.")
        if file is not None:
            gone = self.spots.path(call, _TAKES, "os.") is not None
            yield Written(file, TRUE, call, "delete" if gone else "insert")
        if isinstance(call.func, Attr):
            yield from self._method(call, call.func)
        elif call.func is External("builtins.setattr") and len(call.args) == 3:
            name = self.evaluator.constant(call.args[1])
            if name is not None:
                yield from self.assigned(call.args[0], str(name.value), call.args[2])

    def _key_written(self, call: Call, entry: v.Store, deleted: bool) -> Iterator[Written]:
        key = arguments.first_argument(self.evaluator, call, entry.key)
        if key is not None:
            rest = [arg for arg in call.args if arg is not key]
            yield Written(self.spots.key(key), rest[-1] if rest else TRUE, call, "delete" if deleted else "insert")

    def _fields_set(self, call: Call, run: Call) -> Iterator[Written]:
        owner = self.spots.owner_of(self.fields.model(call))
        for name, value in self.conditions.set_fields(call, run):
            yield Written(Spot("field", plain(name), owner), value, call)

    def _inserted(self, call: Call, entry: v.Store) -> Iterator[Written]:
        rows = list(arguments.given(self.evaluator, call, entry.object))
        for row in rows:
            made = self.fields.made(row)
            if made is not None:
                yield self._row(self.evaluator.resolve(made.func), made)
        model = self.fields.model(call)
        if not rows and model is not None:
            yield self._row(model, call)

    def _row(self, model: Value | str, made: Value) -> Written:
        return Written(Spot("row", "", self.spots.owner_of(model)), TRUE, made, "insert")

    def _deleted(self, call: Call, entry: v.Store) -> Iterator[Written]:
        for row in arguments.given(self.evaluator, call, entry.object):
            for owner in self.spots.owners(row):
                yield Written(Spot("row", "", owner), TRUE, row, "delete")
        if not entry.object:
            base = call.func.base if isinstance(call.func, Attr) else UNKNOWN
            owner = self.spots.owner_of(self.fields.model(call))
            yield Written(Spot("row", "", owner), TRUE, base, "delete")

    def _statement(self, statement: Call) -> Iterator[Written]:
        """What a statement that a session runs writes: `update(Model)…values(…)`, `insert(Model)`, `delete(Model)`."""
        names = {name for call in self.fields.chain(statement) for name in self._last_names_of(call)}
        if "insert" in names:
            model = self.fields.model(statement)
            if model is not None:
                yield self._row(model, statement)
        elif "update" in names and "values" in self._last_names_of(statement):
            yield from self._fields_set(statement, statement)
        elif "delete" in names and self.fields.model(statement) is not None:
            yield Written(Spot("row", "", self.spots.owner_of(self.fields.model(statement))), TRUE, statement, "delete")

    def _last_names_of(self, call: Call) -> frozenset[str]:
        found = {shape.rpartition(".")[2] for shape in self.evaluator.shapes(call.func)}
        return frozenset(found | ({call.func.name} if isinstance(call.func, Attr) else set()))

    def _text_written(self, call: Call) -> Iterator[Written]:
        """What SQL text writes."""
        text = text_of(self.evaluator, call.args[0]) if call.args else None
        if text is None:
            return
        insert, change, deleted = sql.inserted(text), sql.set_by(text), sql.deleted(text)
        if insert is not None:
            yield self._row(insert.table, call)
        elif change is not None:
            owner = self.spots.owner_of(change[0])
            for name, given in change[1]:
                yield Written(Spot("field", plain(name), owner), _literal(given), call)
        elif deleted is not None:
            yield Written(Spot("row", "", self.spots.owner_of(deleted)), TRUE, call, "delete")

    def _taken_away(self, call: Call, func: Attr) -> Iterator[Written]:
        """The row of a known model that an object of which nothing is known is told to delete."""
        for entry in self._deletes.of(func):
            for row in arguments.given(self.evaluator, call, entry.object):
                read = self.evaluator.resolve(row)
                asked = self.spots.model_of(read) if isinstance(read, Call) else None
                owners = self.spots.owners(row) if asked is None else (self.spots.owner_of(asked),)
                yield from (Written(Spot("row", "", owner), TRUE, row, "delete") for owner in owners if owner)

    def _method(self, call: Call, func: Attr) -> Iterator[Written]:
        """Methods of collections in memory and of objects of which nothing is known."""
        place = self.spots.collection(func.base) if func.name in ADDS or func.name in _SHRINKS else None
        if place is not None:
            yield Written(Spot("items", place), TRUE, UNKNOWN, "insert" if func.name in ADDS else "delete")
            return
        if func.name in ("add", "remove") and isinstance(func.base, Attr):
            for owner in self.spots.related(func.base):
                yield Written(Spot("field", plain(func.base.name), owner), TRUE, func.base.base)
        yield from self._taken_away(call, func)
        saved = self.fields.made(func.base) if func.name in self._saves else None
        model = self.evaluator.resolve(saved.func) if saved is not None else None
        if saved is not None and isinstance(model, ClassRef) and self.fields.is_model(model):
            yield self._row(model, saved)
        if self.evaluator.shapes(func) or not call.args:
            return
        if is_telling(call.args[0]) and any(entry.kind == "keys" for entry in self._updates.of(func)):
            rest = call.args[1:]
            yield Written(self.spots.key(call.args[0]), rest[-1] if rest else TRUE, call, "insert")
        elif self._inserts.of(func):
            rows = call.args[0].items if isinstance(call.args[0], Seq) else call.args[:1]
            for row in rows:
                made = self.fields.made(row)
                if made is not None:
                    yield self._row(self.evaluator.resolve(made.func), made)


_SHRINKS = frozenset(["discard", "remove", "pop", "clear"])
_LEAVES = frozenset(["touch", "write_text", "write_bytes", "mkdir", "open"])
_TAKES = frozenset(["unlink", "rmdir", "remove"])


def _literal(text: str) -> Value:
    """A value of SQL text: a constant, the clock, or unknown."""
    known: dict[str, Value] = {"true": TRUE, "1": TRUE, "false": Const(False), "0": Const(False), "null": Const(None)}
    if text in known:
        return known[text]
    if text.startswith("'") and text.endswith("'"):
        return Const(text[1:-1])
    if text.startswith(("now(", "current_timestamp", "datetime('now", "clock_timestamp", "localtimestamp")):
        return Call(External("datetime.datetime.now"), (), (), ("", 0, 0))
    return UNKNOWN
