"""What a project's settings say of a queue: the values that packs name, with the places where they are given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sendonce import facts
from sendonce import vocabulary as v
from sendonce.findings import Place
from sendonce.program.evaluate import Evaluator
from sendonce.program.reader import Reader
from sendonce.program.symbols import Module, own_nodes
from sendonce.program.values import Call, Const, Op, Table, Value


@dataclass(frozen=True, eq=False)
class Given:
    """A setting that is given a value somewhere."""

    setting: v.Setting
    value: v.Scalar
    place: Place


class QueueSettings:
    """Finds settings by the last name of their path: constants, attributes, keys of dicts, keyword arguments."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self._known: dict[tuple[str, str], tuple[Given, ...]] = {}

    def given(self, pack: v.Pack, effect: str) -> tuple[Given, ...]:
        """The values given to a pack's settings with an effect, by place.

        A value that cannot be told is left out, unless any will do.
        """
        key = (pack.name, effect)
        if key not in self._known:
            found = (one for entry in pack.setting if entry.effect == effect for one in self._of(entry))
            self._known[key] = tuple({one.place: one for one in sorted(found, key=lambda one: one.place)}.values())
        return self._known[key]

    def fitting(self, pack: v.Pack, effect: str) -> Given | None:
        """The first setting with an effect that has the value which brings it about."""
        return next((one for one in self.given(pack, effect) if _fits(one)), None)

    def _of(self, entry: v.Setting) -> Iterator[Given]:
        for path in entry.names:
            head, *keys = path.split("/")
            name = re.split(r"[.()]+", head)[-1]
            for file in self.program.index.files_with(name) if name.isidentifier() else ():
                module = self.program.module_of(file)
                for expr, at in _named(module, name) if module is not None else ():
                    yield from self._inside(entry, module, expr, at, keys)

    def _inside(
        self, entry: v.Setting, module: Module | None, expr: facts.Expr, at: facts.Span, keys: list[str]
    ) -> Iterator[Given]:
        """The value under keys of a setting, told by the text where it stands there, else by what it evaluates to."""
        assert module is not None
        if not keys:
            value = Reader(self.evaluator, module.body, None).read(expr)
            known = self._told(value)
            if known is not None or entry.value == "*":
                yield Given(entry, True if known is None else known.value, Place(module.path, *at))
            return
        pairs = _pairs(expr)
        if pairs is None:
            yield from self._evaluated(entry, module, expr, at, keys)
            return
        for name, inner in pairs:
            if keys[0] in ("*", name):
                yield from self._inside(entry, module, inner, inner.at, keys[1:])

    def _evaluated(
        self, entry: v.Setting, module: Module, expr: facts.Expr, at: facts.Span, keys: list[str]
    ) -> Iterator[Given]:
        value: Value | None = Reader(self.evaluator, module.body, None).read(expr)
        for key in keys:
            table = self.evaluator.resolve(value) if value is not None else None
            items = zip(table.keys, table.values, strict=True) if isinstance(table, Table) else ()
            value = next((item for name, item in items if name is Const(key) or key == "*"), None)
        known = self._told(value) if value is not None else None
        if known is not None:
            yield Given(entry, known.value, Place(module.path, *at))

    def _told(self, value: Value) -> Const | None:
        """A constant, a product or sum of numbers, or the default of a call (`env.bool("X", default=True)`)."""
        found = self.evaluator.resolve(value)
        constant = self.evaluator.constant(found)
        if constant is not None:
            return constant
        if isinstance(found, Op) and found.op in ("*", "+"):
            numbers = [one.value for one in map(self._told, found.operands) if one is not None]
            numbers = [one for one in numbers if isinstance(one, int)]
            if len(numbers) == len(found.operands) == 2:
                return Const(numbers[0] * numbers[1] if found.op == "*" else numbers[0] + numbers[1])
        if isinstance(found, Call) and len(found.args) > 1:
            return self.evaluator.constant(found.args[-1])
        return None


def _fits(given: Given) -> bool:
    wanted = given.setting.value
    return given.value not in (None, False) if wanted == "*" else given.value == wanted


def _named(module: Module, name: str) -> Iterator[tuple[facts.Expr, facts.Span]]:
    """What in a module is given a name as a setting: the value and where the giving begins."""
    bodies = [module.content, *(function.node for function in module.functions.values())]
    for body in bodies:
        for node in own_nodes(body):
            match node:
                case facts.Assign(targets=targets, value=value) if value is not None:
                    if any(_last(target) == name for target in targets):
                        yield value, node.at
                case facts.Dict() | facts.Call():
                    for key, value in _pairs(node) or ():
                        if key == name:
                            yield value, value.at


def _last(target: facts.Expr) -> str:
    """The last name of what is assigned to: a variable, an attribute, a constant key."""
    match target:
        case facts.Name(id=name) | facts.Attribute(attr=name) | facts.Subscript(index=facts.Constant(value=str(name))):
            return name
        case _:
            return ""


def _pairs(expr: facts.Expr) -> list[tuple[str, facts.Expr]] | None:
    """The named parts of a dict display or of a call with keywords; None for anything else."""
    match expr:
        case facts.Dict(items=items):
            return [(str(key.value), value) for key, value in items if isinstance(key, facts.Constant)]
        case facts.Call(args=args):
            return [(arg.keyword, arg.value) for arg in args if arg.keyword]
        case _:
            return None
