"""SO302 record-after-send.

## What it finds
A mail whose only record (a sent-mark on the row, a row that can be there once, a key) is written when the mail has
already gone, and which no read guards.

## Why it doubles
A crash, a failed save or a lost worker between mail and record leaves no record, and the repeated run mails again. Two
runs at once both mail before either has recorded anything.

## Bad
```python
@shared_task(acks_late=True)
def announce(parcel_id):
    parcel = Parcel.objects.get(pk=parcel_id)
    send_mail("On its way", text(parcel), None, [parcel.email])
    parcel.announced_at = now()
    parcel.save(update_fields=["announced_at"])
```

## Good
```python
@shared_task(acks_late=True)
def announce(parcel_id):
    if not Parcel.objects.filter(pk=parcel_id, announced_at=None).update(announced_at=now()):
        return
    parcel = Parcel.objects.get(pk=parcel_id)
    send_mail("On its way", text(parcel), None, [parcel.email])
```

## When it is silent
A reservation also precedes the mail. Counters, log lines and rows of other matters are no records of the mail.

## Repair by framework
Django: move the mark in front of the mail as `filter(pk=…, mark=None).update(mark=now())` and leave when it returns 0.
SQLAlchemy: insert the row under its unique constraint and commit before the mail; leave on `IntegrityError`.
SQL: `UPDATE … SET sent_at = now() WHERE id = … AND sent_at IS NULL`, and go on only if one row was changed.
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, fault, is_open, listed, named, send_place, severity_of, triggers_of, worst
from sendonce.findings import Place, Related
from sendonce.program.analysis import Analysis
from sendonce.program.held import Site
from sendonce.program.paths import Path, place_of
from sendonce.program.writes import Mark

CODE, NAME = "SO302", "record-after-send"

Found = tuple[Path, Site, Mark]


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault a call that leads to the mail before its record."""
    groups: dict[Place, list[Found]] = {}
    for path in analysis.paths:
        if is_open(path) and path not in explained:
            for site, mark in analysis.records.after(path):
                groups.setdefault(place_of(site), []).append((path, site, mark))
                break
    for place in sorted(groups):
        yield _fault(analysis, place, groups[place])


def _fault(analysis: Analysis, place: Place, group: list[Found]) -> Fault:
    paths = [path for path, *_ in group]
    severity = worst(map(severity_of, paths))
    shown = [path for path in paths if severity_of(path) == severity]
    path, site, mark = min(group, key=lambda one: one[0].length)
    message = (
        f"{named(path)} leaves here and {mark.written.spot.shown} is written only afterwards "
        f"({mark.place.path}:{mark.place.line}): when a run of {listed(triggers_of(shown))} ends between the two, "
        f"or two runs meet, the mail goes out again"
    )
    help = (
        "write the record first, as a claim that only one run can win (a conditional update whose count is tested, or "
        "an insert under a unique constraint whose conflict leaves), commit it, and mail afterwards"
    )
    related = [Related(one.place, "the record") for _, _, one in group]
    related += [Related(one.at, "asks for the record") for _, _, one in group if one.at != one.place]
    related += [Related(send_place(one), "sends here") for one in paths]
    function = analysis.program.function(site.function).dotted
    return fault(
        analysis, (CODE, NAME), paths, place, function, severity, message, help, related, shown_from=shown
    )  # fmt: skip


RULE = Rule(CODE, NAME, __doc__, check, replaces=("SO301",))
