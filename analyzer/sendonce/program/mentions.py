"""The words of a value: by them a call may be found that leads to something of that name."""

from __future__ import annotations

from sendonce.program.values import Attr, ClassRef, Const, External, FunctionRef, ModuleRef, Value

_KNOWN: dict[Value, frozenset[str]] = {}


def mentions(value: Value) -> frozenset[str]:
    """The names, attributes and dotted parts of strings in a value (see `symbols.words_of`)."""
    found = _KNOWN.get(value)
    if found is None:
        found = _KNOWN[value] = _own(value).union(*(mentions(part) for part in value.parts()))
    return found


def _own(value: Value) -> frozenset[str]:
    match value:
        case Attr(name=name):
            return frozenset((name,))
        case FunctionRef(id=dotted) | ClassRef(id=dotted) | External(dotted=dotted) | ModuleRef(name=dotted):
            return frozenset(part.partition("#")[0] for part in dotted.split("."))
        case Const(value=str() as text) if len(text) < 200 and " " not in text:
            return frozenset(text.replace(":", ".").split("."))
        case _:
            return frozenset()
