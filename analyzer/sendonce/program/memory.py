"""What guards a mail by remembering: the checks before it, and the marks that change what they read.

Looked for along a path from its trigger to the send, in each function on it. Marks are recognised by
what they change, never by their names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sendonce.findings import Confidence, weakest
from sendonce.program import held as h
from sendonce.program.aftermath import Aftermath
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.link import Linker
from sendonce.program.outcomes import Outcomes
from sendonce.program.paths import Path
from sendonce.program.reads import Check, Checks
from sendonce.program.spots import EMPTY, Spots
from sendonce.program.stored_reads import StoredReads
from sendonce.program.stored_writes import StoredWrites
from sendonce.program.values import Call, ClassRef, FunctionRef, Param, Seq, Some, Table, Value, substitute
from sendonce.program.writes import Known, Mark, Writes


@dataclass(frozen=True, eq=False)
class Guarding:
    """A check on a path and the mark that changes what it reads; each with the site of the path beside it."""

    check: Check
    checked: Site
    mark: Mark
    marked: Site

    @property
    def confidence(self) -> Confidence:
        """High where it is known of which model the field is that is read and written."""
        spot = self.mark.written.spot
        named = [read.spot for read in self.check.reads if read.spot.meets(spot)]
        sure = spot.kind != "field" or (bool(spot.owner) and any(one.owner == spot.owner for one in named))
        return weakest("high" if sure else "medium")


class Memory:
    """Answers for paths."""

    def __init__(self, evaluator: Evaluator, flows: Flows, linker: Linker, outcomes: Outcomes) -> None:
        self.evaluator = evaluator
        self.flows = flows
        self._known: dict[Path, Known] = {}
        self._guards: dict[Path, tuple[Guarding, ...]] = {}
        self.spots = Spots(evaluator, outcomes.reservations)
        self.reads = StoredReads(self.spots)
        self.aftermath = Aftermath(evaluator, self.reads.conditions)
        self.checks = Checks(evaluator, flows, outcomes, self.reads)
        self.writes = Writes(evaluator, flows, linker, StoredWrites(self.spots))

    def known(self, path: Path) -> Known:
        """The objects and functions that the functions of a path are given: what their methods do is then known."""
        if path not in self._known:
            found: dict[Param, Value] = {}
            for crossing in path.crossings():
                for param, value in crossing.binding.items():
                    known = self._as_known(substitute(value, found))
                    if known is not None:
                        found[param] = known
            self._known[path] = tuple(sorted(found.items(), key=lambda one: (one[0].function, one[0].name)))
        return self._known[path]

    def _as_known(self, value: Value) -> Value | None:
        """A function, an object as it was made, or of any other object its class."""
        resolved = self.evaluator.resolve(value)
        if isinstance(resolved, FunctionRef | ClassRef):
            return value
        if isinstance(resolved, Call) and isinstance(self.evaluator.resolve(resolved.func), ClassRef):
            return value
        types = [one for one in self.evaluator.types(value) if isinstance(one, ClassRef)]
        return Some(types[0]) if len(types) == 1 and not isinstance(value, Param) else None

    def around(self, path: Path, site: Site) -> tuple[Mark, ...]:
        """What the function of a site of a path writes around it."""
        return self.writes.around(site, self.known(path))

    def before(self, path: Path, site: Site) -> tuple[Check, ...]:
        """The checks that are passed in the function of a site of a path on the way to it."""
        return self.checks.before(site, self.known(path))

    def guards(self, path: Path) -> tuple[Guarding, ...]:
        """The checks on a path that a later write of the same run changes, outermost first."""
        if path not in self._guards:
            self._guards[path] = tuple(self._found_guards(path))
        return self._guards[path]

    def _found_guards(self, path: Path) -> Iterator[Guarding]:
        sites = levels(path)
        for level, site in enumerate(sites):
            for check in self.before(path, site):
                for other, marked in enumerate(sites):
                    for mark in self.around(path, marked):
                        if not self._follows(mark, other, check, level) or _is_of_others(mark, marked):
                            continue
                        if not self.aftermath.changed(check, mark.written) or self._is_local(mark, site):
                            continue
                        flow = self.flows.of(self.evaluator.program.function(marked.function))
                        if not flow.exclusive(mark.held, marked.held):  # else its run goes another way than the mail
                            yield Guarding(check, site, mark, marked)

    def _is_local(self, mark: Mark, site: Site) -> bool:
        """Whether a mark may be in a collection that the function makes for itself."""
        if mark.written.spot.name != EMPTY:
            return False
        flow = self.flows.of(self.evaluator.program.function(site.function))
        made = (value for values in flow.assigned.values() for value in values)
        return any(isinstance(value, Table | Seq) and not value.parts() for value in made)

    @staticmethod
    def _follows(mark: Mark, level: int, check: Check, own: int) -> bool:
        """Whether a mark is made after a check was passed."""
        if mark.written.spot.kind == "row" and level not in (own, own + 1):
            return False  # rows of one model are made for many reasons
        if level > own:
            return True
        if level < own:
            return mark.after
        if check.earlier:
            return True
        if mark.asked is not None and check.inner and check.inner[0].path == mark.place.path:
            return mark.place.line > check.inner[0].line  # one helper does both, and what it answers is tested
        return mark.start > (check.place.line, check.place.column)

    def after(self, path: Path) -> Iterator[tuple[Site, Mark]]:
        """What is written after the mail has gone, innermost function first."""
        for site in reversed(levels(path)):
            yield from ((site, mark) for mark in self.around(path, site) if mark.after)


def _is_of_others(mark: Mark, site: Site) -> bool:
    """Whether rows are made in another loop than the one that mails, over other items."""
    if mark.written.spot.kind != "row":
        return False
    around = [block for block in h.blocks(site.held) if isinstance(block, h.Loop)]
    own = [block for block in h.blocks(mark.held) if isinstance(block, h.Loop) and block not in around]
    return bool(around) and any(block.over not in {loop.over for loop in around} for block in own)


def levels(path: Path) -> list[Site]:
    """The call sites of a path, the last of each function."""
    found: dict[str, Site] = {}
    for site in path.sites():
        found.pop(site.function, None)
        found[site.function] = site
    return list(found.values())
