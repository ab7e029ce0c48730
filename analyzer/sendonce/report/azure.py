"""Issues of Azure Pipelines: one logging command a finding."""

from __future__ import annotations

from sendonce.findings import SEVERITIES, Finding, Report
from sendonce.report import View
from sendonce.report.text import shown, summary, visible

_TYPES = {"error": "error", "warning": "warning", "note": "warning"}
_ESCAPES = str.maketrans({"%": "%AZP25", "\r": "%0D", "\n": "%0A", ";": "%3B", "]": "%5D"})


def render(report: Report, view: View) -> str:
    """The commands, the worst first, then the counts."""
    findings = sorted(shown(report.findings), key=lambda one: -SEVERITIES.index(one.severity))
    return "\n".join([*map(_command, findings), summary(report)]) + "\n"


def _command(finding: Finding) -> str:
    place = finding.place
    properties = {
        "type": _TYPES[finding.severity],
        "sourcepath": visible(place.path),
        "linenumber": str(place.line),
        "columnnumber": str(place.column),
        "code": finding.code,
    }
    words = "".join(f"{name}={value.translate(_ESCAPES)};" for name, value in properties.items())
    text = f"{finding.name}: {visible(finding.message)} Repair: {visible(finding.help)}"
    return f"##vso[task.logissue {words}]{text.translate(_ESCAPES)}"
