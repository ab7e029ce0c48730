"""What a log tells of a mail, for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sendonce.incidents import Attempt, Event, Incident
from sendonce.program.timeline import Timeline
from sendonce.report import View
from sendonce.report.text import Paint, plural, visible


def render(incident: Incident, timelines: Sequence[Timeline], view: View) -> str:
    """The events with more than one attempt, then the counts."""
    paint = Paint(view.color)
    blocks = ["\n".join(_event(event, timelines, paint)) for event in incident.events]
    return "\n\n".join([*blocks, "\n".join(_counts(incident, timelines))]) + "\n"


def _event(event: Event, timelines: Sequence[Timeline], paint: Paint) -> Iterator[str]:
    first = event.attempts[0]
    whom = " ".join(filter(None, (visible(first.recipient), *(f"{n}={visible(v)}" for n, v in _ids(event)))))
    yield paint(f"{whom or 'one event'}: {plural(len(event.attempts), 'attempt')}", bold=True)
    if not event.sure:
        yield "  Only the address ties these together: the lines have no id of the event."
    for number, attempt in enumerate(event.attempts, 1):
        yield from _attempt(number, attempt, timelines)
    yield f"  {_second(event, timelines)}"


def _ids(event: Event) -> list[tuple[str, str]]:
    return sorted({pair for attempt in event.attempts for pair in attempt.ids})


def _attempt(number: int, attempt: Attempt, timelines: Sequence[Timeline]) -> Iterator[str]:
    run = f"  run {visible(attempt.run)}" if attempt.run else ""
    yield f"  {number}  {visible(attempt.time) or 'at an unknown time'}{run}  {_way(attempt, timelines)}"
    for seen in attempt.lines:
        place = f"written at {visible(seen.place.path)}:{seen.place.line}" if seen.place else "names the mail"
        yield f"       line {seen.line}  {visible(seen.time)}  {place}"


def _way(attempt: Attempt, timelines: Sequence[Timeline]) -> str:
    """The way that an attempt took, as far as its lines tell."""
    if len(attempt.ways) != 1:
        return f"by one of {len(attempt.ways)} ways: the lines do not tell which"
    trigger = timelines[attempt.ways[0]].path.trigger
    detail = f" {visible(trigger.detail)}" if trigger.detail else ""
    return f"by way {attempt.ways[0] + 1}, {trigger.kind} {visible(trigger.function)}{detail}"


def _second(event: Event, timelines: Sequence[Timeline]) -> str:
    """Where the second attempt came from."""
    first, second = event.attempts[0], event.attempts[1]
    if set(first.ways).isdisjoint(second.ways):
        return "The second came from another trigger: let one of them send, or let both win one reservation."
    if len(first.ways) != 1 or len(second.ways) != 1:
        return "The second may have come by the same way or by another: log the id of the run and of the event."
    timeline = timelines[first.ways[0]]
    if not first.run or not second.run:
        return "The second came by the same way: a retry or a second trigger, which no id of a run tells apart."
    if first.run and first.run == second.run:
        again = next((step.note for step in timeline.steps if step.hop == "retry"), "")
        return f"The second is the same run again{f': {visible(again)}' if again else ''}."
    kind = timeline.path.trigger.kind
    if kind == "webhook":
        return "The second is the same webhook delivered again: store the event's id before the send."
    return f"The second is the same {kind.replace('_', ' ')} run once more for the same event."


def _counts(incident: Incident, timelines: Sequence[Timeline]) -> Iterator[str]:
    doubled = len(incident.events) + incident.more
    ways = plural(len(timelines), "way")
    yield (
        f"{plural(incident.lines, 'line')} read, {incident.known} of them from {ways} to the mail;"
        f" {plural(incident.attempts, 'attempt')}, {plural(doubled, 'event')} with more than one."
    )
    if incident.more:
        yield f"{incident.more} more are not shown."
    if incident.unread:
        yield f"{plural(incident.unread, 'line')} had neither JSON nor key=value."
    if not any(timeline.logged for timeline in timelines):
        yield "The code writes no log line on these ways: only lines that name the mail could be found."
