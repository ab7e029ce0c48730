"""Which lines have changed since a revision, by the user's own git, and whether a finding has a step in them.

What git calls a change of the work tree counts: commits since the branch left the revision, the index, edits
that nobody has staged, files that nobody has added.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sendonce.findings import Finding, Place
from sendonce.revision import branch_point, changes_since, unknown_files

_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_FILE = re.compile(rb'\+\+\+ (?:"(?P<quoted>.*)"|(?P<plain>.*?))\t?$')
_ESCAPE = re.compile(rb"\\([abtnvfr\"\\]|[0-7]{3})")
_ESCAPED = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}
_OPENERS = frozenset({"trigger", "transaction", "reservation"})
"""Steps whose place may be a whole block: only its first line counts."""


@dataclass(frozen=True)
class Changed:
    """The changed lines of each file (None for a new file, all of which counts) since the commit `base`."""

    base: str
    lines: Mapping[str, frozenset[int] | None]

    def touches(self, finding: Finding) -> bool:
        """Whether a step of a finding stands in one of them."""
        return any(self._has(place) for place in _places(finding))

    def _has(self, place: Place) -> bool:
        if place.path not in self.lines:
            return False
        lines = self.lines[place.path]
        return lines is None or not lines.isdisjoint(range(place.line, max(place.line, place.end_line) + 1))


def changed_since(revision: str, root: Path) -> Changed:
    """The lines of the tree at `root` that have changed since a revision; raises `UsageError` if git cannot tell."""
    base = branch_point(revision, root)
    lines: dict[str, frozenset[int] | None] = dict(_lines(changes_since(base, root, "--unified=0")))
    lines.update((path, None) for path in unknown_files(root))
    return Changed(base, lines)


def _lines(patch: bytes) -> Mapping[str, frozenset[int]]:
    """The new lines of each file of a patch that is still there, by its path; none where lines only went away."""
    found: dict[str, set[int]] = {}
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
            found.setdefault(path, set()).update(range(first, first + now))
    return {path: frozenset(lines) for path, lines in found.items()}


def _path(header: re.Match[bytes]) -> str:
    """The path in a line `+++ b/path`, which git quotes where it must."""
    if header["quoted"] is None:
        return os.fsdecode(header["plain"][2:])
    return os.fsdecode(_ESCAPE.sub(_unescaped, header["quoted"])[2:])


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) & 0xFF]) if len(code) == 3 else _ESCAPED.get(code, code)


def _places(finding: Finding) -> Iterator[Place]:
    """Where a finding stands, and all that its path and its words name."""
    yield finding.place
    for step in finding.trace:
        yield Place(step.place.path, step.place.line) if step.hop in _OPENERS else step.place
    for place in (*(one.place for one in finding.triggers), *(one.place for one in finding.related)):
        yield Place(place.path, place.line)
