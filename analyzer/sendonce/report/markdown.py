"""The findings as Markdown, each with its path as a mermaid picture: for comments on a change, summaries of a job."""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.findings import SEVERITIES, Finding, HopKind, Report, Step
from sendonce.report import View
from sendonce.report.markup import at, code, label, plain
from sendonce.report.text import LONGEST_TEXT, excerpt, shown, summary

MOST_PICTURES = 30
"""Findings that are told with their path; a comment must not grow without end."""
_ARROWS: dict[HopKind, str] = {"enqueue": "-.->", "defer": "-.->", "thread": "-.->", "schedule": "-.->"}


def render(report: Report, view: View) -> str:
    """A table of all findings, the worst first, then each with its path."""
    findings = sorted(shown(report.findings), key=lambda one: -SEVERITIES.index(one.severity))
    return "\n".join(_document(findings, report, view)) + "\n"


def _document(findings: list[Finding], report: Report, view: View) -> Iterator[str]:
    yield "## sendonce"
    yield ""
    yield summary(report)
    if not findings:
        return
    yield from ("", "| | rule | where | mail |", "| --- | --- | --- | --- |")
    for finding in findings:
        mail = code(finding.template) if finding.template else ""
        yield f"| {finding.severity} | {finding.code} {finding.name} | {at(finding.place)} | {mail} |"
    for finding in findings[:MOST_PICTURES]:
        yield from _finding(finding, view)
    if len(findings) > MOST_PICTURES:
        yield from ("", f"{len(findings) - MOST_PICTURES} further findings are in the table alone.")


def _finding(finding: Finding, view: View) -> Iterator[str]:
    yield from ("", f"### {finding.code} {finding.name}", "")
    yield f"{at(finding.place)} in {code(finding.function)} ({finding.severity}, {finding.confidence} confidence)"
    line = excerpt(view.lines(finding.place.path), finding.place.line).strip()
    if line:
        yield from ("", code(line))
    yield from ("", plain(finding.message, LONGEST_TEXT), "", f"**Repair:** {plain(finding.help, LONGEST_TEXT)}")
    if finding.assumes:
        yield from ("", f"**Assumes:** {plain('; '.join(finding.assumes), LONGEST_TEXT)}")
    if finding.trace:
        yield from ("", "```mermaid", *_picture(finding.trace), "```")


def _picture(trace: tuple[Step, ...]) -> Iterator[str]:
    yield "flowchart TD"
    for number, step in enumerate(trace):
        place = f"{step.place.path}:{step.place.line}"
        yield f'  s{number}["{step.hop}: {label(step.function)}<br/>{label(place)}"]'
        if number:
            yield f"  s{number - 1} {_ARROWS.get(trace[number - 1].hop, '-->')} s{number}"
