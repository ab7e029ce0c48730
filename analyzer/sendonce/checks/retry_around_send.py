"""SO401 retry-around-send.

## What it finds
A retry with a provider send in it that no reservation inside the repeated part protects: a job whose queue, decorator
or own `retry` runs it again after an error, a retry decorator, a loop of attempts, an HTTP session that repeats POST.

## Why it doubles
The provider may have accepted the message before the error came: the connection broke while the answer was on
its way, or a line after the send failed. The repeated run sends again.

## Bad
```python
@shared_task(autoretry_for=(OSError,), max_retries=5)
def send_receipt(order_id):
    order = Order.objects.get(pk=order_id)
    send_mail("Your receipt", text(order), None, [order.email])
    archive(order)
```

## Good
```python
@shared_task(autoretry_for=(OSError,), max_retries=5)
def send_receipt(order_id):
    if not Order.objects.filter(pk=order_id, receipt_sent_at=None).update(receipt_sent_at=now()):
        return
    order = Order.objects.get(pk=order_id)
    send_mail("Your receipt", text(order), None, [order.email])
```

## When it is silent
A reservation inside the repeated part dominates the send, the provider gets a stable idempotency
key, the error of the send is caught and swallowed, so that nothing is repeated, or the retry waits only
for errors raised before acceptance (no connection was made).

## Repair by framework
tenacity, backoff, loops: retry only errors of connecting, or move the connection into the loop and the send out of it.
urllib3: leave POST out of `allowed_methods` (the default).
Celery, RQ, huey, arq: claim first, or split the work so that only the part before the send is repeated.
dramatiq repeats 20 times unless told otherwise: claim first, or `max_retries=0`.
Providers with an idempotency key: make it from the event, outside the repeated part.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sendonce.checks.base import Fault, Rule, fault, named, send_place
from sendonce.checks.repeated import by_place, jobs_of, severity_of
from sendonce.findings import Confidence, Related
from sendonce.program.analysis import Analysis
from sendonce.program.paths import Path
from sendonce.program.repeating import Repeated

CODE, NAME = "SO401", "retry-around-send"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault a retry, over all unguarded sends inside it; one without an end or around a batch is another rule's."""
    found = (
        (one.repetition.place, one)
        for path in analysis.paths
        for one in (analysis.repeating.of(path) if path not in explained else ())
        if (one.repetition.endless is None or one.run.send is None) and one.batch is None
    )
    for group in by_place(found).values():
        yield replace(_fault(analysis, group), explains=jobs_of(group))


def _fault(analysis: Analysis, group: list[Repeated]) -> Fault:
    paths = list(dict.fromkeys(one.path for one in group))
    shown = min(paths, key=lambda path: path.length)
    repetition = group[0].repetition
    message = (
        f"{named(shown)} is sent inside a run that is repeated after an error ({repetition.note}): the provider "
        f"may have accepted the message before the error, and the next run sends it again"
    )
    help = "claim the mail before the send, inside the repeated part, or let only the work before the send repeat"
    sure: Confidence | None = None
    if all(one.run.send is None for one in group):
        message = (
            f"{named(shown)} leaves a run that is repeated after an error ({repetition.note}): what stands after the "
            f"enqueue may fail, and the next run enqueues the mail again"
        )
        help = (
            "enqueue as the last thing that can fail, under a unique job key, or claim the mail in the job that sends"
        )
        sure = "medium"
    related = [Related(send_place(path), "sends here") for path in paths]
    function = analysis.program.function(shown.send.function).dotted
    rule = (CODE, NAME)
    severity = severity_of(paths)
    return fault(
        analysis, rule, paths, repetition.place, function, severity, message, help, related, sure, shown_from=[shown]
    )


RULE = Rule(CODE, NAME, __doc__, check, replaces=("SO301",))
