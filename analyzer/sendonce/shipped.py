"""Where the files of this package lie."""

from __future__ import annotations

from pathlib import Path


def shipped_rules() -> Path:
    """The directory of the shipped packs: inside the installed package, else the checkout's `rules`."""
    package = shipped_code()
    installed = package / "rules"
    return installed if installed.is_dir() else package.parents[1] / "rules"


def shipped_code() -> Path:
    """The directory of the package itself."""
    return Path(__file__).resolve().parent
