"""What symbolic values stand for: names, attributes, items, types, returned values and shapes.

`Evaluator.resolve` reduces the head of a value as far as the code allows and gives the value
itself where it cannot. Everything is memoised; a question that comes back to itself while it is
being answered gets "unknown".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Protocol, TypeVar, cast

from sendonce import facts
from sendonce import vocabulary as v
from sendonce.packs import Table as PackTable
from sendonce.program import arguments
from sendonce.program.getattrs import attribute_names
from sendonce.program.held import Site
from sendonce.program.hierarchy import Hierarchy
from sendonce.program.models import Models
from sendonce.program.naming import ByName, split_text
from sendonce.program.newness import is_new
from sendonce.program.program import Program
from sendonce.program.reader import Reader
from sendonce.program.symbols import Binding, Class, Function, Module, own_nodes
from sendonce.program.values import (
    NONE,
    UNKNOWN,
    At,
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    External,
    FunctionRef,
    Item,
    ModuleRef,
    Op,
    Param,
    Seq,
    Some,
    Super,
    Table,
    Text,
    Union,
    Unknown,
    Updated,
    Value,
    options,
    substitute,
    text,
    thinned,
    union,
)

SMALL = 12
"""What a function is given is kept whole up to this size where the result would be too large."""
MAX_DEPTH = 40
"""How deep one question may lead to others before the answer is unknown."""

MAX_FLOOR = 80
"""How deep a question may be that starts a walk."""

MAX_SUPERS = 5
"""Through how many constructors an argument is followed."""

MAX_REPEATS = 2
"""How often a question that leads back to itself is answered anew before its answer is kept."""

T = TypeVar("T")


class Flow(Protocol):
    """What the evaluator asks of the walk over a function (see `flow.py`)."""

    sites: list[Site]

    @property
    def returned(self) -> Value: ...
    def binding(self, name: str) -> Value | None: ...
    def written(self, attr: str) -> tuple[Value, ...]: ...


class Evaluator:
    """Answers questions about values in one program. `flow_of` walks a function's body (memoised by its owner)."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.packs = program.packs
        self.hierarchy = Hierarchy(program, self)
        self.by_name = ByName(self)
        self.models = Models(self)
        self.flow_of: Callable[[Function], Flow] = _no_flow
        self._memo: dict[tuple[object, ...], object] = {}
        self._busy: dict[tuple[object, ...], int] = {}
        self._lowest = 0
        self._floor = 0
        self._thrown: dict[tuple[object, ...], int] = {}
        self._expanded: set[str] = set()
        """Functions whose returned value is just being read."""

    def _once(self, key: tuple[object, ...], answer: Callable[[], T], unknown: T) -> T:
        """The memoised answer to a question; `unknown` while it is being answered or too deep."""
        if key in self._memo:
            return self._memo[key]  # type: ignore[return-value]
        index = len(self._busy)
        if key in self._busy:
            self._lowest = min(self._lowest, self._busy[key])
            return unknown
        if index - self._floor > MAX_DEPTH:
            return unknown
        self._busy[key] = index
        outer, self._lowest = self._lowest, index
        try:
            found = answer()
        finally:
            del self._busy[key]
            inner, self._lowest = self._lowest, min(outer, self._lowest)
        if inner >= index:
            self._lowest = outer
        if (inner >= index and index - self._floor < MAX_DEPTH // 2) or self._asked(key) > MAX_REPEATS:
            # An answer that hangs on a question further out, or was found too deep, may have been cut short.
            self._memo[key] = found
        return found

    @contextmanager
    def afresh(self) -> Iterator[None]:
        """Lets questions inside go as deep as if nothing was being answered: what a walk finds is kept for good."""
        before = self._floor
        self._floor = max(before, min(len(self._busy), MAX_FLOOR))
        try:
            yield
        finally:
            self._floor = before

    def _asked(self, key: tuple[object, ...]) -> int:
        """Counts the answers that were thrown away: a knot of questions must end some time."""
        self._thrown[key] = self._thrown.get(key, 0) + 1
        return self._thrown[key]

    # -------------------------------------------------------------- names

    def name(self, function: Function, name: str) -> Value:
        """What a name means in a function that does not bind it: enclosing functions, module, builtins."""
        outer = function.parent
        while outer is not None:
            found = self.flow_of(outer).binding(name)
            if found is not None:
                return found
            outer = outer.parent or (self._method_home(outer))
        return self.module_name(function.module, name)

    @staticmethod
    def _method_home(function: Function) -> Function | None:
        return function.cls.parent if function.cls is not None else None

    def module_name(self, module: Module, name: str) -> Value:
        """What a name means at the top of a module, star imports and builtins included."""
        found = self.module_attr(module, name)
        return found if found is not None else External(f"builtins.{name}")

    def module_attr(self, module: Module, name: str) -> Value | None:
        """What `module.name` is; None where the module does not bind it."""
        key = ("module", module.key, name)
        return self._once(key, lambda: self._module_attr(module, name), cast("Value | None", UNKNOWN))

    def _module_attr(self, module: Module, name: str) -> Value | None:
        found = module.scope.get(name)
        if found:
            return self._bound(module, None, found)
        for star in module.stars:
            target = self.imported_module(module, star)
            if isinstance(target, ModuleRef):
                inner = self.program.module_named(target.name, module)
                if inner is not None and inner is not module and not name.startswith("_"):
                    value = self.module_attr(inner, name)
                    if value is not None:
                        return value
        if module.is_package and self._is_module(f"{module.file.module}.{name}"):
            return ModuleRef(f"{module.file.module}.{name}")
        return None

    def _is_module(self, dotted: str) -> bool:
        return bool(self.program.sources.by_module(dotted)) or self.program.is_package(dotted)

    def _bound(self, module: Module, cls: Class | None, bindings: list[Binding]) -> Value:
        """The value of a name: its last certain binding, joined with the conditional ones after it."""
        last = max((i for i, b in enumerate(bindings) if not b.conditional), default=0)
        values = [self.binding_value(module, cls, binding) for binding in bindings[last:]]
        known = [value for value in values if value is not UNKNOWN and value is not NONE]
        return union(known) if known else (values[-1] if values else UNKNOWN)

    def binding_value(self, module: Module, cls: Class | None, binding: Binding) -> Value:
        """The value that one binding of a module or class gives."""
        key = ("binding", module.key, binding)
        return self._once(key, lambda: self._binding_value(module, cls, binding), UNKNOWN)

    def _binding_value(self, module: Module, cls: Class | None, binding: Binding) -> Value:
        match binding.node:
            case facts.Def():
                return self.decorated(self.program.function(binding.imported))
            case facts.Class():
                return ClassRef(binding.imported)
            case facts.Import(name=name):
                dotted = binding.imported or name.partition(".")[0]
                return self._module_value(dotted, module)
            case facts.ImportFrom():
                return self.imported_name(module, binding.node, binding.imported)
            case facts.Ellipsis_() if binding.annotation is not None:
                return self.instance_of(Reader(self, module.body, cls).annotation(binding.annotation))
            case _:
                return self.at_path(Reader(self, module.body, cls, binding).read(binding.node), binding.path)

    def at_path(self, value: Value, path: tuple[int | str, ...]) -> Value:
        """The part of a value that an unpacking target gets."""
        for step in path:
            if step == "*":
                value = Element(value)
            elif step == "with":
                value = Element(value, True)
            elif isinstance(step, int):
                value = self.item(value, Const(step))
            else:
                value = UNKNOWN
        return value

    def decorated(self, function: Function) -> Value:
        """The value that a `def` binds: its decorators, innermost first, called with the function."""
        key = ("decorated", function.id)
        return self._once(key, lambda: self._decorated(function), cast(Value, FunctionRef(function.id)))

    def _decorated(self, function: Function) -> Value:
        value: Value = FunctionRef(function.id)
        if not isinstance(function.node, facts.Def):
            return value
        if function.parent is not None:
            value = self.closed(function, value)
        reader = Reader(self, function.parent or function.module.body, function.cls)
        for decorator in reversed(function.node.decorators):
            applied = reader.read(decorator)
            if isinstance(applied, External) and applied.dotted in _PLAIN_DECORATORS:
                continue
            value = self.applied(applied, value, (function.module.path, *decorator.at[:2]))
        return value

    def applied(self, decorator: Value, value: Value, at: At) -> Value:
        """What a decorator makes of a function; plain ones of the language change nothing here."""
        if isinstance(decorator, External) and decorator.dotted in _PLAIN_DECORATORS:
            return value
        return self._kept(Call(decorator, ("",), (value,), at))

    def direct(self, call: Call) -> Call:
        """The call with partials undone: of the function inside, with all arguments."""
        func = self.resolve(call.func)
        if isinstance(func, Call) and func.args and "functools.partial" in self.shapes(func.func):
            return self.direct(
                Call(func.args[0], (*func.names[1:], *call.names), (*func.args[1:], *call.args), call.at)
            )
        return call

    def seen_through(self, value: Value) -> Value:
        """What a call that only wraps something was given: `json.dumps(body)`, `message.as_string()`."""
        found = self.resolve(value)
        while isinstance(found, Call):
            inner = self._wrapped(found)
            if inner is None:
                break
            found = self.resolve(inner)
        return found

    def _wrapped(self, call: Call) -> Value | None:
        for _, entry in self.lookup(self.packs.returns, call.func):
            if entry.value == "receiver" and isinstance(call.func, Attr):
                return call.func.base
            if entry.value.startswith("argument|"):
                return arguments.argument(self, call, entry.value.removeprefix("argument"))
        return None

    def never_returns(self, call: Call) -> bool:
        """Whether a call always raises: a library's `abort`, or a project function that ends in `raise`."""
        for option in options(self.resolve(call.func)):
            if isinstance(option, FunctionRef):
                node = self.program.function(option.id).node
                if not (isinstance(node, facts.Def) and _only_raises(node)):
                    return False
            elif not any(entry.value == "never" for _, entry in self.lookup(self.packs.returns, option)):
                return False
        return True

    def suppresses(self, context: Value) -> bool:
        """Whether a context manager swallows exceptions of its body (`contextlib.suppress`)."""
        return "contextlib.suppress()" in self.shapes(context)

    def closed(self, function: Function, value: Value) -> Value:
        """An inner function with its enclosing functions' parameters as its closure."""
        pairs: list[tuple[Param, Value]] = []
        outer = function.parent
        while outer is not None:
            pairs.extend((Param(outer.id, p.name),) * 2 for p in outer.params)
            outer = outer.parent
        return FunctionRef(function.id, None, tuple(pairs)) if pairs else value

    def _kept(self, value: Call) -> Value:
        """What an own decorator returns: the wrapper, or the function it was given; unknown ones keep the function."""
        found = self.resolve(value)
        if found is value or found is UNKNOWN:
            project = any(isinstance(one, FunctionRef) for one in options(self.resolve(value.func)))
            return value.args[0] if project else value
        return found

    # -------------------------------------------------------------- imports

    def imported_module(self, module: Module, node: facts.ImportFrom) -> Value:
        """The module that a `from … import` names."""
        if node.level == 0:
            return self._module_value(node.module, module)
        parts = module.package.split(".") if module.package else []
        kept = parts[: len(parts) - (node.level - 1)] if node.level > 1 else parts
        return self._module_value(".".join([*kept, *([node.module] if node.module else [])]), module)

    def _module_value(self, dotted: str, near: Module) -> Value:
        if self._is_module(dotted):
            return ModuleRef(dotted)
        return External(self.packs.canonical(dotted))

    def imported_name(self, module: Module, node: facts.ImportFrom, name: str) -> Value:
        """The value that `from … import name` binds; a submodule where the module has no such name."""
        home = self.imported_module(module, node)
        if isinstance(home, External):
            return External(self.packs.canonical(f"{home.dotted}.{name}"))
        assert isinstance(home, ModuleRef)
        return self._module_member(home, name, module)

    def _module_member(self, home: ModuleRef, name: str, near: Module | None = None) -> Value:
        inner = self.program.module_named(home.name, near)
        if inner is not None and inner is not near:
            found = self.module_attr(inner, name)
            if found is not None:
                return found
        if self._is_module(f"{home.name}.{name}"):
            return ModuleRef(f"{home.name}.{name}")
        if inner is None and not self.program.is_package(home.name):
            return External(self.packs.canonical(f"{home.name}.{name}"))
        return UNKNOWN

    # -------------------------------------------------------------- resolve

    def resolve(self, value: Value) -> Value:
        """The value with its head reduced: attributes, items and calls looked up where the code tells."""
        match value:
            case Attr() | Item() | Element() | Call() | Union() | Op() | Updated() | Text():
                return self._once(("resolve", value), lambda: self._resolve(value), cast(Value, value))
            case _:
                return value

    def _resolve(self, value: Value) -> Value:
        match value:
            case Attr(base=base, name=name):
                return self._attr(value, base, name)
            case Item(base=base, index=index):
                return self.item(base, index, value)
            case Element(base=base, entered=entered):
                return self._entered(value, base) if entered else self._element(value, base)
            case Call():
                return self._call(value)
            case Union(options=found):
                return union(self.resolve(option) for option in found)
            case Op():
                return self._op(value)
            case Text(pieces=pieces):
                return text(tuple(self.resolve(piece) for piece in pieces))
            case _:
                return value

    def constant(self, value: Value) -> Const | None:
        """The constant that a value is, if it is one."""
        found = self.resolve(value)
        return found if isinstance(found, Const) else None

    def _op(self, value: Op) -> Value:
        operands = tuple(self.resolve(operand) for operand in value.operands)
        if all(isinstance(operand, Const) for operand in operands):
            return _folded(value.op, [operand.value for operand in operands], value)  # type: ignore[attr-defined]
        if value.op == "or":
            # `a or b` is a where a is true: as a value it is one of them.
            truthy = [o for o in operands if not (isinstance(o, Const) and not o.value)]
            if truthy and isinstance(truthy[0], Const):
                return truthy[0]
        if value.op == "+" and any(isinstance(o, Const | Text) for o in operands):
            return text(operands)
        return value

    def _call(self, value: Call) -> Value:
        func = self.resolve(value.func)
        found: list[Value] = []
        for option in options(func):
            match option:
                case FunctionRef():
                    found.append(self.returned(option, value))
                case External(dotted="builtins.getattr") if len(value.args) > 1:
                    named = [self.resolve(Attr(value.args[0], name)) for name in attribute_names(self, value)]
                    found.extend(named or [value])
                case External(dotted="builtins.type") if len(value.args) == 1:
                    found.append(union(self.types(value.args[0])))
                case Attr(base=base, name="get") if isinstance(self.resolve(base), Table) and value.args:
                    default = value.args[1:] if len(value.args) > 1 else ()
                    found.extend((self.item(base, value.args[0]), *default))
                case Call(func=External(dotted="functools.partial")) if option.args:
                    inner = Call(
                        option.args[0],
                        (*option.names[1:], *value.names),
                        (*option.args[1:], *value.args),
                        value.at,
                    )
                    found.append(self.resolve(inner))
                case Call(func=ClassRef() as cls) if (called := self.hierarchy.method_of(cls, "__call__")) is not None:
                    found.append(self.returned(FunctionRef(called.id, option), value))
                case Call() if isinstance(kept := self.seen_through(option), FunctionRef):
                    found.append(self.returned(kept, Call(kept, value.names, value.args, value.at)))
                case Attr(
                    base=Const(value=str() as text), name="rsplit" | "split" | "rpartition" | "partition" as name
                ):
                    found.append(split_text(self, text, name, value))
                case _:
                    made = value if option is value.func else Call(option, value.names, value.args, value.at)
                    found.append(self.by_name.result(made))
        return union(found)

    def returned(self, ref: FunctionRef, call: Call) -> Value:
        """What a project function returns for a call, or the call itself where the body does not tell."""
        function = self.program.function(ref.id)
        node = function.node
        is_generator = isinstance(node, facts.Def) and (node.is_generator or not node.body)
        if is_generator and not function.has_decorator("contextmanager", "asynccontextmanager"):
            return call
        value = self.flow_of(function).returned
        if value is UNKNOWN or value is NONE:
            annotated = self._return_annotation(function)
            return annotated if annotated is not None else (call if value is UNKNOWN else value)
        if ref.id in self._expanded:
            return call  # what a recursive call returns says nothing that the first one does not
        self._expanded.add(ref.id)
        try:
            binding = arguments.bind(self, ref, call.names, call.args)
            found = self.resolve(substitute(value, binding))
            if found is UNKNOWN:
                # Too large with all that was given: once more without what it is merely rendered with.
                small = {p: v if v.size <= SMALL else thinned(v) for p, v in binding.items()}
                found = self.resolve(substitute(value, small))
            found = union(self._typed_return(option, function) for option in options(found))
        finally:
            self._expanded.discard(ref.id)
        return call if found is UNKNOWN else found

    def _typed_return(self, value: Value, function: Function) -> Value:
        """A returned value, or some instance of the annotated class where nothing is known of its own."""
        if isinstance(value, Unknown | Call | Attr | Item | Element) and not self.types(value):
            annotated = self._return_annotation(function)
            if annotated is not None and any(isinstance(cls, ClassRef) for cls in self.types(annotated)):
                return annotated
        return value

    def _return_annotation(self, function: Function) -> Value | None:
        node = function.node
        if not isinstance(node, facts.Def) or node.returns is None:
            return None
        found = self.instance_of(Reader(self, function.module.body, function.cls).annotation(node.returns))
        return None if found is UNKNOWN or found is NONE else found

    # -------------------------------------------------------------- attributes

    def _attr(self, value: Attr, base: Value, name: str) -> Value:
        if name in self._new_names:
            told = is_new(self, value, self._named(value))
            if told is not None:
                return told
        return union(
            self._attr_of(option, name, value if option is base else Attr(option, name))
            for option in options(self.resolve(base))
        )

    def _attr_of(self, base: Value, name: str, unresolved: Value) -> Value:
        match base:
            case ModuleRef():
                return self._module_member(base, name)
            case External(dotted=dotted):
                return External(self.packs.canonical(f"{dotted}.{name}"))
            case ClassRef(id=id):
                return self.class_attr(id, name, base, unresolved)
            case Updated():
                return self._updated_attr(base, name, unresolved)
            case Super(cls=cls, receiver=receiver):
                return self._super_attr(cls, receiver, name, unresolved)
            case Attr(base=ClassRef(id=id)) if name in ("value", "name") and self.hierarchy.is_enum(id):
                return self._enum_value(base, name, unresolved)
            case Call(func=Call(args=(_, _, attributes)) as made) if self.bases_of_made(made):
                own = arguments.inside(self, attributes, name)
                return self.resolve(own) if own is not None else self.instance_attr(base, name, unresolved)
            case _:
                return self.instance_attr(base, name, unresolved)

    def _updated_attr(self, owner: Updated, name: str, unresolved: Value) -> Value:
        """An attribute of something that was changed: what was set last, else its own."""
        inner: Value = owner
        while isinstance(inner, Updated):
            if inner.field == name:
                return inner.value
            inner = self.resolve(inner.base)
        if isinstance(inner, ModuleRef | External | ClassRef | Super):
            return self._attr_of(inner, name, Attr(inner, name))
        return self.instance_attr(owner, name, unresolved)

    def _enum_value(self, member: Attr, name: str, unresolved: Value) -> Value:
        if name == "name":
            return Const(member.name)
        assert isinstance(member.base, ClassRef)
        found = self.hierarchy.find(member.base.id, member.name)
        if found is None:
            return unresolved
        value = self._bound(found[0].module, found[0], found[1])
        return self.resolve(value.items[0] if isinstance(value, Seq) and value.items else value)

    @cached_property
    def _new_names(self) -> frozenset[str]:
        """The last names of attributes that tell that a row is new."""
        return frozenset(shape.rpartition(".")[2] for shape in self.packs.changes)

    def class_attr(self, id: str, name: str, owner: Value, unresolved: Value) -> Value:
        """`Class.name`: a function (bound to the class for class methods), a value, an enum's member as it is."""
        if name == "__name__":
            return Const(self.program.cls(id).name)
        found = self.hierarchy.find(id, name)
        if found is None:
            return unresolved
        cls, bindings = found
        if self.hierarchy.is_enum(id) and not isinstance(bindings[-1].node, facts.Def):
            return Attr(owner, name)
        return self._member(cls, bindings, owner, from_class=True)

    def _member(self, cls: Class, bindings: list[Binding], owner: Value, from_class: bool) -> Value:
        value = self._bound(cls.module, cls, bindings)
        return union(self._as_bound(self.models.placed(option, owner), owner, from_class) for option in options(value))

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

    def instance_attr(self, base: Value, name: str, unresolved: Value) -> Value:
        """`instance.name`: a property's value, a bound method, a class attribute, what methods assign to it."""
        found: list[Value] = []
        for cls in self.types(base):
            if isinstance(cls, ClassRef):
                found.extend(self._instance_values(cls.id, base, name))
        known = [value for value in found if value is not UNKNOWN and value is not NONE]
        plain = isinstance(base, Param) and all(isinstance(value, Const | Text) for value in known)
        classes = (cls.id for cls in self.types(base) if isinstance(cls, ClassRef))
        if plain and any(self.hierarchy.overridden(id, name) for id in classes):
            return unresolved  # a subclass says otherwise: the caller's object decides
        return union(known) if known else unresolved

    def _instance_values(self, id: str, owner: Value, name: str) -> Iterator[Value]:
        if name == "__class__":
            yield ClassRef(id)
        found = self.hierarchy.find(id, name)
        if found is not None:
            cls, bindings = found
            given = self._field_given(id, owner, name)
            if given is not None:
                yield given
                return
            method = cls.methods.get(name)
            if method is not None and method.has_decorator("property", "cached_property"):
                yield self.resolve(Call(FunctionRef(method.id, owner), (), (), (cls.module.path, *method.node.at[:2])))  # type: ignore[union-attr]
            elif isinstance(bindings[-1].node, facts.Ellipsis_):
                yield Attr(owner, name)
            else:
                value = self._member(cls, bindings, owner, from_class=False)
                yield self._described(value)
        if found is None or not isinstance(found[1][-1].node, facts.Def):
            yield from self._written(id, owner, name)
        if found is None:
            yield from self.models.reverse(id, name)

    def _field_given(self, id: str, owner: Value, name: str) -> Value | None:
        """What the generated constructor of a class of fields (a dataclass) got for one of them."""
        while isinstance(owner, Updated):
            owner = owner.base
        fields = self.hierarchy.fields(id)
        if name not in fields or not (isinstance(owner, Call) and isinstance(self.resolve(owner.func), ClassRef)):
            return None
        given = arguments.argument(self, owner, f"{name}|{fields.index(name)}")
        return None if given is None else self.resolve(given)

    def fields_of(self, value: Value) -> dict[str, Value]:
        """The fields that an object of a class of fields was made with, where all of them are known by name."""
        if not isinstance(value, Call) or "*" in value.names:
            return {}
        cls = self.resolve(value.func)
        names = self.hierarchy.fields(cls.id) if isinstance(cls, ClassRef) else ()
        given = ((name, arguments.argument(self, value, f"{name}|{index}")) for index, name in enumerate(names))
        return {name: found for name, found in given if found is not None}

    def _described(self, value: Value) -> Value:
        """What a descriptor on a class gives on an instance (a foreign key: some row of its model)."""
        if isinstance(value, Call):
            related = self.models.related(value)
            if related is not None:
                return related
            for _, entry in self.lookup(self.packs.returns, value.func):
                if entry.value.startswith("element:"):
                    return self._given_class(value, entry.value.partition(":")[2])
        return value

    def _given_class(self, call: Call, argument: str) -> Value:
        given = arguments.argument(self, call, argument)
        if given is None:
            return UNKNOWN
        resolved = self.resolve(given)
        if isinstance(resolved, Const) and isinstance(resolved.value, str):
            cls = self.hierarchy.named(resolved.value.rpartition(".")[2], call.at[0])
            return Some(ClassRef(cls.id)) if cls is not None else UNKNOWN
        if isinstance(resolved, ClassRef):
            return Some(resolved)
        return self.resolve(Element(resolved))

    def _written(self, id: str, owner: Value, name: str) -> Iterator[Value]:
        """What methods of the class and its bases assign to `self.name`, as seen from `owner`.

        A value that depends on arguments which are not known here is the attribute itself: whoever
        knows more of the owner may ask again.
        """
        for method in self.hierarchy.writers(id, name):
            binding: dict[Param, Value] = {Param(method.id, method.params[0].name): owner}
            if method.name == "__init__":
                binding.update(self._constructed_with(method, owner))
            for value in self.flow_of(method).written(name):
                found = self.resolve(substitute(value, binding))
                unbound = any(param.function == method.id and param not in owner.free for param in found.free)
                yield Attr(owner, name) if unbound else found

    def _constructed_with(self, method: Function, owner: Value) -> dict[Param, Value]:
        """What an `__init__` is given when `owner` is made, through the `super().__init__()` of subclasses."""
        while isinstance(owner, Updated):
            owner = owner.base
        if not isinstance(owner, Call):
            return {}
        direct = self.hierarchy.method_of(self.resolve(owner.func), "__init__")
        if direct is None:
            return {}
        binding = arguments.bind(self, FunctionRef(direct.id, owner), owner.names, owner.args)
        return binding if direct is method else self._handed_on(direct, method, binding, owner, 0)

    def _handed_on(
        self, direct: Function, method: Function, binding: dict[Param, Value], owner: Value, depth: int
    ) -> dict[Param, Value]:
        """What the `__init__` of a subclass hands on to that of a base class."""
        for site in self.flow_of(direct).sites:
            func = site.call.func
            if not (isinstance(func, Attr) and func.name == "__init__"):
                continue
            called = self.resolve(func)
            if not isinstance(called, FunctionRef):
                continue
            args = tuple(substitute(arg, binding) for arg in site.call.args)
            if called.receiver is None and args:
                args = (owner, *args[1:])
            inner = arguments.bind(
                self, FunctionRef(called.id, owner if called.receiver is not None else None), site.call.names, args
            )
            if called.id == method.id:
                return inner
            if depth < MAX_SUPERS:
                return self._handed_on(self.program.function(called.id), method, inner, owner, depth + 1)
        return {}

    def _attribute_types(self, value: Attr) -> Iterator[Value]:
        """The types of an attribute whose value nobody knows here: declared, or those of what is assigned to it."""
        for cls in self.types(value.base):
            if not isinstance(cls, ClassRef):
                continue
            yield from self.types(self._declared(cls, value.name))
            for method in self.hierarchy.writers(cls.id, value.name):
                for written in self.flow_of(method).written(value.name):
                    yield from self.types(written)

    def _declared(self, cls: ClassRef, name: str) -> Value:
        """Some value of the annotation that a class gives an attribute."""
        found = self.hierarchy.find(cls.id, name)
        if found is None or found[1][-1].annotation is None:
            return UNKNOWN
        return self.instance_of(Reader(self, found[0].module.body, found[0]).annotation(found[1][-1].annotation))

    def _super_attr(self, cls: str, receiver: Value, name: str, unresolved: Value) -> Value:
        found: list[Value] = []
        types = self.types(receiver)
        below = self.hierarchy.subclasses(cls) if isinstance(receiver, Param) else ()
        for one in (types, *((ClassRef(sub.id),) for sub in below)):
            for home in self.hierarchy.after(cls, one):
                bindings = home.scope.get(name)
                if bindings:
                    found.append(self._member(home, bindings, receiver, from_class=False))
                    break
        return union(found) if found else unresolved

    # -------------------------------------------------------------- items

    def item(self, base: Value, index: Value, unresolved: Value | None = None) -> Value:
        """`base[index]`: an exact item where both are known, else any of a known table's or sequence's values."""
        found = [self._item_of(option, index) for option in options(self.resolve(base))]
        known = [value for value in found if value is not None]
        return union(known) if known else (unresolved if unresolved is not None else Item(base, index))

    def _item_of(self, base: Value, index: Value) -> Value | None:
        key = self.resolve(index)
        match base:
            case Updated(base=inner, field=field, value=value):
                if isinstance(key, Const) and field == f"[{key.value}]":
                    return value
                return self._item_of(self.resolve(inner), index)
            case Table(keys=keys, values=values):
                exact = [v for k, v in zip(keys, values, strict=True) if self.resolve(k) is key]
                if exact:
                    return self.resolve(exact[-1])
                found = UNKNOWN if key.free else union(values)
                return None if found is UNKNOWN else found
            case Seq(kind="each", items=items):
                return self.resolve(items[0]) if items else None
            case Seq(items=items):
                if isinstance(key, Const) and isinstance(key.value, int) and -len(items) <= key.value < len(items):
                    return self.resolve(items[key.value])
                return None
            case ClassRef(id=id) if isinstance(key, Const) and self.hierarchy.is_enum(id):
                return Attr(base, str(key.value))
            case Call() if isinstance(key, Const) and key.value == 0:
                return self._first_of_pair(base)
            case _:
                return self._collection_item(base, index)

    def _first_of_pair(self, call: Call) -> Value | None:
        for _, entry in self.lookup(self.packs.returns, call.func):
            if entry.value == "pair" and isinstance(call.func, Attr):
                return self.resolve(Element(call.func.base))
        return None

    def _collection_item(self, base: Value, index: Value) -> Value | None:
        if isinstance(index, Call):
            return None
        found = self.resolve(Element(base))
        return None if isinstance(found, Element) else found

    def _element(self, value: Element, base: Value) -> Value:
        found = [self._element_of(option) for option in options(self.resolve(base))]
        known = [one for one in found if one is not None and one is not UNKNOWN]
        return union(known) if known else value

    def _element_of(self, base: Value) -> Value | None:
        match base:
            case Seq(items=items):
                return union(self.resolve(item) for item in items) if items else None
            case Table(keys=keys):
                return union(keys) if keys else None
            case Updated(base=inner, field="model", value=ClassRef() as model):
                return Some(model)
            case Updated(base=inner):
                return self._element_of(self.resolve(inner))
            case ClassRef(id=id) if self.hierarchy.is_enum(id):
                return union(Attr(base, name) for name in self.hierarchy.members(id))
            case Attr(base=owner) if self._keeps_model(base):
                return self._row_of(owner)
            case Attr(base=owner, name=name):
                declared = [self._declared(cls, name) for cls in self.types(owner) if isinstance(cls, ClassRef)]
                return union(filter(None, (self._element_of(one) for one in declared))) if declared else None
            case Call(func=Attr(base=owner)) if self._call_keeps_model(base):
                return self.resolve(Element(owner))
            case Call(func=ClassRef(id=id)) | Some(cls=ClassRef(id=id)):
                return self.models.manager_row(id)
            case Call() if (yielded := self._yielded(base)) is not None:
                return yielded
            case Param():
                return self._element_of_param(base)
            case Call(func=func) if self.shapes(func) & _ITERATES:
                return self.resolve(Element(base.args[0])) if base.args else None
            case _:
                return None

    def _row_of(self, owner: Value) -> Value | None:
        for option in options(self.resolve(owner)):
            if isinstance(option, ClassRef):
                return Some(option)
        return None

    def _yielded(self, call: Call) -> Value | None:
        """An item of what a project's generator function yields."""
        for option in options(self.resolve(call.func)):
            if isinstance(option, FunctionRef):
                function = self.program.function(option.id)
                if isinstance(function.node, facts.Def) and function.node.is_generator:
                    binding = arguments.bind(self, option, call.names, call.args)
                    return self.resolve(substitute(self.flow_of(function).returned, binding))
        return None

    def _element_of_param(self, param: Param) -> Value | None:
        """An item of a parameter: by its annotation, what a framework passes, or as a manager's own `self`."""
        function = self.program.function(param.function)
        if function.is_method and function.params and function.params[0].name == param.name:
            return self.models.manager_row(function.cls.id) if function.cls is not None else None
        for given in (self.annotated(param), self.passed(function, param.name)):
            if given is not None and given is not param:
                return self._element_of(given)
        return None

    def _keeps_model(self, value: Attr) -> bool:
        return any(entry.keeps_model for _, entry in self.lookup(self.packs.returned_attributes, value))

    def _call_keeps_model(self, value: Call) -> bool:
        return any(entry.keeps_model for _, entry in self.lookup(self.packs.returns, value.func))

    def _entered(self, value: Value, base: Value) -> Value:
        """What `with base as x` binds: what a project's context manager yields, what `__enter__` returns, itself."""
        found: list[Value] = []
        for option in options(self.resolve(base)):
            enter = self.hierarchy.method_of_instance(self.types(option), "__enter__", "__aenter__")
            if enter is not None:
                got = self.resolve(Call(FunctionRef(enter.id, option), (), (), (enter.module.path, *enter.node.at[:2])))  # type: ignore[union-attr]
                found.append(option if isinstance(got, Call) and got.func is FunctionRef(enter.id, option) else got)
            else:
                found.append(option)
        return union(found)

    # -------------------------------------------------------------- types

    def types(self, value: Value) -> tuple[Value, ...]:
        """The classes (`ClassRef` or `External`) that a value is an instance of, as far as is known."""
        return self._once(("types", value), lambda: tuple(dict.fromkeys(self._types(value))), ())

    def _types(self, value: Value) -> Iterator[Value]:
        for option in options(self.resolve(value)):
            match option:
                case Some(cls=cls):
                    yield cls
                case Call(func=func):
                    yield from self._call_types(option, func)
                case Updated():
                    yield from self.types(_unchanged(option))
                case Super(receiver=receiver):
                    yield from self.types(receiver)
                case Param():
                    yield from self._param_types(option)
                case Op(op="or" | "and" | "|", operands=operands):
                    for operand in operands:
                        yield from self.types(operand)
                case Attr(base=ClassRef(id=id)) if self.hierarchy.is_enum(id):
                    yield option.base
                case Attr():
                    for _, entry in self._found(self.packs.returned_attributes, frozenset(self._named(option))):
                        if entry.type:
                            yield External(self.packs.canonical(entry.type))
                    yield from self._attribute_types(option)
                case Element(base=base):
                    if option.entered:
                        yield from self.types(base)
                case _:
                    pass

    def _call_types(self, call: Call, func: Value) -> Iterator[Value]:
        resolved = self.resolve(func)
        if isinstance(resolved, ClassRef):
            yield resolved
            return
        if isinstance(resolved, Param) and self.is_cls_param(resolved):
            yield from self._param_types(resolved)
            return
        for _, entry in self.lookup(self.packs.returns, func):
            if not arguments.holds(self, call, entry.when):
                continue
            if entry.type:
                yield External(self.packs.canonical(entry.type))
            elif entry.value == "receiver" and isinstance(func, Attr):
                yield from self.types(func.base)
            elif entry.value == "element" and isinstance(func, Attr):
                yield from self.types(Element(func.base))
            elif entry.value.startswith("argument"):
                given = arguments.argument(self, call, entry.value.removeprefix("argument"))
                yield from self.types(given) if given is not None else ()
            elif ":" in entry.value:
                yield from self.types(self._given_class(call, entry.value.partition(":")[2]))
            return
        for job, described in self.jobs_of(call):
            for given in arguments.given(self, described, job.base):
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
                if arguments.holds(self, call, entry.when):
                    yield External(self.packs.canonical(entry.type))
                    return
            elif call.args and call.names[0] == "" and isinstance(cls := self.resolve(call.args[0]), ClassRef):
                yield cls
                return
        job = self.resolve(call.args[0]) if call.names == ("",) else None
        if isinstance(job, Call) and any(True for _ in self.jobs_of(job)):
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
        if self.resolve(made.func) is not External("builtins.type") or len(made.args) != 3:
            return ()
        bases = self.resolve(made.args[1])
        found = bases.items if isinstance(bases, Seq) else ()
        return tuple(cls for cls in map(self.resolve, found) if isinstance(cls, ClassRef | External))

    def jobs_of(self, call: Call) -> Iterator[tuple[v.Job, Call]]:
        """The job entries for a decorator's call with a function, and the call that holds the decorator's options."""
        for described, shape in ((call, call.func), (call.func, getattr(call.func, "func", None))):
            if isinstance(described, Call) and isinstance(shape, Value):
                for _, job in self.lookup(self.packs.job_decorators, shape):
                    yield job, described

    def _named_class(self, given: Value, call: Call) -> Iterator[Value]:
        """A class given as itself or by a dotted string."""
        found = self.resolve(given)
        if isinstance(found, ClassRef):
            yield found
        elif isinstance(found, Const) and isinstance(found.value, str):
            home, _, name = found.value.replace(":", ".").rpartition(".")
            module = self.program.module_named(home) if home else None
            value = self.module_attr(module, name) if module is not None else None
            if isinstance(value, ClassRef):
                yield value

    def is_cls_param(self, param: Param) -> bool:
        """Whether a parameter is the `cls` of a class method."""
        function = self.program.function(param.function)
        return bool(
            function.is_method and function.has_decorator("classmethod") and function.params[0].name == param.name
        )

    def _param_types(self, param: Param) -> Iterator[Value]:
        function = self.program.function(param.function)
        if function.is_method and function.params and function.params[0].name == param.name:
            assert function.cls is not None
            yield ClassRef(function.cls.id)
            return
        annotated = self.annotated(param)
        if annotated is not None and annotated is not param:
            yield from self.types(annotated)
            return
        passed = self.passed(function, param.name)
        if passed is not None:
            yield from self.types(passed)

    def passed(self, function: Function, name: str) -> Value | None:
        """What a framework passes as a parameter to a method that it calls, as packs tell."""
        if function.cls is None or not function.is_method:
            return self._once(("passed", function.id, name), lambda: self._job_passed(function, name), None)
        return self._once(("passed", function.id, name), lambda: self._passed(function, name), None)

    def _job_passed(self, function: Function, name: str) -> Value | None:
        """The job object that a queue passes first (`bind=True`)."""
        if not function.params or function.params[0].name != name or function.parent is not None:
            return None
        for option in options(self.decorated(function)):
            while isinstance(option, Call) and option.args:
                for job, described in self.jobs_of(option):
                    for given in arguments.given(self, described, job.bound):
                        constant = self.constant(given)
                        if constant is not None and constant.value:
                            return option
                option = option.args[-1]
        return None

    def _passed(self, function: Function, name: str) -> Value | None:
        assert function.cls is not None
        names = [declared.name for declared in function.params[1:]]
        for base in self.hierarchy.external_bases(function.cls.id):
            for _, entry in self.packs.trigger_bases.get(base, ()):
                for notation, kind in entry.parameters.items():
                    word, _, position = notation.partition("|")
                    at = int(position) if position.isdigit() else -1
                    if name == word or (word not in names and 0 <= at < len(names) and names[at] == name):
                        found = self._of_kind(function, kind)
                        if found is not None:
                            return found
        return None

    def _of_kind(self, function: Function, kind: str) -> Value | None:
        """What a `parameters` entry says: `class:receiver/form_class`, `element`, `collection`, `library.Class()`."""
        assert function.cls is not None
        owner = Some(ClassRef(function.cls.id))
        if kind.startswith("class:receiver/"):
            given = self.resolve(Attr(owner, kind.removeprefix("class:receiver/")))
            return union(Some(one) for one in options(given) if isinstance(one, ClassRef))
        if kind.endswith("()"):
            return Some(External(self.packs.canonical(kind[:-2])))
        if kind in ("element", "collection"):
            model = self.model_of(function.cls)
            row = Some(ClassRef(model)) if model is not None else None
            return Seq("each", (row,)) if row is not None and kind == "collection" else row
        return None

    def model_of(self, cls: Class) -> str | None:
        """The id of the model class that a framework class works on (`model = …`, `queryset = …`, a registration)."""
        return self._once(("model", cls.id), lambda: self._model_of(cls), None)

    def _model_of(self, cls: Class) -> str | None:
        owner = Some(ClassRef(cls.id))
        for path in ("model", "queryset", "Meta.model"):
            value: Value = owner
            for step in path.split("."):
                value = Attr(value, step)
            for option in options(self.resolve(value)):
                if isinstance(option, ClassRef):
                    return option.id
                for one in self.types(Element(option)):
                    if isinstance(one, ClassRef):
                        return one.id
        for site in self.flow_of(cls.module.body).sites:
            if site.call.args and ClassRef(cls.id) in site.call.args:
                for arg in (*site.call.args, *(site.call.func.args if isinstance(site.call.func, Call) else ())):
                    found = self.resolve(arg)
                    if isinstance(found, ClassRef) and found.id != cls.id:
                        return found.id
        return None

    def annotated(self, param: Param) -> Value | None:
        """Some value of the parameter's annotation, if it has a useful one."""
        function = self.program.function(param.function)
        for declared in function.params:
            if declared.name == param.name and declared.annotation is not None:
                found = self.instance_of(
                    Reader(self, function.module.body, function.cls).annotation(declared.annotation)
                )
                return None if found is UNKNOWN or found is NONE else found
        return None

    def instance_of(self, annotation: Value) -> Value:
        """A value of an annotation: Optional, Union, Annotated and Self are seen through, collections kept."""
        match self.resolve(annotation):
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
                if name in _COLLECTIONS:
                    return Seq("each", (self.instance_of(first),))
                return Some(External(dotted))
            case Item(base=base):
                return self.instance_of(base)
            case _:
                return UNKNOWN

    def _one_of(self, annotations: tuple[Value, ...]) -> Value:
        found = [self.instance_of(one) for one in annotations]
        return union(one for one in found if one is not NONE)

    # -------------------------------------------------------------- shapes

    def shapes(self, value: Value) -> frozenset[str]:
        """The names under which packs may know a value: see `vocabulary.py` for the notation."""
        return self._once(("shapes", value), lambda: frozenset(self._shapes(value)), frozenset())

    def _shapes(self, value: Value) -> Iterator[str]:
        for option in options(self.resolve(value)):
            match option:
                case External(dotted=dotted):
                    yield dotted
                case ModuleRef(name=name):
                    yield name
                case ClassRef(id=id):
                    yield from self.hierarchy.external_bases(id)
                case Attr():
                    yield from self._named(option)
                    yield from self._type_shapes(option)
                case Call(func=func):
                    yield from self._type_shapes(option)
                    yield from (f"{shape}()" for shape in self.shapes(func))
                case Item(base=base):
                    yield from (f"{shape}[]" for shape in self.shapes(base))
                case Element(base=base, entered=entered):
                    yield from self.shapes(base) if entered else (f"{shape}[]" for shape in self.shapes(base))
                case Updated():
                    yield from self.shapes(_unchanged(option))
                case Super(cls=cls):
                    yield from (f"{base}()" for base in self.hierarchy.external_bases(cls))
                case FunctionRef():
                    pass
                case _:
                    yield from self._type_shapes(option)

    def overridden_shapes(self, value: Value) -> frozenset[str]:
        """The shapes of a value, and those of library methods that a project method in it overrides."""
        found = set(self.shapes(value))
        for option in options(self.resolve(value)):
            if isinstance(option, FunctionRef) and option.receiver is not None:
                name = self.program.function(option.id).name
                found.update(self.packs.canonical(f"{shape}.{name}") for shape in self._type_shapes(option.receiver))
        return frozenset(found)

    def _named(self, value: Attr) -> Iterator[str]:
        """The shapes of an attribute by what it is an attribute of, without what its own type adds."""
        return (self.packs.canonical(f"{shape}.{value.name}") for shape in self.shapes(value.base))

    def _type_shapes(self, value: Value) -> Iterator[str]:
        for cls in self.types(value):
            if isinstance(cls, ClassRef):
                yield from (f"{base}()" for base in self.hierarchy.external_bases(cls.id))
            elif isinstance(cls, External):
                yield f"{cls.dotted}()"

    def lookup(self, table: PackTable[T], value: Value) -> tuple[tuple[v.Pack, T], ...]:
        """The entries of a pack table for a value, each once, in the order of its shapes."""
        return self._found(table, self.shapes(value))

    def lookup_overridden(self, table: PackTable[T], value: Value) -> tuple[tuple[v.Pack, T], ...]:
        """As `lookup`, methods of the project that override a library's included."""
        return self._found(table, self.overridden_shapes(value))

    def _found(self, table: PackTable[T], shapes: frozenset[str]) -> tuple[tuple[v.Pack, T], ...]:
        found: dict[int, tuple[v.Pack, T]] = {}
        for shape in sorted(shapes):
            for pair in self.packs.find(table, shape):
                found.setdefault(id(pair[1]), pair)
        return tuple(found.values())


_PLAIN_DECORATORS = frozenset(f"builtins.{name}" for name in ("staticmethod", "classmethod", "property")) | {
    "functools.cached_property",
    "typing.overload",
    "typing.final",
    "abc.abstractmethod",
    "functools.lru_cache",
}

_ITERATES = frozenset(
    ["builtins.list", "builtins.tuple", "builtins.set", "builtins.sorted", "builtins.reversed", "builtins.iter",
     "builtins.frozenset", "builtins.next"]
)  # fmt: skip
_COLLECTIONS = frozenset(
    ["list", "List", "Sequence", "Iterable", "Iterator", "set", "Set", "tuple", "Tuple", "frozenset", "FrozenSet",
     "Collection", "QuerySet", "AsyncIterator", "AsyncGenerator", "Generator", "AsyncIterable"]
)  # fmt: skip
_NO_TYPES = frozenset(
    External(name) for name in ("typing.Any", "builtins.object", "typing.Callable", "collections.abc.Callable")
)


def _unchanged(value: Value) -> Value:
    """What was changed, before all changes."""
    while isinstance(value, Updated):
        value = value.base
    return value


def _wraps_function(value: Value) -> bool:
    return isinstance(value, FunctionRef) or (
        isinstance(value, Call) and bool(value.args) and _wraps_function(value.args[-1])
    )


def _only_raises(node: facts.Def) -> bool:
    returns = any(isinstance(inner, facts.Return | facts.Yield) for inner in own_nodes(node))
    return not returns and bool(node.body) and isinstance(node.body[-1], facts.Raise)


def _no_flow(function: Function) -> Flow:
    raise RuntimeError("no flow yet")


def _folded(op: str, values: list[object], unresolved: Value) -> Value:
    """A constant operation done; anything that fails stays as it is."""
    try:
        match op, values:
            case "not", [one]:
                return Const(not one)
            case "==", [left, right]:
                return Const(left == right)
            case "!=", [left, right]:
                return Const(left != right)
            case "is", [left, right]:
                return Const(left is right)
            case "is not", [left, right]:
                return Const(left is not right)
            case "and", _:
                return Const(next((v for v in values if not v), values[-1]))
            case "or", _:
                return Const(next((v for v in values if v), values[-1]))
            case "+", [str() as left, str() as right]:
                return Const(left + right)
            case "in", [str() as left, str() as right]:
                return Const(left in right)
            case _:
                return unresolved
    except Exception:
        return unresolved
