"""What frameworks pass to what they call, and the model that a framework class works on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program.symbols import Class, Function
from sendonce.program.values import (
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Element,
    External,
    Seq,
    Some,
    Updated,
    Value,
    options,
    union,
)

if TYPE_CHECKING:
    from sendonce.program.evaluate.evaluator import Evaluator


class Frameworks:
    """Answers what frameworks pass to the functions and methods that they call."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.packs = evaluator.packs
        self.hierarchy = evaluator.hierarchy
        self._once = evaluator.memo.once

    def jobs_of(self, call: Call) -> Iterator[tuple[v.Job, Call]]:
        """The job entries for a decorator's call with a function, and the call that holds the decorator's options."""
        for described, shape in ((call, call.func), (call.func, getattr(call.func, "func", None))):
            if isinstance(described, Call) and isinstance(shape, Value):
                for _, job in self.evaluator.lookup(self.packs.job_decorators, shape):
                    yield job, described

    def passed(self, function: Function, name: str) -> Value | None:
        """What a framework passes as a parameter to a method that it calls, as packs tell."""
        if function.cls is None or not function.is_method:
            return self._once(("passed", function.id, name), lambda: self._to_function(function, name), None)
        return self._once(("passed", function.id, name), lambda: self._passed(function, name), None)

    def _to_function(self, function: Function, name: str) -> Value | None:
        """What a queue or a signal passes to a function that a decorator hands to it."""
        return self._job_passed(function, name) or self._signal_passed(function, name)

    def _signal_passed(self, function: Function, name: str) -> Value | None:
        """A library's own object that a signal passes to its handlers (the app that is set up)."""
        names = [declared.name for declared in function.params]
        for option in options(self.evaluator.decorated(function)) if name in names else ():
            while isinstance(option, Call) and option.args:
                for _, entry in self.evaluator.lookup(self.packs.connect_decorators, option.func):
                    kind = _kind_of(entry, name, names)
                    if kind.endswith("()"):
                        return Some(External(self.packs.canonical(kind[:-2])))
                option = option.args[-1]
        return None

    def _job_passed(self, function: Function, name: str) -> Value | None:
        """The job object that a queue passes first (`bind=True`)."""
        if not function.params or function.params[0].name != name or function.parent is not None:
            return None
        for option in options(self.evaluator.decorated(function)):
            while isinstance(option, Call) and option.args:
                for job, described in self.jobs_of(option):
                    for given in arguments.given(self.evaluator, described, job.bound):
                        constant = self.evaluator.constant(given)
                        if constant is not None and constant.value:
                            return option
                option = option.args[-1]
        return None

    def _passed(self, function: Function, name: str) -> Value | None:
        assert function.cls is not None
        for entry in self._hooks(function):
            kind = _kind_of(entry, name, [declared.name for declared in function.params[1:]])
            found = self._of_kind(function, kind) if kind else None
            if found is not None:
                return found
        return None

    def _hooks(self, function: Function) -> Iterator[v.Trigger]:
        """What packs say of the methods of a framework class: of this one first, of the class's others after it."""
        assert function.cls is not None
        bases = self.hierarchy.external_bases(function.cls.id)
        entries = [entry for base in bases for _, entry in self.packs.trigger_bases.get(base, ())]
        yield from (entry for entry in entries if function.name in entry.methods)
        yield from (entry for entry in entries if function.name not in entry.methods)

    def _of_kind(self, function: Function, kind: str) -> Value | None:
        """What a `parameters` entry says: `class:receiver/form_class`, `element`, `collection`, `library.Class()`."""
        assert function.cls is not None
        if kind.startswith("class:receiver/"):
            return self._of_attribute(function, *kind.removeprefix("class:receiver/").split(" or "))
        if kind.endswith("()"):
            return Some(External(self.packs.canonical(kind[:-2])))
        if kind in ("element", "collection"):
            model = self.model_of(function.cls)
            row = Some(ClassRef(model)) if model is not None else None
            return Seq("each", (row,)) if row is not None and kind == "collection" else row
        return None

    def _of_attribute(self, function: Function, attribute: str, library: str = "") -> Value | None:
        """An instance of the class that an attribute of a view names; else of a library's class that stands in."""
        assert function.cls is not None
        name, made, given = attribute.partition("(")
        model = self.model_of(function.cls)
        row = UNKNOWN if model is None else Element(Updated(UNKNOWN, "model", ClassRef(model)))
        names, args = ((given[:-1],), (row,)) if given[:-1] else ((), ())
        at = (function.module.path, function.line, 0)
        found = options(self.evaluator.resolve(Attr(Some(ClassRef(function.cls.id)), name)))
        classes = [one for one in found if isinstance(one, ClassRef)]
        if classes:
            return union(Call(one, names, args, at) if made else Some(one) for one in classes)
        if not library or model is None:
            return None
        return Updated(Call(External(self.packs.canonical(library)), names, args, at), "model", ClassRef(model))

    def model_of(self, cls: Class) -> str | None:
        """The id of the model class that a framework class works on (`model = …`, `queryset = …`, a registration)."""
        return self._once(("model", cls.id), lambda: self._model_of(cls), None)

    def _model_of(self, cls: Class) -> str | None:
        owner = Some(ClassRef(cls.id))
        for path in self._model_paths(cls):
            value: Value = owner
            for step in path.split("/"):
                value = Attr(value, step)
            for option in options(self.evaluator.resolve(value)):
                if isinstance(option, ClassRef):
                    return option.id
                for one in self.evaluator.types(Element(option)):
                    if isinstance(one, ClassRef):
                        return one.id
        for site in self.evaluator.flow_of(cls.module.body).sites:
            if site.call.args and ClassRef(cls.id) in site.call.args:
                for arg in (*site.call.args, *(site.call.func.args if isinstance(site.call.func, Call) else ())):
                    found = self.evaluator.resolve(arg)
                    if isinstance(found, ClassRef) and found.id != cls.id:
                        return found.id
        return None

    def _model_paths(self, cls: Class) -> tuple[str, ...]:
        """The attributes that may name the model of a framework class, as packs say of its bases."""
        found: dict[str, None] = {"model": None, "queryset": None, "Meta/model": None}
        for base in self.hierarchy.external_bases(cls.id):
            for _, entry in self.packs.model_classes.get(base, ()):
                found.update(dict.fromkeys(entry.paths))
        return tuple(found)


def _kind_of(entry: v.Trigger | v.Connect, name: str, names: list[str]) -> str:
    """What a pack's entry says of a parameter, by its name or its place among the handler's `names`."""
    for notation, kind in entry.parameters.items():
        word, _, position = notation.partition("|")
        at = int(position) if position.isdigit() else -1
        if name == word or (word not in names and 0 <= at < len(names) and names[at] == name):
            return kind
    return ""
