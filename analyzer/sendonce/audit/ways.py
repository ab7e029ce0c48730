"""The paths of an analysis by mail, and one way a trigger out of them."""

from __future__ import annotations

from collections.abc import Iterable

from sendonce.audit.model import Way
from sendonce.findings import Trigger
from sendonce.program.analysis import Analysis
from sendonce.program.paths import Path
from sendonce.program.timeline import Timelines

NAMELESS = "(no template known)"


def paths_by_mail(analysis: Analysis) -> dict[str, list[Path]]:
    """The paths to each mail, by its name, as the inventory names it."""
    found: dict[str, list[Path]] = {}
    for path in analysis.paths:
        template = path.mail.template
        function = analysis.program.function(path.send.function).dotted
        found.setdefault((template.value or NAMELESS) if template else function, []).append(path)
    return found


def ways(timelines: Timelines, paths: Iterable[Path]) -> tuple[Way, ...]:
    """The way of each trigger, sorted by trigger."""
    by_trigger: dict[Trigger, list[Path]] = {}
    for path in paths:
        by_trigger.setdefault(path.trigger, []).append(path)
    return tuple(_way(timelines, trigger, by_trigger[trigger]) for trigger in sorted(by_trigger))


def _way(timelines: Timelines, trigger: Trigger, paths: list[Path]) -> Way:
    shortest = min(paths, key=lambda path: path.length)
    steps = timelines.of(shortest).steps
    return Way(
        trigger,
        steps,
        in_transaction=any(path.mail.transaction is not None for path in paths),
        guarded=all(path.mail.guard is not None for path in paths),
        repeats=any(step.hop == "retry" for step in steps),
        confidence=shortest.confidence,
    )
