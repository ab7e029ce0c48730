"""The baseline: findings that are known and not reported, in a file without line numbers and dates.

An entry tells findings apart by rule, file, function, mail and the text of the line, and counts
those that are equal in all of these. What cannot be matched exactly may have a changed line, or
have moved with its line into another function or file; one more than were counted is new.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sendonce.errors import ConfigError, UsageError
from sendonce.findings import Finding
from sendonce.policy.fingerprint import Lines, line_of

SCHEMA = 1
FILE_NAME = "sendonce-baseline.json"


@dataclass(frozen=True, order=True)
class Entry:
    """One kind of known finding; `path` is relative to the folder of the baseline."""

    path: str
    code: str
    function: str
    template: str
    text: str


_ALIKE: tuple[Callable[[Entry], tuple[str, ...]], ...] = (
    lambda one: (one.path, one.code, one.function, one.template, one.text),
    lambda one: (one.path, one.code, one.function, one.template),
    lambda one: (one.code, one.template, one.text),
)
"""What makes a finding a known one, the surest first."""


@dataclass(frozen=True)
class Baseline:
    """The entries of a file, each with how often it was found."""

    file: Path
    counts: Counter[Entry]

    def entry(self, finding: Finding, root: Path, lines: Lines) -> Entry:
        """The entry of a finding in the tree at `root`."""
        path = Path(os.path.relpath(root / finding.place.path, self.file.resolve().parent)).as_posix()
        return Entry(path, finding.code, finding.function, finding.template or "", line_of(finding, lines))

    def subtract(
        self, findings: Sequence[Finding], root: Path, lines: Lines, moved: bool = True
    ) -> tuple[list[Finding], Counter[Entry]]:
        """The findings that are not known, and the entries that were not needed; suppressed ones need none.

        With `moved`, one that is in another function or file than before may be known.
        """
        left = Counter(self.counts)
        open_ones = {number: self.entry(one, root, lines) for number, one in enumerate(findings) if not one.suppressed}
        for alike in _ALIKE if moved else _ALIKE[:-1]:
            known: dict[tuple[str, ...], list[Entry]] = {}
            for entry in sorted(left.elements()):
                known.setdefault(alike(entry), []).append(entry)
            for number, entry in tuple(open_ones.items()):
                if known.get(alike(entry)):
                    left[known[alike(entry)].pop(0)] -= 1
                    del open_ones[number]
        kept = [one for number, one in enumerate(findings) if one.suppressed or number in open_ones]
        return kept, +left

    def dumped(self) -> str:
        """The file's text: sorted, one entry a line."""
        rows = [json.dumps(_row(entry, self.counts[entry]), ensure_ascii=False) for entry in sorted(self.counts)]
        listed = ",".join(f"\n  {row}" for row in rows)
        return f'{{"schema": {SCHEMA}, "tool": "sendonce", "findings": [{listed}{chr(10) if rows else ""}]}}\n'


def baseline_of(findings: Iterable[Finding], file: Path, root: Path, lines: Lines) -> Baseline:
    """The baseline of these findings, suppressed ones left out."""
    empty = Baseline(file, Counter())
    return Baseline(file, Counter(empty.entry(one, root, lines) for one in findings if not one.suppressed))


def load_baseline(file: Path, origin: str) -> Baseline:
    """Reads a file; raises `UsageError` if it is not there and `ConfigError`, naming it, if it is wrong."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{origin}: {file} does not exist; `sendonce baseline` writes it") from None
    except OSError as error:
        raise UsageError(f"{origin}: {file} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{origin}: {file} is no baseline of sendonce: {error}") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise ConfigError(f"{origin}: {file} is no baseline of sendonce of schema {SCHEMA}")
    rows = document.get("findings")
    try:
        entries = [_entry(row) for row in rows] if isinstance(rows, list) else [_entry(rows)]
    except (TypeError, KeyError, ValueError) as error:
        raise ConfigError(f"{origin}: {file}: findings holds something that is no entry ({error})") from None
    counts: Counter[Entry] = Counter()
    for entry, count in entries:
        counts[entry] += count
    return Baseline(file, counts)


def _row(entry: Entry, count: int) -> dict[str, Any]:
    return {
        "path": entry.path,
        "code": entry.code,
        "function": entry.function,
        "template": entry.template or None,
        "text": entry.text,
        "count": count,
    }


def _entry(row: Any) -> tuple[Entry, int]:
    texts = [row[key] or "" for key in ("path", "code", "function", "template", "text")]
    count = row["count"]
    if not all(isinstance(text, str) for text in texts) or not isinstance(count, int) or not 0 < count < 10**9:
        raise ValueError(f"{row}")
    return Entry(*texts), count
