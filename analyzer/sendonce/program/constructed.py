"""Rows that the code itself makes, by the constructor of their model or by what a library has in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sendonce.program.values import Attr, Call, ClassRef, Value

if TYPE_CHECKING:
    from sendonce.program.evaluate import Evaluator


def constructor(evaluator: Evaluator, value: Value) -> Call | None:
    """The constructor's call that a value is: `Model(…)`, and `Model.model_validate(data)` as `Model(**data)`.

    None for any other value.
    """
    if not isinstance(value, Call):
        return None
    if isinstance(evaluator.resolve(value.func), ClassRef):
        return value
    if not isinstance(value.func, Attr) or not evaluator.lookup(evaluator.packs.store_makes, value.func):
        return None
    model = evaluator.resolve(value.func.base)
    return Call(model, ("**",) * len(value.args), value.args, value.at) if isinstance(model, ClassRef) else None
