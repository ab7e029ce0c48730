"""Points of one function that cannot both be passed in one run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sendonce import facts
from sendonce.program import held as h
from sendonce.program.held import Held
from sendonce.program.values import Attr, Call, ClassRef, Const, External, Op, Seq, Value, walk

_OPPOSITE = {"!=": "==", "is not": "is", "not in": "in"}


def exclusive(left: Held | None, right: Held | None) -> bool:
    """Whether two points of one function exclude each other: what was tested on the way cannot all be true."""
    if _passes(left, right) or _passes(right, left):
        return True
    return _excludes(left, right) or _excludes(right, left)


def _passes(handler: Held | None, later: Held | None) -> bool:
    """Whether one point stands in a handler that leaves, the other behind its `try`."""
    caught = {(fact.trying.at, fact.at) for fact in h.newest_first(handler) if isinstance(fact, h.Caught)}
    passed = (fact for fact in h.newest_first(later) if isinstance(fact, h.Passed))
    return any((fact.trying.at, at) in caught for fact in passed for at in fact.left)


def _excludes(left: Held | None, right: Held | None) -> bool:
    """Whether the tests passed on the way to `left` rule out a fact on the way to `right`."""
    tests = [fact for fact in h.newest_first(left) if isinstance(fact, h.Test)]
    written = set(_written_since(left, right))
    known: dict[Value, bool] = {}
    for fact in tests:
        known.setdefault(fact.value, fact.holds)
    here = {fact.at for fact in tests}
    parts = {(fact.at, fact.value, fact.holds) for fact in tests}

    def ruled_out(found_there: Iterable[h.Fact]) -> bool:
        for fact in found_there:
            if isinstance(fact, h.Either) and all(ruled_out(branch) for branch in fact.branches):
                return True
            if isinstance(fact, h.Test) and _other_way(fact, parts):
                return True
            if isinstance(fact, h.Test) and (fact.at in here or written.isdisjoint(_read(fact.value))):
                found = _truth(fact.value, known)
                if found is not None and found != fact.holds:
                    return True
        return False

    return ruled_out(h.newest_first(right))


def _written_since(left: Held | None, right: Held | None) -> Iterator[str]:
    """The fields that were written on the way to one of two points, but not on the way to both."""
    ways = [list(h.newest_first(held)) for held in (left, right)]
    common = {id(fact) for fact in ways[0]} & {id(fact) for fact in ways[1]}
    yield from (field for way in ways for field in _written(fact for fact in way if id(fact) not in common))


def _written(found: Iterable[h.Fact]) -> Iterator[str]:
    for fact in found:
        if isinstance(fact, h.Wrote):
            yield fact.field
        elif isinstance(fact, h.Either):
            for branch in fact.branches:
                yield from _written(branch)


def _other_way(fact: h.Test, parts: set[tuple[facts.Span, Value, bool]]) -> bool:
    """Whether the same `and` (or `or`) was passed the other way: then its operands were told one by one."""
    value = fact.value
    if not (isinstance(value, Op) and value.op == ("or" if fact.holds else "and")):
        return False
    return any((fact.at, operand, not fact.holds) in parts for operand in value.operands)


def _read(value: Value) -> Iterator[str]:
    """The attributes that a test reads: written in between, they may have changed."""
    return (part.name for part in walk(value) if isinstance(part, Attr))


def _truth(value: Value, known: dict[Value, bool]) -> bool | None:
    """Whether a test is true where others are known to have come out so; None if they do not tell."""
    if value in known:
        return known[value]
    match value:
        case Op(op="not", operands=(inner,)):
            found = _truth(inner, known)
            return None if found is None else not found
        case Op(op="and" | "or" as op, operands=operands):
            return _joined(op == "or", [_truth(operand, known) for operand in operands])
        case Op(op="!=" | "is not" | "not in" as op, operands=operands):
            found = _truth(Op(_OPPOSITE[op], operands), known)
            return None if found is None else not found
        case Op(op="==" | "is" | "in", operands=(subject, other)):
            return _compared(subject, other, known)
        case Call(func=External(dotted="builtins.isinstance"), args=(subject, wanted)):
            return _of_type(subject, wanted, known)
        case _:
            return None


def _joined(decisive: bool, parts: list[bool | None]) -> bool | None:
    """`or` (decided by a true part) or `and` (by a false one) of what is known of the parts."""
    if decisive in parts:
        return decisive
    return None if None in parts else not decisive


def _compared(subject: Value, other: Value, known: dict[Value, bool]) -> bool | None:
    """Whether a value can be one of some constants, where it is known to be (one of) others."""
    wanted = _constants(other)
    if wanted is None:
        return None
    for test, holds in known.items():
        if holds and isinstance(test, Op) and test.op in ("==", "is", "in") and test.operands[0] is subject:
            given = _constants(test.operands[1])
            if given is None or {type(one) for one in given} != {type(one) for one in wanted}:
                continue
            if given.isdisjoint(wanted):
                return False
            if given <= wanted:
                return True
    return None


def _of_type(subject: Value, wanted: Value, known: dict[Value, bool]) -> bool | None:
    """Whether a value can be of some of the language's own types, where it is known to be of others."""
    for test, holds in known.items():
        match test:
            case Call(func=External(dotted="builtins.isinstance"), args=(other, given)) if holds and other is subject:
                one, two = _builtins(wanted), _builtins(given)
                if one and two and one.isdisjoint(two) and not one | two >= {"bool", "int"}:
                    return False
    return None


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
