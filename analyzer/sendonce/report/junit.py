"""JUnit XML: a failed case a finding, one passing case if there is none."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from sendonce.findings import Finding, Report
from sendonce.report import View
from sendonce.report.text import shown, visible, where


def render(report: Report, view: View) -> str:
    """One suite; names and texts are printable, so that the document is valid whatever the tree holds."""
    return "\n".join(_document(report)) + "\n"


def _document(report: Report) -> Iterator[str]:
    findings = shown(report.findings)
    counts = f'tests="{max(1, len(findings))}" failures="{len(findings)}"'
    yield '<?xml version="1.0" encoding="utf-8"?>'
    yield f'<testsuites name="sendonce" {counts}>'
    yield f'  <testsuite name="sendonce" {counts} errors="0" skipped="0" time="{report.stats.seconds:.3f}">'
    if not findings:
        yield '    <testcase classname="sendonce" name="one event, one e-mail"/>'
    for finding in findings:
        yield from _case(finding)
    yield "  </testsuite>"
    yield "</testsuites>"


def _case(finding: Finding) -> Iterator[str]:
    name = f"{finding.code} {finding.name} at line {finding.place.line}, column {finding.place.column}"
    yield f"    <testcase classname={_attribute(finding.place.path)} name={_attribute(name)}>"
    failure = f'<failure type="{finding.code}" message={_attribute(finding.message)}>'
    yield f"      {failure}{escape(_text(finding))}</failure>"
    yield "    </testcase>"


def _text(finding: Finding) -> str:
    lines = [
        where(finding.place),
        *(f"{step.hop} {where(step.place)} {visible(step.function)}" for step in finding.trace),
    ]
    return "\n".join([*lines, f"Repair: {visible(finding.help)}"])


def _attribute(text: str) -> str:
    return quoteattr(visible(text))
