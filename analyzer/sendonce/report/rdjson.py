"""Diagnostics of reviewdog, in its JSON form: https://github.com/reviewdog/reviewdog/tree/master/proto/rdf"""

from __future__ import annotations

from typing import Any

from sendonce.findings import Finding, Place, Report
from sendonce.report import View
from sendonce.report.findings_json import dumped
from sendonce.report.text import shown, visible

_SEVERITIES = {"error": "ERROR", "warning": "WARNING", "note": "INFO"}


def render(report: Report, view: View) -> str:
    """One result with all findings."""
    diagnostics = [_diagnostic(finding) for finding in shown(report.findings)]
    return dumped({"source": {"name": "sendonce"}, "diagnostics": diagnostics})


def _diagnostic(finding: Finding) -> dict[str, Any]:
    return {
        "message": f"{finding.name}: {visible(finding.message)}\nRepair: {visible(finding.help)}",
        "location": _location(finding.place),
        "severity": _SEVERITIES[finding.severity],
        "code": {"value": finding.code},
        "relatedLocations": [
            {"message": visible(one.note), "location": _location(one.place)} for one in finding.related
        ],
    }


def _location(place: Place) -> dict[str, Any]:
    return {
        "path": visible(place.path),
        "range": {
            "start": {"line": place.line, "column": place.column},
            "end": {"line": place.end_line or place.line, "column": place.end_column or place.column},
        },
    }
