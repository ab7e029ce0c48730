"""Settings: what a configuration file and the command line say, merged and checked.

`[tool.sendonce]` of a `pyproject.toml` or a whole `sendonce.toml`, the nearest one upward from the
target. The codes in `select` and its kind are checked later, where the rules are known.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, get_args

from sendonce.errors import ConfigError
from sendonce.findings import CONFIDENCES, Confidence, Severity

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE_NAMES = ("sendonce.toml", "pyproject.toml")


@dataclass(frozen=True)
class Assume:
    """What the code cannot tell and the project has settled once; None is not settled.

    A finding that hangs on something settled false is not reported, on something settled true it
    no longer says that it assumes it.
    """

    workers: int | None = None
    """How many processes serve or work; 1 settles every finding that needs two."""
    atomic_requests: bool | None = None
    redelivery: bool | None = None
    """Whether webhook providers and queues deliver again what was not acknowledged."""

    def settled(self) -> Mapping[str, bool]:
        """The text of each settled assumption, as findings state it, with its truth."""
        known = {
            WORKERS: None if self.workers is None else self.workers > 1,
            ATOMIC_REQUESTS: self.atomic_requests,
            REDELIVERY: self.redelivery,
        }
        return {text: value for text, value in known.items() if value is not None}


WORKERS = "more than one worker process"
ATOMIC_REQUESTS = "ATOMIC_REQUESTS is on"
REDELIVERY = "the provider redelivers"


@dataclass(frozen=True)
class Settings:
    """Everything a run depends on besides the code it reads. `source` is the file it came from, if any."""

    select: tuple[str, ...] = ()
    """Codes, prefixes or names; empty for all rules."""
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    """Patterns as in a `.gitignore`, relative to the configuration file."""
    extend_exclude: tuple[str, ...] = ()
    rules: tuple[Path, ...] = ()
    """Folders or files of further rule packs."""
    fail_on: Severity = "warning"
    min_confidence: Confidence = "medium"
    pedantic: bool = False
    assume: Assume = field(default_factory=Assume)
    ignores: bool = True
    """Whether suppression comments count."""
    cache_dir: Path | None = None
    jobs: int = 0
    """Processes that parse; 0 for as many as the machine has."""
    source: Path | None = None
    options: frozenset[str] = frozenset()
    """The keys that the command line gave."""

    def origin(self, key: str) -> str:
        """How an error names a setting: its file and key, or the option."""
        if self.source is None or key in self.options:
            return f"--{key}"
        return f"{self.source}: {key_path(self.source, key)}"


def find_config(start: Path) -> Path | None:
    """The nearest configuration file at or above `start`; a `pyproject.toml` without our table is passed over.

    Raises `ConfigError` if a file on the way cannot be read.
    """
    folder = start if start.is_dir() else start.parent
    for candidate in (above / name for above in (folder, *folder.parents) for name in FILE_NAMES):
        if os.path.isfile(candidate) and (candidate.name != "pyproject.toml" or _table(candidate) is not None):
            return candidate
    return None


def load_config(file: Path) -> Settings:
    """The settings in a configuration file; raises `ConfigError` naming the file and the key."""
    table = _table(file)
    if table is None:
        raise ConfigError(f"{file} has no [tool.sendonce] table")
    values: dict[str, Any] = {_field(key): _value(file, key, value) for key, value in sorted(table.items())}
    return replace(Settings(source=file), **values)


def key_path(file: Path | None, key: str) -> str:
    """The key as it is reached from the top of its file."""
    return f"tool.sendonce.{key}" if file is not None and file.name == "pyproject.toml" else key


def nearest(word: str, known: Iterable[str]) -> str:
    """` (did you mean …?)` for the known word most like `word`, or nothing."""
    close = difflib.get_close_matches(word.lower(), list(known), 1, 0.5)
    return f"; did you mean {close[0]!r}?" if close else ""


def _table(file: Path) -> Mapping[str, Any] | None:
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} is not valid TOML: {error}") from error
    except RecursionError:
        raise ConfigError(f"{file} is nested too deeply") from None
    if file.name != "pyproject.toml":
        return document
    tool = document.get("tool")
    table = tool.get("sendonce") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{file}: tool.sendonce must be a table")
    return table


Reader = Callable[[Path, str, object], object]


def _value(file: Path, key: str, value: object) -> object:
    reader = _READERS.get(key)
    if reader is None:
        known = ", ".join(sorted(_READERS))
        raise ConfigError(f"{file}: unknown key {key_path(file, key)!r}{nearest(key, _READERS)} (known: {known})")
    return reader(file, key, value)


def _field(key: str) -> str:
    return key.replace("-", "_")


def _wrong(file: Path, key: str, wanted: str, value: object) -> ConfigError:
    return ConfigError(f"{file}: {key_path(file, key)} must be {wanted}, not {value!r}")


def _texts(file: Path, key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise _wrong(file, key, "a list of texts", value)
    return tuple(value)


def _paths(file: Path, key: str, value: object) -> tuple[Path, ...]:
    return tuple(file.parent / text for text in _texts(file, key, value))


def _flag(file: Path, key: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise _wrong(file, key, "true or false", value)
    return value


def _count(file: Path, key: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise _wrong(file, key, "a whole number from 1", value)
    return value


def _one_of(*choices: str) -> Reader:
    def read(file: Path, key: str, value: object) -> object:
        if value not in choices:
            hint = nearest(value, choices) if isinstance(value, str) else ""
            raise ConfigError(f"{_wrong(file, key, 'one of ' + ', '.join(choices), value)}{hint}")
        return value

    return read


def _assume(file: Path, key: str, value: object) -> Assume:
    if not isinstance(value, dict):
        raise _wrong(file, key, "a table", value)
    readers: dict[str, Reader] = {"workers": _count, "atomic-requests": _flag, "redelivery": _flag}
    settled: dict[str, Any] = {}
    for name, answer in sorted(value.items()):
        if name not in readers:
            path = key_path(file, f"{key}.{name}")
            raise ConfigError(f"{file}: unknown key {path!r}{nearest(name, readers)} (known: {', '.join(readers)})")
        settled[_field(name)] = readers[name](file, f"{key}.{name}", answer)
    return replace(Assume(), **settled)


_READERS: dict[str, Reader] = {
    "select": _texts,
    "ignore": _texts,
    "extend-select": _texts,
    "exclude": _texts,
    "extend-exclude": _texts,
    "rules": _paths,
    "fail-on": _one_of(*get_args(Severity)),
    "min-confidence": _one_of(*CONFIDENCES),
    "pedantic": _flag,
    "assume": _assume,
}
assert {_field(key) for key in _READERS} < {item.name for item in fields(Settings)}  # every key has a field
