"""Annotations of GitHub Actions, the worst first: of each kind, the service shows the first ten of a step."""

from __future__ import annotations

from sendonce.findings import SEVERITIES, Finding, Report
from sendonce.report import View
from sendonce.report.text import shown, summary, visible

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def render(report: Report, view: View) -> str:
    """A workflow command a finding, then the counts."""
    findings = sorted(shown(report.findings), key=lambda one: -SEVERITIES.index(one.severity))
    return "\n".join([*map(_command, findings), summary(report)]) + "\n"


def _command(finding: Finding) -> str:
    place = finding.place
    properties = {
        "file": visible(place.path),
        "line": str(place.line),
        "endLine": str(place.end_line or place.line),
        "col": str(place.column),
        "title": f"{finding.code} {finding.name}",
    }
    if place.end_line in (0, place.line) and place.end_column:
        properties["endColumn"] = str(place.end_column)
    words = ",".join(f"{name}={value.translate(_PROPERTY)}" for name, value in properties.items())
    text = f"{visible(finding.message)}\nRepair: {visible(finding.help)}"
    return f"::{_COMMANDS[finding.severity]} {words}::{text.translate(_DATA)}"
