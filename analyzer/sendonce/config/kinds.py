"""Kinds of values in a configuration file: each reads one and has its JSON Schema."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from sendonce.config.settings import key_path
from sendonce.errors import ConfigError

Schema = dict[str, Any]
_BARE = re.compile(r"[\w-]+")


def nearest(word: str, known: Iterable[str]) -> str:
    """` (did you mean …?)` for the known word most like `word`, or nothing."""
    close = difflib.get_close_matches(word.lower(), list(known), 1, 0.5)
    return f"; did you mean {close[0]!r}?" if close else ""


@dataclass(frozen=True)
class Where:
    """A key in a configuration file."""

    file: Path
    key: str = ""

    def at(self, name: str) -> Where:
        """A key of the table at this key."""
        written = name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)
        return Where(self.file, f"{self.key}.{written}" if self.key else written)

    def error(self, text: str) -> ConfigError:
        """The error that names the key."""
        return ConfigError(f"{self.file}: {key_path(self.file, self.key)} {text}")

    def wrong(self, wanted: str, value: object) -> ConfigError:
        """The error for a value of the wrong kind."""
        return self.error(f"must be {wanted}, not {value!r}")

    def unknown(self, known: Iterable[str]) -> ConfigError:
        """The error for a key that there is not."""
        names = sorted(known)
        last = self.key.rpartition(".")[2]
        path = key_path(self.file, self.key)
        return ConfigError(f"{self.file}: unknown key {path!r}{nearest(last, names)} (known: {', '.join(names)})")


@dataclass(frozen=True)
class Kind:
    """How a value is read (with an error that names its key), and what JSON Schema says of it."""

    read: Callable[[Where, object], Any]
    schema: Callable[[], Schema]
    plain: Callable[[Any], Any] = lambda value: value
    """Gives the value as lists, dicts and scalars, as it would stand in a file."""


@dataclass(frozen=True)
class Key:
    """A key of a table: its kind, and what it is for."""

    kind: Kind
    doc: str
    required: bool = False


def _texts(where: Where, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise where.wrong("a list of texts", value)
    return tuple(value)


def _text(where: Where, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise where.wrong("a text", value)
    return value


def _flag(where: Where, value: object) -> bool:
    if not isinstance(value, bool):
        raise where.wrong("true or false", value)
    return value


def _count(where: Where, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise where.wrong("a whole number from 1", value)
    return value


TEXT = Kind(_text, lambda: {"type": "string", "pattern": r"\S"})
TEXTS = Kind(_texts, lambda: {"type": "array", "items": {"type": "string", "minLength": 1}}, list)
FLAG = Kind(_flag, lambda: {"type": "boolean"})
COUNT = Kind(_count, lambda: {"type": "integer", "minimum": 1})
FILE = Kind(lambda where, value: where.file.parent / _text(where, value), TEXT.schema, Path.as_posix)
FILES = Kind(
    lambda where, value: tuple(where.file.parent / text for text in _texts(where, value)),
    TEXTS.schema,
    lambda paths: [path.as_posix() for path in paths],
)


def one_of(*choices: str) -> Kind:
    """One of some words."""

    def read(where: Where, value: object) -> object:
        if value not in choices:
            hint = nearest(value, choices) if isinstance(value, str) else ""
            raise ConfigError(f"{where.wrong('one of ' + ', '.join(choices), value)}{hint}")
        return value

    return Kind(read, lambda: {"enum": list(choices)})


def read_table(where: Where, value: object, keys: Mapping[str, Key]) -> dict[str, Any]:
    """The values of a table by the names of fields; raises `ConfigError` for an unknown or missing key."""
    if not isinstance(value, dict):
        raise where.wrong("a table", value)
    found: dict[str, Any] = {}
    for name, item in sorted(value.items()):
        key = keys.get(name.replace("_", "-"))
        if key is None:
            raise where.at(name).unknown(keys)
        field = name.replace("-", "_")
        if field in found:
            raise where.at(name).error("is there twice, with - and with _")
        found[field] = key.kind.read(where.at(name), item)
    for name in sorted(keys):
        if keys[name].required and name not in found:
            raise where.error(f"needs the key {name!r}: {keys[name].doc}")
    return found


def table_schema(keys: Mapping[str, Key]) -> Schema:
    """The JSON Schema of a table with these keys."""
    properties: Schema = {}
    for name, key in sorted(keys.items()):
        properties[name] = {"description": key.doc, **key.kind.schema()}
        if "-" in name:
            properties[name.replace("-", "_")] = {"description": f"The same as {name}.", **key.kind.schema()}
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    needed = sorted(name for name in keys if keys[name].required)
    return {**schema, "required": needed} if needed else schema


def by_name(kind: Kind) -> Kind:
    """A table with names of the user's own, read as a sorted tuple of pairs."""

    def read(where: Where, value: object) -> tuple[Any, ...]:
        if not isinstance(value, dict):
            raise where.wrong("a table", value)
        return tuple((name, kind.read(where.at(name), item)) for name, item in sorted(value.items()))

    return Kind(
        read,
        lambda: {"type": "object", "additionalProperties": kind.schema()},
        lambda pairs: {name: kind.plain(item) for name, item in pairs},
    )


def fields_of(value: Any) -> dict[str, Any]:
    """What is set of a value of a class with the fields of a table, by the table's keys."""
    found = {one.name: getattr(value, one.name) for one in fields(value)}
    plain = {name: list(item) if isinstance(item, tuple) else item for name, item in found.items()}
    return {name.replace("_", "-"): item for name, item in plain.items() if item not in (None, [], False)}
