"""Which calls a function waits for, though they start something: `await loop.run_in_executor(None, send)`."""

from __future__ import annotations

from sendonce import facts
from sendonce.program import held as h
from sendonce.program.held import Site
from sendonce.program.program import Program
from sendonce.program.symbols import own_nodes
from sendonce.program.values import Attr, Element


class Awaits:
    """Answers for sites; a function is looked through once."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._known: dict[str, frozenset[facts.Span]] = {}

    def is_awaited(self, site: Site) -> bool:
        """Whether a call is awaited, or made on a group that waits for all that it was given (`async with … as g`)."""
        return self._stands_in_await(site) or _is_in_group(site)

    def _stands_in_await(self, site: Site) -> bool:
        if site.function not in self._known:
            nodes = own_nodes(self.program.function(site.function).node)
            self._known[site.function] = frozenset(node.value.at for node in nodes if isinstance(node, facts.Await))
        return any(at[:2] <= site.at[:2] and site.at[2:] <= at[2:] for at in self._known[site.function])


def _is_in_group(site: Site) -> bool:
    group = site.call.func.base if isinstance(site.call.func, Attr) else None
    if not (isinstance(group, Element) and group.entered):
        return False
    return any(isinstance(fact, h.Inside) and fact.value is group.base for fact in h.newest_first(site.held))
