"""Timelines for other programs, schema 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sendonce.findings import Finding
from sendonce.program.paths import place_of
from sendonce.program.timeline import Timeline
from sendonce.report import View
from sendonce.report.findings_json import SCHEMA, at, dumped, step, trigger


def render(timelines: Sequence[Timeline], view: View) -> str:
    """Each way from a trigger to a send, with its steps and the findings that rest on it."""
    return dumped({"schema": SCHEMA, "timelines": [_timeline(timeline) for timeline in timelines]})


def _timeline(timeline: Timeline) -> dict[str, Any]:
    path, names = timeline.path, timeline.names
    template, provider = path.mail.template, path.mail.provider
    send = path.mail.bound.place if path.mail.bound is not None else place_of(path.send)
    name = None if template is None else template.value
    return {
        "template": name,
        "send": at(send),
        "provider_call": {**at(place_of(provider.site)), "api": provider.api, "provider": provider.provider},
        "trigger": trigger(path.trigger),
        "confidence": path.confidence,
        "in_transaction": path.mail.transaction is not None,
        "guarded": path.mail.guard is not None,
        "trace": [step(one) for one in timeline.steps],
        "logged": {"runs": list(names.runs), "objects": list(names.objects), "mail_or_event": names.what},
        "not_logged": list(timeline.missing),
        "findings": [_finding(finding) for finding in timeline.findings],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    words = {"code": finding.code, "name": finding.name, "severity": finding.severity, "confidence": finding.confidence}
    return {**words, "message": finding.message, **at(finding.place), "fingerprint": finding.fingerprint}
