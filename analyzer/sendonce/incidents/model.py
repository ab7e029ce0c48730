"""What a log tells of a mail, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass

from sendonce.findings import Place


@dataclass(frozen=True)
class LogNames:
    """The names under which log lines carry ids, addresses and mails, all in lower case."""

    runs: frozenset[str]
    events: frozenset[str]
    recipients: frozenset[str]
    mails: frozenset[str]
    templates: frozenset[str]


@dataclass(frozen=True)
class Seen:
    """A line of the log (from 1) that a log call of the code wrote; `place` is that call, None for a line told only
    by the name of the mail in it."""

    line: int
    time: str
    place: Place | None


@dataclass(frozen=True)
class Attempt:
    """One run that came to the mail; `run` is its id, empty where no line has one.

    `ways` are the numbers of the timelines that fit it best, from 0.
    """

    run: str
    lines: tuple[Seen, ...]
    ways: tuple[int, ...]
    recipient: str
    ids: tuple[tuple[str, str], ...]

    @property
    def time(self) -> str:
        """When its first line was written, as the log has it."""
        return self.lines[0].time


@dataclass(frozen=True)
class Event:
    """Attempts for one event, in the order of the log. Not `sure` where nothing but the address ties them."""

    attempts: tuple[Attempt, ...]
    sure: bool


@dataclass(frozen=True)
class Incident:
    """What a log tells of a mail. `events` have two attempts or more; `more` counts those that are left out."""

    events: tuple[Event, ...]
    more: int
    lines: int
    known: int
    """Lines that a log call on one of the ways wrote, or that name the mail."""
    attempts: int
    unread: int
    """Lines that are neither JSON nor have `key=value`."""
