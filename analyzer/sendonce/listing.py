"""Which files a tree has: by git where there is a work tree, else by a walk that honours `.gitignore`.

Nothing of the tree is run: git is called with its hooks and monitors switched off.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

NEVER_SOURCE = frozenset(
    ".git .hg .svn .bzr .tox .nox .eggs .venv .direnv .mypy_cache .pytest_cache .ruff_cache .sendonce_cache"
    " __pycache__ __pypackages__ site-packages node_modules bower_components".split()
)
"""Folders that hold no source of the project, wherever they stand."""

_BUILT = frozenset({"build", "dist", "_build", "buck-out"})
"""Folders of build products, unless they are packages themselves."""

_ENVIRONMENT_MARKS = ("pyvenv.cfg", "conda-meta")

Keep = Callable[[str], bool]
"""Says of a folder (relative, with `/`) whether it may hold sources."""


def python_files(root: Path) -> list[str]:
    """The `.py` files of the tree as relative paths with forward slashes, sorted.

    Links are among them, folders of that name, and folders that cannot be listed.
    """
    listed = _from_git(root)
    found = _pruned(root, listed) if listed is not None else _walk(root)
    return sorted(set(found))


def _from_git(root: Path) -> list[str] | None:
    """What git tracks or would track below `root`; None without a work tree, without git, or if `root` is ignored."""
    listing = _git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ".")
    if listing is None or _git(root, "check-ignore", "-q", ".") is not None:
        return None
    return [os.fsdecode(name) for name in listing.split(b"\0") if name]


def commit_of(root: Path) -> str:
    """The commit that the work tree around `root` is at; empty without git or without a commit."""
    found = _git(root, "rev-parse", "HEAD")
    return found.decode("ascii", "replace").strip() if found else ""


def _git(root: Path, *arguments: str) -> bytes | None:
    """The output of a git command, None if it fails."""
    done = run_git(root, *arguments)
    return done.stdout if done is not None and done.returncode == 0 else None


def run_git(root: Path, *arguments: str) -> subprocess.CompletedProcess[bytes] | None:
    """A git command that reads, run in `root` without hooks and monitors; None if there is no git."""
    safe = ("-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "-c", f"core.hooksPath={os.devnull}")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        return subprocess.run(  # noqa: S603 - a fixed command
            ["git", *safe, *arguments],  # noqa: S607 - the user's own git
            cwd=root,
            env={**environment, "GIT_OPTIONAL_LOCKS": "0"},
            capture_output=True,
            check=False,
        )
    except OSError:
        return None


def _pruned(root: Path, listed: Iterable[str]) -> Iterator[str]:
    """Git's list without folders that hold no source; submodules and nested repositories are listed in turn.

    A submodule that nobody has fetched is an empty folder, for which git would answer with the repository around it.
    """
    keep = _folder_test(root)
    for name in listed:
        if name.endswith(".py"):
            if keep(os.path.dirname(name)):
                yield name
        elif os.path.isdir(root / name) and not os.path.islink(root / name.rstrip("/")):
            nested = name.rstrip("/")
            if keep(nested) and _exists(root / nested / ".git"):
                yield from (f"{nested}/{file}" for file in python_files(root / nested))


def _folder_test(root: Path) -> Keep:
    """A memoised test of a relative folder and all folders above it."""
    known: dict[str, bool] = {"": True}

    def keep(folder: str) -> bool:
        if folder not in known:
            known[folder] = keep(os.path.dirname(folder)) and not is_excluded(root / folder)
        return known[folder]

    return keep


def is_excluded(folder: Path) -> bool:
    """Whether a folder holds an environment, installed packages, build products or caches."""
    if folder.name in NEVER_SOURCE or folder.name.endswith(".egg-info"):
        return True
    if folder.name in _BUILT:
        return not _exists(folder / "__init__.py")
    return any(_exists(folder / mark) for mark in _ENVIRONMENT_MARKS)


def _exists(path: Path) -> bool:
    """Whether a file exists; not if its folder may not be read."""
    return os.path.exists(path)


def _walk(root: Path) -> Iterator[str]:
    """All `.py` files below `root` that no `.gitignore` on the way excludes; links to folders are not entered."""
    stack: list[tuple[str, tuple[_Ignore, ...]]] = [("", ())]
    while stack:
        folder, rules = stack.pop()
        entries = _entries(root / folder)
        if entries is None:
            yield folder
            continue
        rules = _with_own_rules(root, folder, entries, rules)
        for entry in entries:
            name = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                if not is_excluded(root / name) and not _ignored(f"{name}/", rules):
                    stack.append((name, rules))
            elif name.endswith(".py") and not _ignored(name, rules):
                yield name


def _entries(folder: Path) -> list[os.DirEntry[str]] | None:
    """What stands in a folder, by name; None if it cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return None


class _Ignore:
    """The patterns of one `.gitignore`, which hold below its folder."""

    def __init__(self, folder: str, spec: GitIgnoreSpec) -> None:
        self.prefix = f"{folder}/" if folder else ""
        self.spec = spec

    def verdict(self, name: str) -> bool | None:
        """True ignored, False taken back by `!`, None not mentioned."""
        return self.spec.check_file(name.removeprefix(self.prefix)).include


def _with_own_rules(
    root: Path, folder: str, entries: Sequence[os.DirEntry[str]], rules: tuple[_Ignore, ...]
) -> tuple[_Ignore, ...]:
    if not any(entry.name == ".gitignore" for entry in entries):
        return rules
    try:
        text = (root / folder / ".gitignore").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return rules
    return (*rules, _Ignore(folder, ignore_spec(text.splitlines())))


def ignore_spec(patterns: Iterable[str]) -> GitIgnoreSpec:
    """Patterns as in a `.gitignore`; like git, without those that mean nothing."""
    from pathspec import GitIgnoreSpec  # imported late: most trees are listed by git

    return GitIgnoreSpec.from_lines(filter(is_pattern, patterns))


def is_pattern(text: str) -> bool:
    """Whether a line can be read as a pattern of a `.gitignore`."""
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([text])
    except ValueError:
        return False
    return True


def _ignored(name: str, rules: Sequence[_Ignore]) -> bool:
    """The innermost file that mentions the name decides, as in git."""
    for ignore in reversed(rules):
        verdict = ignore.verdict(name)
        if verdict is not None:
            return verdict
    return False
