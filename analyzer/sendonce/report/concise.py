"""One line a finding, as editors and grep like it."""

from __future__ import annotations

from sendonce.findings import Finding, Report
from sendonce.report import View
from sendonce.report.text import LONGEST_TEXT, Paint, cut, shown, statistics, summary, where


def render(report: Report, view: View) -> str:
    """`path:line:column: CODE severity message`, then the counts."""
    paint = Paint(view.color)
    lines = [_line(finding, paint) for finding in shown(report.findings)]
    if view.statistics:
        lines.extend(statistics(report))
    return "\n".join([*lines, summary(report)]) + "\n"


def _line(finding: Finding, paint: Paint) -> str:
    code = paint.severity(finding.severity, finding.code)
    message = " ".join(cut(finding.message.replace("\n", " "), LONGEST_TEXT).split())
    return f"{where(finding.place)}: {code} {finding.severity} {message} [{finding.name}]"
