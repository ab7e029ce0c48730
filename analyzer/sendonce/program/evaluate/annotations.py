"""What annotations say: some value of the class that they name."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sendonce import facts
from sendonce.program.reader import Reader
from sendonce.program.symbols import Class, Function, Module, own_nodes
from sendonce.program.values import (
    GENERIC,
    NONE,
    UNKNOWN,
    ClassRef,
    Const,
    External,
    Item,
    Op,
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

_COLLECTIONS = frozenset(
    ["list", "List", "Sequence", "Iterable", "Iterator", "set", "Set", "tuple", "Tuple", "frozenset", "FrozenSet",
     "Collection", "QuerySet", "AsyncIterator", "AsyncGenerator", "Generator", "AsyncIterable"]
)  # fmt: skip
_MAPPINGS = frozenset(["dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "DefaultDict", "OrderedDict"])
_NO_TYPES = frozenset(
    External(name) for name in ("typing.Any", "builtins.object", "typing.Callable", "collections.abc.Callable")
)


class Annotations:
    """Reads annotations as values of the types that they name."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.hierarchy = evaluator.hierarchy

    def read(self, annotation: facts.Expr, module: Module, cls: Class | None) -> Value:
        """Some value of an annotation that stands in a module, or in a class of it."""
        found = self.instance_of(Reader(self.evaluator, module.body, cls).annotation(annotation))
        return self._by_bare_name(annotation, module) if _is_unbound(found) else found

    def _by_bare_name(self, annotation: facts.Expr, module: Module) -> Value:
        """The class that is meant by a name in quotes which the module does not import."""
        found = [self.hierarchy.named(name, module.path) for name in _quoted(annotation)]
        return union(Some(ClassRef(cls.id)) for cls in found if cls is not None)

    def returned(self, function: Function) -> Value | None:
        """Some value of what a function says that it returns, if that is useful."""
        node = function.node
        if not isinstance(node, facts.Def) or node.returns is None:
            return None
        found = self.read(node.returns, function.module, function.cls)
        return None if found is UNKNOWN or found is NONE else found

    def declared(self, cls: ClassRef, name: str) -> Value:
        """Some value of the annotation that a class gives an attribute."""
        found = self.hierarchy.find(cls.id, name)
        if found is None or found[1][-1].annotation is None:
            return UNKNOWN
        return self.read(found[1][-1].annotation, found[0].module, found[0])

    def annotated(self, param: Param) -> Value | None:
        """Some value of the parameter's annotation, if it has a useful one."""
        function = self.program.function(param.function)
        for declared in function.params:
            if declared.name == param.name and declared.annotation is not None:
                found = self.read(declared.annotation, function.module, function.cls)
                return None if found is UNKNOWN or found is NONE else found
        return None

    def instance_of(self, annotation: Value) -> Value:
        """A value of an annotation: Optional, Union, Annotated and Self are seen through, collections kept."""
        match self.evaluator.resolve(annotation):
            case ClassRef() | External() as cls:
                return UNKNOWN if cls in _NO_TYPES else Some(cls)
            case Const(value=None):
                return NONE
            case Op(op="|", operands=operands):
                return self._one_of(operands)
            case Item(base=External(dotted=dotted), index=index):
                name = dotted.rpartition(".")[2]
                first = index.items[0] if isinstance(index, Seq) and index.items else index
                if name in ("Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "Mapped", "Self"):
                    return self.instance_of(first)
                if name == "Union":
                    return self._one_of(index.items if isinstance(index, Seq) else (index,))
                if name in ("type", "Type"):
                    return first
                if name in _MAPPINGS and isinstance(index, Seq) and len(index.items) == 2:
                    return Table((UNKNOWN,), (self.instance_of(index.items[1]),))
                if name in _COLLECTIONS:
                    return Seq("each", (self.instance_of(first),))
                if name == "Awaitable" or (name == "Coroutine" and isinstance(index, Seq) and index.items):
                    return self.instance_of(index.items[-1] if isinstance(index, Seq) and index.items else index)
                return self._of_generic(External(dotted), first)
            case Item(base=base):
                return self.instance_of(base)
            case _:
                return UNKNOWN

    def _of_generic(self, cls: External, argument: Value) -> Value:
        """An object of a library's generic class, with what is in it: `Promise[Order]`, `Future[Order]`."""
        inside = self.instance_of(argument)
        known = any(isinstance(one, ClassRef) for one in self.evaluator.types(inside))
        return Updated(Some(cls), GENERIC, inside) if known else Some(cls)

    def _one_of(self, annotations: tuple[Value, ...]) -> Value:
        found = [self.instance_of(one) for one in annotations]
        return union(one for one in found if one is not NONE)


def _is_unbound(value: Value) -> bool:
    """Whether all classes of an annotation are names that nothing binds."""
    classes = [one.cls if isinstance(one, Some) else one for one in options(value)]
    return all(isinstance(cls, External) and _is_no_builtin(cls.dotted) for cls in classes)


def _is_no_builtin(dotted: str) -> bool:
    home, _, name = dotted.rpartition(".")
    return home == "builtins" and not hasattr(builtins, name)


def _quoted(annotation: facts.Expr) -> Iterator[str]:
    """The class names in the quoted parts of an annotation."""
    for node in own_nodes(annotation):
        if isinstance(node, facts.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            yield node.value
