"""What a value reads from what the application remembers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sendonce import vocabulary as v
from sendonce.program import arguments, sql
from sendonce.program import held as h
from sendonce.program.constraints import plain
from sendonce.program.fields import Fields, text_of
from sendonce.program.newness import made_here
from sendonce.program.spots import Read, Spot, Spots, is_telling
from sendonce.program.values import (
    TRUE,
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    External,
    FunctionRef,
    Item,
    ModuleRef,
    Op,
    Param,
    Seq,
    Table,
    Text,
    Updated,
    Value,
    options,
    walk,
)

MAX_DEPTH = 8


class StoredReads:
    """Answers for values, memoised."""

    def __init__(self, spots: Spots) -> None:
        self.spots = spots
        self.evaluator = spots.evaluator
        self.packs = spots.evaluator.packs
        self.fields: Fields = spots.fields
        self.conditions = spots.reservations.conditions
        self._read_names = _last_names(self.packs.store_reads)
        self._known: dict[tuple[Value, int], tuple[Read, ...]] = {}

    def read(self, value: Value, depth: int = MAX_DEPTH) -> tuple[Read, ...]:
        """What a value reads from what is stored."""
        if depth <= 0:
            return ()
        key = (value, depth)
        if key not in self._known:
            self._known[key] = ()
            self._known[key] = tuple(self._read(value, depth))
        return self._known[key]

    def _read(self, value: Value, depth: int) -> Iterator[Read]:
        match value:
            case Call():
                yield from self._of_call(value, depth)
            case Attr():
                yield from self._of_attribute(value, depth)
            case Item(base=base, index=index):
                if isinstance(index, Const) and isinstance(index.value, str):
                    yield Read(Spot("entry", plain(index.value)), value)
                    if not isinstance(self.evaluator.resolve(base), Table):
                        yield Read(Spot("field", plain(index.value)), value)
                yield from self.read(base, depth - 1)
            case Op(op="in" | "not in", operands=(item, collection)):
                yield from self._of_membership(item, collection, value, depth)
            case Updated(base=base, value=changed):
                yield from self.read(base, depth - 1)
                if isinstance(changed, Call):
                    yield from self._of_text(changed)
            case Element() | Seq() | Op() | Text():
                for part in value.parts():
                    yield from self.read(part, depth - 1)
            case _:
                for part in options(value) if value.parts() else ():
                    yield from self.read(part, depth - 1)

    def _of_attribute(self, value: Attr, depth: int) -> Iterator[Read]:
        """A field of a row, or what a property reads."""
        resolved = self.evaluator.resolve(value)
        if isinstance(value.base, ClassRef | ModuleRef | External) or isinstance(resolved, FunctionRef):
            return
        if resolved is not value and not isinstance(resolved, Attr | Const | Param):
            yield from self.read(resolved, depth - 1)
        if made_here(self.evaluator, value.base) is not TRUE:
            for owner in self.spots.owners(value.base):
                yield Read(Spot("field", plain(value.name), owner), value)

    def _of_call(self, call: Call, depth: int) -> Iterator[Read]:
        own = [*self._of_store(call), *self._of_text(call), *self._of_file(call)]
        yield from own
        if own:
            return
        resolved = self.evaluator.resolve(call)
        if resolved is not call and resolved is not UNKNOWN:
            yield from self.read(resolved, depth - 1)
        if isinstance(call.func, Attr):
            yield from self.read(call.func.base, depth - 1)
            if call.func.name == "get" and call.args and isinstance(call.args[0], Const):
                yield Read(Spot("entry", plain(str(call.args[0].value))), call)
                row = call.func.base
                read = isinstance(row, Call) and bool(self.evaluator.lookup(self.packs.store_reads, row.func))
                if read or not (self.evaluator.shapes(call.func) or isinstance(row, Table)):
                    yield Read(Spot("field", plain(str(call.args[0].value))), call)
        if not any(True for _ in self._project(call)):
            plainly = isinstance(call.func, External) and call.func.dotted.startswith("builtins.")
            found = (read for arg in call.args for read in self.read(arg, depth - 1))
            yield from (read for read in found if plainly or read.spot.kind == "field" or _is_of_object(read))

    def _project(self, call: Call) -> Iterator[Value]:
        for option in options(self.evaluator.resolve(call.func)):
            if isinstance(option, FunctionRef | ClassRef):
                yield option

    def _of_store(self, call: Call) -> Iterator[Read]:
        """A read of a store: the key, or the rows and fields of a query."""
        reads: tuple[tuple[object, v.Store], ...] = self.evaluator.lookup(self.packs.store_reads, call.func)
        for _, entry in reads:
            if entry.kind == "keys":
                key = arguments.first_argument(self.evaluator, call, entry.key)
                if key is not None:
                    yield Read(self.spots.key(key), call)
            else:
                yield from self.of_query(call)
                return
        if not reads and isinstance(call.func, Attr) and not self.evaluator.shapes(call.func):
            yield from self._by_name(call, call.func.name)

    def _by_name(self, call: Call, name: str) -> Iterator[Read]:
        """A read of an object of which nothing is known, where its name and its arguments tell enough."""
        kinds = self._read_names.get(name, frozenset())
        if "rows" in kinds and self.spots.model_of(call) is not None:
            yield from self.of_query(call)
        elif "keys" in kinds and call.args and is_telling(call.args[0]):
            yield Read(self.spots.key(call.args[0]), call)

    def of_query(self, call: Call) -> Iterator[Read]:
        """The rows and the tested fields of a query; the attribute through which related rows are reached."""
        model = self.spots.model_of(call)
        owner = self.spots.owner_of(model)
        if model is not None:
            yield Read(Spot("row", "", owner), call)
        for test in self.conditions.tests(call):
            if test.field != "id":
                yield Read(Spot("field", test.field, owner), call)
        related = self.fields.related(call)
        if related is not None:
            for one in self.spots.owners(related.base):
                yield Read(Spot("field", plain(related.name), one), call)

    def _of_text(self, call: Call) -> Iterator[Read]:
        """A `SELECT`."""
        for arg in call.args[:1]:
            text = text_of(self.evaluator, arg)
            found = sql.read(text) if text is not None else None
            if found is not None:
                owner = self.spots.owner_of(found.table)
                yield Read(Spot("row", "", owner), call)
                for word in sorted(found.words):
                    yield Read(Spot("field", plain(word), owner), call)

    def _of_file(self, call: Call) -> Iterator[Read]:
        """Whether a file is there."""
        path = self.spots.path(call, _LOOKS, "os.path.")
        if path is not None:
            yield Read(path, call)

    def ran(self, value: Value, passed: Sequence[h.Fact]) -> Call | None:
        """The statement whose rows a value is, where a cursor ran it in a call of its own before."""
        for part in walk(value):
            if isinstance(part, Call) and isinstance(part.func, Attr) and part.func.name.startswith("fetch"):
                for fact in reversed(passed):
                    if isinstance(fact, h.Done) and _runs_on(fact.site.call, part.func.base):
                        return fact.site.call
        return None

    def _of_membership(self, item: Value, collection: Value, value: Value, depth: int) -> Iterator[Read]:
        place = self.spots.collection(collection)
        if place is not None:
            yield Read(Spot("items", place), value)
            return
        yield from self.read(collection, depth - 1)
        if not self._is_kept_by_the_run(collection):
            yield from self.read(item, depth - 1)

    def _is_kept_by_the_run(self, collection: Value) -> bool:
        """Whether a collection is one that the run fills itself: what it is asked for tells nothing of earlier runs."""
        found = options(self.evaluator.resolve(collection))
        return any(isinstance(one, Param | Updated) or self.spots.is_collection(one) for one in found)


def _is_of_object(read: Read) -> bool:
    """Whether an entry is one of a mapping that an object holds (`request.session["code"]`)."""
    return read.spot.kind == "entry" and isinstance(read.part, Item) and isinstance(read.part.base, Attr)


_LOOKS = frozenset(["exists", "is_file", "is_dir", "isfile"])


def _runs_on(call: Call, cursor: Value) -> bool:
    return isinstance(call.func, Attr) and call.func.name.startswith("execute") and call.func.base is cursor


def _last_names(table: Mapping[str, tuple[tuple[v.Pack, v.Store], ...]]) -> dict[str, frozenset[str]]:
    """The last names of reads, with the kinds of store that have them."""
    found: dict[str, set[str]] = {}
    for shape, pairs in table.items():
        found.setdefault(shape.rpartition(".")[2], set()).update(entry.kind for _, entry in pairs)
    return {name: frozenset(kinds) for name, kinds in found.items()}
