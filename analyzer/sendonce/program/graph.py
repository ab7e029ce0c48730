"""The call graph as plain values, for the commands that show it: nodes by name, an edge a call site.

Two graphs can be asked for: the mail slice, which has what leads from triggers to provider calls, and
the whole one, which has every application function that was linked, with the library calls it makes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from sendonce import facts
from sendonce.findings import CONFIDENCES, Confidence, HopKind, Why
from sendonce.program.analysis import Analysis
from sendonce.program.held import Site
from sendonce.program.link import Crossing, Edge
from sendonce.program.symbols import Class, Function
from sendonce.program.values import FALSE, ClassRef, External, options, substitute

NodeKind = Literal["function", "method", "class", "module", "lambda", "external"]

_AGAIN = re.compile(r"#\d+")
"""What tells a second definition of a name from the first in ids; both are one node."""


@dataclass(frozen=True, order=True)
class Node:
    """One end of edges. `path` is empty and `line` 0 for what is outside the tree."""

    id: str
    kind: NodeKind
    path: str = ""
    line: int = 0
    triggers: tuple[str, ...] = ()
    """The kinds of triggers that start here; known in the mail slice."""


@dataclass(frozen=True, order=True)
class Link:
    """One call site: from which node to which, the kind of hop, how sure that is and why."""

    source: str
    target: str
    path: str
    line: int
    kind: HopKind
    confidence: Confidence
    why: Why


@dataclass(frozen=True)
class CallGraph:
    """Nodes by id and edges by their ends, sorted."""

    nodes: tuple[Node, ...]
    links: tuple[Link, ...]

    def arrows(self) -> tuple[tuple[str, str, HopKind, Confidence], ...]:
        """Source, target, kind and confidence once for all call sites between two nodes, as the surest of them."""
        found: dict[tuple[str, str, HopKind], Confidence] = {}
        for link in self.links:
            key = (link.source, link.target, link.kind)
            found[key] = max(found.get(key, "low"), link.confidence, key=CONFIDENCES.index)
        return tuple((*key, confidence) for key, confidence in sorted(found.items()))


def mail_slice(analysis: Analysis) -> CallGraph:
    """What leads to mail: the functions, the edges between them and those to the provider calls."""
    builder = _Builder(analysis)
    starts: dict[str, set[str]] = {}
    for path in analysis.paths:
        starts.setdefault(path.start.function, set()).add(path.trigger.kind)
    for id, entries in analysis.summaries.entries.items():
        builder.node(id)
        builder.add(edge for edge in analysis.callers.into(id) if edge.site.function in analysis.summaries.entries)
        for entry in entries:
            if entry.edge is None:
                builder.outside(entry.mail.provider.site, entry.mail.provider.api, "send")
    return builder.graph({builder.name(id): tuple(sorted(kinds)) for id, kinds in starts.items()})


def whole(analysis: Analysis) -> CallGraph:
    """Every application function that is linked, with its calls of the project and of libraries."""
    builder = _Builder(analysis)
    for function in analysis.callers.linked():
        builder.node(function.id)
        for site in analysis.flows.of(function).sites:
            builder.library_calls(site)
    builder.add(analysis.callers.edges())
    return builder.graph({})


class _Builder:
    """Collects nodes and edges by the names under which they are shown."""

    def __init__(self, analysis: Analysis) -> None:
        self.program = analysis.program
        self.evaluator = analysis.evaluator
        self.callers = analysis.callers
        self._nodes: dict[str, Node] = {}
        self._links: dict[tuple[str, str, str, int, HopKind], Link] = {}

    def graph(self, triggers: dict[str, tuple[str, ...]]) -> CallGraph:
        nodes = (Node(n.id, n.kind, n.path, n.line, triggers.get(n.id, ())) for n in self._nodes.values())
        return CallGraph(tuple(sorted(nodes)), tuple(sorted(self._links.values())))

    def name(self, id: str) -> str:
        """The id of a function's node."""
        return _AGAIN.sub("", self.program.function(id).dotted)

    def node(self, id: str) -> str:
        """Adds a function's node; gives its id."""
        function = self.program.function(id)
        name = self.name(id)
        self._nodes.setdefault(name, Node(name, _kind_of(function), function.module.path, function.line))
        return name

    def add(self, edges: Iterable[Edge]) -> None:
        """Adds the last step of each edge, and the steps through helpers that lead there."""
        for edge in edges:
            for crossing in edge.crossings if all(map(self._can_be, edge.crossings)) else ():
                target = edge.target if crossing is edge.crossings[0] else crossing.callee
                if target:
                    sure: tuple[Confidence, Why] = (crossing.confidence, crossing.why)
                    self._link(crossing.site, self.node(target), crossing.hop, sure)

    def _can_be(self, crossing: Crossing) -> bool:
        """Whether some known caller of a function can have it take this one of several callees."""
        if crossing.test is None or not crossing.test.free:
            return True
        into = [one for one in self.callers.into(crossing.site.function) if one.site.function != one.target]
        asked = [substitute(crossing.test, edge.crossings[0].binding) for edge in into]
        return not asked or any(self.evaluator.resolve(one) is not FALSE for one in asked)

    def outside(self, site: Site, name: str, kind: HopKind) -> None:
        """Adds a call of a library."""
        self._nodes.setdefault(name, Node(name, "external"))
        self._link(site, name, kind, ("high", "exact"))

    def library_calls(self, site: Site) -> None:
        """Adds what a site calls beside the project's functions: classes without a constructor, libraries."""
        for option in options(self.evaluator.resolve(site.call.func)):
            if isinstance(option, External) and not option.dotted.startswith("builtins."):
                self.outside(site, option.dotted, "call")
            elif isinstance(option, ClassRef) and self._init(option) is None:
                self._link(site, self._class(self.program.cls(option.id)), "call", ("high", "exact"))

    def _init(self, cls: ClassRef) -> Function | None:
        return self.evaluator.hierarchy.method_of(cls, "__init__")

    def _class(self, cls: Class) -> str:
        name = _AGAIN.sub("", cls.id)
        self._nodes.setdefault(name, Node(name, "class", cls.module.path, cls.node.at[0]))
        return name

    def _link(self, site: Site, target: str, kind: HopKind, sure: tuple[Confidence, Why]) -> None:
        """Adds an edge; of several at one place the surest is kept."""
        source = self.node(site.function)
        key = (source, target, site.path, site.at[0], kind)
        known = self._links.get(key)
        if known is None or CONFIDENCES.index(known.confidence) < CONFIDENCES.index(sure[0]):
            self._links[key] = Link(source, target, site.path, site.at[0], kind, *sure)


def _kind_of(function: Function) -> NodeKind:
    if isinstance(function.node, facts.ModuleFacts):
        return "module"
    if isinstance(function.node, facts.Lambda):
        return "lambda"
    return "method" if function.cls is not None else "function"
