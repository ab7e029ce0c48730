"""Lines of a log as records: JSON objects, or text with `key=value` in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MAX_LINE = 100_000
"""How many characters of a line are read."""
_MESSAGES = ("message", "msg", "event", "text", "log")
_TIMES = ("time", "timestamp", "@timestamp", "ts", "asctime", "datetime", "date")
_PAIR = re.compile(r'(?<![\w.-])([A-Za-z_@][\w.@-]*)=("(?:[^"\\]|\\.)*"|\S+)')
_CLOCK = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?|\d\d:\d\d:\d\d(?:[.,]\d+)?")
_DEEPEST = 4


@dataclass(frozen=True)
class Record:
    """A line of a log: when, what it says, and its named values, names in lower case."""

    time: str
    message: str
    values: Mapping[str, str]


def record(line: str) -> Record | None:
    """The record of a line; None for an empty one or one that has no named values."""
    line = line[:MAX_LINE].strip()
    if line.startswith("{"):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict):
            return _of_values(dict(_flat(found, 0)), "")
    pairs = {name.lower(): _plain(value) for name, value in _PAIR.findall(line)}
    return _of_values(pairs, line) if pairs else None


def _flat(value: Mapping[str, Any], depth: int) -> Iterator[tuple[str, str]]:
    """The values of an object; those of objects inside it under their own names, which yield to outer ones."""
    for one in value.values():
        if isinstance(one, dict) and depth < _DEEPEST:
            yield from _flat(one, depth + 1)
    for name, one in value.items():
        if isinstance(one, str | int | float) and not isinstance(one, bool):
            yield name.lower(), str(one)
        elif isinstance(one, list) and len(one) == 1 and isinstance(one[0], str):
            yield name.lower(), one[0]


def _plain(value: str) -> str:
    if value.startswith('"') and value.endswith('"') and len(value) > 1:
        return re.sub(r"\\(.)", r"\1", value[1:-1])
    return value.rstrip(",;")


def _of_values(values: Mapping[str, str], line: str) -> Record:
    time = next((values[name] for name in _TIMES if name in values), "")
    if not time and line:
        clock = _CLOCK.search(line)
        time = clock[0] if clock else ""
    message = next((values[name] for name in _MESSAGES if name in values), line)
    return Record(time, message, values)
