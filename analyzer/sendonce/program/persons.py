"""Persons and events: whether a part of a key only tells who is mailed, and what else a mail is about."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sendonce.program.evaluate import Evaluator
from sendonce.program.fields import Fields
from sendonce.program.values import (
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    External,
    Item,
    Param,
    Some,
    Updated,
    Value,
    walk,
)

_PERSONS = frozenset(
    """user customer client account member subscriber person people profile contact recipient buyer seller owner author
    patient student teacher employee staff guest visitor donor tenant lead reader participant attendee applicant
    candidate volunteer parent guardian driver passenger traveller worker resident citizen me self_user owner_user
    sender receiver friend follower""".split()
)
_ADDRESSES = frozenset(["email", "mail", "address", "addr", "recipient", "to", "mailto", "phone", "username", "login"])
_KEYS = frozenset(["id", "pk", "uuid", "guid", "uid", "key"])
_EVENT_KEYS = re.compile(r"(?:^|_)(?:id|pk|uuid|guid|number|no|nr|num|ref|reference|sku)$")
_AUTH = ("django.contrib.auth.models.", "flask_login.", "fastapi_users.", "flask_security.")


def words(name: str) -> tuple[str, ...]:
    """The words of a name in either spelling, in lower case."""
    return tuple(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_").split("_"))


class Persons:
    """Answers for values."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.fields = Fields(evaluator)

    def tells_person(self, value: Value) -> bool:
        """Whether a value only tells who: a person, the person's key or address."""
        value = _plain(value)
        match value:
            case Attr(base=base, name=name) | Item(base=base, index=Const(value=str() as name)):
                if name in _KEYS:
                    return self.tells_person(base)
                return _is_person_name(name) or (name in _ADDRESSES) or words(name)[-1] in _ADDRESSES
            case Call(func=Attr(base=base, name="get" | "pop"), args=(Const(value=str() as name), *_)):
                return self.tells_person(Item(base, Const(name)))
            case Param(name=name):
                return _is_person_name(name) or words(name)[-1] in _ADDRESSES or self._is_person(value)
            case _:
                return self._is_person(value)

    def are_rows_of(self, model: str) -> bool:
        """Whether the rows of a model of the tree are persons."""
        home, _, name = model.rpartition(".")
        module = self.evaluator.program.module_named(home) if home else None
        if module is None or model not in module.classes:
            return False
        bases = self.evaluator.hierarchy.external_bases(model)
        return words(name)[-1] in _PERSONS or any(base.startswith(_AUTH) for base in bases)

    def _is_person(self, value: Value) -> bool:
        """Whether a value is a row of a model of persons, or the logged-in user."""
        for cls in self.evaluator.types(value):
            if isinstance(cls, ClassRef):
                bases = self.evaluator.hierarchy.external_bases(cls.id)
                if words(cls.id.rpartition(".")[2])[-1] in _PERSONS or any(base.startswith(_AUTH) for base in bases):
                    return True
            elif isinstance(cls, External) and cls.dotted.startswith(_AUTH):
                return True
        return isinstance(value, External) and value.dotted.rpartition(".")[2] in ("current_user", "user")

    def read_from(self, value: Value) -> Value | None:
        """What a part of a key reads the person from: the order of `order.customer`; None for a person's own."""
        value = _plain(value)
        while isinstance(value, Attr):
            base = _plain(value.base)
            if not self.tells_person(base) and (_is_person_name(value.name) or words(value.name)[-1] in _ADDRESSES):
                return base
            value = base
        return None

    def is_event(self, value: Value) -> bool:
        """Whether a value is a row, or a request about a thing, that is no person."""
        types = [cls for cls in self.evaluator.types(value) if isinstance(cls, ClassRef)]
        return any(self._has_key(cls) for cls in types) and not self._is_person(value)

    def _has_key(self, cls: ClassRef) -> bool:
        """Whether a class is a model of rows, or has a field that names one of its objects."""
        if self.fields.is_model(cls):
            return True
        names = (name for one in self.evaluator.hierarchy.mro(cls.id) for name in one.scope)
        return any(_names_event(name) and not _is_person_name(name) for name in names)

    def events(self, call: Call) -> Iterator[Value]:
        """What a call is given that names something besides a person: rows of other models, ids of other things."""
        for part in walk(call):
            if self._is_root(part) and not self.tells_person(part):
                if isinstance(part, Param) and not self.is_event(part) and not _names_event(part.name):
                    continue
                yield part
            elif isinstance(part, Item) and self._is_other_key(part):
                yield part

    def _is_other_key(self, part: Item) -> bool:
        """Whether a value is taken from a dict under the name of a key: `payload["invoice_id"]`."""
        index = part.index.value if isinstance(part.index, Const) else None
        return isinstance(index, str) and _names_event(index) and not self.tells_person(part)

    def _is_root(self, part: Value) -> bool:
        if isinstance(part, Param):
            return not self._is_own(part)
        kept = isinstance(part, Attr) and isinstance(part.base, Param) and self._is_own(part.base)
        return (kept or isinstance(part, Element | Call | Some)) and self.is_event(part)

    def _is_own(self, param: Param) -> bool:
        """Whether a parameter is the object that a method belongs to."""
        function = self.evaluator.program.function(param.function)
        return function.is_method and bool(function.params) and function.params[0].name == param.name


def _names_event(name: str) -> bool:
    return _EVENT_KEYS.search(name) is not None


def _is_person_name(name: str) -> bool:
    """`customer`, `customer_id`, `user_pk`, `ordering_user`."""
    found = [word for word in words(name) if word not in _KEYS]
    return bool(found) and found[-1] in _PERSONS


def _plain(value: Value) -> Value:
    while isinstance(value, Updated):
        value = value.base
    return value
