"""Locks that end before the mail: a check under the lock, the mail behind it, and the mark behind the mail."""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.program import held as h
from sendonce.program.claims import Claims
from sendonce.program.held import Site
from sendonce.program.locks import Lock, only_caught
from sendonce.program.reservations import Reservation
from sendonce.program.scene import Scene
from sendonce.program.values import Call, walk


class Early:
    """Answers for sites."""

    def __init__(self, claims: Claims) -> None:
        self.claims = claims
        self.locks = claims.locks
        self.marks = claims.locks.marks
        self.outcomes = claims.outcomes
        self._known: dict[Site, Reservation | None] = {}

    def left(self, site: Site) -> Reservation | None:
        """The lock that was left before a site although the mark that its check reads is written after it."""
        if site not in self._known:
            self._known[site] = None
            self._known[site] = self._left(site)
        return self._known[site]

    def _left(self, site: Site) -> Reservation | None:
        scene = Scene(h.oldest_first(site.held), function=site.function)
        regions = [*self._here(scene), *self._in_helpers(scene)]
        after = self._marked_after(site, scene) if regions else frozenset()
        for lock, read in regions:
            marked = read & after
            if marked:
                return self.locks.reservation(lock, marked, False, False)
        return None

    # ------------------------------------------------------------------ locks that have ended

    def _here(self, scene: Scene) -> Iterator[tuple[Lock, frozenset[str]]]:
        """The locks that the scene has left, and what was read while they were held."""
        for lock in self.locks.taken(scene):
            if lock.end is not None:
                read = self.locks.checked(scene, lock) | self._tested_later(scene, lock)
                yield lock, read - self.locks.marked_inside(scene, lock)

    def _tested_later(self, scene: Scene, lock: Lock) -> frozenset[str]:
        """What was read under a lock and tested when it had ended."""
        region = scene.facts[lock.start : lock.end]
        made = {fact.site.call for fact in region if isinstance(fact, h.Done)}
        tests = [fact for fact in scene.facts[lock.end :] if isinstance(fact, h.Test)]
        values = [scene.put(fact.value) for fact in tests if not made.isdisjoint(walk(fact.value))]
        return frozenset(one for value in values for one in self.marks.read(value))

    def _in_helpers(self, scene: Scene) -> Iterator[tuple[Lock, frozenset[str]]]:
        """The locks that functions of the tree take and leave, whose answer the scene tests."""
        for call in dict.fromkeys(self._tested_calls(scene)):
            if self.claims.reservations.matched(call) is None and self.outcomes.potential.may(call, held=True):
                for exit, inside in self.outcomes.exits(call, scene) or ():
                    for lock in self.locks.taken(inside):
                        if lock.end is not None or self.locks.ends_here(lock, inside):
                            read = self.locks.checked(inside, lock) | self.marks.read(inside.put(exit.value))
                            read |= self.marks.read_by_query(lock.call, iter((exit.value,)))
                            yield lock, read - self.locks.marked_inside(inside, lock)

    def _tested_calls(self, scene: Scene) -> Iterator[Call]:
        for fact in scene.facts:
            if isinstance(fact, h.Test):
                yield from (part for part in walk(scene.put(fact.value)) if isinstance(part, Call))

    # ------------------------------------------------------------------ marks

    def _marked_after(self, site: Site, scene: Scene) -> frozenset[str]:
        """What the function writes after a site on a way on which all goes well."""
        flow = self.claims.flows.of(self.claims.program.function(site.function))
        found: set[str] = set()
        for other in flow.sites[site.index + 1 :]:
            if not flow.exclusive(site.held, other.held) and not only_caught(site.held, other.held):
                found |= self.marks.written_by(other, scene)
        for write in flow.writes:
            if write.at[:2] > site.at[:2] and not only_caught(site.held, write.held):
                found |= self.marks.of_write(write.base, write.field)
        return frozenset(found)
