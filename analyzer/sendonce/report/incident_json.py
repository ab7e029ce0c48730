"""What a log tells of a mail, for other programs, schema 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sendonce.incidents import Attempt, Incident
from sendonce.program.timeline import Timeline
from sendonce.report import View
from sendonce.report.findings_json import SCHEMA, at, dumped, trigger


def render(incident: Incident, timelines: Sequence[Timeline], view: View) -> str:
    """The ways by number, and the events with the ways that each attempt may have taken."""
    return dumped(
        {
            "schema": SCHEMA,
            "ways": [trigger(timeline.path.trigger) for timeline in timelines],
            "events": [
                {"sure": event.sure, "attempts": [_attempt(attempt) for attempt in event.attempts]}
                for event in incident.events
            ],
            "stats": {
                "lines": incident.lines,
                "known": incident.known,
                "unread": incident.unread,
                "attempts": incident.attempts,
                "events": len(incident.events) + incident.more,
            },
        }
    )


def _attempt(attempt: Attempt) -> dict[str, Any]:
    return {
        "run": attempt.run or None,
        "ways": list(attempt.ways),
        "recipient": attempt.recipient or None,
        "ids": dict(attempt.ids),
        "lines": [
            {"line": seen.line, "time": seen.time, "written_at": at(seen.place) if seen.place else None}
            for seen in attempt.lines
        ],
    }
