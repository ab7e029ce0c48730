"""SO307 reservation-can-roll-back.

## What it finds
A reservation made in a transaction that is still open when the mail is sent, and more work follows in it.

## Why it doubles
The reservation is a row like the others. When the work behind the mail fails, the transaction takes it
back, and the mail cannot be taken back: the next try claims again, wins, and sends again.

## Bad
```python
def cancel(order):
    with transaction.atomic():
        _, created = OrderMail.objects.get_or_create(order=order, kind="cancelled")
        if created:
            send_mail("Cancelled", text(order), None, [order.email])
        give_back(order)
```

## Good
```python
def cancel(order):
    with transaction.atomic():
        give_back(order)
    _, created = OrderMail.objects.get_or_create(order=order, kind="cancelled")
    if created:
        send_mail("Cancelled", text(order), None, [order.email])
```

## When it is silent
The claim is committed before the send, the send waits for the commit, or only the commit and the
claim's own mark follow the send.

## Repair by framework
Django: do the work first, or send in `transaction.on_commit(...)` inside the same block.
SQLAlchemy: commit the claim, then send; or send after the `begin()` block.
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, fault, named, severity_of, worst
from sendonce.findings import Place, Related
from sendonce.program.analysis import Analysis
from sendonce.program.following import Followed, Following
from sendonce.program.near import nearest, statement
from sendonce.program.paths import Path, place_of

CODE, NAME = "SO307", "reservation-can-roll-back"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault a claim, over all paths that it guards."""
    followed = Followed(analysis.claims, analysis.transactions)
    groups: dict[Place, tuple[Following, list[Path]]] = {}
    for path in analysis.paths:
        found = followed.on(path)
        if found is not None and path.mail.guard is not None:
            near = nearest(path, analysis.claims.claim_at)
            guard = path.mail.guard
            place = Place(guard.path, guard.line) if near is None else statement(analysis.claims, near)[1]
            groups.setdefault(place, (found, []))[1].append(path)
    for place, (found, paths) in sorted(groups.items(), key=lambda one: one[0]):
        claim = paths[0].mail.guard
        assert claim is not None
        opened, work = found.transaction, place_of(found.work)
        message = (
            f"{named(paths[0])} is sent while its reservation ({claim.note}) can still roll back: the transaction "
            f"({opened.note}, line {opened.line} of {opened.path}) goes on with line {work.line} of {work.path}, and "
            f"if that fails the reservation is gone, the mail is out, and the next try sends it again"
        )
        help = "commit the reservation before the send, or send after the commit: transaction.on_commit(...)"
        related = [
            Related(Place(opened.path, opened.line), "the transaction opens here"),
            Related(place_of(opened.site), "the mail leaves inside it"),
            Related(work, "work that follows"),
            Related(Place(claim.path, claim.line), "the claim"),
        ]
        name = analysis.program.function(claim.function).dotted
        severity = worst(map(severity_of, paths))
        assumes = [opened.assumes] if opened.assumes else []
        yield fault(
            analysis, (CODE, NAME), paths, place, name, severity, message, help, related, assumes=assumes
        )  # fmt: skip


RULE = Rule(CODE, NAME, __doc__, check, replaces=("SO301",))
