"""SARIF 2.1.0, for code scanning services and editors: the path of a finding is its code flow.

What each property means: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from sendonce.findings import CONFIDENCES, Finding, Place, Problem, Report, Step
from sendonce.report import View
from sendonce.report.findings_json import dumped
from sendonce.report.text import visible
from sendonce.version import __version__

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "sendonce/v1"
ROOT = "%SRCROOT%"
_TELLING = frozenset({"trigger", "enqueue", "retry", "transaction", "reservation", "send"})
"""Hops that a reader must see; plain calls are what lies between."""


def render(report: Report, view: View) -> str:
    """The report as a log with one run."""
    docs = view.docs()
    codes = sorted({finding.code for finding in report.findings})
    run = {
        "tool": {"driver": {**_TOOL, "rules": [_rule(code, report, docs) for code in codes]}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The folder that was analysed."}}},
        "invocations": [_invocation(report)],
        "results": [_result(finding, codes) for finding in report.findings],
    }
    return dumped({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


_TOOL = {"name": "sendonce", "version": __version__, "semanticVersion": __version__}


def _rule(code: str, report: Report, docs: Mapping[str, str]) -> dict[str, Any]:
    """A rule with its documentation; as sure as its least sure finding, as severe as its worst."""
    found = [finding for finding in report.findings if finding.code == code]
    text = inspect.cleandoc(docs.get(code, ""))
    first = text.partition("## What it finds\n")[2].partition("\n\n")[0].replace("\n", " ")
    precision = min((finding.confidence for finding in found), key=CONFIDENCES.index)
    return {
        "id": code,
        "name": "".join(part.title() for part in found[0].name.split("-")),
        "shortDescription": {"text": found[0].name.replace("-", " ")},
        "fullDescription": {"text": first or found[0].name},
        "help": {"text": text or found[0].help, "markdown": text or found[0].help},
        "defaultConfiguration": {"level": found[0].severity},
        "properties": {"precision": precision, "problem.severity": _SEVERITY[found[0].severity], "tags": ["email"]},
    }


_LINK = re.compile(r"[\[\]\\]")
_SEVERITY = {"error": "error", "warning": "warning", "note": "recommendation"}


def _invocation(report: Report) -> dict[str, Any]:
    return {
        "executionSuccessful": True,
        "toolExecutionNotifications": [_notification(problem) for problem in report.problems],
    }


def _notification(problem: Problem) -> dict[str, Any]:
    where: dict[str, Any] = {"artifactLocation": _artifact(problem.path)}
    if problem.line:
        where["region"] = {"startLine": problem.line}
    return {
        "level": "warning",
        "message": {"text": _plain(problem.message)},
        "locations": [{"physicalLocation": where}],
    }


def _result(finding: Finding, codes: list[str]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": finding.severity,
        "message": {"text": f"{_sentence(finding.message)} Repair: {_plain(finding.help)}"},
        "locations": [_location(finding.place, finding.function)],
        "partialFingerprints": {FINGERPRINT: finding.fingerprint},
        "properties": _properties(finding),
    }
    if finding.related:
        result["relatedLocations"] = [
            {"id": number, **_physical(one.place), "message": {"text": _plain(one.note)}}
            for number, one in enumerate(finding.related, 1)
        ]
    if finding.trace:
        steps = [_step(step, number) for number, step in enumerate(finding.trace, 1)]
        result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    if finding.suppressed:
        result["suppressions"] = [{"kind": "inSource"}]
    return result


def _plain(text: str) -> str:
    """Text in which no bracket begins a link: SARIF reads `[…](…)` in messages as one."""
    return _LINK.sub(r"\\\g<0>", visible(text))


def _sentence(text: str) -> str:
    text = _plain(text)
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _properties(finding: Finding) -> dict[str, Any]:
    return {
        "confidence": finding.confidence,
        "template": finding.template,
        "assumes": list(finding.assumes),
        "triggers": [f"{one.kind} {one.function} {one.detail}".strip() for one in finding.triggers],
    }


def _step(step: Step, number: int) -> dict[str, Any]:
    text = " ".join(filter(None, (step.hop, _plain(step.function), _plain(step.note))))
    return {
        "executionOrder": number,
        "importance": "essential" if step.hop in _TELLING else "important",
        "location": {**_physical(step.place), "message": {"text": text}},
    }


def _location(place: Place, function: str) -> dict[str, Any]:
    location = _physical(place)
    if function:
        location["logicalLocations"] = [{"fullyQualifiedName": visible(function), "kind": "function"}]
    return location


def _physical(place: Place) -> dict[str, Any]:
    end_line, end_column = place.end_line or place.line, place.end_column or place.column
    region = {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": end_line,
        "endColumn": end_column if (end_line, end_column) > (place.line, place.column) else place.column + 1,
    }
    return {"physicalLocation": {"artifactLocation": _artifact(place.path), "region": region}}


def _artifact(path: str) -> dict[str, str]:
    """A file below the root; its name is percent-encoded, names that are no UTF-8 byte by byte."""
    return {"uri": quote(path.encode("utf-8", "surrogateescape")), "uriBaseId": ROOT}
