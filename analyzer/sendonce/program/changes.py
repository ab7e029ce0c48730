"""Whether a save callback's tests tell that the row is new or that a field changed, or only what state it is in."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from sendonce import vocabulary as v
from sendonce.program import held as h
from sendonce.program.connections import Connections
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Held
from sendonce.program.link import Linker
from sendonce.program.paths import Path
from sendonce.program.values import (
    NONE,
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    External,
    Item,
    Op,
    Param,
    Union,
    Updated,
    Value,
    options,
    substitute,
    walk,
)

MAX_DEPTH = 3
_COMPARES = frozenset(["==", "!=", "is", "is not", "in", "not in", "<", "<=", ">", ">="])
_EQUAL = frozenset(["==", "is", "in"])
_UNEQUAL = frozenset(["!=", "is not", "not in"])


class Changes:
    """Answers for tests: `tells` for one that turned out true or false, `tell` for all that dominate a point."""

    def __init__(
        self, evaluator: Evaluator, flows: Flows, linker: Linker, connections: Connections, only_new: bool = False
    ) -> None:
        self.only_new = only_new
        """Whether a changed field does not count."""
        self.evaluator = evaluator
        self.packs = evaluator.packs
        self.flows = flows
        self.linker = linker
        self.connections = connections
        self._parameters = {
            name: entry for pack in self.packs.packs for entry in pack.change for name in entry.parameters
        }

    @cached_property
    def with_changed(self) -> Changes:
        """The same questions, a changed field counted."""
        return Changes(self.evaluator, self.flows, self.linker, self.connections)

    # ------------------------------------------------------------------ facts

    def tell(self, facts: Iterator[h.Fact], depth: int = 0) -> bool:
        """Whether one of the facts that hold at a point tells that the row is new or changed."""
        return any(self._tells(fact, depth) for fact in facts)

    def _tells(self, fact: h.Fact, depth: int) -> bool:
        match fact:
            case h.Test(value=value, holds=holds):
                return self.tells(value, holds, depth)
            case h.Either(branches=branches):
                return bool(branches) and all(self.tell(iter(branch), depth) for branch in branches)
            case h.Loop(over=Value() as over):
                return self._mentions_change(over)
            case _:
                return False

    def tells(self, value: Value, holds: bool, depth: int = 0) -> bool:
        """Whether a test that turned out so tells that the row is new or changed."""
        match value:
            case Op(op="not", operands=(inner,)):
                return self.tells(inner, not holds, depth)
            case Op(op="and" | "or" as op, operands=operands):
                told = [self.tells(one, holds, depth) for one in operands]
                return any(told) if (op == "and") is holds else all(told)
            case Union(options=found):
                return all(_is_constant(one, not holds) or self.tells(one, holds, depth) for one in found)
            case Call(func=func, args=(inner,)) if (
                func.parts() == () and getattr(func, "dotted", "") == "builtins.bool"
            ):
                return self.tells(inner, holds, depth)
            case Const():
                return bool(value.value) is not holds
            case _:
                return self._plain(value, holds, depth)

    def _plain(self, value: Value, holds: bool, depth: int) -> bool:
        subject, truth = _subject(value, holds)
        entry = self._entry(subject)
        if entry is not None:
            return _wins(entry, value, truth)
        if isinstance(value, Op) and value.op in _COMPARES:
            return self._compares(value, holds)
        if isinstance(value, Call) and self._is_of_stored(value):
            return not holds  # no such row is stored yet
        if self._mentions_change(value) or self._is_kept(value):
            return not self.only_new
        return self._through(value, holds, depth)

    def _compares(self, value: Op, holds: bool) -> bool:
        """Whether a comparison of an old value with the new one found them different."""
        if self.only_new:
            return False
        parts = list(walk(value))
        if any(self._entry(part) is not None for part in parts):
            return True
        old = any(self._is_kept(part) or (isinstance(part, Call) and self._is_of_stored(part)) for part in parts)
        if not old or NONE in value.operands:
            return False
        return holds if value.op in _UNEQUAL else not holds if value.op in _EQUAL else True

    def _mentions_change(self, value: Value) -> bool:
        """Whether a value is made from what a library keeps of the changes of a row."""
        return any(isinstance(part, Call | Attr) and self._is_change(part) for part in walk(value))

    def _is_change(self, value: Value) -> bool:
        entry = self._entry(value)
        return entry is not None and entry.tells == "changed"  # none if only new rows count

    # ------------------------------------------------------------------ what packs tell

    def _entry(self, value: Value) -> v.Change | None:
        """What packs say of a parameter, attribute or call that tells a new or changed row."""
        found = self._told(value)
        return None if found is not None and self.only_new and found.tells != "new" else found

    def _told(self, value: Value) -> v.Change | None:
        match value:
            case Param(name=name) | Item(base=Param(), index=Const(value=str() as name)):
                return self._parameters.get(name)
            case Call(func=Attr(base=Param() | Updated(), name="get"), args=(Const(value=str() as name), *_)):
                return self._parameters.get(name)
            case Attr() | Call():
                shape = value.func if isinstance(value, Call) else value
                found: tuple[tuple[object, v.Change], ...] = self.evaluator.lookup(self.packs.changes, shape)
                return next((entry for _, entry in found), None)
            case _:
                return None

    # ------------------------------------------------------------------ old values

    def _is_kept(self, value: Value) -> bool:
        """Whether a value is an attribute that a hook keeps on the row for later: no field, set by the code itself."""
        match value:
            case Call(
                func=External(dotted="builtins.hasattr" | "builtins.getattr"),
                args=(owner, Const(value=str() as name), *_),
            ):
                return self._is_kept_attribute(Attr(owner, name))
            case Attr():
                return self._is_kept_attribute(value)
            case _:
                return False

    def _is_kept_attribute(self, value: Attr) -> bool:
        classes = [cls for cls in self.evaluator.types(value.base) if isinstance(cls, ClassRef)]
        hierarchy = self.evaluator.hierarchy
        if any(hierarchy.find(cls.id, value.name) is not None for cls in classes):
            return False
        if not classes and not isinstance(value.base, Param):
            return False
        if value.name.startswith("_") and not value.name.startswith("__") and value.name != "_state":
            return True
        return any(hierarchy.writers(cls.id, value.name) for cls in classes) or self._is_set_by_hook(value.name)

    def _is_set_by_hook(self, name: str) -> bool:
        """Whether the handler of a signal sets an attribute of this name."""
        targets = dict.fromkeys(edge.target for one in self.connections.known for edge in one.edges)
        functions = (self.evaluator.program.function(target) for target in targets)
        return any(write.field == name for function in functions for write in self.flows.of(function).writes)

    def _is_of_stored(self, call: Call) -> bool:
        """Whether a call asks the store for a row of a model, which is the row as it was before the save."""
        owner: Value = call
        while isinstance(owner, Call | Attr | Item | Element | Updated):
            if isinstance(owner, Attr) and self._is_model(owner.base):
                return True
            owner = owner.func if isinstance(owner, Call) else owner.base
        return False

    def _is_model(self, value: Value) -> bool:
        """Whether a value is a model class itself: by name, as the sender of a signal, or of the row."""
        if isinstance(value, Attr) and value.name == "__class__":
            return True
        if isinstance(value, Param) and value.name == "sender":
            return True
        found = self.evaluator.resolve(value)
        return isinstance(found, ClassRef) and bool(self.evaluator.hierarchy.external_bases(found.id))

    # ------------------------------------------------------------------ functions of the project

    def _through(self, value: Value, holds: bool, depth: int) -> bool:
        """Whether a function or property of the project answers so only for a new or changed row."""
        call = value if isinstance(value, Call) else None
        if call is None or depth >= MAX_DEPTH:
            resolved = self.evaluator.resolve(value)
            return resolved is not value and depth < MAX_DEPTH and self.tells(resolved, holds, depth + 1)
        called = [ref for ref, *_ in self.linker.callables(call.func)]
        exits = [exit for ref in called for exit in self.flows.of(self.evaluator.program.function(ref.id)).returns]
        reached = [exit for exit in exits if not _is_constant(exit.value, not holds)]
        return bool(reached) and all(
            self.tell(h.newest_first(exit.held), depth + 1) or self.tells(exit.value, holds, depth + 1)
            for exit in reached
        )


def is_of_new_row(changes: Changes, path: Path) -> bool:
    """Whether a callback's path is gone only when the row is new: by its signal, or by a test on the way."""
    return path.start.creates or any(
        changes.tell(outward(path, index, fact) for fact in h.newest_first(site.held))
        for index, site in enumerate(path.sites())
    )


def outward(path: Path, index: int, fact: h.Fact) -> h.Fact:
    """A fact at one of a path's sites: a test is told in terms of what the framework passes to the callback."""
    if not isinstance(fact, h.Test):
        return fact
    start = path.start
    passed = {**(start.crossings[-1].binding if start.crossings else {}), **(start.binding or {})}
    return h.Test(substitute(path.outward(index, fact.value), passed), fact.holds, fact.at)


def dominating(held: Held | None) -> Iterator[h.Fact]:
    """The facts that hold at a point, newest first."""
    return h.newest_first(held)


def _is_constant(value: Value, truth: bool) -> bool:
    return isinstance(value, Const) and bool(value.value) is truth


def _subject(value: Value, holds: bool) -> tuple[Value, bool | None]:
    """What a test is about, and whether that is there: `x`, `x is None`, `"a" in x`; None if that is not asked."""
    match value:
        case Op(op="is" | "==", operands=(subject, Const(value=None))):
            return subject, not holds
        case Op(op="is not" | "!=", operands=(subject, Const(value=None))):
            return subject, holds
        case Op(op="in", operands=(_, subject)):
            return subject, holds
        case Op(op="not in", operands=(_, subject)):
            return subject, not holds
        case Op():
            return value, None
        case _:
            return value, holds


def _wins(entry: v.Change, value: Value, there: bool | None) -> bool:
    """Whether a test of what an entry describes came out as a new or changed row does."""
    if there is None:
        return False
    if entry.win in ("truthy", "not_none"):
        return there
    return not there


def read_fields(value: Value) -> Iterator[str]:
    """The names of the attributes that a test reads."""
    return (part.name for one in options(value) for part in walk(one) if isinstance(part, Attr))
