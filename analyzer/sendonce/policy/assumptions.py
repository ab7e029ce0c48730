"""Assumptions that the configuration settles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from sendonce.config import Assume
from sendonce.findings import Finding


def settled(findings: Iterable[Finding], assume: Assume) -> list[Finding]:
    """The findings without those that hang on something settled false, and without mention of what is settled true."""
    return list(_settled(findings, assume))


def _settled(findings: Iterable[Finding], assume: Assume) -> Iterator[Finding]:
    truth = assume.settled()
    for finding in findings:
        if all(truth.get(text, True) for text in finding.assumes):
            open_ones = tuple(text for text in finding.assumes if text not in truth)
            yield finding if open_ones == finding.assumes else replace(finding, assumes=open_ones)
