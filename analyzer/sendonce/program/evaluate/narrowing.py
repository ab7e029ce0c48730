"""Whether a known value is an instance of a class: what `isinstance(value, Class)` gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sendonce.program.values import Call, ClassRef, Const, External, Seq, Some, Table, Text, Updated, Value, options

if TYPE_CHECKING:
    from sendonce.program.evaluate.evaluator import Evaluator

_DISPLAYS = {"list": "builtins.list", "tuple": "builtins.tuple", "set": "builtins.set"}
_ABSTRACT = ("typing.", "collections.abc.", "collections.")


def is_instance(evaluator: Evaluator, value: Value, cls: Value) -> bool | None:
    """Whether every value that `value` may be is an instance of `cls` (or of one of a tuple); None if not known."""
    wanted = evaluator.resolve(cls)
    classes = [evaluator.resolve(one) for one in wanted.items] if isinstance(wanted, Seq) else [wanted]
    told = {_is_one_of(evaluator, option, classes) for option in options(evaluator.resolve(value))}
    return told.pop() if len(told) == 1 else None


def _is_one_of(evaluator: Evaluator, value: Value, classes: list[Value]) -> bool | None:
    answers = [_is_one(evaluator, value, cls) for cls in classes]
    if any(answers):
        return True
    return None if None in answers else False


def _is_one(evaluator: Evaluator, value: Value, cls: Value) -> bool | None:
    """Whether one value is an instance of one class."""
    while isinstance(value, Updated):
        value = evaluator.resolve(value.base)
    match value, cls:
        case (Seq() | Table() | Const() | Text(), ClassRef()):
            return None if isinstance(value, Const) and value.value is None else False
        case (Seq(kind=kind), External(dotted=dotted)) if kind in _DISPLAYS:
            return None if dotted.startswith(_ABSTRACT) else dotted == _DISPLAYS[kind]
        case (Text(), External(dotted=dotted)):
            return dotted == "builtins.str" or None
        case (Const(value=str()), External(dotted=dotted)):
            return None if dotted.startswith(_ABSTRACT) else dotted == "builtins.str"
        case (Call() | Some(), ClassRef(id=id)):
            return _of_class(evaluator, value, id)
        case _:
            return None


def _of_class(evaluator: Evaluator, value: Value, id: str) -> bool | None:
    """Whether an object of a class of the project is one of the class `id`; a subclass's may be where only some class
    is known."""
    types = evaluator.types(value)
    if not types or not all(isinstance(one, ClassRef) for one in types):
        return None
    above = [{cls.id for cls in evaluator.hierarchy.mro(one.id)} for one in types if isinstance(one, ClassRef)]
    if all(id in one for one in above):
        return True
    made = isinstance(value, Call) and isinstance(evaluator.resolve(value.func), ClassRef)
    return False if made and not any(id in one for one in above) else None
