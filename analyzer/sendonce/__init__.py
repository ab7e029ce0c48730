"""sendonce finds where one business event can send the same e-mail twice, by reading the code.

`analyze` is the Python API. To read the code, start at `sendonce.run`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sendonce.version import __version__

if TYPE_CHECKING:
    from sendonce.config import Settings
    from sendonce.findings import Report

__all__ = ["__version__", "analyze"]


def analyze(path: str | os.PathLike[str] = ".", settings: Settings | None = None) -> Report:
    """The report on the tree at a path: findings, inventory, files that could not be used, figures.

    Without `settings` (`sendonce.config.Settings`) the nearest configuration file holds, as for the
    command line; nothing is read from or written to a cache. Raises `sendonce.errors.UsageError` if there
    is no such path, `ConfigError` or `PackError` if the configuration or a rule pack is wrong.
    Nothing of the tree is imported or run.
    """
    from pathlib import Path

    from sendonce import run
    from sendonce.config import Settings as Defaults
    from sendonce.config import find_config, load_config
    from sendonce.target import target_of

    given = Path(path)
    target = target_of([given])
    if settings is None:
        file = find_config(given.resolve())
        settings = load_config(file) if file else Defaults()
    return run.analyze(target, settings)
