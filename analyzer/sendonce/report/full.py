"""For people: title, place, the numbered path with its source lines, why, repair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from sendonce.findings import Finding, Place, Related, Report, Step, Trigger
from sendonce.report import View
from sendonce.report.text import (
    HOP_WIDTH,
    WIDTH,
    Paint,
    cut,
    excerpt,
    numbered,
    paragraph,
    shown,
    statistics,
    summary,
    visible,
    where,
)

FEWEST_LEFT_OUT = 3
"""So many plain calls in a row are told by their number."""
MOST_LISTED = 8
"""Further triggers and places that are listed."""


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
            yield from self._path(finding)
        yield from self._others(finding)
        yield ""
        yield from paragraph("Why", finding.message)
        if finding.assumes:
            yield from paragraph("Assumes", "; ".join(finding.assumes))
        yield from paragraph("Repair", finding.help)
        if finding.fix is not None:
            option = "--fix" if finding.fix.safe else "--unsafe-fixes"
            yield from paragraph("Fix", f"{option} can {finding.fix.title}")
        place = f"{finding.place.path}:{finding.place.line}"
        yield from paragraph(
            "Silence", f"# sendonce: ignore[{finding.code}] <reason>   on {place} or the line above it"
        )

    def _path(self, finding: Finding) -> Iterator[str]:
        """The steps with their source lines; of many plain calls in a row only how many, unless all are asked for."""
        steps = list(enumerate(finding.trace, 1))
        for told, group in groupby(steps, key=lambda one: self._is_telling(one[1], finding)):
            listed = list(group)
            if told or len(listed) < FEWEST_LEFT_OUT or self.view.verbose:
                for number, step in listed:
                    yield from numbered(number, step, self.view.lines(step.place.path), self.paint)
            else:
                first, last = listed[0][0], listed[-1][0]
                names = ", ".join(dict.fromkeys(_last_name(step.function) for _, step in listed))
                words = f"{len(listed)} calls (-v): {visible(names)}"
                yield f"  {'…':>2} {first}-{last} {words if len(words) <= WIDTH else words[: WIDTH - 1] + '…'}"

    @staticmethod
    def _is_telling(step: Step, finding: Finding) -> bool:
        """Whether a step is more than a plain call on the way: a hop, or what the finding speaks of."""
        spoken_of = {_start(finding.place), *(_start(one.place) for one in finding.related)}
        return step.hop != "call" or _start(step.place) in spoken_of

    def _title(self, finding: Finding) -> Iterator[str]:
        label = self.paint.severity(finding.severity, f"{finding.code} {finding.name}")
        yield f"{label}: {finding.severity}, {finding.confidence} confidence"
        inside = f"  in {cut(finding.function)}" if finding.function else ""
        mail = f"  sends {cut(finding.template)}" if finding.template else ""
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
            most = len(triggers) if self.view.verbose else MOST_LISTED
            yield from (self._trigger(trigger) for trigger in triggers[:most])
            yield from _more(len(triggers) - most)
        told = {_start(trigger.place) for trigger in finding.triggers}  # listed already
        related = [one for one in finding.related if _start(one.place) not in told]
        if related:
            yield ""
            yield "  See also:"
            yield from self._related(related)

    def _trigger(self, trigger: Trigger) -> str:
        detail = f"  {cut(trigger.detail)}" if trigger.detail else ""
        place = f"{visible(trigger.place.path)}:{trigger.place.line}"
        return f"    {trigger.kind:<{HOP_WIDTH}} {place}  {cut(trigger.function)}{detail}"

    def _related(self, related: Sequence[Related]) -> Iterator[str]:
        most = len(related) if self.view.verbose else MOST_LISTED
        for other in related[:most]:
            yield f"    {visible(other.place.path)}:{other.place.line}  {cut(other.note)}"
        yield from _more(len(related) - most)


def _more(count: int) -> Iterator[str]:
    if count > 0:
        yield f"    and {count} more (-v)"


def _last_name(dotted: str) -> str:
    return dotted.rpartition(".")[2]


def _start(place: Place | None) -> tuple[str, int] | None:
    return None if place is None else (place.path, place.line)


def _columns(line: str, place: Place) -> tuple[int, int]:
    """Where the carets begin and end in the printed line, which may be longer than the source line."""
    start = len(visible(line[: place.column - 1]))
    if place.end_line > place.line:
        return start, len(visible(line).rstrip())
    return start, max(start + 1, len(visible(line[: max(place.end_column - 1, 0)])))
