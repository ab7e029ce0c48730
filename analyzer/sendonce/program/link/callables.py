"""The project functions that calling a value runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sendonce.findings import Confidence, Why, weakest
from sendonce.program import arguments
from sendonce.program.evaluate import Evaluator
from sendonce.program.link.given import invoke_arguments
from sendonce.program.symbols import Function
from sendonce.program.values import (
    KNOWN_AS,
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    External,
    FunctionRef,
    Item,
    Op,
    Param,
    Seq,
    Some,
    Super,
    Table,
    Text,
    Union,
    Updated,
    Value,
    options,
)

MAX_NESTING = 5
"""Through how many wrappers a callable is followed."""
MAX_DECORATORS = 20
"""Through how many decorators of libraries: a command has one for each of its options."""


class Callee(NamedTuple):
    """A function that may run, with leading arguments that the callable already holds."""

    ref: FunctionRef
    names: tuple[str, ...] = ()
    args: tuple[Value, ...] = ()
    sure: Confidence = "high"
    why: Why = "exact"

    def with_more(self, names: tuple[str, ...], args: tuple[Value, ...]) -> Callee:
        """The same function, holding some more arguments."""
        return self._replace(names=(*self.names, *names), args=(*self.args, *args))


class Callables:
    """Finds functions behind values: references, wrapped functions, jobs, names of functions."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs

    def decorations(self, function: Function) -> tuple[Call, ...]:
        """The calls of library decorators that a function's name was bound through, outermost first."""
        found: list[Call] = []
        value = self.evaluator.decorated(function)
        for option in options(value):
            while isinstance(option, Call) and option.args:
                found.append(option)
                option = option.args[-1]
        return tuple(found)

    # ------------------------------------------------------------------ jobs and names

    def jobs(self, value: Value) -> Iterator[Callee]:
        """The functions behind a job: a function, a job object, a signature of one, a dotted string or a name."""
        resolved = self.evaluator.resolve(value)
        for option in options(resolved):
            if isinstance(option, Const) and isinstance(option.value, str):
                for ref in self.named(option.value):
                    yield Callee(ref)
            elif isinstance(option, Super):
                yield from self.jobs(option.receiver)
            else:
                yield from self.callables(option)

    def named(self, name: str) -> Iterator[FunctionRef]:
        """Functions of the tree by dotted path, or by a job's bare name."""
        dotted = name.replace(":", ".")
        home, _, last = dotted.rpartition(".")
        if home:
            found = self._dotted(home, last)
            if found is not None:
                yield found
                return
        for function in self.program.defined(last):
            if function.cls is None and function.parent is None and _may_be_in(function.module.key, home):
                yield FunctionRef(function.id)

    def _dotted(self, home: str, last: str) -> FunctionRef | None:
        module = self.program.module_named(home)
        if module is not None:
            value = self.evaluator.module_attr(module, last)
        else:
            owner, _, cls = home.rpartition(".")
            module = self.program.module_named(owner) if owner else None
            base = self.evaluator.module_attr(module, cls) if module is not None else None
            value = self.evaluator.resolve(Attr(base, last)) if base is not None else None
        for callee in self.callables(value) if value is not None else ():
            return callee.ref
        return None

    # ------------------------------------------------------------------ callables

    def callables(self, value: Value, depth: float = 0) -> Iterator[Callee]:
        """The project functions that calling a value runs, with leading arguments that it already holds."""
        if depth > MAX_NESTING:
            return
        resolved = self.evaluator.resolve(value)
        found = options(resolved)
        by_super = isinstance(value, Attr) and isinstance(value.base, Super)
        for option in found:
            # `super()` passes the methods of classes below by.
            exact = [Callee(option)] if by_super and isinstance(option, FunctionRef) else []
            for callee in exact or self._callable(option, depth):
                yield callee if len(found) == 1 else callee._replace(sure=weakest("medium", callee.sure), why="table")
        if isinstance(value, Attr) and any(map(_is_plain_function, found)):
            yield from self._below(value, depth)

    def _below(self, attribute: Attr, depth: float) -> Iterator[Callee]:
        """The functions that subclasses put in the place of one that stands in a class's attribute."""
        if not self._may_be_overridden(attribute.base):
            return
        for cls in self.evaluator.types(attribute.base):
            for below in (
                self.evaluator.hierarchy.overriding(cls.id, attribute.name) if isinstance(cls, ClassRef) else ()
            ):
                for callee in self.callables(Attr(Some(ClassRef(below.id)), attribute.name), depth + 1):
                    yield callee._replace(sure=weakest("medium", callee.sure), why="override")

    def _callable(self, option: Value, depth: float) -> Iterator[Callee]:
        match option:
            case FunctionRef(receiver=receiver) if receiver is not None and self._may_be_overridden(receiver):
                yield from self._overrides(option, receiver)
            case FunctionRef():
                yield Callee(option)
            case ClassRef():
                init = self.evaluator.hierarchy.method_of(option, "__init__")
                if init is not None:
                    yield Callee(FunctionRef(init.id, Some(option)))
            case Call():
                yield from self._called(option, depth)
            case Op(op="or" | "and", operands=operands):
                for operand in operands:
                    yield from self.callables(operand, depth + 1)
            case Const() | Table() | Seq() | Text() | Union() | Super() | External():
                return
            case Param() if self.evaluator.is_cls_param(option):
                for cls in self.evaluator.types(option):
                    yield from self._callable(cls, depth)
            case Attr(base=base, name=name):
                yield from self._instance_call(option)
                yield from self._implementations(base, name)
            case _:
                yield from self._instance_call(option)

    def _implementations(self, base: Value, name: str) -> Iterator[Callee]:
        """The methods of subclasses where the class of an object is known, which has no such method itself."""
        if isinstance(base, Super):  # passes the methods of classes below by
            return
        classes = [cls.id for cls in self.evaluator.types(base) if isinstance(cls, ClassRef)]
        below = [cls for id in classes for cls in self.evaluator.hierarchy.overriding(id, name)]
        for cls in dict.fromkeys(cls for cls in below if name in cls.methods):
            yield Callee(FunctionRef(cls.methods[name].id, base), sure="medium", why="override")

    def _instance_call(self, value: Value) -> Iterator[Callee]:
        """An object with `__call__`."""
        for cls in self.evaluator.types(value):
            method = self.evaluator.hierarchy.method_of(cls, "__call__")
            if method is not None:
                yield Callee(FunctionRef(method.id, value))

    # ------------------------------------------------------------------ results of calls

    def _called(self, call: Call, depth: float) -> Iterator[Callee]:
        """What the result of a call is as a callable: a partial, a wrapped or decorated function, an instance."""
        wrapped = self._wrapped(call)
        if wrapped is not None:
            inner, names, args = wrapped
            for callee in self.callables(inner, depth + 1):
                yield callee.with_more(names, args)
            return
        is_job = any(True for _ in self.evaluator.jobs_of(call))
        instance = [] if is_job else list(self._instance_call(call))
        if instance:
            yield from instance
        elif call.args and call.names[-1] == "" and not isinstance(call.func, ClassRef):
            # A library's decorator that no pack describes keeps the function.
            last = self.evaluator.resolve(call.args[-1])
            if isinstance(last, FunctionRef | Call):
                yield from self.callables(last, depth + MAX_NESTING / MAX_DECORATORS)

    def _wrapped(self, call: Call) -> tuple[Value, tuple[str, ...], tuple[Value, ...]] | None:
        """The callable inside a partial or wrapper, with the arguments that it adds."""
        func, names, args = call.func, call.names, call.args
        if "functools.partial" in self.evaluator.shapes(func) and args:
            return args[0], names[1:], args[1:]
        for _, returns in self.evaluator.lookup(self.packs.returns, func):
            if returns.binds and isinstance(func, Attr):
                return func.base, names, args
        for _, entry in self.evaluator.lookup(self.packs.invokes, func):
            if entry.wraps:
                inner = arguments.first_argument(self.evaluator, call, entry.function)
                if inner is not None:
                    return (inner, *invoke_arguments(self.evaluator, call, entry))
        return None

    # ------------------------------------------------------------------ methods of subclasses

    def _may_be_overridden(self, receiver: Value) -> bool:
        """Whether only the class of the receiver is known, so that a subclass's method may run instead."""
        known = self.evaluator.resolve(receiver)
        while isinstance(known, Updated) and known.field == KNOWN_AS:
            known = self.evaluator.resolve(known.base)
        made = isinstance(known, Call) and isinstance(self.evaluator.resolve(known.func), ClassRef)
        return isinstance(known, Param | Some | Attr | Item | Element | Call) and not made

    def _overrides(self, ref: FunctionRef, receiver: Value) -> Iterator[Callee]:
        function = self.program.function(ref.id)
        others = [
            cls.methods[function.name]
            for one in self.evaluator.types(receiver)
            if isinstance(one, ClassRef) and function.name != "__init__"
            for cls in self.evaluator.hierarchy.overriding(one.id, function.name)
            if function.name in cls.methods and cls.methods[function.name] is not function
        ]
        yield Callee(ref, sure="medium" if others else "high", why="typed")
        for other in others:
            yield Callee(FunctionRef(other.id, ref.receiver), sure="medium", why="override")


def _is_plain_function(value: Value) -> bool:
    """Whether a value is a function that no object is bound to: one in a class's attribute, a static method."""
    while isinstance(value, Call) and value.func is External("builtins.staticmethod") and value.args:
        value = value.args[-1]
    return isinstance(value, FunctionRef) and value.receiver is None


def _may_be_in(module: str, home: str) -> bool:
    """Whether a module may be the one that a dotted name means: the roots of both may be left out."""
    return not home or module == home or module.endswith(f".{home}") or home.endswith(f".{module}")
