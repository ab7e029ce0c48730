"""What SQL text says about tables: rows it inserts, changes or deletes, and the unique constraints it declares.

Patterns, no parser: text that they do not fit is not understood, which every caller treats as "not known".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_NAME = r"[\"`\[]?(?:\w+[\"`\]]?\.[\"`\[]?)?(\w+)[\"`\]]?"
_INSERT = re.compile(
    rf"\binsert\s+(?:or\s+\w+\s+|ignore\s+)?into\s+{_NAME}(?:\s+as\s+\w+)?\s*(?:\(([^)]*)\))?", re.IGNORECASE
)
_TARGET = re.compile(r"\bon\s+conflict\s*\(([^)]*)\)", re.IGNORECASE)
_UPDATE = re.compile(
    rf"\bupdate\s+(?:only\s+)?{_NAME}(?:\s+(?:as\s+)?\w+)?\s+set\s+(.*?)\bwhere\b(.*?)(?:\breturning\b|;|$)",
    re.IGNORECASE | re.DOTALL,
)
_UPDATE_ANY = re.compile(
    rf"\bupdate\s+(?:only\s+)?{_NAME}(?:\s+(?:as\s+)?\w+)?\s+set\s+(.*?)(?:\bwhere\b|\breturning\b|;|$)",
    re.IGNORECASE | re.DOTALL,
)
_DELETE = re.compile(rf"\bdelete\s+from\s+{_NAME}", re.IGNORECASE)
_TAKEN = re.compile(r"(?is)^\s*select\s+(?:distinct\s+)?(.*?)\s+from\b")
_COMMA = re.compile(r",(?![^()]*\))")
"""A comma outside brackets."""
_SELECT = re.compile(rf"\bselect\b.*?\bfrom\s+{_NAME}(?:.*?\bwhere\b(.*))?", re.IGNORECASE | re.DOTALL)
_ASSIGNED = re.compile(r"[\"`\[]?(\w+)[\"`\]]?\s*=\s*([^,]+)")
_WORD = re.compile(r"[A-Za-z_]\w*")
_EQUALS = re.compile(r"(\w+)[\"`\]]?\s*(?:=|\bis\b)\s*('[^']*'|:?\w+|%\(\w+\)s|\$\d+)", re.IGNORECASE)
_COMPARED = re.compile(
    r"([a-z_]\w*)[\"`\]]?\s*(<=|>=|<>|!=|=|<|>|\bis\s+not\b|\bis\b|\bin\b)\s*('[^']*'|[\w%:.]+(?:\(\))?|\([^)]*\))",
    re.IGNORECASE,
)
_TABLE = re.compile(rf"\bcreate\s+(?:\w+\s+)?table\s+(?:if\s+not\s+exists\s+)?{_NAME}\s*\(", re.IGNORECASE)
_INDEX = re.compile(
    rf"\bcreate\s+unique\s+index\s+(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?(?:\w+\s+)?on\s+(?:only\s+)?{_NAME}"
    rf"\s*(?:using\s+\w+\s*)?\(([^)]*(?:\([^)]*\)[^)]*)*)\)([^;]*)",
    re.IGNORECASE,
)
_ADDED = re.compile(
    rf"\balter\s+table\s+(?:if\s+exists\s+)?(?:only\s+)?{_NAME}\s+add\s+(?:constraint\s+\S+\s+)?"
    rf"(?:unique(?:\s+(?:key|index))?(?:\s+\w+)?|primary\s+key)\s*\(([^)]*)\)",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"(?:constraint\s+\S+\s+)?(?:unique(?:\s+(?:key|index))?(?:\s+\w+)?|primary\s+key)\s*\(([^)]*)\)", re.IGNORECASE
)
_COLUMN_KEY = re.compile(r"\b(?:unique|primary\s+key)\b", re.IGNORECASE)


_KEYWORDS = frozenset(
    ["select", "from", "where", "and", "or", "not", "is", "null", "true", "false", "in", "count", "exists", "limit",
     "order", "by", "asc", "desc", "now", "distinct", "as", "interval", "id"]
)  # fmt: skip


@dataclass(frozen=True)
class Declared:
    """A unique constraint: table and columns; `partial` if it covers some rows only."""

    table: str
    columns: frozenset[str]
    partial: bool = False


@dataclass(frozen=True)
class Inserted:
    """An insert: its table, its columns (None when all are given) and the columns of `ON CONFLICT (…)`."""

    table: str
    columns: tuple[str, ...] | None
    target: frozenset[str] | None


@dataclass(frozen=True)
class Selected:
    """A select: table, words of the columns and the condition, words of the condition alone."""

    table: str
    words: frozenset[str]
    tested: frozenset[str]


@dataclass(frozen=True)
class Changed:
    """A conditional update: table, columns set with their text, words of the condition, and columns it compares."""

    table: str
    values: tuple[tuple[str, str], ...]
    tested: frozenset[str]
    equal: tuple[tuple[str, str], ...]
    either: bool = False
    """Whether the condition has alternatives."""


def inserted(text: str) -> Inserted | None:
    """The insert in a text."""
    match = _INSERT.search(text)
    if match is None:
        return None
    target = _TARGET.search(text)
    columns = None if match[2] is None else tuple(word.lower() for word in _WORD.findall(match[2]))
    return Inserted(match[1].lower(), columns, None if target is None else _columns(target[1]))


def changed(text: str) -> Changed | None:
    """The update with a condition in a text."""
    match = _UPDATE.search(text)
    if match is None:
        return None
    values = tuple((name.lower(), value.strip().lower()) for name, value in _ASSIGNED.findall(match[2]))
    equal = tuple((name.lower(), value.lower()) for name, value in _EQUALS.findall(match[3]))
    words = frozenset(_WORD.findall(match[3].lower()))
    return Changed(match[1].lower(), values, words, equal, "or" in words)


def deleted(text: str) -> str | None:
    """The table that a text deletes from."""
    match = _DELETE.search(text)
    return None if match is None else match[1].lower()


def selected(text: str) -> tuple[str, frozenset[str]] | None:
    """The table that a text reads and the words of its condition."""
    match = _SELECT.search(text)
    return None if match is None else (match[1].lower(), frozenset(_WORD.findall((match[2] or "").lower())))


def columns(text: str) -> tuple[str, ...]:
    """The names of what a select takes, in their order: an alias, a column; empty for what has no name."""
    match = _TAKEN.search(text)
    parts = _COMMA.split(match[1]) if match is not None else ()
    return tuple(found[-1].lower() if (found := _WORD.findall(part)) else "" for part in parts)


def read(text: str) -> Selected | None:
    """The table that a text reads, the words of what it takes and of its condition; None for other statements."""
    match = _SELECT.search(text)
    if match is None or _UPDATE_ANY.search(text) or _INSERT.search(text):
        return None
    taken = text[match.start() : match.start(1)].lower()
    words = {*_WORD.findall(taken), *_WORD.findall((match[2] or "").lower())} - _KEYWORDS
    return Selected(match[1].lower(), frozenset(words), frozenset(_WORD.findall((match[2] or "").lower())))


def conditions(text: str) -> Iterator[tuple[str, str, str]]:
    """The comparisons of a select's condition: column, operator, what it is compared with, all in lower case."""
    match = _SELECT.search(text)
    for column, operator, value in _COMPARED.findall(match[2] or "") if match is not None else ():
        yield column.lower(), " ".join(operator.lower().split()), value.lower()


def set_by(text: str) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    """The table that an update changes and the columns that it sets with their text, condition or not."""
    match = _UPDATE_ANY.search(text)
    if match is None:
        return None
    values = tuple((name.lower(), value.strip().lower()) for name, value in _ASSIGNED.findall(match[2]))
    return match[1].lower(), values


def declared(text: str) -> Iterator[Declared]:
    """The unique constraints in a text: those of tables, unique indexes and added constraints."""
    for match in _TABLE.finditer(text):
        yield from _of_table(match[1].lower(), _balanced(text, match.end()))
    for match in _INDEX.finditer(text):
        yield Declared(match[1].lower(), _columns(match[2]), bool(re.search(r"\bwhere\b", match[3], re.IGNORECASE)))
    for match in _ADDED.finditer(text):
        yield Declared(match[1].lower(), _columns(match[2]))


def _of_table(table: str, body: str) -> Iterator[Declared]:
    for part in _parts(body):
        key = _KEY.match(part)
        if key is not None:
            yield Declared(table, _columns(key[1]))
            continue
        name = _WORD.search(part)
        if name is not None and _COLUMN_KEY.search(part):
            yield Declared(table, frozenset((name[0].lower(),)))


def _balanced(text: str, start: int) -> str:
    """The text from `start` up to the parenthesis that closes the one before it."""
    depth = 1
    for position in range(start, len(text)):
        depth += (text[position] == "(") - (text[position] == ")")
        if depth == 0:
            return text[start:position]
    return text[start:]


def _parts(body: str) -> Iterator[str]:
    """The parts of a list between its outermost commas."""
    depth, last = 0, 0
    for position, character in enumerate(body):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            yield body[last:position].strip()
            last = position + 1
    yield body[last:].strip()


def _columns(listed: str) -> frozenset[str]:
    """The column names of a list; of an expression (`lower(email)`) the innermost name."""
    found = (_WORD.findall(part) for part in _parts(listed))
    sql = {"asc", "desc", "nulls", "first", "last", "collate", "nocase"}
    names = ([word.lower() for word in words if word.lower() not in sql] for words in found)
    return frozenset(words[-1] for words in names if words)
