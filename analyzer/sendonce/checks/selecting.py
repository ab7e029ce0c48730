"""What the rules about scheduled runs share: the paths that mail the rows of a selection, and what becomes of these."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sendonce.checks.base import is_open
from sendonce.findings import Place
from sendonce.program.analysis import Analysis
from sendonce.program.memory import levels
from sendonce.program.paths import Path
from sendonce.program.selections import Consumed, Selection


@dataclass(frozen=True, eq=False)
class Run:
    """A scheduled run that mails the rows of a selection on an unguarded path."""

    path: Path
    selection: Selection
    consumed: Consumed


def runs(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Run]:
    """The scheduled runs, in the order of the paths."""
    for path in analysis.paths:
        if path.trigger.kind == "cron" and is_open(path) and path not in explained:
            taken = analysis.selections.taken(path)
            if taken is not None:
                yield Run(path, *taken)


def is_alone(analysis: Analysis, path: Path) -> bool:
    """Whether two runs of a path cannot overlap."""
    queued = path.mail.guard is not None and bool(path.mail.guard.passing)
    return queued or any(analysis.claims.alone_at(site) for site in levels(path))


def by_selection(found: list[Run]) -> dict[Place, list[Run]]:
    """Runs grouped by where they ask for their rows, in the order of places."""
    groups: dict[Place, list[Run]] = {}
    for run in found:
        groups.setdefault(run.selection.place, []).append(run)
    return {place: groups[place] for place in sorted(groups)}
