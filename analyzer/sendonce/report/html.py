"""The findings as one HTML page: no other file, no other host, no script."""

from __future__ import annotations

from collections import Counter

from sendonce.findings import SEVERITIES, Report
from sendonce.report import View
from sendonce.report.pages import page
from sendonce.report.text import shown, summary


def render(report: Report, view: View) -> str:
    """The whole page, the worst findings first."""
    findings = sorted(shown(report.findings), key=lambda one: -SEVERITIES.index(one.severity))
    counts = Counter(finding.severity for finding in findings)
    return page("findings.html.jinja", view, findings=findings, counts=counts, summary=summary(report))
