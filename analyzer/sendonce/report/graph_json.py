"""The call graph for other programs, schema 1."""

from __future__ import annotations

from typing import Any

from sendonce.program.graph import CallGraph, Link, Node
from sendonce.report.findings_json import SCHEMA, dumped


def render(graph: CallGraph) -> str:
    """Nodes by id, then edges by their ends."""
    nodes, edges = map(_node, graph.nodes), map(_edge, graph.links)
    return dumped({"schema": SCHEMA, "nodes": [*nodes], "edges": [*edges]})


def _node(node: Node) -> dict[str, Any]:
    place = {"path": node.path or None, "line": node.line or None}
    row = {"id": node.id, "kind": node.kind, **place}
    return {**row, "triggers": list(node.triggers)} if node.triggers else row


def _edge(link: Link) -> dict[str, Any]:
    return {
        "from": link.source,
        "to": link.target,
        "kind": link.kind,
        "confidence": link.confidence,
        "why": link.why,
        "path": link.path,
        "line": link.line,
    }
