"""SO309 claim-released-before-send.

## What it finds
A lock or claim that made the check safe and is gone, or was never there, when the mail leaves: the
send stands behind the block that holds the lock, the row lock ended with its transaction, or the lock
or claim holds in one process or on one host only.

## Why it doubles
A lock remembers nothing. The next run gets it as soon as it is free, finds the mark not written yet,
and sends as well. A `threading.Lock`, Django's default cache or an SQLite file never was between two
workers: each has its own.

## Bad
```python
def send_receipt(order_id):
    with redis.lock(f"receipt:{order_id}", timeout=60):
        order = Order.objects.get(pk=order_id)
        if order.receipt_sent:
            return
    send_mail("Your receipt", text(order), None, [order.email])
    order.receipt_sent = True
    order.save()
```

## Good
```python
def send_receipt(order_id):
    with redis.lock(f"receipt:{order_id}", timeout=60):
        order = Order.objects.get(pk=order_id)
        if order.receipt_sent:
            return
        order.receipt_sent = True
        order.save()
    send_mail("Your receipt", text(order), None, [order.email])
```

## When it is silent
The mark is written, and committed, before the lock ends; or check, send and mark all stand inside it.

## Repair by framework
Django: set the mark inside the `atomic()` block that holds `select_for_update()`; set `CACHES` to a backend that
all processes share before relying on `cache.add`.
SQLAlchemy: commit the new state together with the lock, then send.
Redis: write the mark before leaving `lock(…)`, or use `set(key, 1, nx=True, ex=…)` and keep the key.
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, fault, is_open, named, severity_of, worst
from sendonce.findings import Place, Related
from sendonce.program.analysis import Analysis
from sendonce.program.early import Early
from sendonce.program.near import Near, flawed, nearest, statement
from sendonce.program.paths import Path, place_of
from sendonce.program.reservations import Flaw

CODE, NAME = "SO309", "claim-released-before-send"
_LOCAL: tuple[tuple[Flaw, str, str], ...] = (
    ("process", "holds in one process only: every other worker passes it", "more than one worker process"),
    ("host", "holds on one host only: a worker on another host passes it", "workers on more than one host"),
)


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault a call that leads to the mail, over all paths that the lock or claim would guard."""
    early = Early(analysis.claims)
    groups: dict[Place, tuple[Near, str, str, list[Path]]] = {}
    for path in analysis.paths:
        found = _found(analysis, path, early) if is_open(path) else None
        if found is not None:
            groups.setdefault(place_of(found[0].site), (*found, []))[3].append(path)
    for place, (near, why, assumes, paths) in sorted(groups.items(), key=lambda one: one[0]):
        function, claimed = statement(analysis.claims, near)
        message = f"{named(paths[0])} is not covered by what its check relies on: {near.claim.note} {why}"
        help = (
            "write and commit the mark before the lock ends, or send inside it"
            if not assumes
            else "claim the event where all workers look: a unique row, a conditional update, SET NX in a shared store"
        )
        related = [Related(claimed, f"the lock or claim, in {function}")]
        name = analysis.program.function(near.site.function).dotted
        severity = worst(map(severity_of, paths))
        given = (assumes,) if assumes else ()
        yield fault(
            analysis, (CODE, NAME), paths, place, name, severity, message, help, related, assumes=given
        )  # fmt: skip


def _found(analysis: Analysis, path: Path, early: Early) -> tuple[Near, str, str] | None:
    """The claim that does not reach as far as the mail of a path, why, and what that assumes."""
    near = nearest(path, early.left)
    if near is not None:
        return near, "ends before the mail leaves, and the mark is written only after it", ""
    for flaw, why, assumes in _LOCAL:
        near = flawed(analysis.claims, path, flaw)
        if near is not None:
            return near, why, assumes
    return None


RULE = Rule(CODE, NAME, __doc__, check, replaces=("SO301", "SO302", "SO303"))
