"""Checks one rule pack's data and types it: `typed(data, path)` gives a `Pack` or raises `PackError`.

The messages name the file, the path of the key and, for a misspelt name, the nearest valid one.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import msgspec

from sendonce.errors import PackError
from sendonce.vocabulary import Pack, Returns, Trigger

_NAME = r"[A-Za-z_]\w*"
_STEP = rf"{_NAME}(?:\(\)|\[\])*"
_DOTTED = re.compile(rf"{_NAME}(?:\.{_NAME})*")
_SHAPE = re.compile(rf"{_STEP}(?:\.{_STEP})*(?:(?<=[)\]])\.\*)?")
_INCLUDE = re.compile(rf"{_STEP}(?:\.{_STEP})*\([\w.]+\)")
_ARGUMENT = rf"(?:receiver:)?(?:{_NAME})?(?:\|(?:\d+\*?|\*))?(?:/[^/]+)*"
_ARGUMENTS = re.compile(_ARGUMENT)
_VALUE = re.compile(
    rf"receiver|element|pair|model|never|argument\|\d+|(?:element|collection|class|argument|named|text|setting|library):"
    rf"{_ARGUMENT}(?:\.{_NAME})*"
)
_HOST = re.compile(r"(?:\*\.)?[\w-]+(?:\.[\w-]+)+")
_METHOD = re.compile(rf"(?:{_NAME})?\*?")

_SHAPE_KEYS = frozenset(
    {
        "calls",
        "attributes",
        "decorators",
        "registers",
        "bases",
        "verifies",
        "exempts",
        "signals",
        "sends",
        "within",
        "contexts",
        "begins",
        "writes",
        "commits",
        "rollbacks",
        "covers",
        "conflicts",
        "columns",
        "constraints",
        "foreign",
    }
)
_ARGUMENT_KEYS = frozenset(
    {
        "template",
        "template_id",
        "subject",
        "text",
        "recipient",
        "message",
        "key",
        "url",
        "body",
        "headers",
        "request",
        "source",
        "base",
        "handler",
        "detail",
        "name",
        "bound",
        "schedule",
        "job",
        "args",
        "kwargs",
        "function",
        "on",
        "signal",
        "sender",
        "expiry",
        "limit",
        "only",
        "when",
    }
)
_WORDS = {"array": "a list", "object": "a table", "str": "a string", "int": "a number", "bool": "true or false"}


def typed(data: dict[str, Any], path: Path) -> Pack:
    """The pack that the parsed TOML of `path` describes; raises `PackError` for anything wrong in it."""
    problem = next(_misnamed(data, Pack, ""), None)
    if problem is None:
        try:
            pack = msgspec.convert(data, Pack)
        except msgspec.ValidationError as error:
            raise PackError(f"{path}: {_reworded(str(error))}") from None
        problem = next(_malformed(pack), None)
        if problem is None:
            return pack
    raise PackError(f"{path}: {problem}")


def nearest(word: str, valid: Iterable[str]) -> str:
    """`; did you mean "x"?` for the name of `valid` that looks most like `word`, else the valid names."""
    names = sorted(valid)
    close = difflib.get_close_matches(word, names, n=1)
    return f'; did you mean "{close[0]}"?' if close else f"; known: {', '.join(names)}"


def _misnamed(value: Any, kind: Any, key: str) -> Iterator[str]:
    """Unknown keys and unknown choices in `value`, which should be of type `kind`."""
    origin = get_origin(kind)
    if origin is Literal and isinstance(value, str) and value not in get_args(kind):
        yield f'{key}: unknown value "{value}"{nearest(value, get_args(kind))}'
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
            yield f"{where}: unknown key{nearest(name, fields)}"
        else:
            yield from _misnamed(item, fields[name], where)


def _reworded(message: str) -> str:
    """A typing error in the words of a TOML file: `send[0].calls: expected a list, got a string`."""
    text, _, where = message.partition(" - at `$")
    text = re.sub(r"`(\w+)`", lambda match: _WORDS.get(match[1], f'"{match[1]}"'), text)
    text = text.replace("Object missing required field", "missing key")
    key = where.rstrip("`").lstrip(".")
    return f"{key or 'the file'}: {text[0].lower()}{text[1:]}"


def shapes_of(pack: Pack) -> Iterator[str]:
    """All shapes that the entries of a pack name."""
    for _, entry in _entries(pack):
        for field in entry.__struct_fields__:
            value = getattr(entry, field)
            if field in _SHAPE_KEYS and isinstance(value, tuple):
                yield from value


def _entries(pack: Pack) -> Iterator[tuple[str, msgspec.Struct]]:
    for field in pack.__struct_fields__:
        entries = getattr(pack, field)
        if isinstance(entries, tuple):
            for number, entry in enumerate(entries):
                if isinstance(entry, msgspec.Struct):
                    yield f"{field}[{number}]", entry


def _malformed(pack: Pack) -> Iterator[str]:
    """What is well typed but not well formed: shapes, arguments, and entries that say nothing."""
    for key, value in _dotted_names(pack):
        if not _DOTTED.fullmatch(value) and not (key.startswith("alias.") and _SHAPE.fullmatch(value)):
            yield f'{key}: "{value}" is no dotted name'
    for key, entry in _entries(pack):
        yield from _malformed_entry(entry, key)


def _dotted_names(pack: Pack) -> Iterator[tuple[str, str]]:
    for name, target in pack.alias.items():
        yield f"alias.{name}", name
        yield f"alias.{name}", target
    for name, parents in pack.bases.items():
        yield f"bases.{name}", name
        for parent in parents:
            yield f"bases.{name}", parent


def _malformed_entry(entry: msgspec.Struct, key: str) -> Iterator[str]:
    for field in entry.__struct_fields__:
        value = getattr(entry, field)
        where = f"{key}.{field}"
        if field == "type" and value and not _DOTTED.fullmatch(value):
            yield f'{where}: "{value}" is no dotted name'
        elif field == "methods" and isinstance(value, dict):
            for name, content in value.items():
                yield from _malformed_entry(content, f"{where}.{name}")
        elif isinstance(value, (tuple, dict)):
            yield from _malformed_strings(field, value, where)
    if isinstance(entry, Returns):
        yield from _malformed_returns(entry, key)
    if isinstance(entry, Trigger) and not _names_a_start(entry):
        yield f'{key}: one of "decorators", "registers", "bases" and "functions" is needed'


def _names_a_start(entry: Trigger) -> bool:
    return any((entry.decorators, entry.registers, entry.bases, entry.functions, entry.settings))


def _malformed_strings(field: str, values: Iterable[Any], where: str) -> Iterator[str]:
    """Items of a list (or keys of a table) that break the notation its field is written in."""
    isolated = not isinstance(values, dict)
    for number, value in enumerate(values):
        item = f"{where}[{number}]" if isolated else f"{where}.{value}"
        if field in _SHAPE_KEYS and isolated and not _SHAPE.fullmatch(value):
            yield f'{item}: "{value}" is no shape (such as "library.Class().method")'
        elif field == "includes" and not _INCLUDE.fullmatch(value):
            yield f'{item}: "{value}" is no call with a literal (such as "library.include(name)")'
        elif field in _ARGUMENT_KEYS and not (value and _ARGUMENTS.fullmatch(value)):
            yield f'{item}: "{value}" is no argument (such as "name|1", "name", "|1", "name/key", "receiver")'
        elif field == "methods" and not (value and _METHOD.fullmatch(value)):
            yield f'{item}: "{value}" is no method name'
        elif field == "functions" and "::" not in value:
            yield f'{item}: "{value}" is no "path glob::name"'
        elif field == "hosts" and not _HOST.fullmatch(value):
            yield f'{item}: "{value}" is no host name (such as "api.example.com", "*.example.com")'
        elif field == "paths" and where.startswith("http["):
            yield from _malformed_pattern(value, item)


def _malformed_pattern(value: str, item: str) -> Iterator[str]:
    try:
        re.compile(value)
    except re.error as error:
        yield f'{item}: "{value}" is no regular expression: {error}'


def _malformed_returns(entry: Returns, key: str) -> Iterator[str]:
    if not (entry.calls or entry.attributes):
        yield f'{key}: one of "calls" and "attributes" is needed'
    if bool(entry.type) == bool(entry.value):
        yield f'{key}: exactly one of "type" and "value" is needed'
    elif entry.value and not _VALUE.fullmatch(entry.value):
        yield f'{key}.value: "{entry.value}" is no value (such as "receiver", "element", "class:name|0")'
