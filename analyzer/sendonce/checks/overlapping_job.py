"""SO404 overlapping-job.

## What it finds
A scheduled run that selects pending rows, mails each and marks it, with nothing that keeps two runs from taking the
same rows.

## Why it doubles
A slow run still works when the schedule starts the next one, or two workers take two ticks. Both select the rows that
are still pending, and both mail them; the marks come too late for the other run.

## Bad
```python
@shared_task
def send_due():
    for letter in Letter.objects.filter(sent_at__isnull=True):
        send_mail(letter.subject, letter.text, None, [letter.email])
        letter.sent_at = now()
        letter.save(update_fields=["sent_at"])
```

## Good
```python
@shared_task
def send_due():
    for letter in Letter.objects.filter(sent_at__isnull=True):
        if Letter.objects.filter(pk=letter.pk, sent_at__isnull=True).update(sent_at=now()):
            send_mail(letter.subject, letter.text, None, [letter.email])
```

## When it is silent
Each row is claimed before its mail (a conditional update whose count is tested, `select_for_update(skip_locked=True)`
until the mark is committed), or the whole run holds a lock that all processes share.
A limit that holds in one process (`max_instances=1`) is no such lock.

## Repair by framework
Django: `filter(pk=…, sent_at=None).update(…)` a row, or `select_for_update(skip_locked=True)` inside `atomic()`.
SQLAlchemy: `with_for_update(skip_locked=True)`, mark, commit, then mail; or `update(…).returning(…)`.
Celery, APScheduler, huey: a lock around the run (`redis.lock`, `pg_try_advisory_lock`, `lock_task`).
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, fault, named, send_place, severity_of, worst
from sendonce.checks.selecting import Run, by_selection, is_alone, runs
from sendonce.findings import Place, Related
from sendonce.program.analysis import Analysis
from sendonce.program.paths import Path

CODE, NAME = "SO404", "overlapping-job"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault a selection, over all mails that its rows get."""
    found = [run for run in runs(analysis, explained) if run.consumed.marks and not is_alone(analysis, run.path)]
    for place, group in by_selection(found).items():
        yield _fault(analysis, place, group)


def _fault(analysis: Analysis, place: Place, group: list[Run]) -> Fault:
    shown = min(group, key=lambda run: run.path.length)
    mark = shown.consumed.marks[0]
    message = (
        f"the scheduled job {shown.path.trigger.function} selects rows here, sends {named(shown.path)} for each and "
        f"writes {mark.written.spot.shown} only in its own run ({mark.place.path}:{mark.place.line}): a run that "
        f"starts before this one has ended selects the same rows and mails them again"
    )
    help = (
        "claim each row before its mail (a conditional update whose count is tested, or SELECT … FOR UPDATE SKIP "
        "LOCKED until the mark is committed), or hold a lock that all processes share for the whole run"
    )
    related = [Related(send_place(run.path), "sends here") for run in group]
    related += [Related(one.place, "the mark") for run in group for one in run.consumed.marks]
    related += [Related(inner, "the query") for run in group for inner in run.selection.inner]
    function = analysis.program.function(shown.selection.site.function).dotted
    paths = [run.path for run in group]
    return fault(
        analysis, (CODE, NAME), paths, place, function, worst(map(severity_of, paths)), message, help, related,
        assumes=["more than one worker process, or a run that outlasts its interval"],
    )  # fmt: skip


RULE = Rule(CODE, NAME, __doc__, check, replaces=("SO301", "SO302", "SO303", "SO311", "SO401"))
