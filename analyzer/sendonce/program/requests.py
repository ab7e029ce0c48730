"""Transactions that a framework opens around a whole run: a setting, an included extension, a dispatch, a hook."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sendonce import facts
from sendonce import vocabulary as v
from sendonce.packs.tables import Table
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.link import Linker
from sendonce.program.reader import Reader
from sendonce.program.starts import Start
from sendonce.program.symbols import Class, Function, Module, own_nodes
from sendonce.program.values import Attr, Call, ClassRef, Const, Seq, Super, Value

_REQUESTS = ("controller", "webhook")
"""The kinds of trigger that a setting covers where its pack names none."""


@dataclass(frozen=True)
class Opened:
    """Where a transaction around a run is opened, and what to say of it."""

    path: str
    line: int
    note: str


@dataclass(frozen=True)
class _Switch:
    """A setting or include that was found switched on, and the pack's entry for it."""

    entry: v.Transaction
    opened: Opened


class Requests:
    """Finds the transaction around a trigger. `opens` tells whether a call stands inside one in its own function."""

    def __init__(self, evaluator: Evaluator, flows: Flows, linker: Linker, opens: Callable[[Site], bool]) -> None:
        self.evaluator = evaluator
        self.packs = evaluator.packs
        self.program = evaluator.program
        self.flows = flows
        self.linker = linker
        self.opens = opens
        self._found: tuple[_Switch, ...] | None = None

    def around(self, start: Start) -> Opened | None:
        """The transaction in which a framework runs a trigger's function."""
        if start.entry is not None and start.entry.around:
            return None
        if start.inside:
            place = start.trigger.place
            return Opened(
                place.path, place.line, f"{start.trigger.detail} runs inside the transaction that saves the row"
            )
        function = self.program.function(start.function)
        cls = start.cls or function.cls
        found = self._hook(cls, function) or self._dispatched(cls, function)
        if found is not None or self._is_exempt(cls, function):
            return found
        for switch in self._switches():
            covered = not switch.entry.covers or self._is_covered(switch.entry, cls, function)
            if covered and start.trigger.kind in (switch.entry.kinds or _REQUESTS):
                return switch.opened
        return None

    # ------------------------------------------------------------------ methods and handlers of frameworks

    def _hook(self, cls: Class | None, function: Function) -> Opened | None:
        """A method or a kind of handler that the framework always runs in its own transaction."""
        for name, entry in self._covers(cls, function):
            if not entry.settings and not entry.includes:
                return Opened(function.module.path, function.line, f"{name} runs in a transaction")
        return None

    def _covers(self, cls: Class | None, function: Function) -> Iterator[tuple[str, v.Transaction]]:
        """The entries that cover a method by its class, or a function by its decorator."""
        for base in self.evaluator.hierarchy.external_bases(cls.id) if cls is not None else ():
            for _, entry in self.packs.find(self.packs.transaction_covers, f"{base}().{function.name}"):
                yield f"{base}.{function.name}", entry
        for call in self.linker.decorations(function):
            for shape in sorted(self.evaluator.shapes(call.func)):
                for _, entry in self.packs.transaction_covers.get(shape.removesuffix("()"), ()):
                    yield shape.removesuffix("()"), entry

    def _is_covered(self, wanted: v.Transaction, cls: Class | None, function: Function) -> bool:
        return any(entry is wanted for _, entry in self._covers(cls, function))

    def _dispatched(self, cls: Class | None, function: Function) -> Opened | None:
        """A transaction that a class decorator or an overridden `dispatch` opens around the handler's methods."""
        if cls is None:
            return None
        for call in self._class_decorators(cls, self.packs.transaction_decorators):
            name = _method_named(call)
            if name in ("", function.name) or name in self._leading_to(cls, function):
                return Opened(call.at[0], call.at[1], "a class decorator makes each request a transaction")
        for name in self._leading_to(cls, function):
            for one in self.evaluator.hierarchy.mro(cls.id):
                method = one.methods.get(name)
                for site in self.flows.of(method).sites if method is not None else ():
                    func = site.call.func
                    goes_on = isinstance(func, Attr) and func.name == name and isinstance(func.base, Super)
                    if goes_on and self.opens(site):
                        note = f"{one.name}.{name} runs each request in a transaction"
                        return Opened(site.path, site.at[0], note)
        return None

    def _leading_to(self, cls: Class, function: Function) -> tuple[str, ...]:
        """Methods of the framework, such as `dispatch`, that go on to the handler's method."""
        bases = self.evaluator.hierarchy.external_bases(cls.id)
        return tuple(
            dict.fromkeys(
                shape.rpartition("().")[2]
                for shape, pairs in sorted(self.packs.invokes.items())
                for _, entry in pairs
                if function.name in entry.methods and shape.rpartition("().")[0] in bases
                if "receiver" in (entry.on or ("receiver",)) and shape.rpartition("().")[2] != function.name
            )
        )

    def _class_decorators(self, cls: Class, table: Table[v.Transaction]) -> Iterator[Call]:
        """The decorators of a class that a table knows, themselves or in their arguments (`method_decorator(x)`)."""
        for one in self.evaluator.hierarchy.mro(cls.id):
            for site in self.flows.of(one.module.body).sites:
                func = site.call.func
                decorates = site.call.args and site.call.args[-1] is ClassRef(one.id)
                if decorates and any(self.evaluator.lookup(table, value) for value in decorators_in(func)):
                    yield func if isinstance(func, Call) else site.call

    def _is_exempt(self, cls: Class | None, function: Function) -> bool:
        if cls is not None and any(self._class_decorators(cls, self.packs.transaction_exempts)):
            return True
        return any(
            self.evaluator.lookup(self.packs.transaction_exempts, value)
            for call in self.linker.decorations(function)
            for value in decorators_in(call.func)
        )

    # ------------------------------------------------------------------ settings and extensions

    def _switches(self) -> tuple[_Switch, ...]:
        """The settings and calls that put every request in a transaction."""
        if self._found is None:
            self._found = tuple(self._settings())
        return self._found

    def _settings(self) -> Iterator[_Switch]:
        for path, pairs in sorted(self.packs.transaction_settings.items()):
            name = path.rpartition("/")[2]
            for _, entry in pairs:
                for file in self.program.index.files_with(name):
                    module = self.program.module_of(file)
                    if module is not None and file.role == "application":
                        for line in self._set_to(module, name, entry.settings[path], nested="/" in path):
                            yield _Switch(entry, Opened(module.path, line, f"{name} makes each request a transaction"))
        for shape, pairs in sorted(self.packs.transaction_includes.items()):
            for _, entry in pairs:
                for opened in self._included(shape):
                    yield _Switch(entry, opened)

    def _set_to(self, module: Module, name: str, wanted: object, nested: bool) -> Iterator[int]:
        """The lines at which a module gives a key, keyword or name this value; a `nested` setting is no plain name."""
        reader = Reader(self.evaluator, module.body, None)
        for key, value, line in _settings_in(module, names=not nested):
            if key == name and self._is(reader.read(value), wanted):
                yield line

    def _is(self, value: Value, wanted: object) -> bool:
        """A constant, or a call with such a default (`env.bool("X", default=True)`)."""
        found = self.evaluator.resolve(value)
        if isinstance(found, Const):
            return found.value is wanted
        return isinstance(found, Call) and any(self._is(arg, wanted) for arg in found.args)

    def _included(self, shape: str) -> Iterator[Opened]:
        call, _, literal = shape.rstrip(")").rpartition("(")
        literal = literal.strip("\"'")
        for function in self.program.mentioning(literal.split(".")[-1]):
            for site in self.flows.of(function).sites:
                if call in self.evaluator.shapes(site.call.func) and any(
                    isinstance(arg, Const) and arg.value == literal for arg in site.call.args
                ):
                    yield Opened(site.path, site.at[0], f"{literal} makes each request a transaction")


def decorators_in(func: Value) -> Iterator[Value]:
    """A decorator, the one that a call of it made, and those that it is given (`method_decorator([a, b])`)."""
    yield func
    if isinstance(func, Call):
        yield func.func
        for arg in func.args:
            yield from arg.items if isinstance(arg, Seq) else (arg,)


def _method_named(decorator: Call) -> str:
    """The method that a decorator of a class is for: `method_decorator(x, name="post")`."""
    for name, value in zip(decorator.names, decorator.args, strict=True):
        if name == "name" and isinstance(value, Const):
            return str(value.value)
    return ""


def _settings_in(module: Module, names: bool) -> Iterator[tuple[str, facts.Expr, int]]:
    """What in a module may be a setting: keys of dicts, keywords, item assignments, and (`names`) plain names."""
    for node in own_nodes(module.content):
        match node:
            case facts.Dict(items=items):
                for key, value in items:
                    if isinstance(key, facts.Constant):
                        yield str(key.value), value, key.at[0]
            case facts.Call(args=args):
                for arg in args:
                    if arg.keyword:
                        yield arg.keyword, arg.value, node.at[0]
            case facts.Assign(targets=targets, value=given) if given is not None:
                for target in targets:
                    if isinstance(target, facts.Subscript) and isinstance(target.index, facts.Constant):
                        yield str(target.index.value), given, node.at[0]
                    elif names and isinstance(target, facts.Name):
                        yield target.id, given, node.at[0]
