"""The source files of a tree: which there are, what they are called when imported, what part they play.

Files are only listed and read, never imported or run. Links are not followed: what they point to
inside the tree is analysed under its own name, and one that leaves the tree is named as a problem.
"""

from __future__ import annotations

import io
import os
import re
import stat
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Literal

from sendonce.errors import UsageError
from sendonce.findings import Problem
from sendonce.listing import ignore_spec, python_files
from sendonce.roots import module_name, source_roots

Role = Literal["application", "test", "migration", "vendored"]

LARGEST = 5 * 1024 * 1024
"""Bytes above which a file is taken for generated data, named and skipped."""

_TEST_FOLDER = re.compile(r"(?:tests?|testing|e2e|.+_tests|(?:unit|integration|functional)_test|tests?_.+)$")
_TEST_FILE = re.compile(r"(?:test_.+|.+_tests?|tests|conftest)\.py$")
_MIGRATION_FOLDER = re.compile(r"(?:(?:.+_)?migrations|alembic)$")
_VENDORED_FOLDERS = frozenset({"vendor", "vendored", "_vendor", "_vendored"})
_COMMANDS = "management/commands/"
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, order=True)
class SourceFile:
    """One file: relative path with `/`, dotted module name, the source root it is imported from, its role."""

    path: str
    module: str
    root: str = ""
    role: Role = "application"

    def __hash__(self) -> int:  # files are members of many sets, and the hash of one text is remembered by it
        return hash(self.path)


@dataclass(frozen=True)
class Exclusion:
    """Patterns in the manner of `.gitignore`, relative to `base`, of files that are not looked at."""

    base: Path
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sources:
    """The files of a tree, sorted by path, and the problems met while listing them."""

    root: Path
    files: tuple[SourceFile, ...] = ()
    problems: tuple[Problem, ...] = field(default=())

    def read(self, file: SourceFile) -> bytes:
        """The bytes of a file; raises `OSError`."""
        with open(f"{self.root}/{file.path}", "rb") as stream:  # joining by Path takes as long as reading
            return stream.read()

    def source(self, path: str) -> bytes | None:
        """The bytes of the file at a relative path; None if it cannot be read."""
        try:
            return self.content(path)
        except OSError:
            return None

    def content(self, path: str) -> bytes:
        """The bytes of the file at a relative path; raises `OSError`."""
        return (self.root / path).read_bytes()

    def lines(self, path: str) -> tuple[str, ...]:
        """The text of a file line by line, for excerpts; empty if it cannot be read."""
        if path not in self._lines:
            text = _decoded(self.source(path) or b"")
            self._lines[path] = tuple(_LINE_END.split(text)) if text else ()
        return self._lines[path]

    def by_module(self, dotted: str) -> tuple[SourceFile, ...]:
        """The files imported under this name, sorted; several where several roots have one."""
        return self._modules.get(dotted, ())

    def by_path(self, path: str) -> SourceFile | None:
        """The file at this relative path."""
        return self._paths.get(path)

    @cached_property
    def _lines(self) -> dict[str, tuple[str, ...]]:
        return {}

    @cached_property
    def _modules(self) -> Mapping[str, tuple[SourceFile, ...]]:
        found: dict[str, list[SourceFile]] = defaultdict(list)
        for file in self.files:
            found[file.module].append(file)
        return {module: tuple(files) for module, files in found.items()}

    @cached_property
    def _paths(self) -> Mapping[str, SourceFile]:
        return {file.path: file for file in self.files}


def discover(root: Path, *, within: Sequence[str] = (), exclusions: Sequence[Exclusion] = ()) -> Sources:
    """The sources below `root`; with `within`, only those in these relative folders.

    Raises `UsageError` if `root` is no folder that can be listed.
    """
    root = root.resolve()
    if not root.is_dir():
        raise UsageError(f"{root} is not a folder: give the folder of the project, or files in it")
    listed = [path for path in python_files(root) if _is_within(path, within)]
    listed = without(listed, root, exclusions)
    usable, problems = _checked(root, listed)
    roots = source_roots(usable, lambda path: os.path.exists(root / path), lambda path: _read_or_nothing(root / path))
    files = (SourceFile(path, module_name(path, roots[path]), roots[path], role_of(path)) for path in usable)
    return Sources(root, tuple(sorted(files)), tuple(sorted(problems)))


def role_of(path: str) -> Role:
    """What part a file plays, by its place in the tree.

    A management command is application code however it is called: `commands/test_mail.py` sends.
    """
    folder, _, name = path.rpartition("/")
    role = _role_of_folder(folder)
    if role != "vendored" and _TEST_FILE.match(name) and _COMMANDS not in path:
        return "test"
    return role


@cache
def _role_of_folder(path: str) -> Role:
    """What part the files in a folder play, if their names do not say otherwise."""
    folders = path.split("/")
    if _VENDORED_FOLDERS.intersection(folders):
        return "vendored"
    if any(map(_TEST_FOLDER.match, folders)):
        return "test"
    return "migration" if any(map(_MIGRATION_FOLDER.match, folders)) else "application"


def _is_within(path: str, folders: Sequence[str]) -> bool:
    return not folders or any(path.startswith(f"{folder}/") for folder in folders)


def without(paths: Sequence[str], root: Path, exclusions: Sequence[Exclusion]) -> list[str]:
    """The paths that no exclusion matches."""
    kept = list(paths)
    for exclusion in exclusions:
        if exclusion.patterns:
            spec = ignore_spec(exclusion.patterns)
            base = exclusion.base.resolve()
            kept = [path for path in kept if not spec.match_file(os.path.relpath(root / path, base))]
    return kept


def _checked(root: Path, paths: Iterable[str]) -> tuple[list[str], list[Problem]]:
    """The regular, readable files of a sensible size, and a problem for each of the others."""
    usable: list[str] = []
    problems: list[Problem] = []
    for path in paths:
        fault = _fault(root, f"{root}/{path}")
        if fault is None:
            usable.append(path)
        elif fault:
            problems.append(Problem(path, 0, fault))
    return usable, problems


def _fault(root: Path, file: str) -> str | None:
    """Why a file cannot be used; empty if that needs no mention, None if it can be used."""
    try:
        status = os.lstat(file)
        if stat.S_ISLNK(status.st_mode):
            return _fault_of_link(root, Path(file))
    except FileNotFoundError:
        return ""  # git still lists a file that was just deleted
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if stat.S_ISDIR(status.st_mode):
        return "" if os.access(file, os.R_OK | os.X_OK) else "cannot be listed: Permission denied"
    if not stat.S_ISREG(status.st_mode):
        return "is not a regular file; skipped"
    if status.st_size > LARGEST:
        return f"is larger than {LARGEST // 1024**2} MB ({status.st_size} bytes); skipped"
    return None if os.access(file, os.R_OK) else "cannot be read: Permission denied"


def _fault_of_link(root: Path, link: Path) -> str:
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):
        return "is a link that leads nowhere; skipped"
    inside = target.is_relative_to(root) or target.is_dir()
    return "" if inside else "is a link out of the analysed tree; skipped"


def _decoded(source: bytes) -> str:
    """A text in the encoding that it declares, as far as that can be."""
    try:
        return source.decode(tokenize.detect_encoding(io.BytesIO(source).readline)[0], "replace")
    except (SyntaxError, LookupError, UnicodeError):
        return source.decode("utf-8-sig", "replace")


def _read_or_nothing(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""
