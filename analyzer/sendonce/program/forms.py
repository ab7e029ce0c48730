"""Forms and serializers that make a row of their model: which fields they fill, as their class declares."""

from __future__ import annotations

from collections.abc import Iterator

from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program.evaluate import Evaluator
from sendonce.program.values import (
    NONE,
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Const,
    Op,
    Param,
    Seq,
    Super,
    Updated,
    Value,
    options,
)

ALL = "__all__"
_KEYS = frozenset(["id", "pk"])
"""What the database gives a new row, if the model does not say otherwise."""


class Forms:
    """Answers for calls that save what a form or serializer was given."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    def model(self, entry: v.Claim, call: Call) -> ClassRef | None:
        """The model of the row that a form saves."""
        saved = Call(Attr(self._form(entry, call), "save"), (), (), call.at)
        return next((one for one in self.evaluator.types(saved) if isinstance(one, ClassRef)), None)

    def filled(self, entry: v.Claim, call: Call) -> frozenset[str] | None:
        """The fields that a form fills in the new row that it makes; None if it may change one that is there."""
        form = self._form(entry, call)
        cls = self._class_for_new(entry, form) if entry.loaded else self._class_of(form)
        names = frozenset() if cls is None else self._listed(entry, cls)
        names = self._declared(self.model(entry, call)) if ALL in names else names
        return names - _KEYS or None

    def handed(self, value: Value) -> frozenset[str]:
        """The fields in what a library hands to the method of a form that makes a row (`create(validated_data)`)."""
        while isinstance(value, Updated):
            value = value.base
        function = self.evaluator.program.function(value.function) if isinstance(value, Param) else None
        if function is None or function.cls is None or not function.is_method or function.parent is not None:
            return frozenset()
        above = Attr(Super(function.cls.id, Param(function.id, function.params[0].name)), function.name)
        for _, entry in self.evaluator.lookup(self.evaluator.packs.claims, above):
            if entry.declared and not entry.loaded:
                return self._listed(entry, ClassRef(function.cls.id)) - _KEYS - {ALL}
        return frozenset()

    def _class_for_new(self, entry: v.Claim, form: Value) -> ClassRef | None:
        """The class of a form that was made without a row to change."""
        made = self._made(form)
        cls = None if made is None else self.evaluator.resolve(made.func)
        if made is None or {"*", "**"} & set(made.names):
            return None
        if any(one is not NONE for one in arguments.given(self.evaluator, made, entry.loaded)):
            return None
        return cls if isinstance(cls, ClassRef) else None

    def _class_of(self, form: Value) -> ClassRef | None:
        return next((one for one in self.evaluator.types(form) if isinstance(one, ClassRef)), None)

    def _listed(self, entry: v.Claim, cls: ClassRef) -> frozenset[str]:
        """The names of fields that a class lists."""
        value: Value = cls
        for name in entry.declared.split("/"):
            value = self.evaluator.resolve(Attr(value, name))
        return frozenset(self._names(value))

    def _form(self, entry: v.Claim, call: Call) -> Value:
        """The form that is saved: what a method is called on, or is given; as the framework passes it to a view."""
        found = arguments.first_argument(self.evaluator, call, entry.fields or ("receiver",)) or UNKNOWN
        found = found.receiver if isinstance(found, Super) else found
        if isinstance(found, Param):
            return self.evaluator.passed(self.evaluator.program.function(found.function), found.name) or found
        return found

    def _made(self, form: Value) -> Call | None:
        """How the form was made, by the view or by the framework for it."""
        found = options(self.evaluator.resolve(form))
        made = found[0] if len(found) == 1 else UNKNOWN
        while isinstance(made, Updated):
            made = made.base
        return made if isinstance(made, Call) else None

    def _names(self, value: Value) -> Iterator[str]:
        """The names in a list of fields; those that another class adds to it are not told."""
        match value:
            case Const(value=str() as name):
                yield name
            case Seq(items=parts) | Op(op="+", operands=parts):
                for part in parts:
                    yield from self._names(self.evaluator.resolve(part))
            case _:
                pass

    def _declared(self, model: ClassRef | None) -> frozenset[str]:
        """All fields of the model."""
        classes = self.evaluator.hierarchy.mro(model.id) if model is not None else ()
        return frozenset(name for cls in classes for name in cls.scope)
