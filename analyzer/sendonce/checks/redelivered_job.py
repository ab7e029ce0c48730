"""SO407 redelivered-job.

## What it finds
A job that a queue is told to deliver again, with a provider send in it that no reservation protects: late
acknowledgement on the task or in the settings, or a visibility timeout that is shorter than a run may take.

## Why it doubles
The worker dies after the mail and before the acknowledgement, or the queue takes a slow run for a lost one. The
broker gives the job to another worker, which mails again.

## Bad
```python
@shared_task(acks_late=True, reject_on_worker_lost=True)
def send_receipt(order_id):
    send_mail("Your receipt", text(order_id), None, [address(order_id)])
```

## Good
```python
@shared_task(acks_late=True, reject_on_worker_lost=True)
def send_receipt(order_id):
    if not Order.objects.filter(pk=order_id, receipt_sent_at=None).update(receipt_sent_at=now()):
        return
    send_mail("Your receipt", text(order_id), None, [address(order_id)])
```

## When it is silent
A reservation inside the job dominates the send, the task itself sets `acks_late=False`, or the job sends no mail.

## Repair by framework
Celery: claim the mail in the task, or acknowledge mailing tasks early (`acks_late=False`, the default); a
`visibility_timeout` above `task_time_limit`.
Django-Q: `retry` above `timeout`, and a claim.
Any: a conditional update or a unique row, committed before the send.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sendonce.checks.base import Fault, Rule, fault, named, send_place
from sendonce.checks.repeated import by_place, jobs_of, severity_of
from sendonce.findings import Related
from sendonce.program.analysis import Analysis
from sendonce.program.paths import Path
from sendonce.program.repeating import Repeated

CODE, NAME = "SO407", "redelivered-job"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault an option or setting, over all unguarded sends of the jobs that it concerns."""
    found = (
        (one.repetition.place, one)
        for path in analysis.paths
        for one in (analysis.repeating.redelivered(path) if path not in explained else ())
    )
    for group in by_place(found).values():
        yield replace(_fault(analysis, group), explains=jobs_of(group))


def _fault(analysis: Analysis, group: list[Repeated]) -> Fault:
    paths = list(dict.fromkeys(one.path for one in group))
    shown = min(paths, key=lambda path: path.length)
    job = next(one.job for one in group if one.path is shown)
    assert job is not None
    name = analysis.program.function(job.job).dotted
    repetition = group[0].repetition
    message = (
        f"{named(shown)} is sent by the job {name}, which may be delivered twice ({repetition.note}), and nothing in "
        f"the job lets only one run send"
    )
    help = "claim the mail in the job before the send, with something that only one run can win"
    related = [Related(send_place(path), "sends here") for path in paths]
    return fault(analysis, (CODE, NAME), paths, repetition.place, name, severity_of(paths), message, help, related)


RULE = Rule(CODE, NAME, __doc__, check, replaces=("SO301",))
