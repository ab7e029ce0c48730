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
from sendonce.findings import Related, Severity
from sendonce.program.analysis import Analysis
from sendonce.program.held import Site
from sendonce.program.link import Crossing
from sendonce.program.paths import Path
from sendonce.program.repeats import Repeats, Repetition
from sendonce.program.retries import Retries

CODE, NAME = "SO401", "retry-around-send"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault a retry, over all unguarded sends inside it."""
    found: dict[Repetition, list[Path]] = {}
    jobs: dict[Repetition, set[Path]] = {}
    for path in analysis.paths:
        if path.mail.guard is None and path not in explained:
            for repetition, is_job in _repetitions(analysis, path):
                found.setdefault(repetition, []).append(path)
                if is_job:
                    jobs.setdefault(repetition, set()).add(path)
    for repetition in sorted(found, key=lambda one: (one.place, one.note)):
        # A retry in a helper says nothing of the triggers that reach it: only a job's own explains its runs.
        said = _fault(analysis, repetition, found[repetition])
        yield replace(said, explains=frozenset(jobs.get(repetition, ())))


def _fault(analysis: Analysis, repetition: Repetition, group: list[Path]) -> Fault:
    shown = min(group, key=lambda path: path.length)
    message = (
        f"{named(shown)} is sent inside a run that is repeated after an error ({repetition.note}): the provider "
        f"may have accepted the message before the error, and the next run sends it again"
    )
    help = "claim the mail before the send, inside the repeated part, or let only the work before the send repeat"
    related = [Related(send_place(path), "sends here") for path in group]
    function = analysis.program.function(shown.send.function).dotted
    return fault(analysis, (CODE, NAME), group, repetition.place, function, _severity(group), message, help, related)


def _severity(paths: list[Path]) -> Severity:
    return "note" if all(path.mail.provider.internal for path in paths) else "error"


def _repetitions(analysis: Analysis, path: Path) -> Iterator[tuple[Repetition, bool]]:
    """What repeats the innermost job on a path (true), and each other retry on it that a failing send reaches."""
    repeats = Repeats(analysis.evaluator, analysis.flows, analysis.linker)
    for job, crossing, sites in reversed(list(_jobs(analysis, path))):
        repetition = repeats.of_job(analysis.program.function(job), crossing, sites[0])
        if repetition is not None and not repeats.swallows(sites):
            yield repetition, True
            break
    retries = Retries(analysis.evaluator, analysis.flows, analysis.linker)
    for retried in retries.around(tuple(path.sites())):
        if not repeats.swallows(list(retried.inner)):
            yield retried.repetition, False


def _jobs(analysis: Analysis, path: Path) -> Iterator[tuple[str, Crossing | None, list[Site]]]:
    """The jobs that run on a path: their function, the crossing that enqueues them, the calls from there on."""
    sites = list(path.sites())
    if path.trigger.kind in ("job", "cron"):
        yield path.start.function, None, sites
    for number, crossing in enumerate(path.crossings()):
        if crossing.hop == "enqueue" and crossing.callee:
            yield crossing.callee, crossing, sites[number + 1 :]


RULE = Rule(CODE, NAME, __doc__, check, replaces=("SO301",))
