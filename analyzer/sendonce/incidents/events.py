"""From the lines of a log to events with more than one attempt."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby

from sendonce.findings import Place
from sendonce.incidents.lines import Record, record
from sendonce.incidents.matching import Patterns
from sendonce.incidents.model import Attempt, Event, Incident, LogNames, Seen
from sendonce.program.timeline import Timeline

MOST_EVENTS = 100
"""Events that are told; the others are counted."""
MOST_ALIKE = 500
"""Attempts to one address that are compared with one another."""
_BATCH = 1_000
_NO_RUN = "\0"
"""What the key of lines that name no run begins with."""


def laid_over(timelines: Sequence[Timeline], mails: Iterable[str], lines: Iterable[str], names: LogNames) -> Incident:
    """What the lines of a log tell of the ways of some mails. The memory it takes does not grow with the log."""
    reading = _Reading(Patterns(timelines), frozenset(mails), names)
    with closing(sqlite3.connect("")) as store:  # a file of its own that is gone when it is closed
        store.execute("CREATE TABLE seen (run TEXT, line INT, time TEXT, at TEXT, said TEXT, recipient TEXT, ids TEXT)")
        store.execute("CREATE TABLE attempt (recipient TEXT, ids TEXT, line INT, run TEXT, value TEXT)")
        _insert(store, "INSERT INTO seen VALUES (?, ?, ?, ?, ?, ?, ?)", reading.rows(lines))
        _insert(store, "INSERT INTO attempt VALUES (?, ?, ?, ?, ?)", _attempts(store, timelines))
        (attempts,) = store.execute("SELECT count(*) FROM attempt").fetchone()
        events: list[Event] = []
        more = 0
        for event in _events(store):
            if len(events) < MOST_EVENTS:
                events.append(event)
            else:
                more += 1
    return Incident(
        tuple(sorted(events, key=lambda one: one.attempts[0].lines[0].line)),
        more,
        reading.lines,
        reading.known,
        attempts,
        reading.unread,
    )


def _insert(store: sqlite3.Connection, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
    batch: list[tuple[object, ...]] = []
    for row in rows:
        batch.append(row)
        if len(batch) >= _BATCH:
            store.executemany(statement, batch)
            batch.clear()
    store.executemany(statement, batch)


# ---------------------------------------------------------------------- lines that concern the mail


@dataclass
class _Reading:
    """Reads the lines, and counts."""

    patterns: Patterns
    mails: frozenset[str]
    names: LogNames
    lines: int = 0
    known: int = 0
    unread: int = 0

    def rows(self, lines: Iterable[str]) -> Iterator[tuple[object, ...]]:
        """A row of `seen` for each line that a log call on the ways wrote, or that names the mail."""
        for line in lines:
            self.lines += 1
            found = record(line)
            if found is None:
                self.unread += bool(line.strip())
                place = self.patterns.of(line)
                found = Record("", line, {}) if place else None
            else:
                place = self.patterns.of(found.message)
            if found is not None and (place is not None or self._names_mail(found)) and not self._names_other(found):
                self.known += 1
                yield self._row(found, place)

    def _names_mail(self, found: Record) -> bool:
        return any(found.values.get(name) in self.mails for name in self.names.mails)

    def _names_other(self, found: Record) -> bool:
        """Whether a line names the template of another mail: one helper logs for many."""
        named = [found.values[name] for name in self.names.templates if name in found.values]
        return bool(named) and self.mails.isdisjoint(named)

    def _row(self, found: Record, place: Place | None) -> tuple[object, ...]:
        values = found.values
        recipient = next((values[name] for name in sorted(self.names.recipients) if values.get(name)), "")
        ids = json.dumps({name: value for name, value in values.items() if self._is_id(name)}, sort_keys=True)
        run = next((values[name] for name in sorted(self.names.runs) if values.get(name)), "")
        at = "" if place is None else json.dumps([place.path, place.line, place.column])
        return run or f"{_NO_RUN}{recipient} {ids}", self.lines, found.time, at, found.message[:200], recipient, ids

    def _is_id(self, name: str) -> bool:
        is_run = name in self.names.runs
        return not is_run and (name in self.names.events or name.endswith(("_id", "_pk", "_uuid", "_number")))


# ---------------------------------------------------------------------- runs


@dataclass
class _Run:
    """The lines of one run as far as they are of one attempt."""

    seen: list[tuple[int, str, str]] = field(default_factory=list)
    said: set[str] = field(default_factory=set)
    recipient: str = ""
    ids: dict[str, str] = field(default_factory=dict)

    def takes(self, said: str, recipient: str, ids: dict[str, str]) -> bool:
        """Whether a further line is of the same attempt: it says something new, of the same mail."""
        differs = any(self.ids.get(name, value) != value for name, value in ids.items())
        other = bool(recipient and self.recipient and recipient != self.recipient)
        return said not in self.said and not differs and not other

    def add(self, line: tuple[int, str, str], said: str, recipient: str, ids: dict[str, str]) -> None:
        self.seen.append(line)
        self.said.add(said)
        self.recipient = self.recipient or recipient
        self.ids.update(ids)


def _attempts(store: sqlite3.Connection, timelines: Sequence[Timeline]) -> Iterator[tuple[object, ...]]:
    """A row of `attempt` for each attempt: a run, or a part of it that ends where a line comes again."""
    rows = store.execute("SELECT run, line, time, at, said, recipient, ids FROM seen ORDER BY run, line")
    for name, group in groupby(rows, key=lambda row: row[0]):
        run = _Run()
        for _, line, time, at, message, recipient, found in group:
            said, ids = at or message, json.loads(found)
            if not run.takes(said, recipient, ids):
                yield _row_of(name, run, timelines)
                run = _Run()
            run.add((line, time, at), said, recipient, ids)
        yield _row_of(name, run, timelines)


def _row_of(name: str, run: _Run, timelines: Sequence[Timeline]) -> tuple[object, ...]:
    value = json.dumps({"seen": run.seen, "ways": _best([at for _, _, at in run.seen if at], timelines)})
    shown = "" if name.startswith(_NO_RUN) else name
    return run.recipient.lower(), json.dumps(run.ids, sort_keys=True), run.seen[0][0], shown, value


def _best(places: Sequence[str], timelines: Sequence[Timeline]) -> list[int]:
    """The numbers of the timelines that have most of the log calls that were seen, of those the ones with fewest
    that were not."""
    wanted = {tuple(json.loads(one)) for one in places}
    scores = []
    for number, timeline in enumerate(timelines):
        own = {(line.place.path, line.place.line, line.place.column) for line in timeline.logged}
        scores.append((-len(wanted & own), len(own - wanted), number))
    if not wanted or not scores:
        return list(range(len(timelines)))
    best = min(scores)[:2]
    return [number for hits, misses, number in scores if (hits, misses) == best]


# ---------------------------------------------------------------------- events


@dataclass
class _Group:
    """Attempts that are taken for one event, and the ids that they have."""

    attempts: list[Attempt] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)
    tied: bool = False

    def takes(self, attempt: Attempt) -> bool:
        """Whether an attempt is for the same event: no id differs, and one is the same or neither has any."""
        common = [name for name, _ in attempt.ids if name in self.ids]
        if any(self.ids[name] != value for name, value in attempt.ids if name in self.ids):
            return False
        return bool(common) or not self.ids or not attempt.ids

    def add(self, attempt: Attempt) -> None:
        self.tied = self.tied or any(self.ids.get(name) == value for name, value in attempt.ids)
        self.attempts.append(attempt)
        self.ids.update(attempt.ids)


def _events(store: sqlite3.Connection) -> Iterator[Event]:
    """The events with more than one attempt: by address, or by ids where no line has an address."""
    rows = store.execute("SELECT recipient, ids, line, run, value FROM attempt ORDER BY recipient, ids, line")
    for _, same in groupby(rows, key=lambda row: row[0] or row[1]):
        groups: list[_Group] = []
        for number, row in enumerate(same):
            if number >= MOST_ALIKE:
                continue
            attempt = _attempt(row)
            if not attempt.recipient and not attempt.ids:
                continue
            group = next((one for one in groups if one.takes(attempt)), None)
            if group is None:
                groups.append(group := _Group())
            group.add(attempt)
        for group in groups:
            if len(group.attempts) > 1:
                attempts = sorted(group.attempts, key=lambda one: one.lines[0].line)
                yield Event(tuple(attempts), group.tied)


def _attempt(row: tuple[str, str, int, str, str]) -> Attempt:
    recipient, ids, _, run, value = row
    found = json.loads(value)
    seen = tuple(Seen(line, time, Place(*json.loads(at)) if at else None) for line, time, at in found["seen"])
    return Attempt(run, seen, tuple(found["ways"]), recipient, tuple(sorted(json.loads(ids).items())))
