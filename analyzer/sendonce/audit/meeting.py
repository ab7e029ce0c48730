"""Where all ways of a mail meet: the call that a reservation belongs before."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sendonce.program.held import Site
from sendonce.program.paths import Path

_ROOT = "triggers"
_SINK = "accepted"


def meeting(paths: Sequence[Path], in_job: bool = False) -> tuple[Site, ...]:
    """The call that is on every path and before which one reservation guards them all; none if there is no such call.

    That is where the mail becomes concrete, for there the event is known, or the first call behind it. With
    `in_job` it is inside the job that sends, which a queue may run again. The calls behind it that are on
    every path follow, the provider's last.
    """
    chain = _dominators(paths)
    if not chain:
        return ()
    index = {site: number for number, site in enumerate(chain)}
    sends = {path.send for path in paths}
    if len(sends) == 1 and (send := next(iter(sends))) in index:
        wanted = index[send]
    else:
        behind = [site for site in chain if all(_is_behind(site, path) for path in paths)]
        wanted = index[behind[0]] if behind else 0
    if in_job:
        wanted = max(wanted, max((_last_job(path, index) for path in paths), default=0))
    return tuple(chain[wanted:])


def _dominators(paths: Sequence[Path]) -> list[Site]:
    """The calls that are on every path, outermost first: the dominators of acceptance from the triggers."""
    import networkx as nx  # slow to import, and only an audit needs it

    graph = nx.DiGraph()
    for path in paths:
        sites = [_ROOT, *dict.fromkeys(path.sites()), _SINK]
        graph.add_edges_from(pairwise(sites))
    if _SINK not in graph:
        return []
    over = nx.immediate_dominators(graph, _ROOT)
    chain: list[Site] = []
    at = over[_SINK]
    while at != _ROOT:
        chain.append(at)
        at = over[at]
    return chain[::-1]


def _is_behind(site: Site, path: Path) -> bool:
    """Whether a call comes after the send of a path."""
    sites = path.sites()
    return path.send in sites and sites.index(site) > sites.index(path.send)


def _last_job(path: Path, index: dict[Site, int]) -> int:
    """The first call of the chain that stands inside the last job of a path."""
    crossings, sites = path.crossings(), path.sites()
    last = max((number for number, one in enumerate(crossings) if one.hop == "enqueue"), default=-1)
    return next((index[site] for site in sites[last + 1 :] if site in index), 0)
