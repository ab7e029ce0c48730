"""Guards that cannot work: a mark that is never stored, a test that can never come out the other way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sendonce import facts
from sendonce.findings import Place
from sendonce.program import held as h
from sendonce.program.constraints import plain
from sendonce.program.held import Site
from sendonce.program.memory import Memory, levels
from sendonce.program.paths import Path
from sendonce.program.reads import Check
from sendonce.program.selections import Selections, words_of_declaration
from sendonce.program.spots import Read
from sendonce.program.symbols import Class, own_nodes
from sendonce.program.transactions import Transactions
from sendonce.program.values import Attr, Call, Op, Param, Updated, Value, walk
from sendonce.program.writes import STORING, Mark

_BASES = frozenset(
    ["Model", "Base", "DeclarativeBase", "DeclarativeBaseNoMeta", "SQLModel", "Document", "TimeStampedModel"]
)


@dataclass(frozen=True, eq=False)
class Dead:
    """What does not work, where, why, and (for a mark) the test that waits for it."""

    place: Place
    why: str
    test: Place | None = None


class DeadGuards:
    """Answers for paths."""

    def __init__(self, memory: Memory, selections: Selections, transactions: Transactions) -> None:
        self.memory = memory
        self.evaluator = memory.evaluator
        self.program = memory.evaluator.program
        self.selections = selections
        self.transactions = transactions

    def on(self, path: Path) -> Iterator[Dead]:
        """The guards on a path that cannot work."""
        for site in levels(path):
            checks = self.memory.before(path, site)
            for check in checks:
                yield from self._never(check)
            for mark in self.memory.around(path, site):
                if self._is_flag(mark, site):
                    yield from self._no_column(mark, checks, site)
                    yield from self._never_saved(path, mark, checks, site)

    def _is_flag(self, mark: Mark, site: Site) -> bool:
        """Whether a mark sets an attribute of a row, in the function itself."""
        written = mark.written
        own = written.spot.kind == "field" and bool(self._attribute(mark, site))
        return own and self.selections.is_mark(written.value)

    # ------------------------------------------------------------------ no column

    def _no_column(self, mark: Mark, checks: tuple[Check, ...], site: Site) -> Iterator[Dead]:
        """A mark under a name that the model does not have, beside a test of the same model."""
        owner = mark.written.spot.owner
        waiting = [check.place for check in checks for read in check.reads if owner and read.spot.owner == owner]
        if not (waiting or not mark.after) or not owner or not self._is_whole(owner):
            return
        name = self._attribute(mark, site)
        if name and not self._declares(owner, name) and self._is_only_written(name, site):
            model = owner.rpartition(".")[2]
            why = f"{model} has no column {name}: nothing is stored"
            yield Dead(mark.place, why, waiting[0] if waiting else None)

    def _attribute(self, mark: Mark, site: Site) -> str:
        """The attribute as it is written."""
        for write in self.memory.flows.of(self.program.function(site.function)).writes:
            if write.at[:2] == (mark.place.line, mark.place.column) and not write.field.startswith("["):
                return write.field
        return ""

    def _is_whole(self, owner: str) -> bool:
        """Whether all columns of a model are in the tree: its library bases have none."""
        bases = self.evaluator.hierarchy.external_bases(owner)
        return bool(bases) and all(base.rpartition(".")[2] in _BASES or "orm" in base for base in bases)

    def _declares(self, owner: str, name: str) -> bool:
        for cls in self.evaluator.hierarchy.mro(owner):
            if name in cls.methods or any(plain(one) == plain(name) for one in cls.scope):
                return True
        return any(True for _ in self.evaluator.models.reverse(owner, name))

    def _is_only_written(self, name: str, site: Site) -> bool:
        """Whether nothing else in the tree mentions an attribute."""
        mentioning = [function.id for function in self.program.mentioning(name)]
        nodes = own_nodes(self.program.function(site.function).node)
        uses = [node for node in nodes if isinstance(node, facts.Attribute) and node.attr == name]
        return mentioning == [site.function] and len(uses) == 1

    # ------------------------------------------------------------------ never saved

    def _never_saved(self, path: Path, mark: Mark, checks: tuple[Check, ...], site: Site) -> Iterator[Dead]:
        """A tested flag that is set on a loaded row which nothing stores afterwards."""
        waiting = [check.place for check in checks if self.memory.aftermath.changed(check, mark.written)]
        if not waiting or not mark.written.spot.owner or not self._is_loaded_here(mark, site):
            return
        if not any(self._stores(other, mark) for other in self._later(path, mark, site)):
            why = f"{mark.written.spot.shown} is set on the object and never saved or committed"
            yield Dead(mark.place, why, waiting[0])

    def _is_loaded_here(self, mark: Mark, site: Site) -> bool:
        """Whether the function itself read the row, from a model that saves itself or with a session of its own.

        Its own is a session that it opened, or that a dependency of the framework lends it for the run.
        """
        row = mark.written.row
        while isinstance(row, Updated):
            row = row.base
        if not isinstance(row, Call):
            return False
        if self.transactions.block_at(mark.held) is not None:
            return False
        if not self._is_unit(mark.written.spot.owner):
            return True
        entered = [fact.value for fact in h.blocks(mark.held) if isinstance(fact, h.Inside)]
        parts = walk(row)
        if any(part.base in entered for part in parts if hasattr(part, "base")):
            return True
        given = [part for part in parts if isinstance(part, Param) and part.function == site.function]
        return any(self.transactions.units.is_lent(part) for part in given)

    def _is_unit(self, owner: str) -> bool:
        """Whether rows of a model are stored by the commit of a session, not by a method of their own."""
        bases = self.evaluator.hierarchy.external_bases(owner)
        return any(base.startswith(("sqlalchemy", "sqlmodel", "flask_sqlalchemy")) for base in bases)

    def _later(self, path: Path, mark: Mark, site: Site) -> Iterator[Site]:
        """The calls behind a mark in its function, and those behind the path's calls in the functions around it."""
        flow = self.memory.flows.of(self.program.function(site.function))
        yield from (other for other in flow.sites if other.at[:2] > mark.start)
        for outer in levels(path):
            if outer is site:
                return
            outside = self.memory.flows.of(self.program.function(outer.function))
            yield from outside.sites[outer.index + 1 :]

    def _stores(self, site: Site, mark: Mark) -> bool:
        """Whether a call may store the row."""
        call = site.call
        if isinstance(call.func, Attr) and call.func.name in STORING:
            return True
        if self.transactions.effect(site) == "commits":
            return True
        return any(
            not STORING.isdisjoint(self.program.function(ref.id).words)
            for ref, *_ in self.memory.writes.linker.callables(call.func)
        )

    # ------------------------------------------------------------------ never equal

    def _never(self, check: Check) -> Iterator[Dead]:
        """A test for equality that decides against the mail only where it holds, and never does."""
        value = check.value
        if not (isinstance(value, Op) and value.op in ("==", "!=") and len(value.operands) == 2):
            return
        if check.holds is (value.op == "=="):
            return
        left, right = value.operands
        for one, other in ((left, right), (right, left)):
            kind, given = self._declared(one, check.reads), self._given(other)
            if kind and given and kind != given:
                yield Dead(check.place, f"a {_NAMES[kind]} is compared with a {_NAMES[given]}: they are never equal")
                return

    def _declared(self, value: Value, reads: tuple[Read, ...]) -> str:
        """Whether a field is declared as a date or as a time."""
        for read in reads:
            if read.part is value and read.spot.kind == "field" and read.spot.owner:
                for cls in self._classes(read.spot.owner):
                    for name, bindings in cls.scope.items():
                        if plain(name) == read.spot.name:
                            return _kind_of(set(words_of_declaration(bindings[-1].node, bindings[-1].annotation)))
        return ""

    def _classes(self, owner: str) -> tuple[Class, ...]:
        return self.evaluator.hierarchy.mro(owner) if self._is_class(owner) else ()

    def _is_class(self, owner: str) -> bool:
        module = self.program.module_named(owner.rpartition(".")[0])
        return module is not None and owner in module.classes

    def _given(self, value: Value) -> str:
        """Whether a value is a date or a time."""
        value = self.evaluator.resolve(value)
        if isinstance(value, Call):
            name = value.func.name if isinstance(value.func, Attr) else _last(self.evaluator.shapes(value.func))
            shapes = self.evaluator.shapes(value.func)
            if name in ("date", "localdate") or any(shape.endswith("date.today") for shape in shapes):
                return "date"
            if name in ("now", "utcnow", "localtime"):
                return "time"
        return ""


_NAMES = {"date": "date", "time": "date and time"}


def _kind_of(words: set[str]) -> str:
    lower = {word.lower() for word in words}
    if lower & {"datetimefield", "datetime", "timestamp", "awaredatetime", "utcdatetime"}:
        return "time"
    return "date" if lower & {"datefield", "date"} else ""


def _last(shapes: frozenset[str]) -> str:
    return min(shapes).rpartition(".")[2] if shapes else ""
