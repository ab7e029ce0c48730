"""Settings: what a configuration file and the command line say, merged and checked.

`[tool.sendonce]` of a `pyproject.toml` or a whole `sendonce.toml`, the nearest one upward from the
target. The codes in `select` and its kind are checked later, where the rules are known.
"""

from __future__ import annotations

from sendonce.config.files import FILE_NAMES, find_config, key_path, load_config
from sendonce.config.kinds import nearest
from sendonce.config.settings import ATOMIC_REQUESTS, REDELIVERY, WORKERS, Assume, Settings, TemplatePolicy

__all__ = [
    "ATOMIC_REQUESTS",
    "FILE_NAMES",
    "REDELIVERY",
    "WORKERS",
    "Assume",
    "Settings",
    "TemplatePolicy",
    "find_config",
    "key_path",
    "load_config",
    "nearest",
]
