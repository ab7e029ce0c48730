"""SO203 enqueue-before-commit.

## What it finds
The unit-of-work form of SO201 and SO202: rows are added to a session, a mail is sent or its job
enqueued, and only then the session is committed.

## Why it doubles
The worker may look for a row that is not committed yet, and when the commit fails the mail has
gone for something that does not exist; the user tries again and gets another.

## Bad
```python
session.add(invoice)
session.flush()
queue.enqueue(mail_invoice, invoice.id)
session.commit()
```

## Good
```python
session.add(invoice)
session.commit()
queue.enqueue(mail_invoice, invoice.id)
```

## When it is silent
The commit comes first, nothing was written before the send, or the mail leaves in a background
task after the response or in an after-commit listener.

## Repair by framework
SQLAlchemy: commit, then send or enqueue. FastAPI: commit in the endpoint before enqueueing when the
session dependency commits on exit, or use a background task that runs after it.
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, fault, named
from sendonce.checks.leaving import Leak, by_site, leaks, opens, shortest
from sendonce.findings import Place
from sendonce.program.analysis import Analysis
from sendonce.program.paths import Path, place_of

CODE, NAME = "SO203", "enqueue-before-commit"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault for each enqueue, or call that leads to a send, before the commit of what was written."""
    found = ((_place(leak), leak) for leak in leaks(analysis) if leak.transaction.kind == "unit")
    for place, group in by_site(found).items():
        shown = shortest(group)
        what = "enqueued" if shown.enqueue is not None else "sent"
        message = (
            f"{named(shown.path)} is {what} between the write and the commit of one unit of work "
            f"({shown.transaction.note}): a failing commit leaves it {what}, and the next try does so again"
        )
        yield fault(
            analysis,
            (CODE, NAME),
            [leak.path for leak in group],
            place,
            analysis.program.function(shown.transaction.site.function).dotted,
            "error",
            message,
            "commit first, then send or enqueue",
            opens(group, "the commit comes only here"),
        )


def _place(leak: Leak) -> Place:
    return place_of(leak.left or leak.transaction.site)


RULE = Rule(CODE, NAME, __doc__, check)
