"""Whether a row is new when it is saved: made in this run, or loaded before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program.constructed import constructor
from sendonce.program.values import (
    FALSE,
    NONE,
    TRUE,
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    External,
    Item,
    Param,
    Some,
    Super,
    Updated,
    Value,
)

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


@dataclass(frozen=True)
class Saved:
    """A row that a call saves: its value, and whether it is a new one (None: it may be either)."""

    row: Value
    new: bool | None


def saved(evaluator: Evaluator, call: Call, entry: v.Signal, model: ClassRef) -> Saved | None:
    """The row of a model (or of a class below it) that a call saves, as a pack's entry tells; None if it saves none."""
    wanted = {model.id, *(cls.id for cls in evaluator.hierarchy.subclasses(model.id))}
    owner = _receiver(evaluator, call)
    rows = arguments.given(evaluator, Call(Attr(owner, ""), call.names, call.args, call.at), entry.object)
    given = next((row for row in rows if row is not NONE), None)
    places = [owner, call, Item(call, Const(0)), *(() if given is None else (given, Element(given))), Element(owner)]
    row = next((one for one in places if _is_one_of(evaluator, one, wanted)), None)
    if row is None:
        return None
    if entry.row != "any":
        return Saved(row, entry.row == "new")
    if entry.object and given is None:
        return Saved(row, True if _is_made(evaluator, owner) else None)
    made = made_here(evaluator, given if given is not None else owner)
    return Saved(row, None if made is None else bool(made.value))


def _receiver(evaluator: Evaluator, call: Call) -> Value:
    """The object that a method is called on; a framework's own argument as what the framework passes."""
    owner: Value = call.func.base if isinstance(call.func, Attr) else call.func
    owner = owner.receiver if isinstance(owner, Super) else owner
    if isinstance(owner, Param):
        return evaluator.passed(evaluator.program.function(owner.function), owner.name) or owner
    return owner


def _is_one_of(evaluator: Evaluator, row: Value, wanted: set[str]) -> bool:
    return any(isinstance(cls, ClassRef) and cls.id in wanted for cls in evaluator.types(row))


def _is_made(evaluator: Evaluator, value: Value) -> bool:
    """Whether an object was constructed here."""
    while isinstance(value, Updated):
        value = value.base
    if not isinstance(value, Call):
        return False
    return isinstance(evaluator.resolve(value.func), ClassRef | External) and not isinstance(value.func, Some)


def made_here(evaluator: Evaluator, row: Value) -> Const | None:
    """True for a row that was constructed, False for one that was read from a store, None for any other.

    A row that was constructed and saved before is in the store.
    """
    while isinstance(row, Updated):
        if row.field.endswith("()") and _saves(evaluator, row.value):
            return FALSE
        row = row.base
    if isinstance(row, Element | Item):
        return FALSE
    if isinstance(row, Call):
        if constructor(evaluator, row) is not None:
            return TRUE
        return FALSE if evaluator.types(row) else None
    return None


def _saves(evaluator: Evaluator, value: Value) -> bool:
    """Whether a value is the call of a method that saves the row it is called on."""
    return isinstance(value, Call) and bool(evaluator.lookup_overridden(evaluator.packs.signal_sends, value.func))


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
