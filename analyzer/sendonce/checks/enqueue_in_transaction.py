"""SO201 enqueue-in-transaction.

## What it finds
A job that leads to a mail is put on a queue while a database transaction is open.

## Why it doubles
The broker takes the job at once: a worker may run it before the commit and fail or mail something that
is not true yet; when the transaction rolls back, the job stays queued, and the repeated request
enqueues it a second time.

## Bad
```python
with transaction.atomic():
    order.save()
    send_receipt.delay(order.pk)
```

## Good
```python
with transaction.atomic():
    order.save()
    transaction.on_commit(lambda: send_receipt.delay(order.pk))
```

## When it is silent
The enqueue waits for the commit (`on_commit`, `delay_on_commit`), it stands after the block, or
the queue keeps its jobs in the same database, so that they roll back with the rest.

## Repair by framework
Django with Celery: `send_receipt.delay_on_commit(order.pk)`, or
`transaction.on_commit(partial(send_receipt.delay, order.pk))`.
RQ and dramatiq: `transaction.on_commit(lambda: queue.enqueue(job, order.pk))`.
SQLAlchemy: commit first, then enqueue, or enqueue in an `after_commit` listener.
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, fault, named, worst
from sendonce.checks.leaving import Leak, assumed, by_site, leaks, opens, shortest
from sendonce.findings import Severity
from sendonce.program.analysis import Analysis
from sendonce.program.paths import Path, place_of

CODE, NAME = "SO201", "enqueue-in-transaction"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault an enqueue, over all transactions that are open at it."""
    found = ((place_of(leak.left), leak) for leak in leaks(analysis) if leak.left is not None and _is_fault(leak))
    for place, group in by_site(found).items():
        shown = shortest(group)
        transaction, left = shown.transaction, shown.left
        assert left is not None
        message = (
            f"the job that sends {named(shown.path)} is enqueued while a transaction is open ({transaction.note}, line "
            f"{transaction.line} of {transaction.path}): a worker may run it before the commit, and a rollback and a "
            f"second try enqueue it again"
        )
        yield fault(
            analysis,
            (CODE, NAME),
            [leak.path for leak in group],
            place,
            analysis.program.function(left.function).dotted,
            worst(_severity(leak.path) for leak in group),
            message,
            "enqueue after the commit: transaction.on_commit(...), delay_on_commit(...), or after the block",
            opens(group, "the transaction opens here"),
            assumes=assumed(group),
        )


def _is_fault(leak: Leak) -> bool:
    return leak.transaction.kind != "unit"


def _severity(path: Path) -> Severity:
    return "warning" if path.trigger.kind in ("admin", "command", "unknown") else "error"


RULE = Rule(CODE, NAME, __doc__, check)
