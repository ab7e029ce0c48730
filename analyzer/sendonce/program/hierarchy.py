"""Classes and their ancestors: method resolution order, library bases, subclasses, enums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from sendonce import facts
from sendonce.program.reader import Reader
from sendonce.program.symbols import Binding, Class, Function, own_nodes
from sendonce.program.values import ClassRef, External, Value, options

if TYPE_CHECKING:
    from sendonce.program.evaluate import Evaluator
    from sendonce.program.program import Program

_ENUMS = frozenset(
    ["enum.Enum", "enum.StrEnum", "enum.IntEnum", "enum.Flag", "django.db.models.TextChoices",
     "django.db.models.IntegerChoices", "django.db.models.Choices"]
)  # fmt: skip


class Hierarchy:
    """Questions about classes of the tree, memoised."""

    def __init__(self, program: Program, evaluator: Evaluator) -> None:
        self.program = program
        self.evaluator = evaluator
        self._bases: dict[str, tuple[Value, ...]] = {}
        self._mro: dict[str, tuple[Class, ...]] = {}
        self._external: dict[str, tuple[str, ...]] = {}
        self._subclasses: dict[str, tuple[Class, ...]] = {}
        self._writers: dict[tuple[str, str], tuple[Function, ...]] = {}
        self._assigned: dict[str, frozenset[str]] = {}

    def bases(self, id: str) -> tuple[Value, ...]:
        """The values of a class's bases."""
        if id not in self._bases:
            self._bases[id] = ()  # a class that inherits from itself by accident ends here
            cls = self.program.cls(id)
            reader = Reader(self.evaluator, cls.parent or cls.module.body)
            found = [
                option
                for arg in cls.node.bases
                if arg.keyword is None and not arg.star
                for option in options(self.evaluator.resolve(_generic(reader.read(arg.value))))
            ]
            self._bases[id] = (*found, *self._implemented(cls, reader))
        return self._bases[id]

    def _implemented(self, cls: Class, reader: Reader) -> Iterator[Value]:
        """The interfaces that a class names in a decorator."""
        for decorator in cls.node.decorators:
            if isinstance(decorator, facts.Call):
                func = self.evaluator.resolve(reader.read(decorator.func))
                if isinstance(func, External) and func.dotted in self.program.packs.implements:
                    for arg in decorator.args:
                        yield from options(self.evaluator.resolve(reader.read(arg.value)))

    def mro(self, id: str) -> tuple[Class, ...]:
        """The project classes of a class's method resolution order, itself first (C3, else depth first)."""
        if id not in self._mro:
            self._mro[id] = (self.program.cls(id),)
            own = [base.id for base in self.bases(id) if isinstance(base, ClassRef)]
            orders = [[cls.id for cls in self.mro(base)] for base in own]
            merged = _merge([*orders, own])
            if merged is None:
                merged = list(dict.fromkeys(found for order in orders for found in order))
            self._mro[id] = tuple(self.program.cls(found) for found in [id, *(m for m in merged if m != id)])
        return self._mro[id]

    def external_bases(self, id: str) -> tuple[str, ...]:
        """Library classes that a class inherits from, directly or not, by their documented names."""
        if id not in self._external:
            found: dict[str, None] = {}
            for cls in self.mro(id):
                names = [shape for base in self.bases(cls.id) for shape in self._names(base)]
                implied = self._implied(cls) if any(not self.program.packs.bases(name) for name in names) else ()
                own = (cls.id,) if cls.id in self.program.packs.declared_classes else ()
                for shape in (*own, *self._copied(cls), *names, *implied):
                    found.setdefault(shape)
                    for ancestor in self.program.packs.bases(shape):
                        found.setdefault(ancestor)
            self._external[id] = tuple(found)
        return self._external[id]

    def is_declared(self, cls: Class, name: str) -> bool:
        """Whether the user's packs say what a method of a class does."""
        return f"{cls.id}().{name}" in self.program.packs.declared

    def _copied(self, cls: Class) -> tuple[str, ...]:
        """The library class that a class in vendored code is a copy of, if it sends: one of its name and method."""
        if cls.module.file.role == "vendored":
            for shape in self.program.packs.sends:
                owner, _, method = shape.rpartition("().")
                if owner.rpartition(".")[2] == cls.name and method in cls.methods:
                    return (owner,)
        return ()

    def _implied(self, cls: Class) -> Iterator[str]:
        """The library class that a class with an unknown base is: calls in its body tell (`models.CharField`)."""
        reader = Reader(self.evaluator, cls.module.body, cls)
        for bindings in cls.scope.values():
            node = bindings[-1].node
            if isinstance(node, facts.Call) and not isinstance(node.func, facts.Call):
                func = self.evaluator.resolve(reader.read(node.func))
                for prefix, base in self.program.packs.implied.items():
                    if isinstance(func, External) and func.dotted.startswith(prefix):
                        yield base
                        return

    def _names(self, base: Value) -> Iterable[str]:
        if isinstance(base, External):
            return (base.dotted,)
        return () if isinstance(base, ClassRef) else sorted(self.evaluator.shapes(base))

    def is_enum(self, id: str) -> bool:
        """Whether the class is an enumeration."""
        return not _ENUMS.isdisjoint(self.external_bases(id))

    def members(self, id: str) -> tuple[str, ...]:
        """The names of an enumeration's members."""
        scope = self.program.cls(id).scope
        return tuple(
            name
            for name, bound in scope.items()
            if not name.startswith("_") and not isinstance(bound[-1].node, facts.Def | facts.Class)
        )

    def find(self, id: str, name: str) -> tuple[Class, list[Binding]] | None:
        """The class along the order that binds a name in its body, with the bindings."""
        for cls in self.mro(id):
            if name in cls.scope:
                return cls, cls.scope[name]
        return None

    def method_of(self, value: Value, name: str) -> Function | None:
        """The method that a class (as a value) has under a name."""
        return self.program.method(self.mro(value.id), name) if isinstance(value, ClassRef) else None

    def method_of_instance(self, types: Iterable[Value], *names: str) -> Function | None:
        """The first method of these names that an instance of one of these classes has."""
        for cls in types:
            for name in names:
                found = self.method_of(cls, name)
                if found is not None:
                    return found
        return None

    def after(self, cls: str, types: Iterable[Value]) -> Iterator[Class]:
        """The classes that `super()` in a method of `cls` looks at, for an instance of these types."""
        orders = [self.mro(one.id) for one in types if isinstance(one, ClassRef)]
        for order in [*orders, self.mro(cls)]:
            ids = [found.id for found in order]
            if cls in ids:
                yield from order[ids.index(cls) + 1 :]
                return

    def subclasses(self, id: str) -> tuple[Class, ...]:
        """All known classes below a class, by id; files that mention its name are parsed for it."""
        if id not in self._subclasses:
            self._subclasses[id] = ()
            found: dict[str, Class] = {}
            for cls in self.direct_subclasses(id):
                for below in (cls, *self.subclasses(cls.id)):
                    found.setdefault(below.id, below)
            self._subclasses[id] = tuple(found[key] for key in sorted(found))
        return self._subclasses[id]

    def overridden(self, id: str, name: str) -> bool:
        """Whether a class below binds a name in its body."""
        return any(True for _ in self.overriding(id, name))

    def overriding(self, id: str, name: str) -> Iterator[Class]:
        """The classes below a class that bind a name in their bodies, by id; none is parsed if text rules them out."""
        if self.program.index.below(self.program.cls(id).name).binds(name):
            yield from (cls for cls in self.subclasses(id) if name in cls.scope)

    def mixing(self, id: str) -> tuple[Class, ...]:
        """All known classes below a class, if one of them may have other bases beside it; else none."""
        return self.subclasses(id) if self.program.index.below(self.program.cls(id).name).several else ()

    def fields(self, id: str) -> tuple[str, ...]:
        """The annotated names in the bodies of a class without a constructor of its own, the bases' first."""
        order = self.mro(id)
        if self.program.method(order, "__init__") is not None:
            return ()
        found = (name for cls in reversed(order) for name, bound in cls.scope.items() if bound[-1].annotation)
        return tuple(dict.fromkeys(found))

    def direct_subclasses(self, id: str) -> Iterator[Class]:
        """The known classes that name a class among their bases, by file."""
        for file in self.program.index.inheriting(self.program.cls(id).name):
            module = self.program.module_of(file)
            for cls in module.classes.values() if module is not None else ():
                if (cls.node.bases or cls.node.decorators) and ClassRef(id) in self.bases(cls.id):
                    yield cls

    def named(self, name: str, path: str) -> Class | None:
        """The class with a bare name that is nearest to a file, as string references in models mean it."""
        found: list[tuple[int, str, Class]] = []
        for file in self.program.index.defining(name):
            module = self.program.module_of(file)
            classes = module.classes.values() if module is not None else ()
            found.extend((-_shared(path, file.path), file.path, cls) for cls in classes if cls.name == name)
        return min(found, key=lambda one: one[:2])[2] if found else None

    def writers(self, id: str, name: str) -> tuple[Function, ...]:
        """The methods of a class and its bases that assign to this attribute of their first parameter."""
        key = (id, name)
        if key not in self._writers:
            self._writers[key] = tuple(
                method
                for cls in self.mro(id)
                for method in cls.methods.values()
                if method.is_method and name in self.assigned(method)
            )
        return self._writers[key]

    def assigned(self, method: Function) -> frozenset[str]:
        """The attributes that a method assigns on its first parameter."""
        if method.id not in self._assigned:
            self._assigned[method.id] = frozenset(_assigned(method)) if method.params else frozenset()
        return self._assigned[method.id]


def _generic(base: Value) -> Value:
    """`Generic[T]` and the like are their own base."""
    from sendonce.program.values import Item

    return base.base if isinstance(base, Item) else base


def _assigned(method: Function) -> Iterator[str]:
    first = method.params[0].name
    for node in own_nodes(method.node):
        targets: tuple[object, ...] = ()
        if isinstance(node, facts.Assign):
            targets = node.targets
        elif isinstance(node, facts.AugAssign):
            targets = (node.target,)
        elif isinstance(node, facts.With):
            targets = tuple(item.target for item in node.items)
        for target in targets:
            for one in target.items if isinstance(target, facts.Sequence) else (target,):
                if isinstance(one, facts.Attribute) and isinstance(one.value, facts.Name) and one.value.id == first:
                    yield one.attr


def _merge(orders: list[list[str]]) -> list[str] | None:
    """The C3 merge; None where there is no consistent order."""
    merged: list[str] = []
    orders = [list(order) for order in orders if order]
    while orders:
        tails = {name for order in orders for name in order[1:]}
        head = next((order[0] for order in orders if order[0] not in tails), None)
        if head is None:
            return None
        merged.append(head)
        orders = [rest for order in orders if (rest := [name for name in order if name != head])]
    return merged


def _shared(left: str, right: str) -> int:
    """How many leading folders two paths share."""
    count = 0
    for a, b in zip(left.split("/"), right.split("/"), strict=False):
        if a != b:
            break
        count += 1
    return count
