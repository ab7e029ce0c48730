"""SO202 send-in-transaction.

## What it finds
A provider send while a database transaction is open.

## Why it doubles
The mail cannot be rolled back. When something after it fails, the rows are as before, the mail has
gone, and the next try sends it again.

## Bad
```python
with transaction.atomic():
    order.pay()
    send_mail("Paid", text, None, [order.email])
    ledger.book(order)
```

## Good
```python
with transaction.atomic():
    order.pay()
    ledger.book(order)
    transaction.on_commit(lambda: send_mail("Paid", text, None, [order.email]))
```

## When it is silent
The send waits for the commit or stands after the block, or the message is only stored in the same
database. Where the transaction is the lock of an atomic claim that is committed with the mark, it
is a note.

## Repair by framework
Django: `transaction.on_commit(...)` with the values bound (`partial`, not a lambda over a loop variable).
SQLAlchemy: send after `commit()` or after the `begin()` block.
Pyramid: a mailer that joins the transaction, or an after-commit hook.
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, fault, named, worst
from sendonce.checks.leaving import Leak, assumed, by_site, leaks, opens, shortest
from sendonce.findings import Severity
from sendonce.program.analysis import Analysis
from sendonce.program.following import Followed
from sendonce.program.paths import Path, place_of

CODE, NAME = "SO202", "send-in-transaction"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault for each call that leads to a send out of a function with an open transaction."""
    followed = Followed(analysis.claims, analysis.transactions)
    found = ((place_of(leak.transaction.site), leak) for leak in leaks(analysis) if _is_fault(leak))
    for place, group in by_site(found).items():
        shown = shortest(group)
        transaction = shown.transaction
        message = (
            f"{named(shown.path)} is sent while a transaction is open ({transaction.note}, line {transaction.line} of "
            f"{transaction.path}): if anything after it fails, the rows roll back, the mail stays sent, and the next "
            f"try sends it again"
        )
        yield fault(
            analysis,
            (CODE, NAME),
            [leak.path for leak in group],
            place,
            analysis.program.function(transaction.site.function).dotted,
            worst(_severity(leak.path, followed) for leak in group),
            message,
            "send after the commit: transaction.on_commit(...), or move the call behind the block",
            opens(group, "the transaction opens here"),
            assumes=assumed(group),
        )


def _is_fault(leak: Leak) -> bool:
    return leak.enqueue is None and leak.transaction.kind != "unit"


def _severity(path: Path, followed: Followed) -> Severity:
    """A note where the transaction is the lock of a claim and nothing but its commit can fail after the mail."""
    guard = path.mail.guard
    is_lock = guard is not None and guard.held_in_transaction and followed.on(path) is None
    return "note" if path.internal or is_lock else "warning"


RULE = Rule(CODE, NAME, __doc__, check)
