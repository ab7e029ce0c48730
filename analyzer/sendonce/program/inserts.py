"""Inserts whose conflict raises: which of them are claims, by what the code around them does about it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from sendonce.program import held as h
from sendonce.program.held import Site
from sendonce.program.matching import Matched
from sendonce.program.reservations import Reservation
from sendonce.program.rows import Rows
from sendonce.program.scene import Scene
from sendonce.program.uniques import Uniques


class Inserts:
    """Answers for inserts that were made."""

    def __init__(self, rows: Rows, uniques: Uniques) -> None:
        self.evaluator = rows.evaluator
        self.rows = rows
        self.uniques = uniques

    def made(self, matched: Matched, site: Site, before: Scene) -> Reservation | None:
        """A unique insert that was made: its conflict would have raised."""
        if matched.entry.win != "no_exception":
            return None
        found = self.rows.inserted(matched, before)
        if found is not None and self.rows.cleared(found, before):
            return None
        if found is not None and found.flaw == "not_unique":
            return found if self._expects(site, matched) and not self._has_others(found) else None
        if found is None or self._expects(site, matched):
            # A `try` that goes on around what follows catches whatever comes, not the conflict of this insert.
            open_still = {id(fact) for fact in before.facts if isinstance(fact, h.Trying)}
            return found if found is None or self._expects(site, matched, open_still) else replace(found, implied=True)
        return None if found.assumes or found.fresh else replace(found, implied=True)

    def _has_others(self, claim: Reservation) -> bool:
        """Whether a model has unique columns besides those that were given: then a conflict may mean those."""
        known = self.uniques.constraints(claim.model) if claim.model is not None else None
        return any(one.fields != {"id"} for one in known or ())

    def _expects(self, site: Site, matched: Matched, without: Collection[int] = ()) -> bool:
        """Whether the code around an insert catches its conflict: then it was meant to be a claim."""
        wanted = {name.rpartition(".")[2] for name in matched.entry.conflicts}
        for fact in h.newest_first(site.held):
            if isinstance(fact, h.Trying) and id(fact) not in without:
                caught = {shape for types, _ in fact.handlers for one in types for shape in self.evaluator.shapes(one)}
                if not wanted.isdisjoint(shape.rpartition(".")[2] for shape in caught):
                    return True
        return False
