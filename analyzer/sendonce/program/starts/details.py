"""What a trigger is called: its place, its function, the route or schedule that a registration names."""

from __future__ import annotations

import re

from sendonce import facts
from sendonce import vocabulary as v
from sendonce.findings import Place, Trigger, TriggerKind
from sendonce.program import arguments
from sendonce.program.evaluate import Evaluator
from sendonce.program.starts.start import Registration
from sendonce.program.symbols import Class, Function
from sendonce.program.values import (
    Attr,
    Call,
    Const,
    Seq,
    Text,
    Value,
)


class Details:
    """Describes triggers for the reader."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    def trigger(self, kind: TriggerKind, function: Function, detail: str, cls: Class | None = None) -> Trigger:
        name = function.dotted
        if cls is not None and function.cls is not cls:
            name = f"{cls.id}.{function.name}"
        at = function.node.name_at if isinstance(function.node, facts.Def) else facts.NOWHERE
        place = Place(function.module.path, at[0] or function.line, max(at[1], 1), at[2], at[3])
        return Trigger(place, kind, name, detail)

    def of(self, registration: Registration) -> str:
        """The route, schedule or event that a registration names."""
        return self._of_call(registration.entry, registration.call)

    def _of_call(self, entry: v.Trigger, call: Call) -> str:
        parts = [self.shown(value) for value in arguments.given(self.evaluator, call, entry.detail)]
        verb = call.func.name.upper() if isinstance(call.func, Attr) else ""
        words = ([verb] if verb in VERBS else []) + [part for part in parts if part]
        return " ".join(words)

    def shown(self, value: Value, depth: int = 0) -> str:
        """A value as a reader would write it; empty for one that is not known."""
        found = self.evaluator.resolve(value)
        match found:
            case Const(value=inner):
                return str(inner)
            case Text(pieces=pieces):
                return "".join(self.shown(piece, depth + 1) or "{}" for piece in pieces)
            case Call(func=func, names=names, args=args) if depth < 3:
                name = re.split(r"[.]", min(self.evaluator.shapes(func), default=""))[-1]
                inner = ", ".join(
                    f"{n}={self.shown(a, depth + 1)}" if n else self.shown(a, depth + 1)
                    for n, a in zip(names, args, strict=True)
                )
                return f"{name}({inner})" if name else ""
            case Seq(items=items) if depth < 3:
                return ",".join(self.shown(item, depth + 1) for item in items)
            case _:
                return ""


VERBS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
