"""What a check reads and a mark writes, as names that can be compared: fields, models, keys of a store."""

from __future__ import annotations

from collections.abc import Iterator

from sendonce import vocabulary as v
from sendonce.program import arguments, sql
from sendonce.program import held as h
from sendonce.program.constraints import plain
from sendonce.program.evaluate import Evaluator
from sendonce.program.fields import text_of
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.link import Linker
from sendonce.program.reservations import Reservations
from sendonce.program.scene import Scene
from sendonce.program.values import Attr, Call, Const, Item, Text, Updated, Value, options, substitute, walk

MAX_DEPTH = 3


class Marks:
    """Answers for tests, calls and writes."""

    def __init__(self, evaluator: Evaluator, flows: Flows, linker: Linker, reservations: Reservations) -> None:
        self.evaluator = evaluator
        self.packs = evaluator.packs
        self.program = evaluator.program
        self.flows = flows
        self.linker = linker
        self.reservations = reservations
        self._read: dict[Value, frozenset[str]] = {}
        self._read_by_call: dict[Call, frozenset[str]] = {}

    # ------------------------------------------------------------------ checks

    def read(self, value: Value) -> frozenset[str]:
        """What a tested value reads from what is stored: its fields, models and keys."""
        if value not in self._read:
            self._read[value] = frozenset(self._all_read(value)) - {"id"}
        return self._read[value]

    def _all_read(self, value: Value) -> Iterator[str]:
        seen: set[Value] = set()
        for one in self._expanded(value):
            for part in walk(one):
                if part in seen:
                    continue
                seen.add(part)
                if isinstance(part, Attr):
                    yield plain(part.name)
                elif isinstance(part, Item) and isinstance(part.index, Const):
                    yield plain(str(part.index.value))
                    yield from self._column(part.base, part.index.value)
                elif isinstance(part, Call):
                    yield from self._read_by(part)

    def _expanded(self, value: Value) -> Iterator[Value]:
        """The value, and what project functions and properties inside return, and those inside of that."""
        known, level = {value}, [value]
        yield value
        for _ in range(MAX_DEPTH + 1):
            resolved = [(part, self.evaluator.resolve(part)) for one in level for part in walk(one)]
            found = [after for part, after in resolved if after is not part and isinstance(part, Call | Attr)]
            found = [one for one in dict.fromkeys(found) if one not in known]
            known.update(found)
            yield from found
            level = [one for one in found if any(isinstance(part, Call | Attr) for part in one.parts())]

    def _read_by(self, call: Call) -> frozenset[str]:
        if call not in self._read_by_call:
            self._read_by_call[call] = frozenset(self._reads_of(call))
        return self._read_by_call[call]

    def _reads_of(self, call: Call) -> Iterator[str]:
        reads: tuple[tuple[object, v.Store], ...] = self.evaluator.lookup(self.packs.store_reads, call.func)
        for _, entry in reads:
            if entry.kind == "keys":
                key = arguments.first_argument(self.evaluator, call, entry.key)
                yield from (f"key {_text(key)}",) if key is not None else ()
            else:
                yield from self._of_query(call)
        text = text_of(self.evaluator, call.args[0]) if call.args else None
        select = sql.selected(text) if text is not None else None
        if select is not None:
            yield f"row of {select[0]}"
            yield from map(plain, select[1])

    def _column(self, rows: Value, index: object) -> frozenset[str]:
        """The column that stands at a place of the rows of SQL text."""
        for call in walk(rows) if isinstance(index, int) else ():
            text = text_of(self.evaluator, call.args[0]) if isinstance(call, Call) and call.args else None
            taken = sql.columns(text) if text is not None else ()
            if isinstance(index, int) and index < len(taken):
                return frozenset((plain(taken[index]),)) - {""}
        return frozenset()

    def _of_query(self, call: Call) -> frozenset[str]:
        model = self.reservations.fields.model(call)
        fields = {test.field for test in self.reservations.conditions.tests(call)}
        if model is None:
            return frozenset(fields)
        return frozenset(fields | {f"row of {self.reservations.fields.name_of(model)}"})

    def read_by_query(self, lock: Call, uses: Iterator[Value]) -> frozenset[str]:
        """The fields that a locked query tests, before or after the call that locks it."""
        found = {test.field for test in self.reservations.conditions.tests(lock)}
        text = text_of(self.evaluator, lock.args[0]) if lock.args else None
        select = sql.selected(text) if text is not None else None
        found |= set(map(plain, select[1])) if select is not None else set()
        for value in uses:
            for part in (*walk(value), *walk(self.evaluator.resolve(value))):
                if isinstance(part, Call):
                    found |= {test.field for test in self.reservations.conditions.tests(part)}
        return frozenset(found - {"id"})

    # ------------------------------------------------------------------ marks

    def written(self, facts: tuple[h.Fact, ...], scene: Scene) -> frozenset[str]:
        """What the facts of a stretch have written for certain."""
        found: set[str] = set()
        for fact in facts:
            match fact:
                case h.Wrote(base=base, field=field):
                    found |= self.of_write(base, field)
                case h.Done(site=site):
                    found |= self.written_by(site, scene)
                case h.Loop() | h.Test():
                    pass
                case h.Either(branches=branches):
                    found |= frozenset.intersection(*(self.written(branch, scene) for branch in branches))
                case _:
                    pass
        return frozenset(found)

    def of_write(self, base: Value, field: str) -> frozenset[str]:
        """What an assignment writes."""
        return frozenset((plain(field.strip("[]")),)) - {""}

    def written_by(self, site: Site, scene: Scene) -> frozenset[str]:
        """What a call writes, itself or in the functions of the tree that it runs."""
        call = scene.put(site.call)
        return self._written_by(call, 0) if isinstance(call, Call) else frozenset()

    def _written_by(self, call: Call, depth: int) -> frozenset[str]:
        found = set(self._own_writes(call))
        if found or depth >= MAX_DEPTH:
            return frozenset(found)
        for ref, names, args, *_ in self.linker.callables(call.func):
            binding = arguments.bind(self.evaluator, ref, (*names, *call.names), (*args, *call.args))
            flow = self.flows.of(self.program.function(ref.id))
            for write in flow.writes:
                found |= self.of_write(write.base, write.field)
            for site in flow.sites:
                inner = substitute(site.call, binding)
                if isinstance(inner, Call):
                    found |= self._written_by(inner, depth + 1)
        return frozenset(found)

    def _own_writes(self, call: Call) -> Iterator[str]:
        """What a library call writes: fields it sets, rows it makes or removes, keys."""
        fields = self.reservations.fields
        for table in (self.packs.store_updates, self.packs.store_inserts, self.packs.store_deletes):
            found: tuple[tuple[object, v.Store], ...] = self.evaluator.lookup(table, call.func)
            for _, entry in found:
                if entry.kind == "keys":
                    key = arguments.first_argument(self.evaluator, call, entry.key)
                    yield f"key {_text(key)}"
                    continue
                if table is self.packs.store_updates:
                    yield from (plain(name) for name, _ in self.reservations.conditions.set_fields(call, call))
                    continue
                for row in arguments.given(self.evaluator, call, entry.object):
                    made = fields.made(row)
                    if made is not None:
                        yield f"row of {fields.name_of(self.evaluator.resolve(made.func))}"
                name = fields.name_of(fields.model(call))
                yield f"row of {name}"
                if table is self.packs.store_deletes:
                    yield f"deletion of {name}"
        for name, value in zip(call.names[:1], call.args[:1], strict=True):
            for statement in fields.chain(value) if name == "" else ():
                yield from (plain(one) for one, _ in self.reservations.conditions.set_fields(statement, statement))
        yield from self._of_text(call)

    def _of_text(self, call: Call) -> Iterator[str]:
        text = text_of(self.evaluator, call.args[0]) if call.args else None
        if text is None:
            return
        insert, change = sql.inserted(text), sql.changed(text)
        if insert is not None:
            yield f"row of {insert.table}"
        elif change is not None:
            yield from (plain(name) for name, _ in change.values)
        elif sql.deleted(text) is not None:
            yield f"row of {sql.deleted(text)}"
            yield f"deletion of {sql.deleted(text)}"


def _text(value: Value | None) -> str:
    """A key as text, holes as `{}`."""
    for option in options(value) if value is not None else ():
        while isinstance(option, Updated):
            option = option.base
        if isinstance(option, Const):
            return str(option.value)
        if isinstance(option, Text):
            return "".join(str(piece.value) if isinstance(piece, Const) else "{}" for piece in option.pieces)
    return "{}"
