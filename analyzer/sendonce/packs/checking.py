"""Checks one rule pack's data and types it: `typed(data, path)` gives a `Pack` or raises `PackError`.

The messages name the file, the path of the key and, for a misspelt name, the nearest valid one.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import msgspec

from sendonce import vocabulary as v
from sendonce.errors import PackError
from sendonce.packs import notation as n

_WORDS = {"array": "a list", "object": "a table", "str": "a string", "int": "a number", "bool": "true or false"}


def typed(data: dict[str, Any], path: Path) -> v.Pack:
    """The pack that the parsed TOML of `path` describes; raises `PackError` for anything wrong in it."""
    try:
        pack = msgspec.convert(data, v.Pack)
    except msgspec.ValidationError as error:
        # The search for a misspelt name is slow and its message better: it is made only now.
        problem = next(_misnamed(data, v.Pack, ""), None) or _reworded(str(error))
        raise PackError(f"{path}: {problem}") from None
    for problem in _malformed(pack):
        raise PackError(f"{path}: {problem}")
    return pack


def shapes_of(pack: v.Pack) -> Iterator[str]:
    """All shapes that the entries of a pack name."""
    for _, entry in _entries(pack):
        for field in entry.__struct_fields__:
            value = getattr(entry, field)
            if isinstance(value, tuple) and n.notation_of(type(entry).__name__, field) == "shape":
                yield from value


# ------------------------------------------------------------------ names and types


def _nearest(word: str, valid: Iterable[str]) -> str:
    names = sorted(valid)
    close = difflib.get_close_matches(word, names, n=1)
    return f'; did you mean "{close[0]}"?' if close else f"; known: {', '.join(names)}"


def _misnamed(value: Any, kind: Any, key: str) -> Iterator[str]:
    """Unknown keys and unknown choices in `value`, which should be of type `kind`."""
    origin = get_origin(kind)
    if origin is Literal and isinstance(value, str) and value not in get_args(kind):
        yield f'{key}: unknown value "{value}"{_nearest(value, get_args(kind))}'
    elif origin is tuple and isinstance(value, list):
        for number, item in enumerate(value):
            yield from _misnamed(item, get_args(kind)[0], f"{key}[{number}]")
    elif origin is dict and isinstance(value, dict):
        for name, item in value.items():
            yield from _misnamed(item, get_args(kind)[1], f"{key}.{name}")
    elif isinstance(kind, type) and issubclass(kind, msgspec.Struct) and isinstance(value, dict):
        yield from _misnamed_in_table(value, kind, key)


def _misnamed_in_table(value: dict[str, Any], kind: type[msgspec.Struct], key: str) -> Iterator[str]:
    """Unknown keys of one table, then those of the tables in it."""
    fields = {field.name: field.type for field in msgspec.structs.fields(kind)}
    for name, item in value.items():
        where = f"{key}.{name}" if key else name
        if name not in fields:
            yield f"{where}: unknown key{_nearest(name, fields)}"
        else:
            yield from _misnamed(item, fields[name], where)


def _reworded(message: str) -> str:
    """A typing error in the words of a TOML file: `send[0].calls: expected a list, got a string`."""
    text, _, where = message.partition(" - at `$")
    text = re.sub(r"`(\w+)`", lambda match: _WORDS.get(match[1], f'"{match[1]}"'), text)
    text = text.replace("Object missing required field", "missing key")
    key = where.rstrip("`").lstrip(".")
    return f"{key or 'the file'}: {text[0].lower()}{text[1:]}"


# ------------------------------------------------------------------ notations

_MATCHING = frozenset({"calls", "classes", "headers", "hosts", "names", "signals"})
"""Fields by which an entry is found: where they are required they cannot be empty."""


def _entries(pack: v.Pack) -> Iterator[tuple[str, msgspec.Struct]]:
    for field in pack.__struct_fields__:
        entries = getattr(pack, field)
        if isinstance(entries, tuple):
            for number, entry in enumerate(entries):
                if isinstance(entry, msgspec.Struct):
                    yield f"{field}[{number}]", entry


def _malformed(pack: v.Pack) -> Iterator[str]:
    """What is well typed but not well formed: shapes, arguments, and entries that say nothing."""
    for name, target in pack.alias.items():
        for one in (name, target):
            if not n.SHAPE.fullmatch(one):
                yield f'alias.{name}: "{one}" is no shape'
    for name, parents in pack.bases.items():
        for one in (name, *parents):
            if not n.DOTTED.fullmatch(one):
                yield f'bases.{name}: "{one}" is no dotted name'
    for key, entry in _entries(pack):
        yield from _malformed_entry(entry, key)


@cache
def _needed(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """The required fields of a kind of entry by which it is found."""
    return tuple(one.name for one in msgspec.structs.fields(kind) if one.required and one.name in _MATCHING)


def _malformed_entry(entry: msgspec.Struct, key: str) -> Iterator[str]:
    kind = type(entry).__name__
    for field in entry.__struct_fields__:
        value = getattr(entry, field)
        where = f"{key}.{field}"
        if field == "type" and value and not n.DOTTED.fullmatch(value):
            yield f'{where}: "{value}" is no dotted name'
        elif isinstance(entry, v.Message) and field == "methods":
            for name, content in entry.methods.items():
                yield from _malformed_entry(content, f"{where}.{name}")
        elif isinstance(value, (tuple, dict)):
            yield from _malformed_strings(f"{kind}.{field}", n.notation_of(kind, field), value, where)
    for name in _needed(type(entry)):
        if getattr(entry, name) == ():
            yield f"{key}.{name}: is empty, so that the entry matches nothing"
    if isinstance(entry, v.Returns):
        yield from _malformed_returns(entry, key)
    if isinstance(entry, v.Trigger):
        yield from _empty_trigger(entry, key)


def _malformed_strings(field: str, notation: n.Notation | None, values: Iterable[Any], where: str) -> Iterator[str]:
    """Items of a list (or keys of a table) that break the notation of their field."""
    keyed = isinstance(values, dict)
    for number, value in enumerate(values):
        item = f"{where}.{value}" if keyed else f"{where}[{number}]"
        if notation == "shape" and not n.SHAPE.fullmatch(value):
            yield f'{item}: "{value}" is no shape (such as "library.Class().method")'
        elif notation == "argument" and not (value and n.ARGUMENT.fullmatch(value)):
            yield f'{item}: "{value}" is no argument (such as "name|1", "name", "|1", "name/key", "receiver")'
        elif field in _SPECIAL:
            matches, what = _SPECIAL[field]
            if not matches(value):
                yield f'{item}: "{value}" is no {what}'


def _is_pattern(value: str) -> bool:
    try:
        re.compile(value)
    except re.error:
        return False
    return True


_SPECIAL: dict[str, tuple[Callable[[str], object], str]] = {
    "Trigger.methods": (lambda value: value and n.METHOD.fullmatch(value), "method name"),
    "Trigger.functions": (lambda value: "::" in value, '"path glob::name"'),
    "Transaction.includes": (n.INCLUDE.fullmatch, 'call with a literal (such as "library.include(name)")'),
    "Http.hosts": (n.HOST.fullmatch, 'host name (such as "api.example.com", "*.example.com")'),
    "Http.paths": (_is_pattern, "regular expression"),
}


def _malformed_returns(entry: v.Returns, key: str) -> Iterator[str]:
    if not (entry.calls or entry.attributes):
        yield f'{key}: one of "calls" and "attributes" is needed'
    if bool(entry.type) == bool(entry.value):
        yield f'{key}: exactly one of "type" and "value" is needed'
    elif entry.value and not n.VALUE.fullmatch(entry.value):
        yield f'{key}.value: "{entry.value}" is no value (such as "receiver", "element", "class:name|0")'


def _empty_trigger(entry: v.Trigger, key: str) -> Iterator[str]:
    known = ("decorators", "registers", "bases", "functions", "settings")
    if not any(getattr(entry, field) for field in known):
        yield f"{key}: one of {', '.join(known)} is needed"
