"""One JSON object a line, each a finding as in the JSON report."""

from __future__ import annotations

import json

from sendonce.findings import Report
from sendonce.report import View
from sendonce.report.findings_json import finding


def render(report: Report, view: View) -> str:
    """The findings in the order of the report; nothing for none."""
    lines = (json.dumps(finding(one)).replace("\x7f", "\\u007f") for one in report.findings)
    return "".join(f"{line}\n" for line in lines)
