"""How the arguments of a call meet the parameters of what is called, and the argument notation of packs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sendonce import facts
from sendonce.program.values import (
    KNOWN_AS,
    NONE,
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    FunctionRef,
    Item,
    Op,
    Param,
    Seq,
    Some,
    Table,
    Union,
    Updated,
    Value,
    options,
    union,
)

if TYPE_CHECKING:
    from sendonce.program.evaluate import Evaluator
    from sendonce.program.symbols import Function


def bind(evaluator: Evaluator, ref: FunctionRef, names: tuple[str, ...], args: tuple[Value, ...]) -> dict[Param, Value]:
    """What each parameter of a function is in one call, its closure included.

    A parameter that gets something unknown keeps its annotated type; one that the call leaves out
    gets its default. Parameters that cannot be told (behind a `*` of unknown length) are unknown.
    """
    function = evaluator.program.function(ref.id)
    binding: dict[Param, Value] = dict(ref.closure)
    positional, keywords, open_ended = _spread(evaluator, names, args)
    handed_on = _HandedOn.of(evaluator, names, args) if open_ended else None
    if ref.receiver is not None:
        positional.insert(0, ref.receiver)
    for declared in function.params:
        param = Param(ref.id, declared.name)
        if handed_on is not None and not positional and handed_on.gives(declared, keywords):
            binding[param] = handed_on.take(evaluator, function, declared, keywords)
        else:
            binding[param] = _given(evaluator, function, declared, positional, keywords, open_ended)
    return {param: _typed(evaluator, param, value) for param, value in binding.items()}


@dataclass
class _HandedOn:
    """The `*args` and `**kwargs` of a caller that go on as they came: only the caller's own caller knows them."""

    args: Param | None = None
    kwargs: Param | None = None
    taken: int = 0
    """How many of `args` the parameters so far have taken."""

    @staticmethod
    def of(evaluator: Evaluator, names: tuple[str, ...], args: tuple[Value, ...]) -> _HandedOn | None:
        """What a call hands on; None for a call that hands nothing on."""
        found = _HandedOn()
        for name, value in zip(names, args, strict=True):
            for part in joined(evaluator, value) if name in ("*", "**") else ():
                if isinstance(part, Param) and name == "*":
                    found.args = part
                elif isinstance(part, Param):
                    found.kwargs = part
        return found if found.args is not None or found.kwargs is not None else None

    def gives(self, declared: facts.Param, keywords: dict[str, Value]) -> bool:
        """Whether a parameter that nothing else gives may come from what is handed on."""
        if declared.kind == "*":
            return self.args is not None
        if declared.kind == "**":
            return self.kwargs is not None
        return declared.name not in keywords

    def take(
        self, evaluator: Evaluator, function: Function, declared: facts.Param, keywords: dict[str, Value]
    ) -> Value:
        """The value of a parameter, in terms of the caller's own parameters."""
        if declared.kind == "*":
            assert self.args is not None
            return self.args if not self.taken else UNKNOWN
        if declared.kind == "**":
            assert self.kwargs is not None
            own = Table(tuple(map(Const, sorted(keywords))), tuple(keywords[name] for name in sorted(keywords)))
            return Op("|", (self.kwargs, own)) if keywords else self.kwargs
        otherwise = default_of(evaluator, function, declared)
        if self.args is not None and declared.kind != "keyword":
            positional = Item(self.args, Const(self.taken))
            otherwise = positional if declared.default is None else union((positional, otherwise))
            self.taken += 1
        if self.kwargs is None or declared.kind == "positional":
            return otherwise
        if otherwise is UNKNOWN:
            return Item(self.kwargs, Const(declared.name))
        return Call(Attr(self.kwargs, "get"), ("", ""), (Const(declared.name), otherwise), function.place)


def joined(evaluator: Evaluator, value: Value) -> Iterator[Value]:
    """The tables that a dict is joined from; what is no table that is known whole comes as it is."""
    value = _laid_out(evaluator, evaluator.resolve(value))
    if isinstance(value, Op) and value.op == "|":
        for part in value.operands:
            yield from joined(evaluator, part)
        return
    found = [_laid_out(evaluator, option) for option in value.options] if isinstance(value, Union) else []
    tables = [one for one in found if isinstance(one, Table)]
    if tables and len(tables) == len(found):
        yield from _common(tables)
    else:
        yield value


def _laid_out(evaluator: Evaluator, value: Value) -> Value:
    """A table after items of it were set, as one table; any other value as it is."""
    if not isinstance(value, Updated):
        return value
    base = _laid_out(evaluator, evaluator.resolve(value.base))
    key = value.field.removeprefix("[").removesuffix("]")
    if not isinstance(base, Table) or not key or value.field != f"[{key}]":
        return value
    items = {**dict(zip(base.keys, base.values, strict=True)), Const(key): value.value}
    return Table(tuple(items), tuple(items.values()))


def _common(tables: list[Table]) -> Iterator[Value]:
    """What several tables have in common, as one table; what only some have stays unknown."""
    laid_out = [dict(zip(one.keys, one.values, strict=True)) for one in tables]
    shared = [key for key in laid_out[0] if all(key in one for one in laid_out)]
    yield Table(tuple(shared), tuple(union(one[key] for one in laid_out) for key in shared))
    if any(len(one) > len(shared) for one in laid_out):
        yield UNKNOWN


def _spread(
    evaluator: Evaluator, names: tuple[str, ...], args: tuple[Value, ...]
) -> tuple[list[Value], dict[str, Value], bool]:
    """Positional and keyword arguments with known `*` and `**` laid out, and whether some stay unknown."""
    positional: list[Value] = []
    keywords: dict[str, Value] = {}
    open_ended = False
    for name, value in zip(names, args, strict=True):
        if name == "":
            positional.append(value)
        elif name == "*":
            found = evaluator.resolve(value)
            if isinstance(found, Seq) and found.kind != "each":
                positional.extend(found.items)
            else:
                open_ended = True
        elif name == "**":
            for found in joined(evaluator, value):
                if isinstance(found, Table) and all(isinstance(key, Const) for key in found.keys):
                    keywords.update((str(k.value), v) for k, v in zip(found.keys, found.values, strict=True))  # type: ignore[attr-defined]
                elif fields := evaluator.fields_of(evaluator.seen_through(found)):
                    keywords.update(fields)
                else:
                    open_ended = True
        else:
            keywords[name] = value
    return positional, keywords, open_ended


def _given(
    evaluator: Evaluator,
    function: Function,
    declared: facts.Param,
    positional: list[Value],
    keywords: dict[str, Value],
    open_ended: bool,
) -> Value:
    """Takes one parameter's argument out of what is left of the call."""
    if declared.kind == "*":
        rest, positional[:] = tuple(positional), []
        return Seq("tuple", rest)
    if declared.kind == "**":
        pairs = sorted(keywords.items())
        keywords.clear()
        return Table(tuple(Const(name) for name, _ in pairs), tuple(value for _, value in pairs))
    if declared.kind != "positional" and declared.name in keywords:
        return keywords.pop(declared.name)
    if declared.kind != "keyword" and positional:
        return positional.pop(0)
    if open_ended or declared.default is None:
        return UNKNOWN
    return default_of(evaluator, function, declared)


def default_of(evaluator: Evaluator, function: Function, declared: facts.Param) -> Value:
    """The value of a parameter's default."""
    from sendonce.program.reader import Reader

    if declared.default is None:
        return UNKNOWN
    return Reader(evaluator, function.parent or function.module.body, function.cls).read(declared.default)


def _typed(evaluator: Evaluator, param: Param, value: Value) -> Value:
    if value is UNKNOWN or value is NONE:
        annotated = evaluator.annotated(param)
        if annotated is not None and value is UNKNOWN:
            return annotated
    elif isinstance(value, Element | Item | Attr) and not evaluator.types(value):
        annotated = evaluator.annotated(param)
        if isinstance(annotated, Some) and isinstance(annotated.cls, ClassRef):
            return Updated(value, KNOWN_AS, annotated)
    return value


def argument(evaluator: Evaluator, call: Call, notation: str) -> Value | None:
    """The argument of a call that a pack's notation names (see `vocabulary`); None where it is not given."""
    head, *path = notation.split("/")
    value = _plain(evaluator, call, head)
    for key in path:
        if value is None:
            return None
        value = inside(evaluator, value, key)
    return value


def first_argument(evaluator: Evaluator, call: Call, notations: tuple[str, ...]) -> Value | None:
    """The first of several arguments that the call gives."""
    for notation in notations:
        found = argument(evaluator, call, notation)
        if found is not None:
            return found
    return None


def given(evaluator: Evaluator, call: Call, notations: tuple[str, ...]) -> Iterator[Value]:
    """All of several arguments that the call gives."""
    for notation in notations:
        found = argument(evaluator, call, notation)
        if found is not None:
            yield found


def holds(evaluator: Evaluator, call: Call, when: Mapping[str, object]) -> bool:
    """Whether a call's arguments are as the options of a pack's entry want them."""
    for notation, wanted in when.items():
        given = argument(evaluator, call, notation)
        if wanted == "?":
            if given is not None:
                return False
            continue
        if given is None:
            return False
        constant = evaluator.constant(given)
        if wanted == "*":
            if constant is not None and constant.value in (None, False):
                return False
        elif constant is None or str(constant.value) != str(wanted):
            return False
    return True


def is_left_open(evaluator: Evaluator, call: Call, when: Mapping[str, object]) -> bool:
    """Whether parameters decide that a call's arguments are as the options of a pack's entry want them."""
    named = [notation for notation, wanted in when.items() if isinstance(wanted, str) and wanted not in "?*"]
    found = [argument(evaluator, call, notation) for notation in named]
    rest = {notation: wanted for notation, wanted in when.items() if notation not in named}
    return bool(found) and all(one is not None and one.free for one in found) and holds(evaluator, call, rest)


def _plain(evaluator: Evaluator, call: Call, head: str) -> Value | None:
    if head == "receiver":
        return call.func.base if isinstance(call.func, Attr) else None
    if head.startswith("receiver:"):
        made = _made(evaluator, call.func.base if isinstance(call.func, Attr) else call.func)
        return _plain(evaluator, made, head.removeprefix("receiver:")) if made is not None else None
    name, _, position = head.partition("|")
    positional, keywords, _ = _spread(evaluator, call.names, call.args)
    if name and name in keywords:
        return keywords[name]
    if position == "*":
        names = sorted(keywords)
        return (
            Table(tuple(map(Const, names)), tuple(keywords[n] for n in names))
            if keywords
            else Seq("tuple", tuple(positional))
        )
    if position.endswith("*"):
        rest = tuple(positional[int(position[:-1]) :])
        return Seq("tuple", rest) if rest else None
    if position and int(position) < len(positional):
        return positional[int(position)]
    return None


def _made(evaluator: Evaluator, value: Value) -> Call | None:
    """The call that made an object."""
    found = evaluator.resolve(value)
    while isinstance(found, Updated):
        found = evaluator.resolve(found.base)
    return found if isinstance(found, Call) else None


def inside(evaluator: Evaluator, value: Value, key: str) -> Value | None:
    """An item of a dict (or of the first item of a list) by key; any item for `*`."""
    if key == "*":
        return evaluator.resolve(Element(value))
    for option in options(evaluator.resolve(value)):
        option = evaluator.seen_through(option)
        while isinstance(option, Updated):
            if option.field in (f"[{key}]", key):
                return option.value
            option = evaluator.resolve(option.base)
        if isinstance(option, Seq) and option.items:
            option = evaluator.resolve(option.items[0])
        if isinstance(option, Table):
            for k, v in zip(option.keys, option.values, strict=True):
                if isinstance(k, Const) and k.value == key:
                    return v
        if isinstance(option, Call) and key in option.names:
            return option.args[option.names.index(key)]
    return None
