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

from sendonce.checks.base import Fault, Rule, by_place, fault, named
from sendonce.findings import Place, Related
from sendonce.program.analysis import Analysis
from sendonce.program.paths import Path, place_of

CODE, NAME = "SO203", "enqueue-before-commit"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault for each enqueue, or call that leads to a send, before the commit of what was written."""
    paths = [path for path in analysis.paths if path.mail.transaction is not None and path.mail.transaction.kind == "unit"]
    for place, group in by_place(paths, _place).items():
        shown = min(group, key=lambda path: path.length)
        transaction = shown.mail.transaction
        assert transaction is not None
        what = "enqueued" if shown.mail.enqueue is not None else "sent"
        message = (
            f"{named(shown)} is {what} between the write and the commit of one unit of work ({transaction.note}): "
            f"a failing commit leaves it {what}, and the next try does so again"
        )
        related = [Related(Place(transaction.path, transaction.line), "the commit comes only here")]
        function = analysis.program.function(transaction.site.function).dotted
        help = "commit first, then send or enqueue"
        yield fault(analysis, (CODE, NAME), group, place, function, "error", message, help, related)


def _place(path: Path) -> Place:
    assert path.mail.transaction is not None
    return place_of(path.mail.enqueue or path.mail.transaction.site)


RULE = Rule(CODE, NAME, __doc__, check)
