"""SO312 dead-guard.

## What it finds
A guard that cannot work: the mark goes to a name that is no column, or is set on an object that is never saved or
committed, the claim is rolled back or its session closed before anything commits it, or the test compares things that
are never equal.

## Why it doubles
The mark is not there when the next run looks, or the test never sees it. The code reads as if it sent once, and every
run sends.

## Bad
```python
@shared_task
def send_receipt(pk):
    trip = Trip.objects.get(pk=pk)
    if trip.receipt_at is not None:
        return
    trip.receipt_sent = now()
    trip.save()
    send_mail("Your receipt", text(trip), None, [trip.email])
```

## Good
```python
@shared_task
def send_receipt(pk):
    if not Trip.objects.filter(pk=pk, receipt_at=None).update(receipt_at=now()):
        return
    trip = Trip.objects.get(pk=pk)
    send_mail("Your receipt", text(trip), None, [trip.email])
```

## When it is silent
The mark is stored under the name that the test reads, and the test can see it. An attribute that other code reads
(a template's context) is no mark.

## Repair by framework
Django: write the field that is tested, by `filter(pk=…, field=None).update(field=now())`; `save()` what was set.
SQLAlchemy: `session.commit()` behind the mark, before the mail. Compare dates with dates: `row.at.date() == today`.
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, fault, is_open, listed, named, send_place, severity_of, triggers_of, worst
from sendonce.findings import Place, Related
from sendonce.program.analysis import Analysis
from sendonce.program.dead import Dead, DeadGuards
from sendonce.program.near import flawed, statement
from sendonce.program.paths import Path

CODE, NAME = "SO312", "dead-guard"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault a guard, over all paths on which it does not work."""
    guards = DeadGuards(analysis.memory, analysis.selections, analysis.transactions)
    groups: dict[Place, list[tuple[Path, Dead]]] = {}
    for path in analysis.paths:
        if is_open(path) and path not in explained:
            for dead in (*guards.on(path), *_uncommitted(analysis, path)):
                groups.setdefault(dead.place, []).append((path, dead))
    for place in sorted(groups):
        yield _fault(analysis, place, groups[place])


def _uncommitted(analysis: Analysis, path: Path) -> Iterator[Dead]:
    """The claim that would guard a path if its transaction were committed."""
    near = flawed(analysis.claims, path, "uncommitted")
    if near is not None:
        _, place = statement(analysis.claims, near)
        yield Dead(place, f"the {near.claim.note} is rolled back, for nothing commits it")


def _fault(analysis: Analysis, place: Place, group: list[tuple[Path, Dead]]) -> Fault:
    paths = list(dict.fromkeys(path for path, _ in group))
    path, dead = min(group, key=lambda one: one[0].length)
    message = (
        f"the guard of {named(path)} cannot work: {dead.why}, so every run of {listed(triggers_of(paths))} sends again"
    )
    help = (
        "store the mark under the name that the test reads and in its type, as a claim before the mail: a conditional "
        "update whose count is tested, committed before the send"
    )
    related = [Related(one.test, "the test that waits for the mark") for _, one in group if one.test is not None]
    related += [Related(send_place(one), "sends here") for one in paths]
    function = analysis.program.function(path.send.function).dotted
    return fault(
        analysis, (CODE, NAME), paths, place, function, worst(map(severity_of, paths)), message, help, related
    )  # fmt: skip


RULE = Rule(CODE, NAME, __doc__, check, replaces=("SO301", "SO302", "SO303"))
