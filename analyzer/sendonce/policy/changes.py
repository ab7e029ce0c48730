"""Which lines have changed since a revision, by the user's own git.

What git calls a change of the work tree counts: commits since the revision left the current branch, the
index, edits that nobody has staged, files that nobody has added. Where a line was altered or taken away,
a guard may have gone with it: the whole function around it counts.
"""

from __future__ import annotations

import ast
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sendonce.errors import UsageError
from sendonce.findings import Finding, Place
from sendonce.listing import run_git
from sendonce.policy.fingerprint import Lines

_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_FILE = re.compile(rb'\+\+\+ (?:"(?P<quoted>.*)"|(?P<plain>.*?))\t?$')
_ESCAPE = re.compile(rb"\\([abtnvfr\"\\]|[0-7]{3})")
_ESCAPED = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}
_HEAD = re.compile(r"\s*(?:@|(?:async\s+)?def\b)")
_OPENERS = frozenset({"trigger", "transaction", "reservation"})
"""Steps whose place may be a whole block: only its first line counts."""


@dataclass(frozen=True)
class Hunk:
    """A stretch of changed lines: the first, how many there are now, whether any were there before."""

    first: int
    count: int
    replaces: bool


@dataclass(frozen=True)
class Changed:
    """The changed lines of each file; None for a new file, all of which counts."""

    lines: Mapping[str, frozenset[int] | None]

    def touches(self, finding: Finding) -> bool:
        """Whether a step of a finding stands in one of them."""
        return any(self._has(place) for place in _places(finding))

    def _has(self, place: Place) -> bool:
        if place.path not in self.lines:
            return False
        lines = self.lines[place.path]
        return lines is None or not lines.isdisjoint(range(place.line, max(place.line, place.end_line) + 1))


def changed_since(revision: str, root: Path, lines: Lines) -> Changed:
    """The lines of the tree at `root` that have changed since a revision; raises `UsageError` if git cannot tell."""
    base = _base(revision, root)
    options = ("--unified=0", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames", "--relative")
    prefixes = ("--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules")
    patch = _git(root, "-c", "core.quotePath=false", "diff", *options, *prefixes, base, "--", ".")
    changed: dict[str, frozenset[int] | None] = {
        path: frozenset(_counted(hunks, lines(path))) for path, hunks in _hunks(patch).items()
    }
    new = _git(root, "ls-files", "-z", "--others", "--exclude-standard", "--", ".")
    changed.update((os.fsdecode(name), None) for name in new.split(b"\0") if name)
    return Changed(changed)


def _base(revision: str, root: Path) -> str:
    """The commit at which the current branch and the revision part."""
    if _answer(root, "rev-parse", "--is-inside-work-tree") != b"true":
        raise UsageError(f"--since: {root} is in no git work tree (or git is not installed)")
    shallow = _answer(root, "rev-parse", "--is-shallow-repository") == b"true"
    hint = "; the clone is shallow: fetch all of its history (fetch-depth: 0, GIT_DEPTH: 0)" if shallow else ""
    commit = _answer(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if not commit:
        raise UsageError(f"--since: git knows no commit {revision!r}{hint}")
    base = _answer(root, "merge-base", os.fsdecode(commit), "HEAD")
    if not base and shallow:
        raise UsageError(f"--since: git cannot tell where the branch left {revision!r}{hint}")
    return os.fsdecode(base or commit)


def _answer(root: Path, *arguments: str) -> bytes:
    """The first line that git says; empty if it fails."""
    done = run_git(root, *arguments)
    return done.stdout.partition(b"\n")[0].strip() if done is not None and done.returncode == 0 else b""


def _git(root: Path, *arguments: str) -> bytes:
    done = run_git(root, *arguments)
    if done is None or done.returncode:
        said = "" if done is None else done.stderr.decode(errors="replace").strip()
        raise UsageError(f"--since: git cannot tell what has changed: {said}")
    return done.stdout


def _hunks(patch: bytes) -> Mapping[str, list[Hunk]]:
    """The hunks of each file that is still there, by its path."""
    found: dict[str, list[Hunk]] = {}
    path = ""
    skip = 0  # lines of a hunk, which may look like headers
    for line in patch.split(b"\n"):
        if skip:
            skip -= not line.startswith(b"\\")
        elif match := _FILE.match(line):
            path = _path(match)
        elif match := _HUNK.match(line):
            before, first, now = (1 if part is None else int(part) for part in match.groups())
            skip = before + now
            found.setdefault(path, []).append(Hunk(first, now, before > 0))
    return found


def _path(header: re.Match[bytes]) -> str:
    """The path in a line `+++ b/path`, which git quotes where it must."""
    if header["quoted"] is None:
        return os.fsdecode(header["plain"][2:])
    return os.fsdecode(_ESCAPE.sub(_unescaped, header["quoted"])[2:])


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) & 0xFF]) if len(code) == 3 else _ESCAPED.get(code, code)


# ---------------------------------------------------------------- lines that count


def _counted(hunks: Iterable[Hunk], text: Sequence[str]) -> Iterator[int]:
    """The changed lines of a file, with the functions in which lines were altered or taken away."""
    functions: list[range] | None = None
    for hunk in hunks:
        near = range(hunk.first, hunk.first + hunk.count) if hunk.count else range(hunk.first, hunk.first + 2)
        yield from near
        if hunk.replaces:
            functions = _functions(text) if functions is None else functions
            for number in near if hunk.count else _beside(hunk.first, text):
                yield from min((one for one in functions if number in one), key=len, default=())


def _beside(before: int, text: Sequence[str]) -> Iterator[int]:
    """The lines beside a gap that tell in which function it is: the one before, and a head that follows."""
    yield before
    if before < len(text) and _HEAD.match(text[before]):
        yield before + 1


def _functions(text: Sequence[str]) -> list[range]:
    """The lines of each function of a file, its decorators among them; none if the file cannot be parsed here."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse("\n".join(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [range(_first(node), (node.end_lineno or node.lineno) + 1) for node in nodes]


def _first(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min(node.lineno, *(decorator.lineno for decorator in node.decorator_list), node.lineno)


def _places(finding: Finding) -> Iterator[Place]:
    """Where a finding stands, and all that its path and its words name."""
    yield finding.place
    for step in finding.trace:
        yield Place(step.place.path, step.place.line) if step.hop in _OPENERS else step.place
    for place in (*(one.place for one in finding.triggers), *(one.place for one in finding.related)):
        yield Place(place.path, place.line)
