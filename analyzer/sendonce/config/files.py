"""Finds and reads configuration files."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sendonce.config.keys import KEYS
from sendonce.config.kinds import Where, read_table
from sendonce.config.settings import Settings, key_path
from sendonce.errors import ConfigError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["FILE_NAMES", "find_config", "key_path", "load_config"]

FILE_NAMES = ("sendonce.toml", "pyproject.toml")


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
    return replace(Settings(source=file), **read_table(Where(file), table, KEYS))


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
