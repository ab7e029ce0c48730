"""Fingerprints: the same finding has the same one after lines above it have moved."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from sendonce.findings import Finding

Lines = Callable[[str], Sequence[str]]
"""The lines of a file, by relative path; none if it cannot be read."""


def stamped(findings: Iterable[Finding], lines: Lines) -> list[Finding]:
    """The findings, sorted by place and code, each with its fingerprint.

    It is made of the code, path, function, template and text of the line, and counts findings
    that are equal in all of these.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    done = []
    for finding in sorted(findings, key=_order):
        identity = _identity(finding, lines)
        seen[identity] += 1
        digest = hashlib.sha256("\0".join((*identity, str(seen[identity]))).encode("utf-8", "surrogatepass"))
        done.append(replace(finding, fingerprint=digest.hexdigest()[:24]))
    return done


def _order(finding: Finding) -> tuple[object, ...]:
    return (finding.place, finding.code, finding.template or "", finding.function, finding.message)


def _identity(finding: Finding, lines: Lines) -> tuple[str, ...]:
    line = line_of(finding, lines)
    return (finding.code, finding.place.path, finding.function, finding.template or "", line)


def line_of(finding: Finding, lines: Lines) -> str:
    """The text of a finding's first line, with single blanks."""
    text = lines(finding.place.path)
    number = finding.place.line
    return " ".join(text[number - 1].split()) if 0 < number <= len(text) else ""
