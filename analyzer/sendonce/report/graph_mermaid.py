"""The call graph for Mermaid, as Markdown pages show it; only what is in the graph's edges has a box of its own."""

from __future__ import annotations

from sendonce.program.graph import CallGraph, Node
from sendonce.report.text import visible

_BOXES = {"module": ("[[", "]]"), "class": ("[/", "/]"), "external": ("([", "])")}


def render(graph: CallGraph) -> str:
    """A flow chart from left to right; boxes are numbered in the order of their ids."""
    numbers = {node.id: f"n{number}" for number, node in enumerate(graph.nodes)}
    lines = ["flowchart LR"]
    lines += [f"  {numbers[node.id]}{_box(node)}" for node in graph.nodes]
    for source, target, kind, confidence in graph.arrows():
        arrow = "-->" if confidence == "high" else "-.->"
        label = "" if kind == "call" else f"|{kind}|"
        lines.append(f"  {numbers[source]} {arrow}{label} {numbers[target]}")
    return "\n".join(lines) + "\n"


def _box(node: Node) -> str:
    left, right = _BOXES.get(node.kind, ("[", "]"))
    words = [node.id, *([", ".join(node.triggers)] if node.triggers else [])]
    return f'{left}"{"<br/>".join(map(_escaped, words))}"{right}'


def _escaped(text: str) -> str:
    """Text in which nothing is taken for Markdown or HTML; Mermaid writes characters by their numbers."""
    return "".join(f"#{ord(char)};" if char in _MEANS_MORE else char for char in visible(text))


_MEANS_MORE = frozenset('"#&<>`*\\')
