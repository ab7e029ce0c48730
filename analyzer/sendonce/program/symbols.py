"""Modules, classes and functions of the analysed tree, and what a name in a scope was bound by.

Built from the facts of one module at a time, on demand. Nothing is evaluated here: a binding
says which statement gave a name its value; `evaluate.py` turns it into a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from sendonce import facts
from sendonce.discovery import SourceFile

Body = tuple[facts.Stmt, ...]

ADDS = frozenset(["append", "appendleft", "add", "insert", "setdefault", "update", "extend"])
"""Methods that put something into a container."""


@dataclass(frozen=True, eq=False)
class Binding:
    """One statement that binds a name in a module or class.

    `node` is the `Def`, `Class`, `Import`, `ImportFrom` or the expression assigned; `path` the
    way into it (`"*"` an item of an iteration, `"with"` an entered context, a number an index).
    `conditional` is true inside `if`, `try` or a loop: earlier bindings then stay possible.
    """

    name: str
    node: facts.Def | facts.Class | facts.Import | facts.ImportFrom | facts.Expr
    path: tuple[int | str, ...] = ()
    conditional: bool = False
    annotation: facts.Expr | None = None
    imported: str = ""

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the expression assigned; none for definitions and imports."""
        if isinstance(self.node, facts.Def | facts.Class | facts.Import | facts.ImportFrom):
            return frozenset()
        return frozenset(word for node in own_nodes(self.node) for word in words_of(node))


Scope = dict[str, list[Binding]]


@dataclass(frozen=True, eq=False)
class Function:
    """A function, lambda or module body. `id` is its dotted name, unique in the program."""

    id: str
    module: Module
    node: facts.Def | facts.Lambda | facts.ModuleFacts
    cls: Class | None = None
    parent: Function | None = None

    @property
    def params(self) -> tuple[facts.Param, ...]:
        return () if isinstance(self.node, facts.ModuleFacts) else self.node.params

    @property
    def name(self) -> str:
        return self.node.name if isinstance(self.node, facts.Def) else "<lambda>"

    @property
    def dotted(self) -> str:
        """The name shown to users: the module's own name for its body."""
        return self.id.removesuffix(".<module>")

    @property
    def line(self) -> int:
        return 1 if isinstance(self.node, facts.ModuleFacts) else self.node.at[0]

    @property
    def place(self) -> tuple[str, int, int]:
        """The file, line and column where it begins."""
        line, column = (1, 1) if isinstance(self.node, facts.ModuleFacts) else self.node.at[:2]
        return (self.module.path, line, column)

    @cached_property
    def is_method(self) -> bool:
        """Whether the first parameter is bound by attribute access."""
        return self.cls is not None and self.parent is None and not self.has_decorator("staticmethod")

    def has_decorator(self, *names: str) -> bool:
        """Whether a decorator is one of these plain names, or an attribute of that name."""
        for decorator in self.node.decorators if isinstance(self.node, facts.Def) else ():
            name = decorator.func if isinstance(decorator, facts.Call) else decorator
            if isinstance(name, facts.Name) and name.id in names:
                return True
            if isinstance(name, facts.Attribute) and name.attr in names:
                return True
        return False

    @cached_property
    def words(self) -> frozenset[str]:
        """Names, attributes and the dotted parts of strings in the function itself, inner functions left out."""
        found: set[str] = set()
        for node in own_nodes(self.node):
            found.update(words_of(node))
        return frozenset(found)

    @cached_property
    def decorator_words(self) -> frozenset[str]:
        """The words of its decorators."""
        decorators = self.node.decorators if isinstance(self.node, facts.Def) else ()
        return frozenset(word for node in own_nodes(decorators) for word in words_of(node))

    @cached_property
    def gives_something(self) -> bool:
        """Whether it says or shows that it returns a value."""
        return isinstance(self.node, facts.Def) and (
            self.node.returns is not None
            or any(isinstance(inner, facts.Return) and inner.value is not None for inner in own_nodes(self.node))
        )


@dataclass(frozen=True, eq=False)
class Class:
    """A class of the tree: its header, its scope and its methods by name (last definition wins)."""

    id: str
    name: str
    module: Module
    node: facts.Class
    parent: Function | None
    scope: Scope = field(default_factory=dict)
    methods: dict[str, Function] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Module:
    """One parsed file. `key` is its dotted name, with its root where two roots have that name."""

    key: str
    file: SourceFile
    content: facts.ModuleFacts
    has_lambdas: bool = True
    """Whether lambdas may stand in the file: most have none, and the search for them goes through all of it."""
    scope: Scope = field(default_factory=dict)
    stars: list[facts.ImportFrom] = field(default_factory=list)
    functions: dict[str, Function] = field(default_factory=dict)
    classes: dict[str, Class] = field(default_factory=dict)

    @property
    def path(self) -> str:
        return self.file.path

    @property
    def is_package(self) -> bool:
        return self.path.rsplit("/", 1)[-1] == "__init__.py"

    @property
    def package(self) -> str:
        """The dotted package that relative imports start from."""
        return self.file.module if self.is_package else self.file.module.rpartition(".")[0]

    @property
    def body(self) -> Function:
        return self.functions[f"{self.key}.<module>"]

    @cached_property
    def _mentions(self) -> Mapping[str, tuple[Function, ...]]:
        found: dict[str, list[Function]] = {}
        for function in self.functions.values():
            for word in function.words:
                found.setdefault(word, []).append(function)
        return {word: tuple(functions) for word, functions in found.items()}

    def mentioning(self, word: str) -> tuple[Function, ...]:
        """The functions that mention a word, in their order."""
        return self._mentions.get(word, ())

    @cached_property
    def filling(self) -> Mapping[str, tuple[Function, ...]]:
        """By the name of a variable or attribute, the functions that put something into what it holds."""
        found: dict[str, dict[str, Function]] = {}
        for function in self.functions.values():
            for name in filled_by(function):
                found.setdefault(name, {})[function.id] = function
        return {name: tuple(functions.values()) for name, functions in found.items()}

    @cached_property
    def aliases(self) -> Mapping[str, tuple[str, ...]]:
        """For a word the variables bound to an expression with it (`f = wrap(g)`, `T = {"a": g}`) or imported as."""
        found: dict[str, dict[str, None]] = {}
        for name, bindings in self.scope.items():
            for binding in bindings:
                words = {binding.imported} - {name} if isinstance(binding.node, facts.ImportFrom) else binding.words
                for word in words:
                    found.setdefault(word, {})[name] = None
        return {word: tuple(names) for word, names in found.items()}


def build_module(key: str, file: SourceFile, module_facts: facts.ModuleFacts, has_lambdas: bool = True) -> Module:
    """The symbols of one file."""
    module = Module(key, file, module_facts, has_lambdas)
    body = Function(f"{key}.<module>", module, module_facts)
    module.functions[body.id] = body
    _collect(module, module_facts.body, module.scope, key, None, None, False)
    _collect_lambdas(module, body, key)
    return module


def _collect(
    module: Module, body: Body, scope: Scope, prefix: str, cls: Class | None, parent: Function | None, cond: bool
) -> None:
    """Enters the definitions and bindings of a block, and of the blocks inside it."""
    for statement in body:
        match statement:
            case facts.Def():
                _define(module, statement, scope, prefix, cls, parent, cond)
            case facts.Class():
                _define_class(module, statement, scope, prefix, parent, cond)
            case facts.ImportFrom() if statement.names == (("*", "*"),):
                module.stars.append(statement)
            case _:
                for binding in bindings_of(statement, cond):
                    scope.setdefault(binding.name, []).append(binding)
                for block in blocks_of(statement):
                    _collect(module, block, scope, prefix, cls, parent, True)


def _unique(taken: dict[str, Function] | dict[str, Class], wanted: str) -> str:
    number, found = 1, wanted
    while found in taken:
        number += 1
        found = f"{wanted}#{number}"
    return found


def _define(
    module: Module, node: facts.Def, scope: Scope, prefix: str, cls: Class | None, parent: Function | None, cond: bool
) -> None:
    function = Function(_unique(module.functions, f"{prefix}.{node.name}"), module, node, cls, parent)
    module.functions[function.id] = function
    scope.setdefault(node.name, []).append(Binding(node.name, node, (), cond, None, function.id))
    if cls is not None and not function.has_decorator("setter", "deleter", "overload"):
        cls.methods[node.name] = function
    inner: Scope = {}
    _collect(module, node.body, inner, f"{function.id}.<locals>", None, function, False)
    for name in _globals(node.body) & inner.keys():
        # What a function assigns to a variable of the module is one of its values.
        module.scope.setdefault(name, []).extend(replace(binding, conditional=True) for binding in inner[name])
    _collect_lambdas(module, function, f"{function.id}.<locals>")


def _globals(body: Body) -> set[str]:
    """The names that a function's own body declares global."""
    found: set[str] = set()
    for statement in body:
        if isinstance(statement, facts.Scope) and statement.kind == "global":
            found.update(statement.names)
        for block in blocks_of(statement):
            found |= _globals(block)
    return found


def _define_class(
    module: Module, node: facts.Class, scope: Scope, prefix: str, parent: Function | None, cond: bool
) -> None:
    cls = Class(_unique(module.classes, f"{prefix}.{node.name}"), node.name, module, node, parent)
    module.classes[cls.id] = cls
    scope.setdefault(node.name, []).append(Binding(node.name, node, (), cond, None, cls.id))
    _collect(module, node.body, cls.scope, cls.id, cls, None, False)


def _collect_lambdas(module: Module, function: Function, prefix: str) -> None:
    for node in own_nodes(function.node) if module.has_lambdas else ():
        if isinstance(node, facts.Lambda):
            inner = Function(lambda_id(prefix, node), module, node, None, function)
            if inner.id not in module.functions:
                module.functions[inner.id] = inner
                _collect_lambdas(module, inner, f"{inner.id}.<locals>")


def lambda_id(prefix: str, node: facts.Lambda) -> str:
    """The id of a lambda that stands in the scope named by `prefix`."""
    return f"{prefix}.<lambda:{node.at[0]}:{node.at[1]}>"


def bindings_of(statement: facts.Stmt, conditional: bool) -> Iterator[Binding]:
    """What a statement (not its inner blocks) binds; walrus targets included."""
    match statement:
        case facts.Import(name=name, alias=alias):
            yield Binding(alias or name.partition(".")[0], statement, (), conditional, None, (alias and name) or "")
        case facts.ImportFrom(names=names):
            for name, bound in names:
                yield Binding(bound, statement, (), conditional, None, name)
        case facts.Assign(targets=targets, value=value, annotation=annotation):
            for target in targets if value is not None or annotation is not None else ():
                node = value if value is not None else facts.Ellipsis_(statement.at)
                yield from _targets(target, node, (), conditional, annotation)
        case facts.AugAssign(target=facts.Name(id=name), op=op, value=value):
            whole = facts.BinOp(statement.at, facts.Name(statement.at, name), op, value)
            yield Binding(name, whole, (), conditional)
        case facts.For(target=target, iter=iter):
            yield from _targets(target, iter, ("*",), True, None)
        case facts.With(items=items):
            for item in items:
                if item.target is not None:
                    yield from _targets(item.target, item.context, ("with",), conditional, None)
        case _:
            pass


def _targets(
    target: facts.Expr, value: facts.Expr, path: tuple[int | str, ...], cond: bool, annotation: facts.Expr | None
) -> Iterator[Binding]:
    match target:
        case facts.Name(id=name):
            yield Binding(name, value, path, cond, annotation)
        case facts.Sequence(items=items):
            for index, item in enumerate(items):
                yield from _targets(item, value, (*path, index), cond, None)
        case facts.Starred(value=inner):
            yield from _targets(inner, value, (*path[:-1], "rest"), cond, None)
        case _:
            pass


def blocks_of(statement: facts.Stmt) -> tuple[Body, ...]:
    """The inner blocks of a compound statement, functions and classes left out."""
    match statement:
        case facts.If():
            chain, last = facts.chain_of(statement)
            return (*(one.body for one in chain), last)
        case facts.For() | facts.While():
            return (statement.body, statement.orelse)
        case facts.With():
            return (statement.body,)
        case facts.Try():
            handlers = (handler.body for handler in statement.handlers)
            return (statement.body, *handlers, statement.orelse, statement.final)
        case _:
            return ()


def own_nodes(node: object) -> Iterator[object]:
    """All facts of a function that run when it runs: inner functions and lambdas are given, not entered.

    Their decorators and defaults are entered, the bodies of classes as well.
    """
    todo: list[object] = [node.body if isinstance(node, facts.Def | facts.Lambda | facts.ModuleFacts) else node]
    while todo:
        found = todo.pop()
        kind = type(found)
        if kind is tuple:
            todo.extend(reversed(found))  # type: ignore[call-overload]
            continue
        fields = _FIELDS.get(kind)
        if fields is None:
            fields = _FIELDS[kind] = _fields(kind)
        if fields is _NOT_FACTS:
            continue
        yield found
        todo.extend([value for name in fields if type(value := getattr(found, name)) not in _PLAIN])
        if kind is facts.Def or kind is facts.Lambda:
            todo.append(tuple(param.default for param in found.params))  # type: ignore[attr-defined]


_PLAIN = frozenset({str, int, bool, float, type(None)})
_NOT_FACTS: tuple[str, ...] = ("",)
_FIELDS: dict[type, tuple[str, ...]] = {}
"""The fields of each kind of fact to walk into, last first; `_NOT_FACTS` for anything else."""


def _fields(kind: type) -> tuple[str, ...]:
    if kind is facts.Def:
        return ("decorators",)
    if kind is facts.Lambda:
        return ()
    names: tuple[str, ...] | None = getattr(kind, "__struct_fields__", None)
    return _NOT_FACTS if names is None else tuple(name for name in reversed(names) if name not in ("at", "name_at"))


def filled_by(function: Function) -> Iterator[str]:
    """The names of variables and attributes into which a function puts something: `X[k] = v`, `self.x.append(v)`."""
    for node in own_nodes(function.node):
        match node:
            case facts.Assign(targets=targets):
                yield from (_container(one.value) for one in targets if isinstance(one, facts.Subscript))
            case facts.Call(func=facts.Attribute(value=owner, attr=attr)) if attr in ADDS:
                yield _container(owner)


def _container(node: facts.Expr) -> str:
    match node:
        case facts.Name(id=name) | facts.Attribute(attr=name):
            return name
        case facts.Subscript(value=owner) | facts.Call(func=facts.Attribute(value=owner)):
            return _container(owner)
        case _:
            return ""


def words_of(node: object) -> Iterator[str]:
    """The words of one node by which somebody may be called: names, attributes, imports, identifiers in strings."""
    match node:
        case facts.Name(id=name) | facts.Attribute(attr=name):
            yield name
        case facts.Constant(value=str() as text) if len(text) < 200 and " " not in text:
            yield from text.replace(":", ".").split(".")
        case facts.Import(name=name):
            yield from name.split(".")
        case facts.ImportFrom(names=names):
            for name, _ in names:
                yield name
        case _:
            pass
