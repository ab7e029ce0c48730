"""Repairs that can be made mechanically: what of a finding's repair is only moving a call.

`offered` says which findings have one, `patches` makes them. A repair is offered only where the code
has exactly the shape that it changes; a finding without one is repaired by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sendonce.findings import Finding, Fix

if TYPE_CHECKING:
    from sendonce.fixes.base import Repair

Read = Callable[[str], bytes | None]
"""The bytes of a file of the tree, None if it cannot be read."""
_OTHER_DATABASE = re.compile(rb"""atomic\(\s*(?!\)|durable|savepoint|$)|\busing\b""")
CODES = frozenset({"SO201", "SO202", "SO203"})
"""The rules of which a finding may have a repair: for all others libcst, slow to import, is not asked."""


@dataclass(frozen=True)
class Patch:
    """A file before and after, and the findings that the change repairs."""

    path: str
    before: bytes
    after: bytes
    findings: tuple[Finding, ...]


def offered(findings: tuple[Finding, ...], read: Read) -> tuple[Finding, ...]:
    """The findings, those that have a mechanical repair with what it is."""
    if CODES.isdisjoint(finding.code for finding in findings):
        return findings
    return tuple(_with_fix(finding, read) for finding in findings)


def repairs() -> tuple[Repair, ...]:
    """All repairs that there are."""
    from sendonce.fixes.defer import DEFER
    from sendonce.fixes.reorder import REORDER

    return DEFER, REORDER


def _with_fix(finding: Finding, read: Read) -> Finding:
    from sendonce.fixes.base import is_sound, mended, with_imports

    repair = _repair_for(finding)
    source = read(finding.place.path) if repair is not None else None
    changed = mended(repair, finding, source) if repair is not None and source is not None else None
    if repair is None or source is None or changed is None or not _is_for_default(finding, read):
        return finding
    if not is_sound(source, with_imports(changed, repair.imports)):
        return finding
    return replace(finding, fix=Fix(repair.safe(finding), repair.title))


def patches(findings: Iterable[Finding], read: Read, unsafe: bool = False) -> tuple[Patch, ...]:
    """The changes that repair the findings whose fix is safe, or (`unsafe`) any; sorted by path.

    Places are those of the unchanged files: in each, what stands last is repaired first.
    """
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.fix is not None and (unsafe or finding.fix.safe) and not finding.suppressed:
            by_path.setdefault(finding.place.path, []).append(finding)
    found = (_patch(path, by_path[path], read) for path in sorted(by_path))
    return tuple(patch for patch in found if patch is not None)


def _patch(path: str, findings: list[Finding], read: Read) -> Patch | None:
    from sendonce.fixes.base import is_sound, mended, with_imports

    before = read(path)
    if before is None:
        return None
    after, done = before, []
    imports: list[tuple[str, str]] = []
    for finding in sorted(findings, key=lambda one: one.place, reverse=True):
        repair = _repair_for(finding)
        changed = mended(repair, finding, after) if repair is not None else None
        if repair is not None and changed is not None:
            after = changed
            imports += repair.imports
            done.append(finding)
    after = with_imports(after, imports)
    return Patch(path, before, after, tuple(reversed(done))) if done and is_sound(before, after) else None


def _is_for_default(finding: Finding, read: Read) -> bool:
    """Whether the transaction is opened with no word of a database: `on_commit` without one means the default."""
    for step in finding.trace:
        lines = (read(step.place.path) or b"").splitlines() if step.hop == "transaction" else []
        if any(_OTHER_DATABASE.search(line) for line in lines[step.place.line - 1 : step.place.line + 2]):
            return False
    return True


def _repair_for(finding: Finding) -> Repair | None:
    return next((repair for repair in repairs() if finding.code in repair.codes and repair.takes(finding)), None)
