"""The call graph as GraphML, for Gephi, yEd and networkx itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sendonce.program.graph import CallGraph, Link, Node
from sendonce.report.text import visible


def render(graph: CallGraph) -> str:
    """A directed multigraph: nodes and edges with the keys of the JSON format, each call site an edge."""
    import networkx  # takes longer to import than most trees to read

    drawn = networkx.MultiDiGraph()
    for node in graph.nodes:
        drawn.add_node(visible(node.id), **dict(_of_node(node)))
    for link in graph.links:
        drawn.add_edge(visible(link.source), visible(link.target), **_of_link(link))
    return "\n".join(networkx.generate_graphml(drawn)) + "\n"


def _of_node(node: Node) -> Iterator[tuple[str, Any]]:
    yield "kind", node.kind
    if node.path:
        yield "path", visible(node.path)
        yield "line", node.line
    if node.triggers:
        yield "triggers", " ".join(node.triggers)


def _of_link(link: Link) -> dict[str, Any]:
    words = {"kind": link.kind, "confidence": link.confidence, "why": link.why}
    return {**words, "path": visible(link.path), "line": link.line}
