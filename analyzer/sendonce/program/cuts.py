"""Where a limit left something out: nothing that is not followed goes unsaid."""

from __future__ import annotations

from sendonce.findings import Place, Related
from sendonce.program.held import Site
from sendonce.program.symbols import Function


class Cuts:
    """The places where a limit was met, each with what was left out there."""

    def __init__(self) -> None:
        self._found: set[Related] = set()

    def at(self, site: Site, note: str) -> None:
        """Notes that something which a call leads to is not followed."""
        self._found.add(Related(Place(site.path, *site.at), note))

    def of(self, function: Function, note: str) -> None:
        """Notes that something of a function is not followed."""
        path, line, column = function.place
        self._found.add(Related(Place(path, line, column), note))

    def all(self) -> tuple[Related, ...]:
        """Everything noted, by place."""
        return tuple(sorted(self._found, key=lambda one: (one.place, one.note)))
