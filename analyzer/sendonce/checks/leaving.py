"""What the rules about transactions share: what leaves while one is open, and where that stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sendonce.findings import Place, Related
from sendonce.program.analysis import Analysis
from sendonce.program.held import Site
from sendonce.program.mail import Transaction
from sendonce.program.paths import Path, place_of


@dataclass(frozen=True, eq=False)
class Leak:
    """A mail, or (with `enqueue`) a job that leads to it, leaves while a transaction is open."""

    path: Path
    transaction: Transaction
    enqueue: Site | None

    @property
    def left(self) -> Site | None:
        """The call by which the job leaves, where it is settled which job and which mail that is.

        A helper that is given the job or the template enqueues for its caller.
        """
        return None if self.enqueue is None else left_at(self.path, self.enqueue, self.transaction.site)


def left_at(path: Path, enqueue: Site, opened: Site | None = None) -> Site:
    """The call by which a job leaves, where it is settled which job and which mail that is; not outside `opened`."""
    sites = [crossing.site for crossing in path.crossings()]
    own, settled = _enqueue_at(path, enqueue)
    send = _first(sites, path.mail.send)
    if send < own:
        settled = min(settled, send if opened is None else max(send, _first(sites, opened)))
    return sites[settled] if settled < len(sites) else enqueue


def leaks(analysis: Analysis) -> Iterator[Leak]:
    """Everything that leaves while a transaction is open, in the order of the paths."""
    for path in analysis.paths:
        for exposed in path.mail.exposed:
            yield Leak(path, exposed.transaction, exposed.enqueue)


def by_site(found: Iterable[tuple[Place, Leak]]) -> dict[Place, list[Leak]]:
    """Leaks grouped by where they are reported, in the order of places."""
    groups: dict[Place, list[Leak]] = {}
    for place, leak in found:
        groups.setdefault(place, []).append(leak)
    return {place: groups[place] for place in sorted(groups)}


def shortest(group: list[Leak]) -> Leak:
    """The leak to tell of: that of the shortest path."""
    return min(group, key=lambda leak: (leak.path.length, leak.path.trigger))


def opens(group: list[Leak], note: str) -> list[Related]:
    """Where the transactions of a group open (for a unit of work: where it is committed), then the enqueues."""
    found = [Related(Place(leak.transaction.path, leak.transaction.line), note) for leak in group]
    found += [Related(place_of(leak.enqueue), "the enqueue") for leak in group if leak.enqueue is not None]
    return found


def assumed(group: list[Leak]) -> list[str]:
    """What must be true for every leak of a group."""
    return [leak.transaction.assumes for leak in group] if all(leak.transaction.assumes for leak in group) else []


def _enqueue_at(path: Path, enqueue: Site) -> tuple[int, int]:
    """The places of an enqueue among the sites of a path: its own, and that of the call which settles the job."""
    position = len(path.start.crossings[:-1])
    entry = path.entry
    while entry.edge is not None and entry.next is not None:
        crossings = entry.edge.crossings
        for number, crossing in enumerate(reversed(crossings)):
            if crossing.site is enqueue and crossing.hop == "enqueue":
                return position + number, position
        position += len(crossings)
        entry = entry.next
    return position, position


def _first(sites: list[Site], site: Site | None) -> int:
    """The place of a site on a path; behind its end if it is the provider's own call."""
    return next((number for number, one in enumerate(sites) if one is site), len(sites))
