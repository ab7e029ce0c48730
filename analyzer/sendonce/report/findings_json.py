"""The findings for other programs, schema 1."""

from __future__ import annotations

import json
from typing import Any

from sendonce.findings import Finding, Place, Problem, Related, Report, Stats, Step, Trigger
from sendonce.report import View
from sendonce.version import __version__

SCHEMA = 1


def render(report: Report, view: View) -> str:
    """The report as JSON in plain ASCII, so that nothing in it can reach a terminal unescaped."""
    document = {
        "schema": SCHEMA,
        "tool": {"name": "sendonce", "version": __version__},
        "findings": [finding(one) for one in report.findings],
        "errors": [problem(fault) for fault in report.problems],
        "stats": stats(report.stats),
    }
    return dumped(document)


def dumped(document: dict[str, Any]) -> str:
    """JSON as sendonce writes it; the delete character is escaped too."""
    return json.dumps(document, indent=2).replace("\x7f", "\\u007f") + "\n"


def finding(item: Finding) -> dict[str, Any]:
    """A finding with all that is known of it."""
    place = item.place
    return {
        "code": item.code,
        "name": item.name,
        "severity": item.severity,
        "confidence": item.confidence,
        "message": item.message,
        "help": item.help,
        "path": place.path,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line or place.line,
        "end_column": place.end_column or place.column,
        "function": item.function,
        "template": item.template,
        "triggers": [trigger(one) for one in item.triggers],
        "trace": [step(one) for one in item.trace],
        "related": [_related(one) for one in item.related],
        "assumes": list(item.assumes),
        "fingerprint": item.fingerprint,
        "fix": None if item.fix is None else {"safe": item.fix.safe, "title": item.fix.title},
        "suppressed": item.suppressed,
    }


def trigger(item: Trigger) -> dict[str, Any]:
    """A trigger with its place."""
    return {"kind": item.kind, "function": item.function, **at(item.place), "detail": item.detail}


def step(item: Step) -> dict[str, Any]:
    """One hop of a trace."""
    return {"hop": item.hop, **at(item.place), "function": item.function, "note": item.note}


def at(place: Place) -> dict[str, Any]:
    """Path and line."""
    return {"path": place.path, "line": place.line}


def problem(item: Problem) -> dict[str, Any]:
    """A file that could not be used."""
    return {"path": item.path, "line": item.line, "message": item.message}


def stats(item: Stats) -> dict[str, Any]:
    """The figures of a run."""
    return {
        "files": item.files,
        "files_parsed": item.files_parsed,
        "lines": item.lines,
        "sends": item.sends,
        "templates": item.templates,
        "triggers": item.triggers,
        "unresolved": item.unresolved,
        "seconds": round(item.seconds, 3),
    }


def _related(item: Related) -> dict[str, Any]:
    return {**at(item.place), "note": item.note}
