"""Points of one function that cannot both be passed in one run.

What was tested on the way to one point may rule out a fact on the way to the other. A function
with many branches has very many pairs of points, so the facts are numbered once: for each point it
is worked out which facts its tests rule out, and a pair is then a comparison of two bit masks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sendonce import facts
from sendonce.program import held as h
from sendonce.program.held import Held
from sendonce.program.values import Attr, Call, ClassRef, Const, External, Op, Seq, Value, walk

_OPPOSITE = {"!=": "==", "is not": "is", "not in": "in"}
_EQUALS = ("==", "is", "in")
_IS_INSTANCE = External("builtins.isinstance")

Key = tuple[str, object]


class Exclusion:
    """Answers for the points of one function: `chains` are all that hold anywhere in it."""

    def __init__(self, chains: Iterable[Held | None]) -> None:
        self._facts: list[h.Fact] = []
        self._number: dict[h.Fact, int] = {}
        self._index: dict[Key, list[int]] = {}
        self._masks: dict[Held, int] = {}
        self._views: dict[Held, _View] = {}
        seen: set[Held] = set()
        for held in chains:
            while held is not None and held not in seen:
                seen.add(held)
                self._add(held.fact)
                held = held.before

    def _add(self, fact: h.Fact) -> None:
        if fact not in self._number:
            self._views.clear()
            number = self._number[fact] = len(self._facts)
            self._facts.append(fact)
            for key in set(_keys(fact)):
                self._index.setdefault(key, []).append(number)

    def exclusive(self, left: Held | None, right: Held | None) -> bool:
        """Whether two points exclude each other: what was tested on the way cannot all be true."""
        if left is None or right is None:
            return False
        return self._excludes(left, right) or self._excludes(right, left)

    def done(self, held: Held | None, site: h.Site) -> bool:
        """Whether a call was made on the way to a point, or on one of the ways that joined before it."""
        if held is None:
            return False
        passed = self._mask(held)
        return any(passed >> number & 1 for number in self._index.get(("done", site), ()))

    def _excludes(self, left: Held, right: Held) -> bool:
        """Whether what was passed on the way to `left` rules out a fact on the way to `right`."""
        passed = self._mask(right)
        view = self._view(left)
        found = view.against & passed
        if found & view.sure:
            return True
        if found:
            written = _written_since(left, right)
            return any(view.known.rules_out(fact, written) for fact in self._of(found))
        return False

    def _of(self, mask: int) -> Iterator[h.Fact]:
        while mask:
            lowest = mask & -mask
            yield self._facts[lowest.bit_length() - 1]
            mask ^= lowest

    def _mask(self, held: Held) -> int:
        """The facts of a chain, one bit each."""
        new: list[Held] = []
        at: Held | None = held
        while at is not None and at not in self._masks:
            new.append(at)
            at = at.before
        mask = self._masks[at] if at is not None else 0
        for one in reversed(new):
            self._add(one.fact)
            mask |= 1 << self._number[one.fact]
        self._masks[held] = mask
        return mask

    def _view(self, held: Held) -> _View:
        """Which facts what holds at a point rules out."""
        found = self._views.get(held)
        if found is None:
            found = self._views[held] = self._seen_from(held)
        return found

    def _seen_from(self, held: Held) -> _View:
        known = _Known()
        related: dict[int, None] = {}
        sure = 0
        for fact in h.newest_first(held):
            if isinstance(fact, h.Test):
                known.add(fact)
                related.update((number, None) for key in _told(fact) for number in self._index.get(key, ()))
            elif isinstance(fact, h.Caught):
                # A handler that leaves, and what comes after its `try`.
                for number in self._index.get(("passed", (fact.trying.at, fact.at)), ()):
                    sure |= 1 << number
        against = sure
        for number in related:
            if known.rules_out(self._facts[number], frozenset()):
                against |= 1 << number
                if not any(_reads(self._facts[number])):
                    sure |= 1 << number
        return _View(known, against, sure)


@dataclass
class _Known:
    """The tests that were passed on the way to a point."""

    truths: dict[Value, bool] = field(default_factory=dict)
    here: set[facts.Span] = field(default_factory=set)
    parts: set[tuple[facts.Span, Value, bool]] = field(default_factory=set)
    equals: dict[Value, list[Value]] = field(default_factory=dict)
    """By their subject, what comparisons that came out true compare with."""
    types: dict[Value, list[Value]] = field(default_factory=dict)
    """By what was asked, the types of `isinstance` tests that came out true."""

    def add(self, fact: h.Test) -> None:
        """Adds a test; newer ones come first."""
        value = fact.value
        self.truths.setdefault(value, fact.holds)
        self.here.add(fact.at)
        self.parts.add((fact.at, value, fact.holds))
        if self.truths[value] and isinstance(value, Op) and value.op in _EQUALS:
            self.equals.setdefault(value.operands[0], []).append(value.operands[1])
        if self.truths[value] and isinstance(value, Call) and value.func is _IS_INSTANCE and len(value.args) == 2:
            self.types.setdefault(value.args[0], []).append(value.args[1])

    def rules_out(self, fact: h.Fact, written: set[str] | frozenset[str]) -> bool:
        """Whether a fact cannot come to hold; tests of what was `written` in between may come out anyhow."""
        if isinstance(fact, h.Either):
            return all(any(self.rules_out(inner, written) for inner in branch) for branch in fact.branches)
        if not isinstance(fact, h.Test):
            return False
        if self._other_way(fact):
            return True
        if fact.at not in self.here and not written.isdisjoint(_read(fact.value)):
            return False
        found = self._truth(fact.value)
        return found is not None and found != fact.holds

    def _other_way(self, fact: h.Test) -> bool:
        """Whether the same `and` (or `or`) was passed the other way: then its operands were told one by one."""
        value = fact.value
        if not (isinstance(value, Op) and value.op == ("or" if fact.holds else "and")):
            return False
        return any((fact.at, operand, not fact.holds) in self.parts for operand in value.operands)

    def _truth(self, value: Value) -> bool | None:
        """Whether a test is true; None if what is known does not tell."""
        if value in self.truths:
            return self.truths[value]
        match value:
            case Op(op="not", operands=(inner,)):
                found = self._truth(inner)
                return None if found is None else not found
            case Op(op="and" | "or" as op, operands=operands):
                return _joined(op == "or", [self._truth(operand) for operand in operands])
            case Op(op="!=" | "is not" | "not in" as op, operands=operands):
                found = self._truth(Op(_OPPOSITE[op], operands))
                return None if found is None else not found
            case Op(op="==" | "is" | "in", operands=(subject, other)):
                return self._compared(subject, other)
            case Call(func=External(dotted="builtins.isinstance"), args=(subject, wanted)):
                return self._of_type(subject, wanted)
            case _:
                return None

    def _compared(self, subject: Value, other: Value) -> bool | None:
        """Whether a value can be one of some constants, where it is known to be (one of) others."""
        wanted = _constants(other) if subject in self.equals else None
        for one in self.equals[subject] if wanted is not None else ():
            given = _constants(one)
            if wanted is None or given is None or {type(one) for one in given} != {type(one) for one in wanted}:
                continue
            if given.isdisjoint(wanted):
                return False
            if given <= wanted:
                return True
        return None

    def _of_type(self, subject: Value, wanted: Value) -> bool | None:
        """Whether a value can be of some of the language's own types, where it is known to be of others."""
        for given in self.types.get(subject, ()):
            one, two = _builtins(wanted), _builtins(given)
            if one and two and one.isdisjoint(two) and not one | two >= {"bool", "int"}:
                return False
        return None


@dataclass(frozen=True)
class _View:
    """What a point's tests rule out: `sure` whatever is written in between, else perhaps."""

    known: _Known
    against: int
    sure: int


def _written_since(left: Held, right: Held) -> set[str]:
    """The fields that were written on the way to one of two points, but not on the way to both."""
    ways = [list(h.newest_first(held)) for held in (left, right)]
    common = {id(fact) for fact in ways[0]} & {id(fact) for fact in ways[1]}
    return {field for way in ways for field in _written(fact for fact in way if id(fact) not in common)}


def _written(found: Iterable[h.Fact]) -> Iterator[str]:
    for fact in found:
        if isinstance(fact, h.Wrote):
            yield fact.field
        elif isinstance(fact, h.Either):
            for branch in fact.branches:
                yield from _written(branch)


def _keys(fact: h.Fact) -> Iterator[Key]:
    """What a fact may be decided by."""
    match fact:
        case h.Test(value=value):
            yield from _decided_by(value)
        case h.Done(site=site):
            yield ("done", site)
        case h.Passed(trying=trying, left=left):
            yield from (("passed", (trying.at, at)) for at in left)
        case h.Either(branches=branches):
            yield from (key for branch in branches for inner in branch for key in _keys(inner) if key[0] != "passed")
        case _:
            pass


def _decided_by(value: Value) -> Iterator[Key]:
    yield ("value", value)
    match value:
        case Op(op="not" | "and" | "or", operands=operands):
            for operand in operands:
                yield from _decided_by(operand)
        case Op(op="!=" | "is not" | "not in" as op, operands=operands):
            yield from _decided_by(Op(_OPPOSITE[op], operands))
        case Op(op="==" | "is" | "in", operands=(subject, _)):
            yield ("subject", subject)
        case Call(func=External(dotted="builtins.isinstance"), args=(subject, _)):
            yield ("type", subject)
        case _:
            pass


def _told(test: h.Test) -> Iterator[Key]:
    """What a test that was passed decides: itself, and if it is a comparison that held others of the same subject."""
    value = test.value
    yield ("value", value)
    if test.holds and isinstance(value, Op) and value.op in _EQUALS:
        yield ("subject", value.operands[0])
    if test.holds and isinstance(value, Call) and value.func is _IS_INSTANCE and value.args:
        yield ("type", value.args[0])


def _reads(fact: h.Fact) -> Iterator[str]:
    """The attributes that the tests of a fact read."""
    if isinstance(fact, h.Test):
        yield from _read(fact.value)
    elif isinstance(fact, h.Either):
        yield from (name for branch in fact.branches for inner in branch for name in _reads(inner))


def _read(value: Value) -> Iterator[str]:
    """The attributes that a test reads: written in between, they may have changed."""
    return (part.name for part in walk(value) if isinstance(part, Attr))


def _joined(decisive: bool, parts: list[bool | None]) -> bool | None:
    """`or` (decided by a true part) or `and` (by a false one) of what is known of the parts."""
    if decisive in parts:
        return decisive
    return None if None in parts else not decisive


def _builtins(value: Value) -> frozenset[str]:
    """The names of types of the language of which no object has two; empty if others are among them."""
    items = value.items if isinstance(value, Seq) and value.kind != "each" else (value,)
    names = [item.dotted.removeprefix("builtins.") if isinstance(item, External) else "" for item in items]
    return frozenset(names) if all(name in _DISJOINT for name in names) else frozenset()


_DISJOINT = frozenset(["str", "bytes", "int", "bool", "float", "list", "tuple", "dict", "set", "frozenset", "type"])


def _constants(value: Value) -> set[Value] | None:
    """The constants or enum members that a test compares with; None if some are not known."""
    items = value.items if isinstance(value, Seq) and value.kind != "each" else (value,)
    return set(items) if items and all(map(_is_constant, items)) else None


def _is_constant(value: Value) -> bool:
    return isinstance(value, Const) or (isinstance(value, Attr) and isinstance(value.base, ClassRef))
