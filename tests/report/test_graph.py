from __future__ import annotations

import json

import networkx

from sendonce.program.graph import CallGraph, Link, Node
from sendonce.report import render_graph

GRAPH = CallGraph(
    (
        Node("django.core.mail.send_mail", "external"),
        Node("shop.tasks.remind", "function", "shop/tasks.py", 6),
        Node("shop.views.pay", "function", "shop/views.py", 3, ("controller", "webhook")),
    ),
    (
        Link("shop.tasks.remind", "django.core.mail.send_mail", "shop/tasks.py", 7, "send", "high", "exact"),
        Link("shop.views.pay", "shop.tasks.remind", "shop/views.py", 5, "enqueue", "medium", "table"),
        Link("shop.views.pay", "shop.tasks.remind", "shop/views.py", 9, "enqueue", "medium", "table"),
    ),
)
EVIL = CallGraph((Node('a"\\\x1b[2J<b>', "function", "x.py", 1),), ())

DOT = """\
digraph sendonce {
  rankdir=LR;
  node [shape=box, fontsize=10];
  edge [fontsize=9];
  "django.core.mail.send_mail" [label="django.core.mail.send_mail", shape=box3d];
  "shop.tasks.remind" [label="shop.tasks.remind", shape=box, tooltip="shop/tasks.py:6"];
  "shop.views.pay" [label="shop.views.pay\\ncontroller, webhook", shape=box, style=bold, tooltip="shop/views.py:3"];
  "shop.tasks.remind" -> "django.core.mail.send_mail" [label="send", style=solid];
  "shop.views.pay" -> "shop.tasks.remind" [label="enqueue", style=dashed];
}
"""
MERMAID = """\
flowchart LR
  n0(["django.core.mail.send_mail"])
  n1["shop.tasks.remind"]
  n2["shop.views.pay<br/>controller, webhook"]
  n1 -->|send| n0
  n2 -.->|enqueue| n1
"""


def test_json_has_the_documented_rows():
    document = json.loads(render_graph("json", GRAPH))
    assert list(document) == ["schema", "nodes", "edges"]
    assert document["nodes"] == [
        {"id": "django.core.mail.send_mail", "kind": "external", "path": None, "line": None},
        {"id": "shop.tasks.remind", "kind": "function", "path": "shop/tasks.py", "line": 6},
        {
            "id": "shop.views.pay",
            "kind": "function",
            "path": "shop/views.py",
            "line": 3,
            "triggers": ["controller", "webhook"],
        },
    ]
    assert document["edges"][1] == {
        "from": "shop.views.pay",
        "to": "shop.tasks.remind",
        "kind": "enqueue",
        "confidence": "medium",
        "why": "table",
        "path": "shop/views.py",
        "line": 5,
    }


def test_dot():
    assert render_graph("dot", GRAPH) == DOT


def test_mermaid():
    assert render_graph("mermaid", GRAPH) == MERMAID


def test_graphml_is_read_back_by_networkx():
    graph = networkx.parse_graphml(render_graph("graphml", GRAPH))
    assert graph.nodes["shop.views.pay"] == {
        "kind": "function",
        "path": "shop/views.py",
        "line": 3,
        "triggers": "controller webhook",
    }
    assert [data["line"] for *_, data in graph.edges("shop.views.pay", data=True)] == [5, 9]
    assert networkx.has_path(graph, "shop.views.pay", "django.core.mail.send_mail")


def test_names_are_made_safe():
    assert '"a\\"\\\\\\\\x1b[2J<b>"' in render_graph("dot", EVIL)
    assert 'n0["a#34;#92;#92;x1b[2J#60;b#62;"]' in render_graph("mermaid", EVIL)
    assert "\x1b" not in render_graph("json", EVIL)
    assert len(networkx.parse_graphml(render_graph("graphml", EVIL))) == 1


def test_an_empty_graph_is_one_in_every_format():
    empty = CallGraph((), ())
    assert render_graph("dot", empty).endswith("}\n")
    assert render_graph("mermaid", empty) == "flowchart LR\n"
    assert json.loads(render_graph("json", empty)) == {"schema": 1, "nodes": [], "edges": []}
    assert len(networkx.parse_graphml(render_graph("graphml", empty))) == 0
