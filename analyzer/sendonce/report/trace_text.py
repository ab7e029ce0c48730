"""Timelines for people: by mail and send, each way with its numbered steps and where it can double."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sendonce.findings import Finding
from sendonce.program.paths import Path, place_of
from sendonce.program.timeline import Timeline
from sendonce.report import View
from sendonce.report.text import Paint, cut, numbered, paragraph, plural


def render(timelines: Sequence[Timeline], view: View) -> str:
    """Each timeline under its mail, with a blank line between them, then how many there are."""
    paint = Paint(view.color)
    blocks = ["\n".join(_timeline(timeline, view, paint)) for timeline in timelines]
    doubled = sum(1 for timeline in timelines if timeline.findings)
    ways = f"{plural(len(timelines), 'way')} from a trigger to the mail"
    return "\n\n".join([*blocks, f"{ways}, {doubled} with findings."]) + "\n"


def _timeline(timeline: Timeline, view: View, paint: Paint) -> Iterator[str]:
    yield from _title(timeline.path, paint)
    yield ""
    for number, step in enumerate(timeline.steps, 1):
        yield from numbered(number, step, view.lines(step.place.path), paint)
    yield ""
    yield f"  Logged on the way: {', '.join(map(cut, _logged(timeline))) or 'nothing that names a run or object'}"
    if timeline.missing:
        yield f"  Not logged: {'; '.join(timeline.missing)}"
    if timeline.findings:
        yield ""
        yield "  Can double here:"
        for finding in timeline.findings:
            yield from _finding(finding, paint)


def _logged(timeline: Timeline) -> list[str]:
    """The names of what the log lines on the way carry."""
    return [*timeline.names.runs, *timeline.names.objects, *(["the mail or event"] if timeline.names.what else [])]


def _title(path: Path, paint: Paint) -> Iterator[str]:
    template = path.mail.template
    name = cut(template.value) if template is not None and template.value else "(no template known)"
    send = path.mail.bound.place if path.mail.bound is not None else place_of(path.send)
    trigger = path.trigger
    detail = f"  {cut(trigger.detail)}" if trigger.detail else ""
    yield f"{paint(name, bold=True)}  sent at {cut(send.path)}:{send.line}"
    yield f"  from {trigger.kind} {cut(trigger.function)}{detail}  ({path.confidence} confidence)"


def _finding(finding: Finding, paint: Paint) -> Iterator[str]:
    label = paint.severity(finding.severity, f"{finding.code} {finding.name}")
    place = f"{cut(finding.place.path)}:{finding.place.line}"
    yield f"    {label}: {finding.severity}, {finding.confidence} confidence  {place}"
    yield from paragraph("Why", finding.message, indent=6)
