"""The settings that hold, as TOML with a word on where each comes from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sendonce.config.keys import KEYS
from sendonce.config.settings import Settings


def written(settings: Settings) -> Iterator[str]:
    """A line for the file that was read and one for each key; a file with these lines is a valid sendonce.toml."""
    yield f"# {settings.source or 'no configuration file'}"
    usual = Settings()
    for key in KEYS:
        field = key.replace("-", "_")
        value = getattr(settings, field)
        if value is None:
            yield f"# {key} is not set"
        else:
            origin = _origin(settings, key, value == getattr(usual, field))
            yield f"{key} = {_toml(KEYS[key].kind.plain(value))}  # {origin}"
    if settings.since:
        yield f"# since {settings.since}"
    if not settings.ignores:
        yield "# without suppressions"


def _origin(settings: Settings, key: str, is_usual: bool) -> str:
    if key in settings.options:
        return "option"
    return "default" if is_usual or settings.source is None else "file"


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(name)} = {_toml(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if name.replace("-", "").replace("_", "").isalnum() and name.isascii() else _toml(name)
