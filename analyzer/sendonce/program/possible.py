"""Values that an expression can have in some run: what operators and conversions make of them.

Besides constants there are `OBJECT` (something that is true and not None), `EMPTY` (a collection
without items) and `UNKNOWN`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

from sendonce.program.values import FALSE, NONE, TRUE, UNKNOWN, Const, External, Seq, Value

OBJECT: Value = External("an object")
"""Some value that is true and not None."""
EMPTY: Value = Seq("tuple", ())

COMPARE: dict[str, Callable[[Any, Any], object]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "is": operator.is_,
    "is not": operator.is_not,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def truth(value: Value) -> bool | None:
    """Whether a value is true; None if that is not known."""
    if isinstance(value, Const):
        return bool(value.value)
    if value is OBJECT:
        return True
    return bool(value.items) if isinstance(value, Seq) and value.kind != "each" else None


def negated(value: Value) -> Value:
    known = truth(value)
    return UNKNOWN if known is None else Const(not known)


def chained(op: str, parts: list[frozenset[Value]]) -> Iterator[Value]:
    """The values of `a and b …` or `a or b …`."""
    ends = op == "or"
    going = True
    for index, outcomes in enumerate(parts):
        last = index == len(parts) - 1
        for one in outcomes if going else ():
            known = truth(one)
            if last or known is ends:
                yield one
            elif known is None:
                yield TRUE if ends else FALSE
        going = going and any(truth(one) is not ends for one in outcomes)


def compared(op: str, left: Value, right: Value) -> Value:
    if isinstance(left, Const) and isinstance(right, Const):
        if op in ("is", "is not"):
            same = left is right
            return Const(same if op == "is" else not same)
        try:
            return Const(bool(COMPARE[op](left.value, right.value)))
        except TypeError:
            return UNKNOWN
    if NONE in (left, right) and UNKNOWN not in (left, right):
        return Const(op in ("!=", "is not")) if op in ("==", "!=", "is", "is not") else UNKNOWN
    return UNKNOWN


def _as_bool(value: Value) -> Value:
    known = truth(value)
    return UNKNOWN if known is None else Const(known)


def _as_int(value: Value) -> Value:
    if isinstance(value, Const) and isinstance(value.value, bool | int):
        return Const(int(value.value))
    if isinstance(value, Const) and isinstance(value.value, str) and value.value.strip().isdigit():
        return Const(int(value.value))
    return UNKNOWN


def _length(value: Value) -> Value:
    return Const(len(value.items)) if isinstance(value, Seq) else UNKNOWN


def _as_list(value: Value) -> Value:
    return EMPTY if isinstance(value, Seq) and not value.items else UNKNOWN


CONVERSIONS: dict[str, Callable[[Value], Value]] = {
    "builtins.bool": _as_bool,
    "builtins.int": _as_int,
    "builtins.len": _length,
    "builtins.list": _as_list,
    "builtins.tuple": _as_list,
    "builtins.sorted": _as_list,
    "builtins.set": _as_list,
    "builtins.any": _as_bool,
}


TEXT_METHODS = frozenset(["endswith", "startswith", "split", "rsplit", "strip", "partition", "rpartition", "lower"])


def text_method(value: Value, name: str, args: list[object]) -> Value:
    """What a method of a known text gives."""
    if not (isinstance(value, Const) and isinstance(value.value, str)):
        return UNKNOWN
    found = getattr(value.value, name)(*args)
    return Seq("tuple", tuple(map(Const, found))) if isinstance(found, list | tuple) else Const(found)


def item_of(value: Value, index: int) -> Value:
    """An item of a known collection."""
    if isinstance(value, Seq) and value.kind != "each" and -len(value.items) <= index < len(value.items):
        return value.items[index]
    return UNKNOWN
