"""SO402 batch-retry.

## What it finds
A loop of provider sends inside one run that is repeated as a whole: a job that its queue, its decorator or
its own `retry` runs again, that a lost worker gives back, or a retry around code that mails a list.

## Why it doubles
The seventh address fails, the run fails, and the repeated run begins with the first: six people are mailed again,
with every attempt.

## Bad
```python
@shared_task(autoretry_for=(OSError,), max_retries=5)
def send_issue(issue_id):
    for reader in Reader.objects.filter(active=True):
        send_mail("The letter", text(issue_id), None, [reader.email])
```

## Good
```python
@shared_task
def send_issue(issue_id):
    for reader in Reader.objects.filter(active=True):
        send_to_reader.delay(issue_id, reader.pk)


@shared_task(autoretry_for=(OSError,), max_retries=5)
def send_to_reader(issue_id, reader_id):
    _, mine = Delivery.objects.get_or_create(issue_id=issue_id, reader_id=reader_id)
    if mine:
        send_mail("The letter", text(issue_id), None, [Reader.objects.get(pk=reader_id).email])
```

## When it is silent
Each item is claimed before its mail, or leaves the selection before the next one's turn, the error of one item is
caught inside the loop so that the run goes on, the next run is given only what is left, or each item is a job
of its own.

## Repair by framework
Any: claim each item inside the loop (a unique row for item and mail, `SADD`, `SET NX`), so that a repeated run goes
on where the first one stopped.
Celery, RQ, dramatiq, huey, arq: one job an item. Celery's own retry: `self.retry(args=[rest])`.
Temporal: one activity an item.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sendonce.checks.base import Fault, Rule, fault, named, send_place
from sendonce.checks.repeated import by_place, jobs_of, severity_of
from sendonce.findings import Place, Related
from sendonce.program.analysis import Analysis
from sendonce.program.paths import Path, place_of
from sendonce.program.repeating import Repeated

CODE, NAME = "SO402", "batch-retry"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault a loop, over all mails sent in it and all that repeats it."""
    found = (
        (place_of(one.batch.site), one)
        for path in analysis.paths
        for one in _repeated(analysis, path)
        if one.batch is not None and path not in explained and not one.repetition.rest
    )
    for place, group in by_place(found).items():
        said = _fault(analysis, place, group)
        yield replace(said, explains=jobs_of(group))


def _repeated(analysis: Analysis, path: Path) -> Iterator[Repeated]:
    """What may run a path's batch again: after an error, or after its worker was lost."""
    repeating = analysis.repeating
    yield from repeating.of(path)
    yield from repeating.redelivered(path)
    yield from repeating.redelivered(path, by_default=True)


def _fault(analysis: Analysis, place: Place, group: list[Repeated]) -> Fault:
    paths = list(dict.fromkeys(one.path for one in group))
    shown = min(paths, key=lambda path: path.length)
    first = group[0]
    assert first.batch is not None
    after_error = any(one.repetition == first.repetition for one in analysis.repeating.of(first.path))
    ends = "one of them fails" if after_error else "it is cut off between two of them"
    message = (
        f"{named(shown)} is sent to one after another inside a run that is repeated as a whole "
        f"({first.repetition.note}): when {ends}, those before it are mailed again"
    )
    help = "claim each item inside the loop before its mail, or make each item a job of its own"
    related = [Related(one.repetition.place, one.repetition.note) for one in group]
    related += [
        Related(Place(one.batch.site.path, one.batch.loop.at[0], one.batch.loop.at[1]), "the loop")
        for one in group
        if one.batch is not None
    ]
    related += [Related(send_place(path), "sends here") for path in paths]
    function = analysis.program.function(first.batch.site.function).dotted
    return fault(analysis, (CODE, NAME), paths, place, function, severity_of(paths), message, help, related)


RULE = Rule(CODE, NAME, __doc__, check, replaces=("SO301",))
