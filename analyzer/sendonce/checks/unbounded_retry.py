"""SO403 unbounded-retry.

## What it finds
A retry without an end around a provider send that no reservation inside the repeated part protects:
`max_retries=None`, a retry decorator without a stop, `while` until it works, an engine whose default has no limit.

## Why it doubles
A server that takes the message and fails to say so in time does it again on the next attempt. With a limit that is
a handful of copies; without one the same person is mailed until somebody stops the worker.

## Bad
```python
@shared_task(bind=True, max_retries=None)
def send_receipt(self, order_id):
    try:
        send_mail("Your receipt", text(order_id), None, [address(order_id)])
    except OSError as error:
        raise self.retry(exc=error)
```

## Good
```python
@shared_task(bind=True, max_retries=5)
def send_receipt(self, order_id):
    if not Order.objects.filter(pk=order_id, receipt_sent_at=None).update(receipt_sent_at=now()):
        return
    try:
        send_mail("Your receipt", text(order_id), None, [address(order_id)])
    except OSError as error:
        raise self.retry(exc=error)
```

## When it is silent
The retry has an end (that is SO401 if it can repeat a send), repeats only work that mails nothing, waits only
for errors raised before acceptance, or a reservation inside the repeated part dominates the send.

## Repair by framework
Celery: a number for `max_retries`, and a claim before the send. dramatiq: a number for `max_retries`.
tenacity: `stop=stop_after_attempt(5)`. backoff: `max_tries=5`. retrying: `stop_max_attempt_number=5`.
Temporal: `retry_policy=RetryPolicy(maximum_attempts=5)`; the default is without end.
Loops: count the attempts. An end alone leaves a few copies: claim the mail, or pass the provider an idempotency key.
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

CODE, NAME = "SO403", "unbounded-retry"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault an endless retry, over all unguarded sends inside it."""
    found = (
        (one.repetition.endless, one)
        for path in analysis.paths
        for one in (analysis.repeating.of(path) if path not in explained else ())
        if one.repetition.endless is not None and one.run.send is not None
    )
    for place, group in by_place(found).items():
        said = _fault(analysis, group)
        yield replace(said, finding=replace(said.finding, place=place), explains=jobs_of(group))


def _fault(analysis: Analysis, group: list[Repeated]) -> Fault:
    paths = list(dict.fromkeys(one.path for one in group))
    shown = min(paths, key=lambda path: path.length)
    repetition = group[0].repetition
    message = (
        f"{named(shown)} is sent inside a run that is repeated until it works ({repetition.note}, and nothing limits "
        f"how often): each attempt that the provider accepted without an answer in time is one more mail"
    )
    help = "give the retry an end, and claim the mail before the send, inside the repeated part"
    related = [Related(one.repetition.place, "the retry") for one in group]
    related += [Related(send_place(path), "sends here") for path in paths]
    function = analysis.program.function(shown.send.function).dotted
    return fault(analysis, (CODE, NAME), paths, repetition.place, function, severity_of(paths), message, help, related)


RULE = Rule(CODE, NAME, __doc__, check, replaces=("SO301",))
