"""The classes that values are instances of, as far as the code and the packs tell."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program.values import (
    KNOWN_AS,
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    External,
    Item,
    Op,
    Param,
    Seq,
    Some,
    Super,
    Table,
    Updated,
    Value,
    options,
    unchanged,
)

if TYPE_CHECKING:
    from sendonce.program.evaluate.evaluator import Evaluator


class Instances:
    """Tells the types of values."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.hierarchy = evaluator.hierarchy
        self._once = evaluator.memo.once

    def _of_attribute(self, value: Attr) -> Iterator[Value]:
        """The types of an attribute whose value nobody knows here: told by packs, declared, or of what is assigned."""
        shapes = frozenset(self.evaluator.named.of_attribute(value))
        for _, entry in self.evaluator.named.found(self.packs.returned_attributes, shapes):
            if entry.type:
                yield External(self.packs.canonical(entry.type))
            elif entry.value == "element":
                yield from self.types(Element(value.base))
        for cls in self.types(value.base):
            if not isinstance(cls, ClassRef):
                continue
            yield from self.types(self.evaluator.annotations.declared(cls, value.name))
            for method in self.hierarchy.writers(cls.id, value.name):
                for written in self.evaluator.flow_of(method).written(value.name):
                    yield from self.types(written)

    def types(self, value: Value) -> tuple[Value, ...]:
        """The classes (`ClassRef` or `External`) that a value is an instance of, as far as is known."""
        return self._once(("types", value), lambda: tuple(dict.fromkeys(self._types(value))), ())

    def _types(self, value: Value) -> Iterator[Value]:
        for option in options(self.evaluator.resolve(value)):
            match option:
                case Some(cls=cls):
                    yield cls
                case Call(func=func):
                    yield from self._of_call(option, func)
                case Updated():
                    yield from self.types(unchanged(option)) or self._told(option)
                case Super(receiver=receiver):
                    yield from self.types(receiver)
                case Param():
                    yield from self._of_param(option)
                case Op(op="or" | "and" | "|", operands=operands):
                    for operand in operands:
                        yield from self.types(operand)
                case Attr(base=ClassRef(id=id)) if self.hierarchy.is_enum(id):
                    yield option.base
                case Attr():
                    yield from self._of_attribute(option)
                case Item(base=base):
                    yield from self._of_annotated(option)
                    yield from self._declared(frozenset(f"{shape}[]" for shape in self.evaluator.named.shapes(base)))
                case Element():
                    yield from self._of_element(option)
                case _:
                    pass

    def _declared(self, shapes: frozenset[str]) -> Iterator[Value]:
        """The types that packs give to attributes and items of these shapes."""
        for _, entry in self.evaluator.named.found(self.packs.returned_attributes, shapes):
            if entry.type:
                yield External(self.packs.canonical(entry.type))

    def _of_element(self, value: Element) -> Iterator[Value]:
        """The types of what `with` binds, or of an item of an annotated parameter."""
        base = self.evaluator.resolve(value.base)
        if value.entered:
            yield from self.types(base)
        elif isinstance(base, Param):
            item = self.evaluator.elements.of_annotation(base)
            yield from self.types(item) if item is not None else ()
        elif isinstance(base, Call) and isinstance(base.func, Attr):
            table = self._annotated(base.func.base)
            if isinstance(table, Table) and base.func.name == "values":
                yield from self.types(Element(Seq("list", table.values)))

    def _annotated(self, value: Value) -> Value | None:
        """Some value of the annotation of a parameter."""
        found = self.evaluator.resolve(value)
        return self.evaluator.annotated(found) if isinstance(found, Param) else None

    def _of_annotated(self, value: Item) -> Iterator[Value]:
        """The types of an item of an annotated parameter (`orders: dict[str, Order]`), or of a pair of its items."""
        base = self.evaluator.resolve(value.base)
        annotated = self._annotated(base)
        if isinstance(annotated, Table):
            yield from self.types(Element(Seq("list", annotated.values)))
        elif isinstance(annotated, Seq):
            yield from self.types(Element(annotated))
        if isinstance(base, Element) and isinstance(value.index, Const) and value.index.value == 1:
            match self.evaluator.resolve(base.base):
                case Call(func=Attr(base=owner, name="items")) if isinstance(found := self._annotated(owner), Table):
                    yield from self.types(Element(Seq("list", found.values)))

    def _told(self, value: Value) -> tuple[Value, ...]:
        """The type that a test told of an object that has none of its own."""
        while isinstance(value, Updated):
            if value.field == KNOWN_AS:
                return self.types(value.value)
            value = value.base
        return ()

    def _of_call(self, call: Call, func: Value) -> Iterator[Value]:
        resolved = self.evaluator.resolve(func)
        if isinstance(resolved, ClassRef):
            yield resolved
            return
        if isinstance(resolved, Param) and self.is_cls_param(resolved):
            yield from self._of_param(resolved)
            return
        for _, entry in self.evaluator.lookup(self.packs.returns, func):
            if not arguments.holds(self.evaluator, call, entry.when):
                continue
            if entry.type:
                yield External(self.packs.canonical(entry.type))
            elif entry.value == "receiver" and isinstance(func, Attr):
                yield from self.types(func.base)
            elif entry.value == "element" and isinstance(func, Attr):
                owner = func.base.receiver if isinstance(func.base, Super) else func.base
                yield from self.types(Element(owner))
            elif entry.value.startswith("argument"):
                given = arguments.argument(self.evaluator, call, entry.value.removeprefix("argument"))
                yield from self.types(given) if given is not None else ()
            elif ":" in entry.value:
                yield from self.types(self.evaluator.attributes.given_class(call, entry.value.partition(":")[2]))
            return
        for job, described in self.evaluator.jobs_of(call):
            for given in arguments.given(self.evaluator, described, job.base):
                yield from self._named_class(given, call)
            yield External(self.packs.canonical(job.type))
            return
        if isinstance(resolved, External):
            yield resolved
        elif isinstance(resolved, Call) and (bases := self.bases_of_made(resolved)):
            yield from bases
        elif isinstance(func, Attr) and not self.types(func.base):
            yield from self._told_by_argument(call, func.name)

    def _told_by_argument(self, call: Call, name: str) -> Iterator[Value]:
        """What a method of an unknown object gives, where its name and an argument tell.

        The argument is a constant (`x.client("ses")`), a class of the project (`x.find_service(Mailer)`) or a job.
        """
        for entry in self._telling.get(name, ()):
            if entry.type:
                if arguments.holds(self.evaluator, call, entry.when):
                    yield External(self.packs.canonical(entry.type))
                    return
            elif (
                call.args and call.names[0] == "" and isinstance(cls := self.evaluator.resolve(call.args[0]), ClassRef)
            ):
                yield cls
                return
        job = self.evaluator.resolve(call.args[0]) if call.names == ("",) else None
        if isinstance(job, Call) and any(True for _ in self.evaluator.jobs_of(job)):
            yield from self.types(job)  # `request.task(job).delay(…)`: the job bound to something

    @cached_property
    def _telling(self) -> dict[str, list[v.Returns]]:
        """By the name of the method, what packs say of calls that an argument tells."""
        found: dict[str, list[v.Returns]] = {}
        for shape, pairs in self.packs.returns.items():
            for _, entry in pairs:
                by_class = entry.value.startswith("class:") and entry.value.endswith("|0")
                if (entry.type and entry.when) or by_class:
                    found.setdefault(shape.rpartition(".")[2], []).append(entry)
        return found

    def bases_of_made(self, made: Call) -> tuple[Value, ...]:
        """The bases of a class made by `type(name, bases, attributes)`; empty for any other call."""
        if self.evaluator.resolve(made.func) is not External("builtins.type") or len(made.args) != 3:
            return ()
        bases = self.evaluator.resolve(made.args[1])
        found = bases.items if isinstance(bases, Seq) else ()
        return tuple(cls for cls in map(self.evaluator.resolve, found) if isinstance(cls, ClassRef | External))

    def _named_class(self, given: Value, call: Call) -> Iterator[Value]:
        """A class given as itself or by a dotted string."""
        found = self.evaluator.resolve(given)
        if isinstance(found, ClassRef):
            yield found
        elif isinstance(found, Const) and isinstance(found.value, str):
            home, _, name = found.value.replace(":", ".").rpartition(".")
            module = self.program.module_named(home) if home else None
            value = self.evaluator.module_attr(module, name) if module is not None else None
            if isinstance(value, ClassRef):
                yield value

    def is_cls_param(self, param: Param) -> bool:
        """Whether a parameter is the `cls` of a class method."""
        function = self.program.function(param.function)
        by_name = function.name in ("__init_subclass__", "__class_getitem__")
        is_class_method = function.is_method and (by_name or function.has_decorator("classmethod"))
        return bool(is_class_method and function.params and function.params[0].name == param.name)

    def _of_param(self, param: Param) -> Iterator[Value]:
        function = self.program.function(param.function)
        if function.is_method and function.params and function.params[0].name == param.name:
            assert function.cls is not None
            yield ClassRef(function.cls.id)
            return
        annotated = self.evaluator.annotated(param)
        if annotated is not None and annotated is not param:
            yield from self.types(annotated)
            return
        passed = self.evaluator.passed(function, param.name)
        if passed is not None:
            yield from self.types(passed)
