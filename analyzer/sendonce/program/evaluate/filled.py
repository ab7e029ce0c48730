"""Registries: dicts and lists of a module, a class or an object that other code fills.

`HANDLERS = {}` says nothing by itself; its entries are what decorators, `register()` functions and
other modules put in, each call of them seen with its own arguments. Whoever reads such a variable
gets a reference to it (an attribute of its module); what is in it is looked up when that is resolved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from sendonce import facts
from sendonce.program import arguments
from sendonce.program.mentions import mentions
from sendonce.program.symbols import ADDS, Binding, Class, Function, Module
from sendonce.program.values import (
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Const,
    External,
    FunctionRef,
    Item,
    ModuleRef,
    Param,
    Seq,
    Some,
    Table,
    Value,
    options,
    substitute,
    unchanged,
    union,
    walk,
)

if TYPE_CHECKING:
    from sendonce.program.evaluate.evaluator import Evaluator, Flow

MAX_FILES = 25
"""A variable or function whose name stands in more files than this is followed in its own file only."""
MAX_STEPS = 3
"""Through how many functions what is put in is followed."""
_MAKERS = frozenset(["dict", "list", "set", "defaultdict", "OrderedDict", "deque", "WeakValueDictionary", "WeakSet"])


@dataclass(frozen=True, eq=False)
class Put:
    """Something that a function puts into a container: under a key, or (`key` is None) as one more item."""

    base: Value
    key: Value | None
    value: Value

    def bound(self, binding: dict[Param, Value]) -> Put:
        """The same as a caller sees it."""
        key = None if self.key is None else substitute(self.key, binding)
        return Put(substitute(self.base, binding), key, substitute(self.value, binding))

    @property
    def name(self) -> str:
        """The name of the variable or attribute that is the container; empty for anything else."""
        return self.base.name if isinstance(self.base, Attr) else ""

    @property
    def free(self) -> frozenset[Param]:
        """The parameters that it depends on."""
        found = self.base.free | self.value.free
        return found if self.key is None else found | self.key.free


class Filled:
    """Finds what is in such containers. What functions put in is read once a function."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.hierarchy = evaluator.hierarchy
        self._once = evaluator.memo.once
        self._known: dict[tuple[str, str], bool] = {}
        self._puts: dict[str, tuple[Put, ...]] = {}
        self._settled: dict[str, tuple[Put, ...]] = {}
        self._busy: set[str] = set()
        self._cut = 0

    # ------------------------------------------------------------------ which variables

    def reference(self, module: Module, name: str) -> Attr | None:
        """The value of a module's variable that is a container filled later; None for any other."""
        bindings = module.scope.get(name)
        if not bindings or not _makes(bindings[0]):
            return None
        filled = name in module.filling or self.shared(module, name) is not None
        return Attr(ModuleRef(module.file.module), name) if filled else None

    def shared(self, module: Module, name: str) -> Attr | None:
        """The same for one that functions or other modules fill, not only the module itself while it is imported."""
        key = (module.key, name)
        if key not in self._known:
            bindings = module.scope.get(name, [])
            self._known[key] = bool(bindings) and _makes(bindings[0]) and self._is_filled(module, name, bindings[0])
        return Attr(ModuleRef(module.file.module), name) if self._known[key] else None

    def _is_filled(self, module: Module, name: str, binding: Binding) -> bool:
        """Whether some function, or for a container that starts empty some other module, puts something in."""
        if any(function is not module.body for function in module.filling.get(name, ())):
            return True
        return _is_empty(binding.node) and any(name in one.filling for one in self._others(module, name))

    def _others(self, module: Module, name: str) -> Iterator[Module]:
        files = self.program.index.files_with(name)
        for file in files if len(files) <= MAX_FILES else ():
            other = self.program.module_of(file) if file.path != module.path else None
            if other is not None:
                yield other

    # ------------------------------------------------------------------ what is in them

    def contents(self, reference: Attr) -> Value:
        """What is in a module's variable that `reference` gave."""
        key = ("filled", reference)
        return self._once(key, lambda: self._contents(reference), cast(Value, reference))

    def _contents(self, reference: Attr) -> Value:
        assert isinstance(reference.base, ModuleRef)
        module = self.program.module_named(reference.base.name)
        if module is None:
            return reference
        puts = (put for put in self._all(module, reference.name) if self._is_same(put.base, reference))
        return _together(self.evaluator.resolve(self._first(module, reference.name)), puts)

    def _first(self, module: Module, name: str) -> Value:
        """What a variable holds once its module is imported."""
        if self.shared(module, name) is None:
            end = self._flow(module.body).end
            if name in end:
                return end[name]
        return self.evaluator.binding_value(module, None, module.scope[name][0])

    def _is_same(self, base: Value, reference: Attr) -> bool:
        if base is reference or not (isinstance(base, Attr) and isinstance(base.base, ModuleRef)):
            return base is reference
        return self.evaluator.names.member(base.base, base.name) is reference

    def of_class(self, cls: Class, name: str, value: Value) -> Value:
        """The value of a class's attribute, with what is put in where it is a container."""
        bindings = cls.scope.get(name, [])
        if not bindings or not _makes(bindings[-1]) or not self._is_filled(cls.module, name, bindings[-1]):
            return value
        key = ("filled class", cls.id, name)
        return self._once(key, lambda: _together(value, self._of_attribute(cls, name, None)), value)

    def of_object(self, cls: Class, owner: Value, name: str, value: Value) -> Value:
        """The value that a constructor gives an attribute of an object, with what is put in later.

        Where objects of one class hold different things, `owner` must be known: else the attribute itself.
        """
        if name not in cls.module.filling or not _is_container(value):
            return value
        key = ("filled object", cls.id, owner, name)
        return self._once(key, lambda: self._of_object(cls, owner, name, value), value)

    def _of_object(self, cls: Class, owner: Value, name: str, value: Value) -> Value:
        puts = list(self._of_attribute(cls, name, owner))
        owners = [unchanged(self.evaluator.resolve(_owner(put))) for put in puts]
        made = {one for one in owners if not isinstance(one, Param)}
        if isinstance(owner, Param | Some) and len(made) > 1:
            return Attr(owner, name)
        if not isinstance(owner, Param | Some):
            mine = unchanged(self.evaluator.resolve(owner))
            puts = [put for put, one in zip(puts, owners, strict=True) if isinstance(one, Param) or one is mine]
        return _together(value, iter(puts))

    def _of_attribute(self, cls: Class, name: str, owner: Value | None) -> Iterator[Put]:
        """What is put into an attribute of a class or of its objects."""
        for put in self._all(cls.module, name):
            base = put.base
            if isinstance(base, Attr) and base.name == name and self._is_of(base.base, cls):
                yield put

    def _is_of(self, owner: Value, cls: Class) -> bool:
        found = self.evaluator.resolve(owner)
        types = (found,) if isinstance(found, ClassRef) else self.evaluator.types(found)
        for one in types:
            if isinstance(one, ClassRef) and any(above.id == cls.id for above in self.hierarchy.mro(one.id)):
                return True
        return False

    def _all(self, module: Module, name: str) -> Iterator[Put]:
        """What is put into variables or attributes of a name, as far out as it is known, by file."""
        modules = {module.path: module, **{one.path: one for one in self._others(module, name)}}
        for _, one in sorted(modules.items()):
            for function in one.filling.get(name, ()):
                yield from (put for put in self._outside(function) if put.name == name)

    # ------------------------------------------------------------------ what functions put in

    def puts(self, function: Function) -> tuple[Put, ...]:
        """What a function puts into containers, in terms of its own parameters."""
        if function.id not in self._puts:
            flow = self._flow(function)
            items = ((write.base, write.key, write.value) for write in flow.writes if write.key is not None)
            found = [put for item in items for put in _written(*item)]
            found += [put for site in flow.sites for put in self._added(site.call)]
            read = tuple(put for put in found if put.name)
            if not flow.done:
                return read
            self._puts[function.id] = read
        return self._puts[function.id]

    def _flow(self, function: Function) -> Flow:
        """The walk of a function; where it is not over, nothing that hangs on it is kept."""
        flow = self.evaluator.flow_of(function)
        if not flow.done:
            self._cut_short()
        return flow

    def _cut_short(self) -> None:
        self._cut += 1
        self.evaluator.memo.unsure()

    def _added(self, call: Call) -> Iterator[Put]:
        func = call.func
        if not (isinstance(func, Attr) and func.name in ADDS and call.args and set(call.names) == {""}):
            return
        last = call.args[-1]
        if func.name == "setdefault":
            yield from _written(func.base, call.args[0], last) if len(call.args) == 2 else ()
        elif func.name in ("update", "extend"):
            given = self.evaluator.resolve(last)
            if isinstance(given, Table):
                for key, value in zip(given.keys, given.values, strict=True):
                    yield Put(func.base, key, value)
            elif isinstance(given, Seq):
                yield from (Put(func.base, None, value) for value in given.items)
        else:
            yield from _written(func.base, None, last)

    def _outside(self, function: Function) -> tuple[Put, ...]:
        """What a function puts in as its callers see it; the put itself where no parameter matters."""
        if function.id in self._settled:
            return self._settled[function.id]
        if function.id in self._busy:
            self._cut_short()
            return self.puts(function)  # a function that calls itself ends here
        self._busy.add(function.id)
        before = self._cut
        settled = tuple(one for put in self.puts(function) for one in self._followed(put, function, MAX_STEPS))
        self._busy.remove(function.id)
        if self._cut == before:
            self._settled[function.id] = settled
        return settled

    def _followed(self, put: Put, function: Function, steps: int) -> Iterator[Put]:
        if not put.free or not steps:
            key = put.key if put.key is None or put.key.free else self.evaluator.resolve(put.key)
            yield Put(put.base, key, put.value)
            return
        known = False
        for caller, binding in self._calls(function):
            known = True
            yield from self._followed(put.bound(binding), caller, steps - 1)
        if not known:
            yield put

    def _calls(self, function: Function) -> Iterator[tuple[Function, dict[Param, Value]]]:
        """The calls of a function, each with what its parameters are, in a fixed order."""
        outermost = function
        while outermost.parent is not None:
            outermost = outermost.parent
        word = outermost.name
        if word == "__init__" and outermost.cls is not None:
            word = outermost.cls.name
        for caller in self._callers(outermost, word):
            flow = self._flow(caller)
            for site in (*flow.sites, *flow.hidden):
                if word in mentions(site.call.func):
                    for ref in self._functions(site.call.func):
                        if ref.id == function.id:
                            yield caller, arguments.bind(self.evaluator, ref, site.call.names, site.call.args)

    def _callers(self, function: Function, word: str) -> Iterator[Function]:
        """Functions in which a word stands; for what runs when a class is made, those that make the subclasses."""
        if word == "__init_subclass__" and function.cls is not None:
            below = self.hierarchy.subclasses(function.cls.id)
            yield from dict.fromkeys(cls.parent or cls.module.body for cls in below)
            return
        files = self.program.index.files_with(word)
        modules = [self.program.module_of(file) for file in files] if len(files) <= MAX_FILES else [function.module]
        for module in modules:
            yield from module.mentioning(word) if module is not None else ()

    def _functions(self, callee: Value) -> Iterator[FunctionRef]:
        for option in options(self.evaluator.resolve(callee)):
            if isinstance(option, FunctionRef):
                yield option
            elif isinstance(option, ClassRef):
                init = self.hierarchy.method_of(option, "__init__")
                if init is not None:
                    yield FunctionRef(init.id, Some(option))

    # ------------------------------------------------------------------ where a function goes

    def keeping(self, function: Function, steps: int = 2) -> frozenset[str]:
        """The names of the containers into which a function puts what it is given."""
        names = {put.name for put in self.puts(function) if put.value.free}
        if steps:
            for site in self.evaluator.flow_of(function).sites:
                if any(arg.free for arg in site.call.args):
                    for ref in self._functions(site.call.func):
                        names |= self.keeping(self.program.function(ref.id), steps - 1)
        return frozenset(names)


def _makes(binding: Binding) -> bool:
    """Whether a variable is bound to a new container."""
    match binding.node:
        case facts.Dict() | facts.Sequence(kind="list" | "set"):
            return not binding.path
        case facts.Call(func=facts.Name(id=name) | facts.Attribute(attr=name)):
            return name in _MAKERS and not binding.path
        case _:
            return False


def _is_empty(node: object) -> bool:
    match node:
        case facts.Dict(items=items) | facts.Sequence(items=items):
            return not items
        case facts.Call(args=args, func=facts.Name(id=name) | facts.Attribute(attr=name)):
            return not args or name == "defaultdict"
        case _:
            return False


def _is_container(value: Value) -> bool:
    if isinstance(value, Call):
        return isinstance(value.func, External) and value.func.dotted.rpartition(".")[2] in _MAKERS
    return isinstance(value, Seq | Table)


def _written(base: Value, key: Value | None, value: Value) -> Iterator[Put]:
    """`base[key] = value` as a put; into the container in a container (`TABLE[kind].append(f)`) as one of its entry."""
    inner: Value = Seq("each", (value,)) if key is None else Table((key,), (value,))
    match base:
        case Item(base=outer, index=index):
            yield Put(outer, index, inner)
        case Call(func=Attr(base=outer, name="setdefault" | "get"), args=(index, *_)):
            yield Put(outer, index, inner)
        case _:
            yield Put(base, key, value)


def _owner(put: Put) -> Value:
    return put.base.base if isinstance(put.base, Attr) else UNKNOWN


def _together(first: Value, puts: Iterator[Put]) -> Value:
    """A container with all that is put in: a dict as soon as one key is named, else any of its items."""
    entries: dict[Value, list[Value]] = {}
    items: list[Value] = []
    if isinstance(first, Table):
        entries.update((key, [value]) for key, value in zip(first.keys, first.values, strict=True))
    elif isinstance(first, Seq):
        items.extend(first.items)
    for put in puts:
        if put.value.free or not _tells(put):
            continue
        if put.key is None:
            items.append(put.value)
        else:
            key = put.key if isinstance(put.key, Const | ClassRef | Attr) and not put.key.free else UNKNOWN
            entries.setdefault(key, []).append(put.value)
    if entries or isinstance(first, Table):
        pairs = [(key, one) for key, values in entries.items() for one in _joined(key, values)]
        return Table(tuple(key for key, _ in pairs), tuple(value for _, value in pairs))
    return Seq("each", (union(items),)) if items else first


def _tells(put: Put) -> bool:
    """Whether what is put in is code or, under a fixed key, a text: not a note that something was done."""
    parts = list(walk(put.value))
    if any(isinstance(part, FunctionRef | ClassRef) for part in parts):
        return True
    texts = all(isinstance(part, Const) and isinstance(part.value, str) for part in parts)
    return texts and isinstance(put.key, Const)


def _joined(key: Value, values: list[Value]) -> list[Value]:
    """The entries under one key: lists are put together, of others each may be meant."""
    if all(isinstance(value, Seq) for value in values):
        items = [item for value in values if isinstance(value, Seq) for item in value.items]
        return [Seq("each", (union(items),))] if items else list(values)
    return list(dict.fromkeys(values)) if key is UNKNOWN else [union(values)]
