"""What git knows of a tree: where a branch began, what has changed since, and the files as they were there.

Git only reads, with its hooks and external programs switched off.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sendonce.discovery import SourceFile, Sources, role_of
from sendonce.errors import UsageError
from sendonce.listing import run_git
from sendonce.roots import module_name

_DIFF = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames", "--relative", "--ignore-submodules")


def branch_point(revision: str, root: Path) -> str:
    """The commit at which the current branch and a revision part; raises `UsageError` if git cannot tell."""
    if _answer(root, "rev-parse", "--is-inside-work-tree") != "true":
        raise UsageError(f"--since: {root} is in no git work tree (or git is not installed)")
    shallow = _answer(root, "rev-parse", "--is-shallow-repository") == "true"
    hint = "; the clone is shallow: fetch all of its history (fetch-depth: 0, GIT_DEPTH: 0)" if shallow else ""
    commit = _answer(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if not commit:
        raise UsageError(f"--since: git knows no commit {revision!r}{hint}")
    base = _answer(root, "merge-base", commit, "HEAD")
    if not base and shallow:
        raise UsageError(f"--since: git cannot tell where the branch left {revision!r}{hint}")
    return base or commit


def changes_since(commit: str, root: Path, *options: str) -> bytes:
    """What `git diff` says of the work tree below `root`, with the paths relative to it."""
    prefixes = ("--src-prefix=a/", "--dst-prefix=b/")
    return _output(root, "-c", "core.quotePath=false", *_DIFF, *prefixes, *options, commit, "--", ".")


def unknown_files(root: Path) -> list[str]:
    """The files below `root` that nobody has added yet and git does not ignore."""
    listing = _output(root, "ls-files", "-z", "--others", "--exclude-standard", "--", ".")
    return [os.fsdecode(name) for name in listing.split(b"\0") if name]


@dataclass(frozen=True)
class Earlier(Sources):
    """The files of a tree at a commit: what has changed since is read from git, the rest where it stands."""

    contents: Mapping[str, bytes] = field(default_factory=dict)

    def read(self, file: SourceFile) -> bytes:
        """The bytes of a file; raises `OSError`."""
        return self.contents[file.path] if file.path in self.contents else super().read(file)

    def content(self, path: str) -> bytes:
        """The bytes of the file at a relative path; raises `OSError`."""
        return self.contents[path] if path in self.contents else super().content(path)


def at_commit(sources: Sources, commit: str, kept: Callable[[Sequence[str]], Sequence[str]]) -> Sources:
    """The files of a tree as they were at a commit, under the names that they have now where they were renamed.

    `kept` gives those of some paths that the settings do not exclude.
    """
    root = sources.root
    prefix = _answer(root, "rev-parse", "--show-prefix")
    contents: dict[str, bytes] = {}
    new = set(unknown_files(root))
    for status, old, path in _statuses(changes_since(commit, root, "--name-status", "-z")):
        if status == "A":
            new.add(path)
        elif path.endswith(".py"):
            contents[path] = _output(root, "cat-file", "blob", f"{commit}:{prefix}{old}")
    known = {file.path for file in sources.files}
    gone = (_placed(path, sources) for path in kept([path for path in sorted(contents) if path not in known]))
    files = sorted([*(file for file in sources.files if file.path not in new), *gone])
    return Earlier(root, tuple(files), (), contents)


def _statuses(listing: bytes) -> Iterator[tuple[str, str, str]]:
    """The letter of each change with the old and the new path, from `--name-status -z`."""
    words = iter(os.fsdecode(listing).split("\0"))
    for status in words:
        if status:
            old = next(words)
            yield status[0], old, next(words) if status[0] in "RC" else old


def _placed(path: str, sources: Sources) -> SourceFile:
    """A file that is no longer there, under the source root of what stands nearest to it."""
    folder = path.rpartition("/")[0]
    while True:
        for file in sources.files:
            if file.path.startswith(f"{folder}/" if folder else ""):
                return replace(file, path=path, module=module_name(path, file.root), role=role_of(path))
        if not folder:
            return SourceFile(path, module_name(path, ""), "", role_of(path))
        folder = folder.rpartition("/")[0]


def _answer(root: Path, *arguments: str) -> str:
    """The first line that git says; empty if it fails."""
    done = run_git(root, *arguments)
    return os.fsdecode(done.stdout.partition(b"\n")[0].strip()) if done is not None and not done.returncode else ""


def _output(root: Path, *arguments: str) -> bytes:
    done = run_git(root, *arguments)
    if done is None or done.returncode:
        said = "" if done is None else done.stderr.decode(errors="replace").strip()
        raise UsageError(f"--since: git cannot tell what has changed: {said}")
    return done.stdout
