"""What `sendonce scaffold` writes: a table of deliveries, the helper that reserves and sends, and its tests.

The texts are in `scaffolds/`, one folder a framework; `{package}` in them is the name under which they are imported.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sendonce.errors import UsageError

if TYPE_CHECKING:
    from importlib.abc import Traversable

Framework = Literal["django", "sqlalchemy"]
FRAMEWORKS: tuple[Framework, ...] = ("django", "sqlalchemy")
NAME = "deliveries"
_ENDING = ".txt"


@dataclass(frozen=True)
class Scaffold:
    """The files to write, by path, and what is left to do by hand."""

    files: tuple[tuple[Path, str], ...]
    next: tuple[str, ...]


def scaffold(framework: Framework, root: Path, name: str = NAME) -> Scaffold:
    """The files for a project at `root`. Raises `UsageError` where they have no place or one of them exists."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise UsageError(f"--name: {name!r} is no name of a Python package")
    folder = _project(root) / name if framework == "django" else root
    made = [(folder / path, text.replace("{package}", name)) for path, text in _texts(framework, name)]
    existing = [str(path) for path, _ in made if path.exists() or path.is_symlink()]
    if existing:
        raise UsageError(f"nothing was written, for there is already {', '.join(existing)}; give another --name")
    return Scaffold(tuple(made), _next(framework, name))


def _project(root: Path) -> Path:
    """The folder with `manage.py`: `root`, or the only one right below it."""
    if (root / "manage.py").is_file():
        return root
    below = sorted(path.parent for path in root.glob("*/manage.py"))
    if len(below) != 1:
        found = f"several: {', '.join(map(str, below))}" if below else "none"
        raise UsageError(
            f"looked for the folder with manage.py in and below {root} and found {found}; give that folder"
        )
    return below[0]


def _texts(framework: Framework, name: str) -> Iterator[tuple[str, str]]:
    """The texts of a framework by relative path; files called after the package get its name."""
    for path, text in _walk(files("sendonce") / "scaffolds" / framework, ""):
        yield path.replace(NAME, name), text


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, str]]:
    for item in sorted(folder.iterdir(), key=lambda one: one.name):
        if item.is_dir():
            yield from _walk(item, f"{prefix}{item.name}/")
        elif item.name.endswith(_ENDING):
            yield f"{prefix}{item.name.removesuffix(_ENDING)}", item.read_text(encoding="utf-8")


def _next(framework: Framework, name: str) -> tuple[str, ...]:
    if framework == "django":
        return (
            f'Add "{name}" to INSTALLED_APPS.',
            f"python manage.py migrate {name} && python manage.py test {name}",
            f"from {name}.once import send_once, and call it where `sendonce audit` says that all ways of a mail meet.",
        )
    return (
        f"Let your migrations know {name}.metadata (Alembic: target_metadata = [Base.metadata, {name}.metadata]).",
        f"python -m pytest test_{name}.py",
        f"from {name} import send_once, and call it where `sendonce audit` says that all ways of a mail meet.",
    )
