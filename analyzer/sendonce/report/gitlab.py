"""Code Quality of GitLab: a JSON list of issues with unique fingerprints."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from sendonce.findings import Finding, Report
from sendonce.report import View
from sendonce.report.text import shown, visible

_SEVERITIES = {"error": "major", "warning": "minor", "note": "info"}


def render(report: Report, view: View) -> str:
    """The issues, in the order of the report."""
    seen: Counter[str] = Counter()
    issues = []
    for finding in shown(report.findings):
        seen[finding.fingerprint] += 1
        issues.append(_issue(finding, seen[finding.fingerprint]))
    return json.dumps(issues, indent=2).replace("\x7f", "\\u007f") + "\n"


def _issue(finding: Finding, times: int) -> dict[str, Any]:
    place = finding.place
    return {
        "description": f"{finding.name}: {visible(finding.message)}",
        "check_name": finding.code,
        "fingerprint": finding.fingerprint if times == 1 else f"{finding.fingerprint}-{times}",
        "severity": _SEVERITIES[finding.severity],
        "location": {
            "path": visible(place.path),
            "lines": {"begin": place.line, "end": place.end_line or place.line},
        },
    }
