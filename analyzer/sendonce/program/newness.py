"""Whether a row is new when it is saved: made in this run, or loaded before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sendonce.program.values import FALSE, TRUE, Attr, Call, ClassRef, Const, Element, Item, Updated, Value

if TYPE_CHECKING:
    from sendonce.program.evaluate import Evaluator


def tells_new(evaluator: Evaluator, shapes: Iterator[str]) -> str:
    """The first of some shapes by which packs tell that a row is new (`Model()._state.adding`); empty for none."""
    for shape in shapes:
        for _, entry in evaluator.packs.find(evaluator.packs.changes, shape):
            if entry.tells == "new" and entry.win == "truthy":
                return shape
    return ""


def is_new(evaluator: Evaluator, value: Attr, shapes: Iterator[str]) -> Const | None:
    """The truth of an attribute that tells that a row is new, where the row's origin is known."""
    shape = tells_new(evaluator, shapes)
    if not shape:
        return None
    row: Value = value
    for _ in range(shape.rpartition("()")[2].count(".")):
        if isinstance(row, Attr):
            row = row.base
    return made_here(evaluator, row)


def made_here(evaluator: Evaluator, row: Value) -> Const | None:
    """True for a row that was constructed, False for one that was read from a store, None for any other."""
    while isinstance(row, Updated):
        row = row.base
    if isinstance(row, Element | Item):
        return FALSE
    if isinstance(row, Call):
        if isinstance(evaluator.resolve(row.func), ClassRef):
            return TRUE
        return FALSE if evaluator.types(row) else None
    return None


def newness(evaluator: Evaluator, owner: Value) -> Value | None:
    """The attribute of a row that tells whether it is new, by what packs know of its class."""
    for cls in evaluator.types(owner):
        bases = evaluator.hierarchy.external_bases(cls.id) if isinstance(cls, ClassRef) else ()
        for base in bases:
            for shape in sorted(evaluator.packs.changes):
                home, _, path = shape.partition("().")
                if home == base and path and tells_new(evaluator, iter((shape,))):
                    value = owner
                    for name in path.split("."):
                        value = Attr(value, name)
                    return value
    return None
