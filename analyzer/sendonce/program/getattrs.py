"""`getattr(x, name)`: which attributes a name that is not written out may mean."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sendonce import facts
from sendonce.program.values import Call, ClassRef, Const, Item, ModuleRef, Op, Table, Text, Value, options

if TYPE_CHECKING:
    from sendonce.program.evaluate import Evaluator

MAX_NAMES = 24
"""More candidates than this tell nothing."""


def attribute_names(evaluator: Evaluator, call: Call) -> list[str]:
    """The names that a call of `getattr` may mean: constants, or members that fit a text with unknown parts.

    Empty where one of the alternatives is not known.
    """
    found: list[str] = []
    for option in options(evaluator.resolve(call.args[1])):
        match option:
            case Const(value=str() as name):
                found.append(name)
            case Text() if not option.free:
                found.extend(_members_like(evaluator, call.args[0], option))
            case Const(value=None):
                continue
            case _:
                return []
    return found if len(found) <= MAX_NAMES else []


def possible_names(evaluator: Evaluator, call: Call) -> list[tuple[str, Value | None]]:
    """The names that a call of `getattr` may mean once its parameters are known, each with what must be true for it."""
    name = evaluator.resolve(call.args[1])
    found: list[tuple[str, Value | None]] = []
    if isinstance(name, Text):
        found = [(one, Op("==", (name, Const(one)))) for one in _members_like(evaluator, call.args[0], name)]
    elif isinstance(name, Item):
        table = evaluator.resolve(name.base)
        for key, value in zip(table.keys, table.values, strict=True) if isinstance(table, Table) else ():
            given = evaluator.constant(value)
            if given is not None and isinstance(given.value, str):
                found.append((given.value, Op("==", (name.index, key)) if isinstance(key, Const) else None))
    return found if len(found) <= MAX_NAMES else []


def _members_like(evaluator: Evaluator, owner: Value, name: Text) -> Iterator[str]:
    """The functions of an object whose names fit a text, if its constant parts say something."""
    known = [str(piece.value) if isinstance(piece, Const) else None for piece in name.pieces]
    if any(part and len(part) > 1 for part in known):
        pattern = re.compile("".join(r"\w+" if part is None else re.escape(part) for part in known))
        members = dict.fromkeys(_functions(evaluator, evaluator.resolve(owner)))
        yield from (member for member in members if pattern.fullmatch(member))


def _functions(evaluator: Evaluator, owner: Value) -> Iterator[str]:
    """The names of a module's functions, or of the methods of an object's classes."""
    module = evaluator.program.module_named(owner.name) if isinstance(owner, ModuleRef) else None
    for name, bound in module.scope.items() if module is not None else ():
        if isinstance(bound[-1].node, facts.Def):
            yield name
    for cls in evaluator.types(owner):
        if isinstance(cls, ClassRef):
            yield from (name for one in evaluator.hierarchy.mro(cls.id) for name in one.methods)
