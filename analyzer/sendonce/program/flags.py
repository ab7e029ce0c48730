"""Switches of the whole application that paths ask for: one way needs a switch on, another needs it off."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sendonce.program import held as h
from sendonce.program.evaluate import Evaluator
from sendonce.program.paths import Path
from sendonce.program.values import Attr, Call, ClassRef, Const, External, FunctionRef, Op, Value

_SWITCH = re.compile(r"feature|flag|switch|toggle|setting|enabled", re.IGNORECASE)
Switch = tuple[object, ...]


def exclude(evaluator: Evaluator, left: Path, right: Path) -> bool:
    """Whether one path needs a switch on and the other needs it off."""
    one, other = (_switches(evaluator, path) for path in (left, right))
    return any((switch, not on) in one for switch, on in other)


def _switches(evaluator: Evaluator, path: Path) -> frozenset[tuple[Switch, bool]]:
    """What a path needs; remembered, as each path is compared with many."""
    return evaluator.memo.once(("switches", path), lambda: frozenset(_needed(evaluator, path)), frozenset())


def _needed(evaluator: Evaluator, path: Path) -> Iterator[tuple[Switch, bool]]:
    for site in path.sites():
        for fact in h.newest_first(site.held):
            if isinstance(fact, h.Test):
                value, on = fact.value, fact.holds
                while isinstance(value, Op) and value.op == "not":
                    value, on = value.operands[0], not on
                switch = _switch(evaluator, value)
                if switch is not None:
                    yield switch, on


def _switch(evaluator: Evaluator, value: Value) -> Switch | None:
    """The switch that a test asks for: a setting, or a question with constant arguments (`has_feature(BETA)`)."""
    if isinstance(value, External) and value.dotted.rpartition(".")[2].isupper():
        return ("setting", value.dotted)
    if isinstance(value, Call) and _SWITCH.search(_name(value.func)):
        given = [evaluator.resolve(arg) for arg in value.args]
        named = tuple(arg for arg in given if _is_fixed(arg))
        return ("question", _name(value.func), *named) if named else None
    return None


def _name(func: Value) -> str:
    if isinstance(func, Attr):
        return func.name
    if isinstance(func, External):
        return func.dotted.rpartition(".")[2]
    return func.id.rpartition(".")[2] if isinstance(func, FunctionRef) else ""


def _is_fixed(value: Value) -> bool:
    return isinstance(value, Const | External) or (isinstance(value, Attr) and isinstance(value.base, ClassRef))
