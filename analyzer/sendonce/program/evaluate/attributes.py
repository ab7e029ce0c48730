"""What attributes stand for: of modules, classes, instances, enums and `super()`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from sendonce import facts
from sendonce.program import arguments
from sendonce.program.newness import is_new
from sendonce.program.symbols import Binding, Class
from sendonce.program.values import (
    NONE,
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    External,
    FunctionRef,
    ModuleRef,
    Param,
    Seq,
    Some,
    Super,
    Text,
    Updated,
    Value,
    options,
    union,
)

if TYPE_CHECKING:
    from sendonce.program.evaluate.evaluator import Evaluator


class Attributes:
    """Looks attributes up on modules, classes, instances and `super()`."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.hierarchy = evaluator.hierarchy

    def of(self, value: Attr, base: Value, name: str) -> Value:
        """What `base.name` is, which is written as `value`; that itself where nobody knows."""
        if name in self._new_names:
            told = is_new(self.evaluator, value, self.evaluator.named.of_attribute(value))
            if told is not None:
                return told
        return union(
            self._of_option(option, name, value if option is base else Attr(option, name))
            for option in options(self.evaluator.resolve(base))
        )

    def _of_option(self, base: Value, name: str, unresolved: Value) -> Value:
        match base:
            case ModuleRef():
                found = self.evaluator.names.member(base, name)
                if isinstance(found, Attr) and isinstance(found.base, ModuleRef):
                    return self.evaluator.filled.contents(found)
                return found
            case External(dotted=dotted):
                return External(self.packs.canonical(f"{dotted}.{name}"))
            case ClassRef(id=id):
                return self.of_class(id, name, base, unresolved)
            case Updated():
                return self._of_updated(base, name, unresolved)
            case Super(cls=cls, receiver=receiver):
                return self._of_super(cls, receiver, name, unresolved)
            case Attr(base=ClassRef(id=id)) if name in ("value", "name") and self.hierarchy.is_enum(id):
                return self._enum_value(base, name, unresolved)
            case Call(func=Call(args=(_, _, attributes)) as made) if self.evaluator.bases_of_made(made):
                own = arguments.inside(self.evaluator, attributes, name)
                return self.evaluator.resolve(own) if own is not None else self.of_instance(base, name, unresolved)
            case _:
                found = self.of_instance(base, name, unresolved)
                return self._class_of_items(base, name) or found if found is unresolved else found

    @cached_property
    def _item_classes(self) -> frozenset[str]:
        """The last names of attributes that give the class of a collection's items."""
        table = self.packs.returned_attributes.items()
        return frozenset(
            shape.rpartition(".")[2] for shape, pairs in table for _, entry in pairs if entry.value == "model"
        )

    def _class_of_items(self, base: Value, name: str) -> Value | None:
        """`self.model` of a manager or query set: the class on which it stands."""
        if name not in self._item_classes:
            return None
        shapes = frozenset(self.evaluator.named.of_attribute(Attr(base, name)))
        entries = self.evaluator.named.found(self.packs.returned_attributes, shapes)
        if not any(entry.value == "model" for _, entry in entries):
            return None
        rows = self.evaluator.types(Element(base))
        return next((cls for cls in rows if isinstance(cls, ClassRef)), None)

    def _of_updated(self, owner: Updated, name: str, unresolved: Value) -> Value:
        """An attribute of something that was changed: what was set last, else its own."""
        inner: Value = owner
        while isinstance(inner, Updated):
            if inner.field == name:
                return inner.value
            inner = self.evaluator.resolve(inner.base)
        if isinstance(inner, ModuleRef | External | ClassRef | Super):
            return self._of_option(inner, name, Attr(inner, name))
        return self.of_instance(owner, name, unresolved)

    def _enum_value(self, member: Attr, name: str, unresolved: Value) -> Value:
        if name == "name":
            return Const(member.name)
        assert isinstance(member.base, ClassRef)
        found = self.hierarchy.find(member.base.id, member.name)
        if found is None:
            return unresolved
        value = self.evaluator.names.bound(found[0].module, found[0], found[1])
        return self.evaluator.resolve(value.items[0] if isinstance(value, Seq) and value.items else value)

    @cached_property
    def _new_names(self) -> frozenset[str]:
        """The last names of attributes that tell that a row is new."""
        return frozenset(shape.rpartition(".")[2] for shape in self.packs.changes)

    def of_class(self, id: str, name: str, owner: Value, unresolved: Value) -> Value:
        """`Class.name`: a function (bound to the class for class methods), a value, an enum's member as it is."""
        if name == "__name__":
            return Const(self.program.cls(id).name)
        found = self.hierarchy.find(id, name)
        if found is None:
            return unresolved
        cls, bindings = found
        if self.hierarchy.is_declared(cls, name):
            return unresolved
        if self.hierarchy.is_enum(id) and not isinstance(bindings[-1].node, facts.Def):
            return Attr(owner, name)
        return self._member(cls, bindings, owner, from_class=True)

    def _member(self, cls: Class, bindings: list[Binding], owner: Value, from_class: bool) -> Value:
        value = self.evaluator.names.bound(cls.module, cls, bindings)
        value = self.evaluator.filled.of_class(cls, bindings[-1].name, value)
        return union(
            self._as_bound(self.evaluator.models.placed(option, owner), owner, from_class) for option in options(value)
        )

    def _as_bound(self, value: Value, owner: Value, from_class: bool) -> Value:
        """A function found on a class, bound to its owner as Python would."""
        match value:
            case FunctionRef(id=id, receiver=None, closure=closure):
                function = self.program.function(id)
                if function.has_decorator("staticmethod"):
                    return value
                if from_class and not function.has_decorator("classmethod"):
                    return value
                return FunctionRef(id, owner, closure)
            case Call(func=func, args=args) if args and _wraps_function(args[-1]):
                # A method under a decorator that is not the project's: the function inside is bound.
                inner = self._as_bound(args[-1], owner, from_class)
                return Call(func, value.names, (*args[:-1], inner), value.at)
            case _:
                return value

    def of_instance(self, base: Value, name: str, unresolved: Value) -> Value:
        """`instance.name`: a property's value, a bound method, a class attribute, what methods assign to it."""
        found: list[Value] = []
        for cls in self.evaluator.types(base):
            if isinstance(cls, ClassRef):
                found.extend(self._instance_values(cls.id, base, name))
        known = [value for value in found if value is not UNKNOWN and value is not NONE]
        plain = isinstance(base, Param) and all(isinstance(value, Const | Text) for value in known)
        classes = (cls.id for cls in self.evaluator.types(base) if isinstance(cls, ClassRef))
        if plain and any(self.hierarchy.overridden(id, name) for id in classes):
            return unresolved  # a subclass says otherwise: the caller's object decides
        return union(known) if known else self._model_class(base, name) or unresolved

    def _model_class(self, base: Value, name: str) -> Value | None:
        """The class of the rows that an attribute of a manager gives (`self.model`)."""
        if name not in self._model_names:
            return None
        shapes = frozenset(self.evaluator.named.of_attribute(Attr(base, name)))
        found = self.evaluator.named.found(self.packs.returned_attributes, shapes)
        if any(entry.value == "model" for _, entry in found):
            row = self.evaluator.resolve(Element(base))
            return row.cls if isinstance(row, Some) and isinstance(row.cls, ClassRef) else None
        return None

    @cached_property
    def _model_names(self) -> frozenset[str]:
        """The last names of attributes that give the class of a collection's rows."""
        tables = self.packs.returned_attributes.items()
        return frozenset(s.rpartition(".")[2] for s, found in tables if any(e.value == "model" for _, e in found))

    def _instance_values(self, id: str, owner: Value, name: str) -> Iterator[Value]:
        if name == "__class__":
            yield ClassRef(id)
        found = self.hierarchy.find(id, name)
        if found is not None:
            cls, bindings = found
            if self.hierarchy.is_declared(cls, name):
                return
            given = self.evaluator.construction.given_field(id, owner, name)
            if given is not None:
                yield given
                return
            method = cls.methods.get(name)
            if method is not None and method.has_decorator("property", "cached_property"):
                yield self.evaluator.resolve(Call(FunctionRef(method.id, owner), (), (), method.place))
            elif isinstance(bindings[-1].node, facts.Ellipsis_):
                yield Attr(owner, name)
            else:
                value = self._member(cls, bindings, owner, from_class=False)
                yield self._described(value)
        if found is None or not isinstance(found[1][-1].node, facts.Def):
            yield from self.evaluator.construction.written(id, owner, name)
        if found is None:
            yield from self.evaluator.models.reverse(id, name)

    def _described(self, value: Value) -> Value:
        """What a descriptor on a class gives on an instance (a foreign key: some row of its model)."""
        if isinstance(value, Call):
            related = self.evaluator.models.related(value)
            if related is not None:
                return related
            for _, entry in self.evaluator.lookup(self.packs.returns, value.func):
                if entry.value.startswith("element:"):
                    return self.given_class(value, entry.value.partition(":")[2])
        return value

    def given_class(self, call: Call, argument: str) -> Value:
        given = arguments.argument(self.evaluator, call, argument)
        if given is None:
            return UNKNOWN
        resolved = self.evaluator.resolve(given)
        if isinstance(resolved, Const) and isinstance(resolved.value, str):
            cls = self.hierarchy.named(resolved.value.rpartition(".")[2], call.at[0])
            return Some(ClassRef(cls.id)) if cls is not None else UNKNOWN
        if isinstance(resolved, ClassRef):
            return Some(resolved)
        return self.evaluator.resolve(Element(resolved))

    def _of_super(self, cls: str, receiver: Value, name: str, unresolved: Value) -> Value:
        found: list[Value] = []
        types = self.evaluator.types(receiver)
        below = self.hierarchy.mixing(cls) if isinstance(receiver, Param) else ()
        for one in (types, *((ClassRef(sub.id),) for sub in below)):
            for home in self.hierarchy.after(cls, one):
                bindings = home.scope.get(name)
                if bindings:
                    found.append(self._member(home, bindings, receiver, from_class=False))
                    break
        return union(found) if found else unresolved


def _wraps_function(value: Value) -> bool:
    return isinstance(value, FunctionRef) or (
        isinstance(value, Call) and bool(value.args) and _wraps_function(value.args[-1])
    )
