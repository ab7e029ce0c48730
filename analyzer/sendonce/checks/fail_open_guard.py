"""SO310 fail-open-guard.

## What it finds
A claim that stands before a send and cannot stop it: the `except` around it answers "not sent yet" or
goes on to the mail, or nobody looks at what the claim answered.

## Why it doubles
The run that lost the claim mails as the winner does. A handler that lets the run go on when the store
cannot be asked gives every retry of an outage its mail; a conflict that is only logged gives every
repetition one; a `get_or_create` whose `created` is dropped tells the two apart for nobody.

## Bad
```python
def claim(key):
    try:
        return bool(redis.set(key, 1, nx=True, ex=86400))
    except redis.RedisError:
        return True

def send_ticket(order):
    if claim(f"ticket:{order.pk}"):
        send_mail("Your ticket", text(order), None, [order.email])
```

## Good
```python
def claim(key):
    return bool(redis.set(key, 1, nx=True, ex=86400))

def send_ticket(order):
    if claim(f"ticket:{order.pk}"):
        send_mail("Your ticket", text(order), None, [order.email])
```

## When it is silent
The failure is raised, or answers "do not send"; the conflict leaves; the result of the claim decides. A
get-or-create whose row is used, written by hand or called, fetches the row and is no guard. What a
webhook does with its own record is SO501.

## Repair by framework
Django: `except IntegrityError: return`, and `_, created = get_or_create(…)` with `if not created: return`.
SQLAlchemy: leave when `rowcount` of `on_conflict_do_nothing()` is 0, and after `except IntegrityError`.
Redis: let `RedisError` rise, so that the job fails before the mail and is repeated when the store is back.
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, fault, is_open, named, severity_of, worst
from sendonce.findings import Place, Related
from sendonce.program.analysis import Analysis
from sendonce.program.dropped import Dropped
from sendonce.program.near import FailOpen, Open, parts_of
from sendonce.program.paths import Path, place_of

CODE, NAME = "SO310", "fail-open-guard"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault a handler, or a claim whose result is lost, over all paths that it would guard."""
    handlers = FailOpen(analysis.claims, analysis.program)
    dropped = Dropped(analysis.claims)
    groups: dict[tuple[Place, bool], list[tuple[Path, Open]]] = {}
    for path in analysis.paths:
        if not is_open(path):
            continue
        for found, by_handler in ((handlers.on(path), True), (dropped.on(path), False)):
            if found is not None and not _is_record(analysis, path, found):
                groups.setdefault((found.place, by_handler), []).append((path, found))
                break
    for (place, by_handler), group in sorted(groups.items(), key=lambda one: one[0]):
        yield _fault(analysis, place, by_handler, group)


def _is_record(analysis: Analysis, path: Path, found: Open) -> bool:
    """Whether the claim is what a webhook does before it enqueues or sends: its own record."""
    if path.trigger.kind != "webhook":
        return False
    for crossing in path.crossings():
        if crossing.site is found.near.site:
            return True
        if crossing.hop != "call":
            return False
    return True


def _fault(analysis: Analysis, place: Place, by_handler: bool, group: list[tuple[Path, Open]]) -> Fault:
    path, found = group[0]
    claim = found.near.claim
    where = f"{claim.note}, line {claim.line} of {claim.path}"
    if by_handler:
        message = (
            f"{named(path)} goes out although its claim failed: this handler lets the run go on, so the run that the "
            f"claim ({where}) did not let through sends as well"
        )
        help = "leave here, or let the error rise, so that the run ends before the mail"
    else:
        message = (
            f"{named(path)} goes out whatever its claim answers: nothing looks at the result of {where}, so a run that "
            f"lost it sends as well"
        )
        help = "test what the claim answers (created, the count, the result of SET NX) and leave unless this run won"
    related = [*parts_of(claim), Related(place_of(found.near.site), "the mail leaves")]
    paths = [one for one, _ in group]
    severity = worst(map(severity_of, paths))
    return fault(analysis, (CODE, NAME), paths, place, found.function, severity, message, help, related)


RULE = Rule(CODE, NAME, __doc__, check, replaces=("SO301", "SO302", "SO303"))
