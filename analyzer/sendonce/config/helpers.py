"""The project's own helpers in a configuration file: entries of a rule pack, with less to write.

A text is the dotted name of a helper that is called in the usual way; a table is the pack's entry itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sendonce.config.kinds import Key, Kind, Schema, Where, read_table, table_schema
from sendonce.errors import PackError

if TYPE_CHECKING:
    from sendonce.vocabulary import Pack


@dataclass(frozen=True)
class _Helper:
    """What helpers of one key are: the list of the pack they go into, and what holds if the table does not say it."""

    entries: str
    type: str
    """The name of the entry's class in the vocabulary."""
    usual: Mapping[str, Any]


_HELPERS = {
    "send": _Helper(
        "send",
        "Send",
        {
            "template": ["template", "template_name"],
            "template_id": ["template_id"],
            "subject": ["subject"],
            "recipient": ["to", "recipient", "recipients", "recipient_list"],
        },
    ),
    "defer": _Helper("invoke", "Invoke", {"hop": "defer", "function": ["|0"], "decorator": True}),
    "reserve": _Helper("claim", "Claim", {"win": "truthy", "key": ["key|0"]}),
}


def _schema(helper: _Helper) -> Schema:
    """A list of names and of the pack's own tables, in which the usual keys may be left out."""
    import msgspec

    from sendonce import vocabulary

    entry = msgspec.json.schema(getattr(vocabulary, helper.type))["$defs"][helper.type]
    entry["required"] = [name for name in entry["required"] if name not in helper.usual]
    return {"type": "array", "items": {"anyOf": [{"type": "string", "minLength": 1}, entry]}}


def _listed(where: Where, value: object) -> list[object]:
    if not isinstance(value, list) or not all(isinstance(item, str | dict) for item in value):
        raise where.wrong("a list of dotted names and tables", value)
    return value


_KEYS = {
    "send": Key(
        Kind(_listed, lambda: _schema(_HELPERS["send"])), "Functions and methods that hand a mail to a provider."
    ),
    "defer": Key(
        Kind(_listed, lambda: _schema(_HELPERS["defer"])), "Calls that run what they are given after the commit."
    ),
    "reserve": Key(
        Kind(_listed, lambda: _schema(_HELPERS["reserve"])), "Calls that are true for the one run that may send."
    ),
}


def _read(where: Where, value: object) -> Pack:
    from sendonce.packs.checking import typed

    given = read_table(where, value, _KEYS)
    data: dict[str, Any] = {"name": str(where.file)}
    for name, items in given.items():
        helper = _HELPERS[name]
        tables = ({"calls": [item]} if isinstance(item, str) else item for item in items)
        data[helper.entries] = [{**helper.usual, **table} for table in tables]
    try:
        return typed(data, Path(where.file.name))
    except PackError as error:
        raise where.error(_in_own_words(str(error), where)) from None


def _in_own_words(message: str, where: Where) -> str:
    """An error of the pack with the key that the configuration has for it."""
    text = message.removeprefix(f"{where.file.name}: ")
    for name, helper in _HELPERS.items():
        text = re.sub(rf"^{helper.entries}\b", name, text)
    return f"is wrong: {text}"


def _plain(pack: Pack) -> dict[str, Any]:
    """The helpers as tables, without what holds anyway."""
    import msgspec

    found = {name: msgspec.to_builtins(getattr(pack, helper.entries)) for name, helper in _HELPERS.items()}
    return {name: [_without_empty(entry) for entry in entries] for name, entries in found.items() if entries}


def _without_empty(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if value not in ("", [], {}, (), None, False, 0)}


HELPERS = Kind(_read, lambda: table_schema(_KEYS), _plain)
