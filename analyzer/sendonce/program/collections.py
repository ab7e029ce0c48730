"""Collections and tables that are objects of a library, told by the name under which they were reached."""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.program.evaluate import Evaluator
from sendonce.program.values import Attr, Call, Const, Item, Updated, Value, options


def collection_of(evaluator: Evaluator, call: Call) -> str | None:
    """The name of the collection whose method a call is: `db.sent.find_one(…)`, `db["sent"]`, `resource.Table("sent")`.

    None where the object is no collection, or its name is not told.
    """
    if not isinstance(call.func, Attr):
        return None
    owners = {shape.rpartition(".")[0] for shape in evaluator.shapes(call.func)}
    if owners.isdisjoint(evaluator.packs.store_collections):
        return None
    return next(_names(evaluator, call.func.base), None)


def _names(evaluator: Evaluator, value: Value) -> Iterator[str]:
    for option in options(evaluator.resolve(value)):
        while isinstance(option, Updated):
            option = option.base
        match option:
            case Attr(name=name) | Item(index=Const(value=str() as name)) | Call(args=(Const(value=str() as name), *_)):
                yield name
            case _:
                pass
