"""For people: title, place, the numbered path with its source lines, why, repair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sendonce.findings import Finding, Place, Related, Report, Trigger
from sendonce.report import View
from sendonce.report.text import (
    HOP_WIDTH,
    Paint,
    excerpt,
    numbered,
    paragraph,
    shown,
    statistics,
    summary,
    visible,
    where,
)


def render(report: Report, view: View) -> str:
    """All findings that are not suppressed, with a blank line between them, then the counts."""
    blocks = ["\n".join(_Writer(view).finding(finding)) for finding in shown(report.findings)]
    if view.statistics and blocks:
        blocks.append("\n".join(statistics(report)))
    return "\n\n".join([*blocks, summary(report)]) + "\n"


class _Writer:
    def __init__(self, view: View) -> None:
        self.view = view
        self.paint = Paint(view.color)

    def finding(self, finding: Finding) -> Iterator[str]:
        yield from self._title(finding)
        yield from self._marked(finding.place)
        if finding.trace:
            yield ""
            for number, step in enumerate(finding.trace, 1):
                yield from numbered(number, step, self.view.lines(step.place.path), self.paint)
        yield from self._others(finding)
        yield ""
        yield from paragraph("Why", finding.message)
        if finding.assumes:
            yield from paragraph("Assumes", "; ".join(finding.assumes))
        yield from paragraph("Repair", finding.help)

    def _title(self, finding: Finding) -> Iterator[str]:
        label = self.paint.severity(finding.severity, f"{finding.code} {finding.name}")
        yield f"{label}: {finding.severity}, {finding.confidence} confidence"
        inside = f"  in {visible(finding.function)}" if finding.function else ""
        mail = f"  sends {visible(finding.template)}" if finding.template else ""
        yield f"  {self.paint(where(finding.place), bold=True)}{inside}{mail}"

    def _marked(self, place: Place) -> Iterator[str]:
        """The line of the finding with carets below the part that is meant."""
        lines = self.view.lines(place.path)
        text = excerpt(lines, place.line)
        if not text:
            return
        gutter = f"{place.line:>6} | "
        yield self.paint(gutter, dim=True) + text
        start, end = _columns(lines[place.line - 1], place)
        carets = "^" * (min(end, len(text)) - start)
        if carets:
            yield self.paint(" " * 6 + " | ", dim=True) + " " * start + self.paint(carets, fg="red")

    def _others(self, finding: Finding) -> Iterator[str]:
        """Triggers beside the one whose path is shown, and related places."""
        first = finding.trace[0].place if finding.trace else None
        triggers = [trigger for trigger in finding.triggers if _start(trigger.place) != _start(first)]
        if triggers:
            yield ""
            yield "  Also triggered by:" if finding.trace else "  Triggered by:"
            yield from (self._trigger(trigger) for trigger in triggers)
        if finding.related:
            yield ""
            yield "  See also:"
            yield from self._related(finding.related)

    def _trigger(self, trigger: Trigger) -> str:
        detail = f"  {visible(trigger.detail)}" if trigger.detail else ""
        place = f"{visible(trigger.place.path)}:{trigger.place.line}"
        return f"    {trigger.kind:<{HOP_WIDTH}} {place}  {visible(trigger.function)}{detail}"

    def _related(self, related: Sequence[Related]) -> Iterator[str]:
        for other in related:
            yield f"    {visible(other.place.path)}:{other.place.line}  {visible(other.note)}"


def _start(place: Place | None) -> tuple[str, int] | None:
    return None if place is None else (place.path, place.line)


def _columns(line: str, place: Place) -> tuple[int, int]:
    """Where the carets begin and end in the printed line, which may be longer than the source line."""
    start = len(visible(line[: place.column - 1]))
    if place.end_line > place.line:
        return start, len(visible(line).rstrip())
    return start, max(start + 1, len(visible(line[: max(place.end_column - 1, 0)])))
