"""SO306 reservation-not-unique.

## What it finds
A get-or-create whose `created` decides the mail, or an insert whose conflict is caught, on fields that
no unique constraint covers.

## Why it doubles
Nothing but a constraint of the database keeps two rows apart. Without one, two runs at the same time
both find no row and both make one: `created` is true for both, and the conflict that the code waits
for never comes.

## Bad
```python
class Notice(models.Model):
    order = models.ForeignKey(Order, on_delete=models.CASCADE)
    kind = models.CharField(max_length=20)

def notify(order):
    _, created = Notice.objects.get_or_create(order=order, kind="shipped")
    if created:
        send_mail("On its way", text(order), None, [order.email])
```

## Good
```python
class Notice(models.Model):
    order = models.ForeignKey(Order, on_delete=models.CASCADE)
    kind = models.CharField(max_length=20)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["order", "kind"], name="once")]

def notify(order):
    _, created = Notice.objects.get_or_create(order=order, kind="shipped")
    if created:
        send_mail("On its way", text(order), None, [order.email])
```

## When it is silent
The fields cover a unique field, a `UniqueConstraint`, `unique_together`, the primary key, or a unique
index that a migration adds; or the model cannot be read, so that nothing is known of its constraints.

## Repair by framework
Django: a `UniqueConstraint` over exactly the fields of the look-up; what only fills the row goes into `defaults`.
SQLAlchemy: `UniqueConstraint` in `__table_args__`, and a migration that adds it.
SQL: `CREATE UNIQUE INDEX` on the columns, after the rows that are there twice have been merged.
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, fault, is_open, named, severity_of, worst
from sendonce.findings import Place, Related
from sendonce.program.analysis import Analysis
from sendonce.program.near import Near, flawed, model_place, parts_of, statement
from sendonce.program.paths import Path, place_of

CODE, NAME = "SO306", "reservation-not-unique"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault a claim, over all paths that it would guard."""
    groups: dict[Place, tuple[str, Near, list[Path]]] = {}
    for path in analysis.paths:
        near = flawed(analysis.claims, path, "not_unique") if is_open(path) else None
        if near is not None:
            function, place = statement(analysis.claims, near)
            groups.setdefault(place, (function, near, []))[2].append(path)
    for place, (function, near, paths) in sorted(groups.items(), key=lambda one: one[0]):
        claimed = near.claim.note.partition(" into ")[2]
        message = (
            f"{named(paths[0])} hangs on a row in {claimed} being new, but no unique constraint covers these fields: "
            f"two runs at once both make their row, and both send"
        )
        related = [Related(place_of(near.site), "the mail leaves here")]
        related.extend(parts_of(near.claim))
        model = model_place(analysis.claims, near.claim)
        if model is not None:
            related.insert(0, Related(model, "no constraint here covers the fields"))
        help = "make the fields unique together (a unique constraint on the model and a migration that adds it)"
        severity = worst(map(severity_of, paths))
        yield fault(analysis, (CODE, NAME), paths, place, function, severity, message, help, related)


RULE = Rule(CODE, NAME, __doc__, check, replaces=("SO301", "SO302", "SO303"))
