"""Whether a key that differs each time is made inside what a retry repeats, or outside and passed in."""

from __future__ import annotations

from sendonce.program.paths import Path
from sendonce.program.repeating import Repeated, Repeating
from sendonce.program.unsteady import Unsteady
from sendonce.program.values import Call, walk


def repeated(repeating: Repeating, path: Path, key: Unsteady) -> Repeated | None:
    """The innermost repetition in which each attempt makes the key anew."""
    found = [one for one in repeating.of(path) if _makes(one, path, key)]
    return found[-1] if found else None


def is_outside(repeating: Repeating, path: Path, key: Unsteady) -> bool:
    """Whether some retry repeats the mail with a key that was made before it."""
    return any(not _makes(one, path, key) for one in repeating.every(path))


def _makes(one: Repeated, path: Path, key: Unsteady) -> bool:
    """Whether the key is made in what a repetition runs again."""
    if one.run.request:
        return False
    sites = list(path.sites())
    first = next(number for number, site in enumerate(sites) if site is one.run.sites[0])
    if key.level != first:
        return key.level > first
    if one.run.loop is None:
        return True
    start, end = one.run.loop.at[0], one.run.loop.at[2]
    calls = [part.at for part in walk(key.key) if isinstance(part, Call)]
    return any(at[0] == sites[first].path and start <= at[1] <= end for at in calls)
