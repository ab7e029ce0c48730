"""What a loop over a value gives, and what `with` binds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sendonce import facts
from sendonce.program import arguments
from sendonce.program.values import (
    GENERIC,
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Element,
    External,
    FunctionRef,
    Item,
    Param,
    Seq,
    Some,
    Table,
    Updated,
    Value,
    options,
    union,
)

if TYPE_CHECKING:
    from sendonce.program.evaluate.evaluator import Evaluator
    from sendonce.program.symbols import Function

_ITERATES = frozenset(
    ["builtins.list", "builtins.tuple", "builtins.set", "builtins.sorted", "builtins.reversed", "builtins.iter",
     "builtins.frozenset", "builtins.next"]
)  # fmt: skip


class Elements:
    """Answers for one item of a collection, whichever, and for what `with` binds."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.hierarchy = evaluator.hierarchy
        self._expanded: set[str] = set()
        """Generator functions whose yielded value is just being read."""

    def of(self, value: Element, base: Value) -> Value:
        """One of the items of `base`; `value` itself where none is known."""
        found = [self._of_option(option) or _chosen(option, base) for option in options(self.evaluator.resolve(base))]
        known = [one for one in found if one is not None and one is not UNKNOWN]
        return union(known) if known else value

    def _of_option(self, base: Value) -> Value | None:
        match base:
            case Seq(items=items):
                return union(self.evaluator.resolve(item) for item in items) if items else None
            case Table(keys=keys):
                return union(keys) if keys else None
            case Updated(base=inner, field="model", value=ClassRef() as model):
                return Some(model)
            case Updated(field=field, value=inside) if field == GENERIC:
                return inside
            case Updated(base=inner):
                return self._of_option(self.evaluator.resolve(inner))
            case ClassRef(id=id) if self.hierarchy.is_enum(id):
                return union(Attr(base, name) for name in self.hierarchy.members(id))
            case ClassRef(id=id) if self.hierarchy.external_bases(id):
                return Some(base)  # a model that is asked for rows without a manager: `Order.get(…)`
            case Attr(base=owner) if self._keeps_model(base):
                return self._row_of(owner)
            case Attr(base=owner, name=name):
                return self._of_attribute(owner, name)
            case Some(cls=ClassRef(id=id)):
                return self._of_object(base, id)
            case Call():
                return self._of_call(base)
            case Param():
                return self._of_param(base)
            case _:
                return None

    def _of_object(self, base: Value, id: str) -> Value | None:
        return self._iterated(base, ClassRef(id)) or self.evaluator.models.manager_row(id)

    def _of_call(self, call: Call) -> Value | None:
        """An item of what a call gives."""
        match call.func:
            case Attr(base=owner) if self._call_keeps_model(call):
                return self.evaluator.resolve(Element(owner))
            case ClassRef(id=id):
                return self._of_object(call, id)
            case External(dotted=dotted) if (given := _paired(dotted, call)) is not None:
                return self.evaluator.resolve(given)
        found = self._yielded(call) or self._of_statement(call)
        if found is None and call.args and self.evaluator.shapes(call.func) & _ITERATES:
            return self.evaluator.resolve(Element(call.args[0]))
        return found

    def _of_attribute(self, owner: Value, name: str) -> Value | None:
        """An item of an attribute that classes annotate."""
        classes = [cls for cls in self.evaluator.types(owner) if isinstance(cls, ClassRef)]
        declared = [self.evaluator.annotations.declared(cls, name) for cls in classes]
        return union(filter(None, (self._of_option(one) for one in declared))) if declared else None

    def _of_statement(self, call: Call) -> Value | None:
        """A row of what was made of a class or of a statement about it: `select(Order)`, `session.scalars(…)`."""
        for cls in self.evaluator.types(call):
            entries = self.packs.model_classes.get(cls.dotted, ()) if isinstance(cls, External) else ()
            for given in (
                one for _, entry in entries for one in arguments.given(self.evaluator, call, entry.arguments)
            ):
                found = self.evaluator.resolve(given)
                row = Some(found) if isinstance(found, ClassRef) else self.evaluator.resolve(Element(found))
                if not isinstance(row, Element):
                    return row
        return None

    def _row_of(self, owner: Value) -> Value | None:
        for option in options(self.evaluator.resolve(owner)):
            if isinstance(option, ClassRef):
                return Some(option)
        return None

    def _iterated(self, owner: Value, cls: ClassRef) -> Value | None:
        """An item of an object of a class that says itself what looping over it gives."""
        method = self.hierarchy.method_of_instance((cls,), "__iter__", "__aiter__")
        if method is None:
            return None
        started = Call(FunctionRef(method.id, owner), (), (), method.place)
        iterator = self.evaluator.resolve(started)
        step = self.hierarchy.method_of_instance(self.evaluator.types(iterator), "__next__", "__anext__")
        if step is not None:
            started = Call(FunctionRef(step.id, iterator), (), (), step.place)
            found = self.evaluator.resolve(started)
        else:
            found = self.evaluator.resolve(Element(iterator))
        return None if found is started or isinstance(found, Element) else found

    def _yielded(self, call: Call) -> Value | None:
        """An item of what a project's generator function yields."""
        for option in options(self.evaluator.resolve(call.func)):
            if isinstance(option, FunctionRef):
                function = self.program.function(option.id)
                if isinstance(function.node, facts.Def) and function.node.is_generator:
                    return self._yielded_by(function, arguments.bind(self.evaluator, option, call.names, call.args))
        return None

    def _yielded_by(self, function: Function, binding: dict[Param, Value]) -> Value | None:
        if function.id in self._expanded:
            return None  # what a generator yields from itself says nothing that the outer one does not
        self._expanded.add(function.id)
        try:
            return self.evaluator.calls.filled(self.evaluator.flow_of(function).returned, binding)
        finally:
            self._expanded.discard(function.id)

    def _of_param(self, param: Param) -> Value | None:
        """An item of a parameter: by its annotation, what a framework passes, or as a manager's own `self`."""
        function = self.program.function(param.function)
        if function.is_method and function.params and function.params[0].name == param.name:
            return self.evaluator.models.manager_row(function.cls.id) if function.cls is not None else None
        if self.of_annotation(param) is not None:
            return None  # its type is known, but a caller may tell which one it is
        given = self.evaluator.passed(function, param.name)
        return self._of_option(given) if given is not None and given is not param else None

    def of_annotation(self, param: Param) -> Value | None:
        """Some item of a parameter by its annotation: `orders: list[Order]`."""
        annotated = self.evaluator.annotated(param)
        return None if annotated is None or annotated is param else self._of_option(annotated)

    def _keeps_model(self, value: Attr) -> bool:
        return any(entry.keeps_model for _, entry in self.evaluator.lookup(self.packs.returned_attributes, value))

    def _call_keeps_model(self, value: Call) -> bool:
        return any(entry.keeps_model for _, entry in self.evaluator.lookup(self.packs.returns, value.func))

    def entered(self, value: Value, base: Value) -> Value:
        """What `with base as x` binds: what a project's context manager yields, what `__enter__` returns, itself."""
        found: list[Value] = []
        for option in options(self.evaluator.resolve(base)):
            enter = self.hierarchy.method_of_instance(self.evaluator.types(option), "__enter__", "__aenter__")
            if enter is not None:
                ref = FunctionRef(enter.id, option)
                got = self.evaluator.resolve(Call(ref, (), (), enter.place))
                found.append(option if isinstance(got, Call) and got.func is ref else got)
            else:
                found.append(option)
        return union(found)


def _paired(name: str, call: Call) -> Value | None:
    """An item of what some functions of the language make of collections."""
    if not call.args or any(word in ("*", "**") for word in call.names):
        return None
    given = [arg for word, arg in zip(call.names, call.args, strict=True) if word == ""]
    match name.removeprefix("builtins."):
        case "enumerate" if given:
            return Seq("tuple", (UNKNOWN, Element(given[0])))
        case "zip":
            return Seq("tuple", tuple(map(Element, given)))
        case "map" if len(given) > 1:
            return Call(given[0], ("",) * (len(given) - 1), tuple(map(Element, given[1:])), call.at)
        case "filter" if len(given) == 2:
            return Element(given[1])
        case "itertools.chain":
            return union(map(Element, given))
        case _:
            return None


def _chosen(option: Value, base: Value) -> Value | None:
    """An item of what a table gives for a key that a caller knows (`for one in HANDLERS.get(kind, []):`)."""
    return Element(option) if option is not base and isinstance(option, Item) and option.index.free else None
