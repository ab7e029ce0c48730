"""Handlers that a table or list of the settings names: `CELERY_BEAT_SCHEDULE`, `MIDDLEWARE`, a pipeline of functions.

Such tables are long and filled in several statements, so they are read from the code row by row, never as
one value: a path such as `CELERY_BEAT_SCHEDULE/*/task` leads from what is assigned to its head into its rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sendonce import facts
from sendonce.program.evaluate import Evaluator
from sendonce.program.reader import Reader
from sendonce.program.symbols import Function, Module, own_nodes
from sendonce.program.values import UNKNOWN, Const, ModuleRef, Seq, Table, Value, options

MAX_STEPS = 8
"""Through how many names, copies and joins a table is followed."""

_JOINS = ("|", "+", "or")
_COPIES = frozenset(["copy", "deepcopy", "list", "tuple", "set", "sorted", "dict", "OrderedDict", "filter"])


@dataclass(frozen=True, eq=False)
class Part:
    """A piece of a table: an expression and who reads it, or a value where there is no expression of its own."""

    node: facts.Expr | None
    reader: Reader
    value: Value = UNKNOWN

    def read(self) -> Value:
        """The value of the piece."""
        found = self.value if self.node is None else self.reader.read(self.node)
        return self.reader.evaluator.resolve(found)


@dataclass(frozen=True, eq=False)
class Row:
    """What stands at a path: the value there, the key of its row and the parts beside it."""

    value: Value
    key: Value
    siblings: dict[str, Part]


Keyed = tuple[Value, Part]


class Named:
    """Finds what stands at the paths that packs give."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program

    def at(self, path: str) -> Iterator[Row]:
        """The rows at a path, by file and place: `NAME` is a value, `NAME/*/task` a key in each item of a table."""
        head, *keys = path.split("/")
        word = head.replace("()", "").rpartition(".")[2]
        for file in self.program.index.files_with(word):
            module = self.program.module_of(file) if file.role == "application" else None
            for part in self._given(module, word) if module is not None else ():
                yield from self._inside(part, tuple(keys), UNKNOWN, {})

    def _inside(self, part: Part, keys: tuple[str, ...], key: Value, siblings: dict[str, Part]) -> Iterator[Row]:
        """What a path leads to from a part; `siblings` are what stands beside the part in its row."""
        if not keys:
            for option in options(part.read()):
                found = option.items if isinstance(option, Seq) else (option,)
                yield from (Row(self.evaluator.resolve(one), key, siblings) for one in found)
            return
        row = list(self._items(part, 0))
        named = {str(one.value): inner for one, inner in row if isinstance(one, Const)}
        for number, (one, inner) in enumerate(row):
            if keys[0] == "*":
                yield from self._inside(inner, keys[1:], one, {})
            elif keys[0] in (self._key(one), str(number)):
                yield from self._inside(inner, keys[1:], key, named)

    @staticmethod
    def _key(value: Value) -> str | None:
        return value.value if isinstance(value, Const) and isinstance(value.value, str) else None

    # ------------------------------------------------------------------ the items of one part

    def _items(self, part: Part, steps: int) -> Iterator[Keyed]:
        """The items of a dict with their keys, or those of a list."""
        if steps > MAX_STEPS:
            return
        match part.node:
            case facts.Dict(items=items):
                for key, value in items:
                    inner = Part(value, part.reader)
                    if key is None:
                        yield from self._items(inner, steps + 1)
                    else:
                        yield self.evaluator.resolve(part.reader.read(key)), inner
            case facts.Sequence(items=listed):
                for one in listed:
                    if isinstance(one, facts.Starred):
                        yield from self._items(Part(one.value, part.reader), steps + 1)
                    else:
                        yield UNKNOWN, Part(one, part.reader)
            case None:
                yield from self._value_items(part)
            case _:
                for inner in self._behind(part):
                    yield from self._items(inner, steps + 1)

    def _value_items(self, part: Part) -> Iterator[Keyed]:
        """The items of a table or list of which only the value is known."""
        for option in options(part.read()):
            match option:
                case Table(keys=keys, values=values):
                    for key, value in zip(keys, values, strict=True):
                        yield self.evaluator.resolve(key), Part(None, part.reader, value)
                case Seq(items=items):
                    yield from ((UNKNOWN, Part(None, part.reader, item)) for item in items)
                case _:
                    pass

    def _behind(self, part: Part) -> Iterator[Part]:
        """What a name, a join or a copy stands for, in the order in which it is joined."""
        match part.node:
            case facts.BinOp(left=left, op=op, right=right) if op in _JOINS:
                yield from (Part(left, part.reader), Part(right, part.reader))
            case facts.BoolOp(values=values):
                yield from (Part(one, part.reader) for one in values)
            case facts.IfExp(body=body, orelse=orelse):
                yield from (Part(body, part.reader), Part(orelse, part.reader))
            case facts.Call(func=func, args=args) if _is_copy(func):
                if isinstance(func, facts.Attribute) and not args:
                    yield Part(func.value, part.reader)
                yield from (Part(_entry(arg), part.reader) for arg in args)
            case facts.Name(id=name):
                yield from self._bound(part, part.reader.function.module, name)
            case facts.Attribute(value=owner, attr=name):
                home = self.evaluator.resolve(part.reader.read(owner))
                module = self.program.module_named(home.name) if isinstance(home, ModuleRef) else None
                yield from self._bound(part, module, name)
            case _:
                yield Part(None, part.reader, part.read())

    def _bound(self, part: Part, module: Module | None, name: str) -> Iterator[Part]:
        """What a variable of a module is given; a variable of a function by its value."""
        local = part.reader.function
        is_local = isinstance(part.node, facts.Name) and local is not local.module.body and self._binds(local, name)
        found = self._home(module, name) if module is not None and not is_local else None
        if found is None:
            yield Part(None, part.reader, part.read())
            return
        for one in self._given(*found):
            if one.node is not None and part.node is not None and one.node.at == part.node.at:
                continue  # the name in its own `table = table | more`
            yield one

    def _binds(self, function: Function, name: str) -> bool:
        return self.evaluator.flow_of(function).binding(name) is not None

    def _home(self, module: Module, name: str, steps: int = 0) -> tuple[Module, str] | None:
        """The module in which a name that a module knows was given its value, and its name there."""
        bindings = module.scope.get(name, ())
        for binding in bindings:
            if isinstance(binding.node, facts.ImportFrom):
                home = self.evaluator.names.imported_module(module, binding.node)
                inner = self.program.module_named(home.name, module) if isinstance(home, ModuleRef) else None
                if inner is None or steps > MAX_STEPS:
                    return None
                return self._home(inner, binding.imported, steps + 1)
        return (module, name) if bindings else None

    # ------------------------------------------------------------------ what a name is given

    def _given(self, module: Module, word: str) -> Iterator[Part]:
        """Everything that a module assigns to a name or attribute, or puts into it."""
        for function in sorted(module.functions.values(), key=lambda one: one.line):
            if word not in function.words and not _has_keyword(function, word):
                continue
            reader = Reader(self.evaluator, function)
            for node in own_nodes(function.node):
                yield from (Part(one, reader) for one in _put_in(node, word))


def _has_keyword(function: Function, word: str) -> bool:
    """Whether a call in a function has a keyword argument of this name."""
    return any(
        isinstance(node, facts.Call) and any(arg.keyword == word for arg in node.args)
        for node in own_nodes(function.node)
    )


def _put_in(node: object, word: str) -> Iterator[facts.Expr]:
    """What one statement or expression puts into a name, an attribute or a setting called `word`."""
    match node:
        case facts.Assign(targets=targets, value=value) if value is not None:
            for target in targets:
                if _is_called(target, word):
                    yield value
                elif isinstance(target, facts.Subscript) and _is_called(target.value, word):
                    yield facts.Dict(node.at, ((target.index, value),))
                elif isinstance(target, facts.Subscript) and _is_text(target.index, word):
                    yield value
        case facts.AugAssign(target=target, value=value) if _is_called(target, word):
            yield value
        case facts.Call(func=facts.Attribute(value=owner, attr=attr), args=args) if _is_called(owner, word):
            yield from _added(node, attr, args)
        case facts.Call(args=args):
            yield from (arg.value for arg in args if arg.keyword == word)
        case facts.Dict(items=items):
            yield from (value for key, value in items if key is not None and _is_text(key, word))
        case _:
            pass


def _added(node: facts.Call, method: str, args: tuple[facts.Arg, ...]) -> Iterator[facts.Expr]:
    """What a method call adds to a table or list."""
    values = [arg.value for arg in args]
    if method in ("update", "extend"):
        yield from map(_entry, args)
    elif method in ("append", "add") and values:
        yield facts.Sequence(node.at, "list", (values[0],))
    elif method == "insert" and len(values) > 1:
        yield facts.Sequence(node.at, "list", (values[1],))
    elif method == "setdefault" and len(values) > 1:
        yield facts.Dict(node.at, ((values[0], values[1]),))


def _entry(arg: facts.Arg) -> facts.Expr:
    """An argument of `dict` or `update` as a table: a keyword is one entry."""
    if not arg.keyword:
        return arg.value
    return facts.Dict(arg.value.at, ((facts.Constant(arg.value.at, arg.keyword), arg.value),))


def _is_called(node: facts.Expr, word: str) -> bool:
    """Whether an expression is a name or an attribute called `word`."""
    return (isinstance(node, facts.Name) and node.id == word) or (
        isinstance(node, facts.Attribute) and node.attr == word
    )


def _is_text(node: facts.Expr, word: str) -> bool:
    return isinstance(node, facts.Constant) and node.value == word


def _is_copy(func: facts.Expr) -> bool:
    name = func.id if isinstance(func, facts.Name) else func.attr if isinstance(func, facts.Attribute) else ""
    return name in _COPIES
