"""The picture of a mail: a stop for each function that tells something, arrows between them, columns and lanes.

Functions that only hand on are drawn as part of an arrow, functions alike as one stop with their number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from sendonce.audit.model import LANE_OF, LANES, Arrow, Lane, Mark, Picture, Stop, Way
from sendonce.findings import Finding, HopKind, Place, Step
from sendonce.program.analysis import Analysis
from sendonce.program.paths import Path, place_of

MOST_STOPS = 26
"""With more stops than these, those alike are drawn as one."""
_MARKS: dict[HopKind, Mark] = {"reservation": "guard", "transaction": "transaction", "retry": "retry"}
_Out = dict[str, tuple[HopKind, int]]


@dataclass
class _Node:
    """A stop while the picture is made; `out` are its arrows by target: hop and number of calls."""

    id: str
    lane: Lane | None
    title: str
    what: str
    place: Place
    count: int = 1
    marks: set[Mark] = field(default_factory=set)
    codes: set[str] = field(default_factory=set)
    out: _Out = field(default_factory=dict)


def picture(analysis: Analysis, paths: Iterable[Path], ways: Iterable[Way], findings: Iterable[Finding]) -> Picture:
    """The picture of one mail, of all its paths."""
    nodes: dict[str, _Node] = {}
    for path in paths:
        _draw(analysis, nodes, path)
    _mark(nodes, [step for way in ways for step in way.steps], findings)
    _cut_cycles(nodes)
    _settle_lanes(nodes)
    _fold_calls(nodes)
    for least in (4, 3, 2):
        if least == 4 or len(nodes) > MOST_STOPS:
            _fold_alike(nodes, least)
    return _laid_out(nodes)


def _draw(analysis: Analysis, nodes: dict[str, _Node], path: Path) -> None:
    """Adds the functions of a path and the arrows between them."""
    trigger, crossings = path.trigger, path.crossings()
    sites = path.sites()
    first = analysis.program.function(sites[0].function)
    before: _Node | None = None
    hop: HopKind = "call"
    if first.dotted != trigger.function:
        what = " ".join(filter(None, (trigger.kind, trigger.detail)))
        key = f"!{trigger.kind} {trigger.function}"
        before = nodes.setdefault(key, _Node(key, LANE_OF[trigger.kind], trigger.function, what, trigger.place))
    for number, site in enumerate(sites):
        function = analysis.program.function(site.function)
        place = Place(function.module.path, function.line)
        node = nodes.setdefault(function.id, _Node(function.id, None, function.dotted, "", place))
        if number == 0 and before is None:
            node.lane = LANE_OF[trigger.kind]
            node.what = " ".join(filter(None, (trigger.kind, trigger.detail)))
        if before is not None and before is not node:
            _arrow(before, node.id, hop)
            if hop in ("enqueue", "schedule"):
                node.lane = node.lane or "queue"
        before = node
        hop = crossings[number].hop if number < len(crossings) else "send"
    provider = path.mail.provider
    key = f"!send {provider.site.path} {provider.site.at}"
    nodes.setdefault(key, _Node(key, "mail", provider.api, provider.provider, place_of(provider.site)))
    assert before is not None
    _arrow(before, key, "send")


def _arrow(source: _Node, target: str, hop: HopKind, calls: int = 1) -> None:
    known = source.out.get(target)
    if known is None or known[0] == "call":
        source.out[target] = (hop, calls)


def _mark(nodes: dict[str, _Node], steps: list[Step], findings: Iterable[Finding]) -> None:
    """Notes guards, transactions, retries and the codes of findings at the functions in which they stand."""
    by_name: dict[str, list[_Node]] = {}
    for node in nodes.values():
        by_name.setdefault(node.title, []).append(node)
    for step in steps:
        if step.hop in _MARKS:
            for node in by_name.get(step.function, ()):
                node.marks.add(_MARKS[step.hop])
    for finding in findings:
        for node in by_name.get(finding.function, ()):
            node.codes.add(finding.code)


def _cut_cycles(nodes: dict[str, _Node]) -> None:
    """Takes away arrows that lead back to a stop that is being walked."""
    done: set[str] = set()
    for root in list(nodes):
        stack: list[tuple[str, list[str]]] = [(root, list(nodes[root].out))] if root not in done else []
        open_ = {root}
        while stack:
            id, rest = stack[-1]
            if not rest:
                stack.pop()
                open_.discard(id)
                done.add(id)
                continue
            target = rest.pop()
            if target in open_:
                del nodes[id].out[target]
            elif target not in done:
                open_.add(target)
                stack.append((target, list(nodes[target].out)))


def _sources(nodes: dict[str, _Node]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {id: [] for id in nodes}
    for id, node in nodes.items():
        for target in node.out:
            found[target].append(id)
    return found


def _in_order(nodes: dict[str, _Node]) -> list[str]:
    """The stops, each after all that lead to it."""
    waiting = {id: len(sources) for id, sources in _sources(nodes).items()}
    ready = [id for id, count in waiting.items() if not count]
    order: list[str] = []
    while ready:
        id = ready.pop(0)
        order.append(id)
        for target in nodes[id].out:
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    return order


def _settle_lanes(nodes: dict[str, _Node]) -> None:
    """A function is in the lane of those that call it, if that is one; what several lanes share is in that of mail."""
    sources = _sources(nodes)
    for id in _in_order(nodes):
        node = nodes[id]
        if node.lane is None:
            lanes = {nodes[one].lane for one in sources[id]}
            node.lane = lanes.pop() if len(lanes) == 1 else "mail"


def _fold_calls(nodes: dict[str, _Node]) -> None:
    """Makes functions that only hand on, from one caller to one callee, part of an arrow."""
    for id in list(nodes):
        node, sources = nodes[id], [one for one in nodes.values() if id in one.out]
        if len(sources) != 1 or len(node.out) != 1 or node.marks or node.codes or node.lane != sources[0].lane:
            continue
        ((target, (hop, calls)),) = node.out.items()
        into, before = sources[0].out[id]
        if "call" in (hop, into) and hop != "send" and target not in sources[0].out:
            del sources[0].out[id], nodes[id]
            sources[0].out[target] = (hop if into == "call" else into, calls + before)


def _fold_alike(nodes: dict[str, _Node], least: int) -> None:
    """Draws stops of one lane that lead to the same and tell the same as one, where there are at least so many."""
    sources = _sources(nodes)
    alike: dict[tuple[object, ...], list[str]] = {}
    for id, node in nodes.items():
        kind = node.what.partition(" ")[0]
        out = frozenset((target, hop) for target, (hop, _) in node.out.items())
        told = (frozenset(node.marks), frozenset(node.codes))
        alike.setdefault((node.lane, kind, frozenset(sources[id]), out, *told), []).append(id)
    for group in alike.values():
        if len(group) >= least:
            first, *others = group
            nodes[first].count = sum(nodes[id].count for id in group)
            for id in others:
                for source in sources[id]:
                    nodes[source].out.pop(id, None)
                del nodes[id]


def _laid_out(nodes: dict[str, _Node]) -> Picture:
    """Columns by the longest way from a trigger, rows in each lane by the rows of what leads there."""
    column: dict[str, int] = {}
    order = _in_order(nodes)
    for id in order:
        for target in nodes[id].out:
            column[target] = max(column.get(target, 0), column.get(id, 0) + 1)
    last = max(column.values(), default=0)
    sources = _sources(nodes)
    height: dict[str, float] = {}
    rows: Counter[tuple[Lane, int]] = Counter()
    stops: dict[str, Stop] = {}
    for number, id in enumerate(sorted(order, key=lambda one: (column.get(one, 0), nodes[one].title))):
        node = nodes[id]
        assert node.lane is not None
        at = column.get(id, 0) if node.out else last
        row = rows[node.lane, at]
        rows[node.lane, at] += 1
        above = [height[one] for one in sources[id]]
        height[id] = sum(above) / len(above) if above else LANES.index(node.lane) * 100 + row
        marks = tuple(sorted(node.marks))
        stops[id] = Stop(
            number, node.lane, at, row, node.title, node.what, node.place, node.count, marks, tuple(sorted(node.codes))
        )
    placed = _sorted_rows(stops, height)
    arrows = (
        Arrow(placed[id].number, placed[target].number, hop, calls)
        for id, node in nodes.items()
        for target, (hop, calls) in node.out.items()
    )
    return Picture(tuple(sorted(placed.values(), key=lambda stop: stop.number)), tuple(sorted(arrows)))


def _sorted_rows(stops: dict[str, Stop], height: dict[str, float]) -> dict[str, Stop]:
    """Stops of one lane and column in the order of what leads to them: fewer arrows cross."""
    cells: dict[tuple[Lane, int], list[str]] = {}
    for id, stop in stops.items():
        cells.setdefault((stop.lane, stop.column), []).append(id)
    return {
        id: replace(stops[id], row=row)
        for cell in cells.values()
        for row, id in enumerate(sorted(cell, key=lambda one: (height[one], stops[one].title)))
    }
