"""Selections: the query whose rows a run mails one by one, and whether the run takes them out of it again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sendonce import facts
from sendonce.findings import Place
from sendonce.program import held as h
from sendonce.program import sql
from sendonce.program.conditions import Tested
from sendonce.program.constraints import plain
from sendonce.program.fields import text_of
from sendonce.program.held import Site
from sendonce.program.memory import Memory, levels
from sendonce.program.paths import Path
from sendonce.program.spots import Spots
from sendonce.program.stability import Stability
from sendonce.program.values import (
    FALSE,
    NONE,
    TRUE,
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    External,
    Item,
    Param,
    Seq,
    Updated,
    Value,
    options,
    substitute,
    walk,
)
from sendonce.program.writes import Mark

MAX_DEPTH = 10


@dataclass(frozen=True, eq=False)
class Selection:
    """A query in the order of a path: where the run asks for it, what it tests, and the call inside its loop."""

    query: Call
    place: Place
    site: Site
    tests: tuple[Tested, ...]
    owner: str
    inner: tuple[Place, ...] = ()


@dataclass(frozen=True, eq=False)
class Consumed:
    """What a run does to a selection: marks that take a row out of it, and whether every way to the mail has one.

    `others` are marks that it sets on the rows without taking them out.
    """

    marks: tuple[Mark, ...]
    always: bool
    others: tuple[Mark, ...]


class Selections:
    """Answers for paths."""

    def __init__(self, memory: Memory, stability: Stability) -> None:
        self.memory = memory
        self.evaluator = memory.evaluator
        self.spots: Spots = memory.spots
        self.reads = memory.reads
        self.conditions = memory.reads.conditions
        self.stability = stability

    def on(self, path: Path) -> Selection | None:
        """The outermost selection whose rows a path mails."""
        return next(self.nested(path), None)

    def taken(self, path: Path) -> tuple[Selection, Consumed] | None:
        """The outermost selection that a run takes rows out of, else the outermost; with what it does to the rows."""
        found = [(selection, self.consumed(path, selection)) for selection in self.nested(path)]
        return next((one for one in found if one[1].marks), found[0] if found else None)

    def nested(self, path: Path) -> Iterator[Selection]:
        """The selections whose rows a path mails, outermost first: a loop over rows may stand in another one."""
        env: dict[Param, Value] = {}
        for site in levels(path):
            passed = h.oldest_first(site.held)
            for index, fact in enumerate(passed):
                if isinstance(fact, h.Loop) and isinstance(fact.over, Value):
                    over = self.reads.ran(fact.over, passed[:index]) or fact.over
                    found = self._selected(over, fact, site, env)
                    if found is not None:
                        yield found
            found = self._handed(path, site, env)
            if found is not None:
                yield found

    def _handed(self, path: Path, site: Site, env: dict[Param, Value]) -> Selection | None:
        """The selection whose rows, one by one, are arguments of a call or job on a path; notes what it is given."""
        found: Selection | None = None
        for crossing in path.crossings():
            if crossing.site is not site:
                continue
            for param, value in crossing.binding.items():
                env[param] = substitute(value, env)
                for part in walk(value):
                    if found is None and isinstance(part, Element):
                        found = self._selected(part.base, None, site, env)
        return found

    def _selected(self, over: Value, loop: h.Loop | None, site: Site, env: dict[Param, Value]) -> Selection | None:
        put = substitute(over, env)
        whole = over if put is UNKNOWN else put
        if any(isinstance(one, Call) and self._groups(one) for one in options(self.evaluator.resolve(whole))):
            return None
        for query in self._queries(whole, MAX_DEPTH):
            tests = tuple(self._tests(query))
            if tests:
                made = self._made(query)
                query = made if isinstance(made, Call) else query
                asked = _asked(self._made(over if not isinstance(over, Param) else put), site, loop)
                inner = (Place(*query.at),)
                return Selection(query, asked, site, tests, self._owner(query), inner)
        return None

    def _made(self, value: Value) -> Value:
        """A query where it was made: `rows` of `rows.iterator()`, which asks for nothing more."""
        while isinstance(value, Call) and isinstance(value.func, Attr) and isinstance(value.func.base, Call):
            base = value.func.base
            if base.at[:2] == value.at[:2] or not base.at[0] or not self._is_query(base):
                break
            if len(list(self._tests(base))) != len(list(self._tests(value))):
                break
            value = base
        return value

    def _groups(self, query: Call) -> bool:
        """Whether a query gives the values that its rows have, each once: rows are then what a mail tells of."""
        for call in self.spots.fields.chain(query):
            columns = call.func.base if isinstance(call.func, Attr) else None
            if isinstance(columns, Call) and self.evaluator.lookup(self.evaluator.packs.store_groups, call.func):
                names = [self.evaluator.constant(arg) for arg in columns.args]
                return not any(one is not None and plain(str(one.value)) == "id" for one in names)
        return False

    def _owner(self, query: Call) -> str:
        text = self._text(query)
        found = sql.read(text) if text is not None else None
        return self.spots.owner_of(found.table if found is not None else self.spots.model_of(query))

    def _text(self, call: Call) -> str | None:
        return text_of(self.evaluator, call.args[0]) if call.args else None

    # ------------------------------------------------------------------ the query

    def _queries(self, value: Value, depth: int) -> Iterator[Call]:
        """The queries whose rows a value holds."""
        if depth <= 0:
            return
        for option in options(value):
            match option:
                case Call():
                    yield from self._of_call(option, depth)
                case Updated(base=base, value=changed):
                    if isinstance(changed, Call) and self._text(changed) is not None:
                        yield changed
                    yield from self._queries(base, depth - 1)
                case Seq(items=items):
                    for item in items:
                        yield from self._queries(item, depth - 1)
                case Element(base=base) | Item(base=base):
                    yield from self._queries(base, depth - 1)
                case Attr(base=base):
                    resolved = self.evaluator.resolve(option)
                    if resolved is not option:
                        yield from self._queries(resolved, depth - 1)
                    elif isinstance(base, Call | Element | Item):
                        yield from self._queries(base, depth - 1)
                case _:
                    pass

    def _of_call(self, call: Call, depth: int) -> Iterator[Call]:
        if self._is_query(call):
            yield call
            return
        resolved = self.evaluator.resolve(call)
        if resolved is not call:
            yield from self._queries(resolved, depth - 1)
        if isinstance(call.func, Attr):
            yield from self._queries(call.func.base, depth - 1)
        if isinstance(call.func, External) or not self.evaluator.shapes(call.func):
            for arg in call.args:
                yield from self._queries(arg, depth - 1)

    def _is_query(self, call: Call) -> bool:
        text = self._text(call)
        if text is not None and sql.read(text) is not None:
            return True
        known = self.spots.model_of(call) is not None or bool(
            self.evaluator.lookup(self.evaluator.packs.stores, call.func)
        )
        return known and any(True for _ in self.conditions.tests(call))

    def _tests(self, query: Call) -> Iterator[Tested]:
        text = self._text(query)
        if text is not None:
            yield from map(_of_sql, sql.conditions(text))
        inner = [one for call in self.spots.fields.chain(query) for one in call.args[:1]]
        for start in (query, *inner):
            resolved = self.evaluator.resolve(start)
            if isinstance(resolved, Call):
                yield from (test for test in self.conditions.tests(resolved) if test.field != "id")

    # ------------------------------------------------------------------ what becomes of its rows

    def consumed(self, path: Path, selection: Selection) -> Consumed:
        """What the run of a path does to the rows of its selection."""
        sites = levels(path)
        first = sites.index(selection.site)
        marks: list[tuple[Mark, Site]] = []
        others: list[Mark] = []
        for site in sites[first:]:
            for mark in self.memory.around(path, site):
                if self._takes_out(mark, selection):
                    marks.append((mark, site))
                elif self._is_other(mark, selection):
                    others.append(mark)
        always = any(not _conditions(mark, site) for mark, site in marks) or _both_ways(marks)
        return Consumed(tuple(mark for mark, _ in marks), always, tuple(others))

    def _takes_out(self, mark: Mark, selection: Selection) -> bool:
        written = mark.written
        if written.spot.kind == "field":
            if written.spot.owner and selection.owner and written.spot.owner != selection.owner:
                return False
            tests = [test for test in selection.tests if test.field == written.spot.name]
            return any(self.conditions.ends(test, written.value) for test in tests)
        if written.spot.kind == "row":
            if written.how == "delete":
                return written.spot.owner == selection.owner
            return self._excludes(written.spot.owner, selection)
        return False

    def _excludes(self, inserted: str, selection: Selection) -> bool:
        """Whether the selection asks for rows of the model that is inserted, over a relation or in a sub-query."""
        name = inserted.rpartition(".")[2].lower()
        for test in selection.tests:
            if test.field.replace("_", "") in (name, f"{name}set", f"{name}s"):
                return True
            if selection.owner and any(
                isinstance(part, ClassRef) and part.id == inserted
                for value in self.evaluator.models.reverse(selection.owner, test.field)
                for part in walk(value)
            ):
                return True
        return any(
            read.spot.kind == "row" and read.spot.owner == inserted
            for part in walk(selection.query)
            if isinstance(part, Call) and part is not selection.query
            for read in self.reads.of_query(part)
            if inserted != selection.owner
        )

    def _is_other(self, mark: Mark, selection: Selection) -> bool:
        """Whether a write marks the row: a constant or the clock in a field that the selection does not test."""
        spot = mark.written.spot
        return spot.kind == "field" and spot.owner == selection.owner and self.is_mark(mark.written.value)

    def is_mark(self, value: Value) -> bool:
        """Whether a value is what marks are set to: true, a state, the clock."""
        resolved = self.evaluator.resolve(value)
        if isinstance(resolved, Const):
            return resolved.value not in (None, "")
        if isinstance(resolved, Attr):
            return isinstance(resolved.base, ClassRef)
        return self._is_clock(resolved)

    def _is_clock(self, value: Value) -> bool:
        return any(
            (found := self.stability.unstable(part)) is not None and found.why == "time"
            for part in walk(value)
            if isinstance(part, Call)
        ) or bool(_SHAPES & {name for part in walk(value) for name in self.evaluator.shapes(part)})

    # ------------------------------------------------------------------ what should be used up

    def spent(self, selection: Selection, found: Consumed) -> Tested | None:
        """The test of a selection that the mail should use up: a mark, a state, a date that has come."""
        for test in selection.tests:
            if self._is_spent(test, selection, found):
                return test
        return None

    def _is_spent(self, test: Tested, selection: Selection, found: Consumed) -> bool:
        if any(mark.written.spot.name == test.field for mark in found.marks):
            return True
        if test.how == "isnull" and not test.negated and test.value is TRUE:
            return self._is_date(test.field, selection.owner) or bool(found.others)
        if test.how == "exact" and (test.value is FALSE) is not test.negated and test.value in (TRUE, FALSE):
            return bool(found.others)
        if test.op in ("lt", "lte", "<", "<=") and not test.negated and self._is_clock(test.value):
            return not self._has_window(selection)
        return False

    def _has_window(self, selection: Selection) -> bool:
        """Whether a date keeps the rows to a period, which passes by itself."""
        return any(
            test.op in ("gt", "gte", ">", ">=", "range", "date", "day", "month", "year", "time")
            or (test.how == "exact" and self._is_clock(test.value))
            for test in selection.tests
        )

    def _is_date(self, field: str, owner: str) -> bool:
        """Whether a column holds a date: it is declared so."""
        if not owner or owner not in self._classes(owner):
            return False
        for cls in self.evaluator.hierarchy.mro(owner):
            for name, bindings in cls.scope.items():
                if plain(name) == field:
                    node = bindings[-1]
                    return any("date" in word.lower() for word in words_of_declaration(node.node, node.annotation))
        return False

    def _classes(self, owner: str) -> frozenset[str]:
        home = owner.rpartition(".")[0]
        module = self.evaluator.program.module_named(home)
        return frozenset(module.classes) if module is not None else frozenset()


_SHAPES = frozenset(["datetime.date.today", "django.utils.timezone.localdate", "datetime.datetime.today"])


def words_of_declaration(*nodes: object) -> Iterator[str]:
    """The names in a declaration."""
    todo = [node for node in nodes if node is not None]
    while todo:
        node = todo.pop()
        if isinstance(node, facts.Name):
            yield node.id
        elif isinstance(node, facts.Attribute):
            yield node.attr
            todo.append(node.value)
        elif isinstance(node, facts.Call):
            todo.extend((node.func, *(arg.value for arg in node.args)))
        elif isinstance(node, facts.Subscript):
            todo.extend((node.value, node.index))
        elif isinstance(node, facts.BinOp):
            todo.extend((node.left, node.right))
        elif isinstance(node, facts.Sequence):
            todo.extend(node.items)


def _asked(over: Value, site: Site, loop: h.Loop | None) -> Place:
    """Where the run asks for a query: the call that gives it, else the loop."""
    for part in walk(over):
        if isinstance(part, Call) and part.at[0]:
            return Place(*part.at)
    return Place(site.path, *(loop.at if loop is not None else site.at))


def _of_sql(found: tuple[str, str, str]) -> Tested:
    """A comparison of SQL text as a test."""
    column, operator, text = found
    value: Value = UNKNOWN
    known: dict[str, Value] = {"true": TRUE, "false": FALSE, "null": NONE, "0": FALSE, "1": TRUE}
    if text in known:
        value = known[text]
    elif text.startswith("'"):
        value = Const(text.strip("'"))
    elif text.startswith(("now", "current_", "clock_")):
        value = Call(External("datetime.datetime.now"), (), (), ("", 0, 0))
    negated = operator in ("!=", "<>", "is not")
    if value is NONE:
        return Tested(plain(column), "isnull", TRUE, negated)
    if operator in ("=", "is", "!=", "<>", "is not"):
        return Tested(plain(column), "exact", value, negated)
    return Tested(plain(column), "any", value, False, operator)


def _conditions(mark: Mark, site: Site) -> list[h.Test]:
    """The tests under which a mark is made, beyond those of the mail; what the send itself answers is none."""
    own = {(fact.at, fact.holds) for fact in h.newest_first(site.held) if isinstance(fact, h.Test)}
    return [
        fact
        for fact in h.newest_first(mark.held)
        if isinstance(fact, h.Test)
        and (fact.at, fact.holds) not in own
        and any(isinstance(part, Attr | Item) for part in walk(fact.value))
        and all(part is not site.call for part in walk(fact.value))
    ]


def _both_ways(marks: list[tuple[Mark, Site]]) -> bool:
    """Whether two marks stand on the two ways of one test."""
    seen = {(test.at, test.holds) for mark, site in marks for test in _conditions(mark, site)[:1]}
    return any((at, not holds) in seen for at, holds in seen)
