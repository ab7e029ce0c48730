"""Models: the rows behind managers, and the attributes that lead from one model to another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from sendonce import facts
from sendonce import vocabulary as v
from sendonce.discovery import SourceFile
from sendonce.program import arguments
from sendonce.program.symbols import Binding, Class
from sendonce.program.values import (
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Const,
    External,
    Some,
    Updated,
    Value,
    options,
    walk,
)

if TYPE_CHECKING:
    from sendonce.program.evaluate import Evaluator


@dataclass(frozen=True)
class Step:
    """A relation that a query follows: the model it leads to, and whether a row may have many on the other side."""

    target: ClassRef | None
    many: bool
    both_ways: bool
    """Many rows share one on the other side as well."""


class Models:
    """Answers for one program, memoised. A collection of rows is an instance with its class in `model`."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self._owners: dict[str, str | None] = {}
        self._reverse: dict[tuple[str, str], tuple[Value, ...]] = {}
        self._steps: dict[tuple[ClassRef | None, str], Step | None] = {}

    # ------------------------------------------------------------------ managers

    def placed(self, value: Value, owner: Value) -> Value:
        """A manager that stands on a class, with that class as its model."""
        if not isinstance(value, Call) or not self._is_manager(value):
            return value
        if isinstance(owner, ClassRef):
            return Updated(value, "model", owner)
        for cls in self.evaluator.types(owner):
            if isinstance(cls, ClassRef):
                return Updated(value, "model", cls)
        return value

    def _is_manager(self, call: Call) -> bool:
        if isinstance(call.func, ClassRef):
            return self.is_manager_class(call.func.id)
        return any(entry.keeps_model for _, entry in self.evaluator.lookup(self.evaluator.packs.returns, call.func))

    def is_manager_class(self, id: str) -> bool:
        """Whether a project class is a manager or query set: a library call on an instance keeps its model."""
        return not self._collections.isdisjoint(self.evaluator.hierarchy.external_bases(id))

    @cached_property
    def _collections(self) -> frozenset[str]:
        """The library classes whose calls keep the model of their object."""
        return frozenset(
            shape.rpartition("().")[0]
            for shape, pairs in self.evaluator.packs.returns.items()
            for _, entry in pairs
            if entry.keeps_model and "()." in shape
        )

    def manager_row(self, id: str) -> Value | None:
        """A row of a project's manager, query set, form or view class: of the model on which it stands or works."""
        owner = self._owner(id)
        return Some(ClassRef(owner)) if owner is not None else None

    def _owner(self, id: str) -> str | None:
        if id not in self._owners:
            self._owners[id] = None
            if self.is_manager_class(id):
                self._owners[id] = next(self._classes_with(id), None)
            else:
                self._owners[id] = self.works_on(self.program.cls(id))
        return self._owners[id]

    def works_on(self, cls: Class) -> str | None:
        """The id of the model that a class of a framework works on: a form, a serializer, a view."""
        works = not self._workers.isdisjoint(self.evaluator.hierarchy.external_bases(cls.id))
        return self.evaluator.model_of(cls) if works else None

    def is_worker(self, value: Value) -> bool:
        """Whether a value is a form, serializer or view: an object that works on a row of a model."""
        for cls in self.evaluator.types(value):
            packs, hierarchy = self.evaluator.packs, self.evaluator.hierarchy
            bases = hierarchy.external_bases(cls.id) if isinstance(cls, ClassRef) else ()
            names = (cls.dotted, *packs.bases(cls.dotted)) if isinstance(cls, External) else bases
            if not self._workers.isdisjoint(names):
                return True
        return False

    @cached_property
    def _workers(self) -> frozenset[str]:
        """The library classes that name the model they work on."""
        return frozenset(self.evaluator.packs.model_classes)

    def managers(self, model: ClassRef) -> Iterator[Class]:
        """The project's classes of the managers that stand on a model."""
        for cls in self.evaluator.hierarchy.mro(model.id):
            for name, bindings in cls.scope.items():
                if isinstance(bindings[-1].node, facts.Call):
                    manager = self.evaluator.resolve(Attr(model, name))
                    if isinstance(manager, Updated) and manager.field == "model":
                        found = (one for one in walk(manager.base) if isinstance(one, ClassRef))
                        yield from (self.program.cls(one.id) for one in found if self.is_manager_class(one.id))

    def _classes_with(self, manager: str) -> Iterator[str]:
        """The ids of classes that have an attribute made with a manager class."""
        cls = self.program.cls(manager)
        for file in self.program.index.files_with(cls.name):
            module = self.program.module_of(file)
            for one in module.classes.values() if module is not None else ():
                for name, bindings in one.scope.items():
                    node = bindings[-1].node
                    if not isinstance(node, facts.Call):
                        continue
                    value = self.evaluator.resolve(Attr(ClassRef(one.id), name))
                    if isinstance(value, Updated) and self._made_with(value, manager):
                        yield one.id

    def _made_with(self, value: Value, manager: str) -> bool:
        """Whether a manager was made with a class, itself or as the query set behind it."""
        while isinstance(value, Updated):
            value = self.evaluator.resolve(value.base)
        wanted = {manager, *(one.id for one in self.evaluator.hierarchy.subclasses(manager))}
        todo: list[Value] = [value]
        for one in todo:
            if isinstance(one, ClassRef) and one.id in wanted:
                return True
            if isinstance(one, Call) and len(todo) < 20:
                todo.extend((self.evaluator.resolve(one.func), *map(self.evaluator.resolve, one.args)))
            elif isinstance(one, Attr):
                todo.append(self.evaluator.resolve(one.base))
        return False

    # ------------------------------------------------------------------ relations

    def related(self, call: Call) -> Value | None:
        """What the attribute of a relation gives on a row: some row of the other model, or a collection of them."""
        for _, entry in self.evaluator.lookup(self.evaluator.packs.relations, call.func):
            assert isinstance(entry, v.Relation)
            target = self._target(call, entry)
            if target is not None:
                return self._rows(target, entry.type) if entry.many else Some(target)
        return None

    def _target(self, call: Call, entry: v.Relation) -> ClassRef | External | None:
        """The class that a relation leads to: given itself, by name or by a setting."""
        given = arguments.first_argument(self.evaluator, call, entry.to)
        for option in options(self.evaluator.resolve(given)) if given is not None else ():
            if isinstance(option, ClassRef | External) and not _is_setting(option):
                return option
            name = setting_name(option)
            if name:
                found = self.evaluator.by_name.setting_class(name, call.at[0])
                return found if isinstance(found, ClassRef) else None
            if isinstance(option, Const) and isinstance(option.value, str) and option.value != "self":
                cls = self.evaluator.hierarchy.named(option.value.rpartition(".")[2], call.at[0])
                return ClassRef(cls.id) if cls is not None else None
        return None

    @staticmethod
    def _rows(target: Value, type: str) -> Value:
        return Updated(Some(External(type)) if type else UNKNOWN, "model", target)

    def step(self, owner: ClassRef | None, name: str) -> Step | None:
        """The relation that a query follows from a model by a name: its own, or one that leads to it."""
        key = (owner, name)
        if key not in self._steps:
            self._steps[key] = self._step(owner, name)
        return self._steps[key]

    def _step(self, owner: ClassRef | None, name: str) -> Step | None:
        forward = self._forward(owner, name) if owner is not None else None
        return forward or self._backward(owner, name)

    def _forward(self, owner: ClassRef, name: str) -> Step | None:
        found = self.evaluator.hierarchy.find(owner.id, name)
        value = self.evaluator.binding_value(found[0].module, found[0], found[1][-1]) if found is not None else None
        if not isinstance(value, Call):
            return None
        for _, entry in self.evaluator.lookup(self.evaluator.packs.relations, value.func):
            target = self._target(value, entry)
            return Step(target if isinstance(target, ClassRef) else None, entry.many, entry.many and entry.back_many)
        return None

    def _backward(self, owner: ClassRef | None, name: str) -> Step | None:
        wanted = {cls.id for cls in self.evaluator.hierarchy.mro(owner.id)} if owner is not None else set()
        model = self.program.cls(owner.id).name if owner is not None else name
        for word in (name, f"{name}_set"):
            for cls, binding in self._relations_like(word, model):
                value = self.evaluator.binding_value(cls.module, cls, binding)
                for _, entry in (
                    self.evaluator.lookup(self.evaluator.packs.relations, value.func) if isinstance(value, Call) else ()
                ):
                    assert isinstance(value, Call)
                    target = self._target(value, entry)
                    known = target.id in wanted if isinstance(target, ClassRef) else not wanted
                    if known and self._back_name(value, entry, cls) == word:
                        return Step(ClassRef(cls.id), entry.back_many, entry.many and entry.back_many)
        return None

    # ------------------------------------------------------------------ the other way

    def reverse(self, id: str, name: str) -> Iterator[Value]:
        """What an attribute that another model's relation puts on this class gives."""
        key = (id, name)
        if key not in self._reverse:
            self._reverse[key] = ()
            self._reverse[key] = tuple(self._reversed(id, name)) if self._has_relations(id) else ()
        yield from self._reverse[key]

    def _has_relations(self, id: str) -> bool:
        return bool(self.evaluator.hierarchy.external_bases(id))

    def _reversed(self, id: str, name: str) -> Iterator[Value]:
        wanted = {cls.id for cls in self.evaluator.hierarchy.mro(id)}
        for cls, binding in self._relations_like(name, self.program.cls(id).name):
            value = self.evaluator.binding_value(cls.module, cls, binding)
            if not isinstance(value, Call):
                continue
            for _, entry in self.evaluator.lookup(self.evaluator.packs.relations, value.func):
                assert isinstance(entry, v.Relation)
                if self._back_name(value, entry, cls) != name:
                    continue
                target = self._target(value, entry)
                if isinstance(target, ClassRef) and target.id in wanted:
                    row = ClassRef(cls.id)
                    yield self._rows(row, entry.type) if entry.back_many else Some(row)
                    return

    def _relations_like(self, name: str, model: str) -> Iterator[tuple[Class, Binding]]:
        """Relations that may be called so from the other side: by a text that names it, or by the class they are in."""
        index = self.program.index
        stem = name.removesuffix("_set").replace("_", "")
        files = self._relation_files.intersection((*index.files_with(name), *index.files_with(model)))
        for file in sorted(files):
            if not index.may_relate(file, name, stem):
                continue
            module = self.program.module_of(file)
            for cls in module.classes.values() if module is not None else ():
                by_default = cls.name.lower() == stem
                if by_default or index.has(file, name):
                    yield from ((cls, found) for found in self._calls(cls) if by_default or _mentions(found, name))

    def _calls(self, cls: Class) -> Iterator[Binding]:
        for bindings in cls.scope.values():
            node = bindings[-1].node
            if isinstance(node, facts.Call) and _last_word(node.func) in self._relation_words:
                yield bindings[-1]

    @cached_property
    def _relation_words(self) -> frozenset[str]:
        """The last names of calls that make a relation."""
        return frozenset(shape.rpartition(".")[2] for shape in self.evaluator.packs.relations)

    @cached_property
    def _relation_files(self) -> frozenset[SourceFile]:
        """The files in which a relation may be made."""
        return frozenset(file for word in self._relation_words for file in self.program.index.files_with(word))

    def _back_name(self, call: Call, entry: v.Relation, cls: Class) -> str:
        given = arguments.first_argument(self.evaluator, call, entry.back)
        constant = self.evaluator.constant(given) if given is not None else None
        if constant is not None:
            return str(constant.value)
        return entry.back_default.replace("{model}", cls.name.lower())


def _mentions(binding: Binding, name: str) -> bool:
    """Whether a text in the call is this name."""
    node = binding.node
    return isinstance(node, facts.Call) and any(
        isinstance(arg.value, facts.Constant) and arg.value.value == name for arg in node.args
    )


def _last_word(node: facts.Expr) -> str:
    if isinstance(node, facts.Attribute):
        return node.attr
    return node.id if isinstance(node, facts.Name) else ""


def setting_name(value: Value) -> str:
    """The name of a setting that a value is (`settings.AUTH_USER_MODEL`)."""
    if isinstance(value, External) and _is_setting(value):
        return value.dotted.rpartition(".")[2]
    return ""


def _is_setting(value: Value) -> bool:
    return isinstance(value, External) and value.dotted.rpartition(".")[2].isupper()
