"""Renderings of a report: one module a format, each `render(report, view) -> str`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal, get_args

from sendonce.findings import Report

if TYPE_CHECKING:
    from sendonce.audit import Audit
    from sendonce.incidents import Incident
    from sendonce.program.graph import CallGraph
    from sendonce.program.timeline import Timeline

Format = Literal[
    "full",
    "concise",
    "json",
    "jsonl",
    "sarif",
    "github",
    "gitlab",
    "junit",
    "azure",
    "rdjson",
    "markdown",
    "html",
]
FORMATS: tuple[Format, ...] = get_args(Format)
_BY_SERVICES: tuple[Format, ...] = ("sarif", "github", "gitlab", "azure", "rdjson")
"""Formats whose paths a service reads: relative to where the command runs, if the tree is below that."""
_READ_BY_PEOPLE: tuple[Format, ...] = ("full", "concise", "markdown")
InventoryFormat = Literal["text", "json"]
INVENTORY_FORMATS: tuple[InventoryFormat, ...] = ("text", "json")
TraceFormat = Literal["text", "json"]
TRACE_FORMATS: tuple[TraceFormat, ...] = ("text", "json")
AuditFormat = Literal["html", "markdown", "json"]
AUDIT_FORMATS: tuple[AuditFormat, ...] = ("html", "markdown", "json")
GraphFormat = Literal["json", "dot", "mermaid", "graphml"]
GRAPH_FORMATS: tuple[GraphFormat, ...] = ("json", "dot", "mermaid", "graphml")


@dataclass(frozen=True)
class View:
    """How to show a report: the lines of a file by relative path, colour, and a table of counts by rule."""

    lines: Callable[[str], Sequence[str]]
    color: bool = False
    statistics: bool = False
    verbose: bool = False
    """Every step of every path, instead of the telling ones."""
    below: str = ""
    """Where the tree is below the current folder, for services; empty where it is that folder, or elsewhere."""
    docs: Callable[[], Mapping[str, str]] = dict
    """Gives the documentation of the rules by code, Markdown."""


_COMMAND = re.compile(r"(?m)^([^\S\n]*):(?=:)|#(?=#\[|#vso\[)")
"""What CI services take for a command to themselves: `::error …` at the head of a line, `##[…]`, `##vso[…]`."""


def harmless(text: str) -> str:
    """Text in which no line is a command to a CI service, whatever names the analysed code has."""
    return _COMMAND.sub(lambda found: f"{found[1]}\\x3a" if found[1] is not None else "\\x23", text)


def render_findings(format_: Format, report: Report, view: View) -> str:
    """The findings of a report as text that ends in a line break."""
    module = "findings_json" if format_ == "json" else format_
    if format_ in _BY_SERVICES:
        from sendonce.report.prefixed import prefixed

        report = prefixed(report, view.below)
    text: str = import_module(f"sendonce.report.{module}").render(report, view)
    return harmless(text) if format_ in _READ_BY_PEOPLE else text


def render_inventory(format_: InventoryFormat, report: Report, view: View) -> str:
    """The inventory of a report as text that ends in a line break."""
    if format_ == "json":
        from sendonce.report import inventory_json

        return inventory_json.render(report, view)
    from sendonce.report import inventory_text

    return harmless(inventory_text.render(report, view))


def render_graph(format_: GraphFormat, graph: CallGraph) -> str:
    """A call graph as text that ends in a line break."""
    text: str = import_module(f"sendonce.report.graph_{format_}").render(graph)
    return text


def render_timelines(format_: TraceFormat, timelines: Sequence[Timeline], view: View) -> str:
    """Timelines as text that ends in a line break."""
    text: str = import_module(f"sendonce.report.trace_{format_}").render(timelines, view)
    return harmless(text) if format_ == "text" else text


def render_audit(format_: AuditFormat, audit: Audit, view: View) -> str:
    """An audit as text that ends in a line break."""
    text: str = import_module(f"sendonce.report.audit_{format_}").render(audit, view)
    return text


def render_incident(format_: TraceFormat, incident: Incident, timelines: Sequence[Timeline], view: View) -> str:
    """What a log tells of a mail as text that ends in a line break."""
    text: str = import_module(f"sendonce.report.incident_{format_}").render(incident, timelines, view)
    return harmless(text) if format_ == "text" else text
