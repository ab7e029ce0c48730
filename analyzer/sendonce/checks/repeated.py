"""What the rules about repeated runs share."""

from __future__ import annotations

from collections.abc import Iterable

from sendonce.findings import Place, Severity
from sendonce.program.paths import Path
from sendonce.program.repeating import Repeated


def by_place(found: Iterable[tuple[Place | None, Repeated]]) -> dict[Place, list[Repeated]]:
    """Repetitions grouped by where they are reported, in the order of places."""
    groups: dict[Place, list[Repeated]] = {}
    for place, repeated in found:
        if place is not None:
            groups.setdefault(place, []).append(repeated)
    return {place: groups[place] for place in sorted(groups)}


def jobs_of(group: Iterable[Repeated]) -> frozenset[Path]:
    """The paths whose job is repeated. A retry in a helper says nothing of the triggers that reach it."""
    return frozenset(one.path for one in group if one.job is not None)


def severity_of(paths: Iterable[Path]) -> Severity:
    """A repeated run mails without anybody's doing: an error, unless only the site's own staff is mailed."""
    return "note" if all(path.internal for path in paths) else "error"
