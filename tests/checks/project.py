"""Small projects to run one rule over."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

from sendonce.config import Settings
from sendonce.findings import Finding
from sendonce.run import analyze
from sendonce.target import target_of


def findings(files: Mapping[str, str], tmp_path: Path, *codes: str) -> list[Finding]:
    """All findings over a tree of files (relative path to text), those of some codes only if any are given.

    Without codes the notes for audits (SO7) are left out: small projects log nothing and test nothing.
    """
    root = tmp_path / "project"
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
    report = analyze(target_of([root]), Settings(pedantic=True))
    assert not report.problems, report.problems
    wanted = codes or {finding.code for finding in report.findings if not finding.code.startswith("SO7")}
    return [finding for finding in report.findings if finding.code in wanted]


def lines(found: Finding) -> set[tuple[str, int]]:
    """The places that a finding speaks of: its own and the related ones."""
    return {(found.place.path, found.place.line), *((one.place.path, one.place.line) for one in found.related)}


def line_of(text: str, part: str) -> int:
    """The number of the first line of a file's text that has a part."""
    return next(n for n, line in enumerate(dedent(text).lstrip("\n").splitlines(), 1) if part in line)


def examples(doc: str) -> dict[str, str]:
    """The code of a rule's documentation by its heading ("Bad", "Good")."""
    return dict(re.findall(r"(?m)^## (\w+)\n```python\n(.*?)^```", doc, re.DOTALL | re.MULTILINE))
