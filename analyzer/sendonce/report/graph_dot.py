"""The call graph for Graphviz: triggers and provider calls stand out, what is not sure is dashed."""

from __future__ import annotations

from sendonce.program.graph import CallGraph, Node
from sendonce.report.text import visible

_SHAPES = {"module": "folder", "class": "component", "external": "box3d"}


def render(graph: CallGraph) -> str:
    """One directed graph, its nodes by their ids; calls of one kind between two nodes are one arrow."""
    lines = ["digraph sendonce {", "  rankdir=LR;", "  node [shape=box, fontsize=10];", "  edge [fontsize=9];"]
    lines += [f"  {_quoted(node.id)} [{_node(node)}];" for node in graph.nodes]
    for source, target, kind, confidence in graph.arrows():
        label = "" if kind == "call" else f"label={_quoted(kind)}, "
        style = "solid" if confidence == "high" else "dashed"
        lines.append(f"  {_quoted(source)} -> {_quoted(target)} [{label}style={style}];")
    return "\n".join([*lines, "}"]) + "\n"


def _node(node: Node) -> str:
    label = "\\n".join([_escaped(node.id), *([_escaped(", ".join(node.triggers))] if node.triggers else [])])
    parts = [f'label="{label}"', f"shape={_SHAPES.get(node.kind, 'box')}"]
    if node.triggers:
        parts.append("style=bold")
    if node.path:
        parts.append(f"tooltip={_quoted(f'{node.path}:{node.line}')}")
    return ", ".join(parts)


def _escaped(text: str) -> str:
    return visible(text).replace("\\", "\\\\").replace('"', '\\"')


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'
