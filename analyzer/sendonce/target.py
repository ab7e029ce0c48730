"""What a run looks at: the tree that is analysed and the part of it that is reported."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sendonce.config import Settings
from sendonce.discovery import Exclusion, Sources, discover, without
from sendonce.errors import ConfigError, UsageError
from sendonce.findings import Problem
from sendonce.listing import is_pattern
from sendonce.revision import at_commit

_OPEN_BRACKET = re.compile(r"(?<!\\)\[[^]]*$")
"""The start of a set of characters that never ends: git matches nothing with it, and nobody means that."""
_PROJECT_MARKS = (".git", "sendonce.toml", "pyproject.toml", "setup.py", "setup.cfg", "manage.py")


@dataclass(frozen=True)
class Target:
    """`root` is the analysed tree; all paths of a report are relative to it, with `/`.

    `within` limits the files that are read to folders below the root (empty: all of it), `only`
    the findings that are reported to files and folders (empty: all).
    """

    root: Path
    within: tuple[str, ...] = ()
    only: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether all of the tree is read and reported."""
        return not self.only and not self.within

    def reports(self, path: str) -> bool:
        """Whether findings in this file are reported."""
        return not self.only or any(path == name or path.startswith(f"{name}/") for name in self.only)

    def left_out(self, sources: Sources) -> list[Problem]:
        """A problem for each path that was named and is not read; raises `UsageError` if that is all of them."""
        unread = self._unread(sources)
        known = {problem.path for problem in sources.problems}
        told = [Problem(path, 0, self._why_unread(path)) for path in unread if path not in known]
        if unread and len(unread) == len(self.only) and told:
            raise UsageError("; ".join(f"{problem.path} {problem.message}" for problem in told))
        return told

    def _unread(self, sources: Sources) -> tuple[str, ...]:
        """The files and folders that were named and of which nothing is read."""
        paths = [file.path for file in sources.files]
        named = self.only or self.within
        return tuple(one for one in named if not any(path == one or path.startswith(f"{one}/") for path in paths))

    def _why_unread(self, path: str) -> str:
        place = self.root / path
        if place.is_dir():
            return "holds no Python file that is analysed"
        if place.suffix != ".py":
            return "is no Python file"
        return "is not analysed: it is excluded or ignored"

    def sources(self, settings: Settings) -> Sources:
        """The files of the tree that the settings do not exclude."""
        for key, patterns in (("exclude", settings.exclude), ("extend-exclude", settings.extend_exclude)):
            for pattern in patterns:
                if not is_pattern(pattern) or _OPEN_BRACKET.search(pattern):
                    raise ConfigError(f"{settings.origin(key)}: {pattern!r} is no pattern of a .gitignore")
        return discover(self.root, within=self.within, exclusions=[self._exclusion(settings)])

    def earlier(self, sources: Sources, settings: Settings, commit: str) -> Sources:
        """The files of the tree as they were at a commit; `sources` are those of now."""
        exclusion = self._exclusion(settings)
        return at_commit(sources, commit, lambda paths: without(paths, self.root, [exclusion]))

    def _exclusion(self, settings: Settings) -> Exclusion:
        base = settings.source.parent if settings.source else self.root
        return Exclusion(base, (*settings.exclude, *settings.extend_exclude))


def target_of(paths: Sequence[Path]) -> Target:
    """The target that the paths of a command line mean; raises `UsageError` for one that does not exist.

    Folders are the tree. With a file among them the tree is the whole project around it, since a
    finding in one file rests on others; the paths then limit the report.
    """
    for path in paths:
        if not os.path.exists(path):
            raise UsageError(f"{path} does not exist; give folders or Python files of the project")
    found = sorted({path.resolve() for path in paths}) or [Path.cwd()]
    common = _common(found)
    if all(path.is_dir() for path in found):
        return Target(common, within=() if common in found else _relative(found, common))
    root = _project(common)
    return Target(root, only=() if root in found else _relative(found, root))


def _common(paths: Sequence[Path]) -> Path:
    """The nearest folder that holds all of the paths."""
    try:
        shared = Path(os.path.commonpath(paths))
    except ValueError as error:  # different drives
        raise UsageError(f"the paths given share no folder: {error}") from error
    return shared if shared.is_dir() else shared.parent


def _relative(paths: Sequence[Path], root: Path) -> tuple[str, ...]:
    return tuple(path.relative_to(root).as_posix() for path in paths)


def _project(folder: Path) -> Path:
    """The root of the work tree around `folder`, else of the project as its files mark it, else `folder`."""
    for mark in _PROJECT_MARKS:
        for above in (folder, *folder.parents):
            if (above / mark).exists():
                return above
    return folder
