"""SO303 check-then-act.

## What it finds
A mail whose only guard is a read: a flag is tested, a row or key is looked for, a set in memory is
asked, and the mark that would change the answer is a later write.

## Why it doubles
Two runs for one event both read before either has written. Both find that nothing was sent, both
send. A run that dies between the mail and the mark leaves no mark, and the next one sends again.

## Bad
```python
@shared_task
def send_receipt(order_id):
    order = Order.objects.get(pk=order_id)
    if order.receipt_sent_at is not None:
        return
    send_mail("Your receipt", text(order), None, [order.email])
    order.receipt_sent_at = now()
    order.save(update_fields=["receipt_sent_at"])
```

## Good
```python
@shared_task
def send_receipt(order_id):
    if not Order.objects.filter(pk=order_id, receipt_sent_at=None).update(receipt_sent_at=now()):
        return
    order = Order.objects.get(pk=order_id)
    send_mail("Your receipt", text(order), None, [order.email])
```

## When it is silent
The read stands under a row lock that is held until the mark is committed, or an atomic claim follows
it: a conditional update whose count is tested, a unique insert whose conflict leaves, SET NX.
A test of what the run itself never changes (a preference, a role) is no guard.

## Repair by framework
Django: `filter(pk=…, sent_at=None).update(sent_at=now())` and leave when it returns 0; or
`get_or_create` under a `UniqueConstraint` and leave unless `created`.
SQLAlchemy: `update(…).where(…, sent_at.is_(None))` and test `rowcount`, or `with_for_update()` until the mark is
committed. Redis and caches: `set(key, 1, nx=True, ex=…)` or `cache.add` instead of `get` and `set`.
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, fault, is_open, listed, named, send_place, severity_of, triggers_of, worst
from sendonce.findings import Place, Related, weakest
from sendonce.program.analysis import Analysis
from sendonce.program.memory import Guarding
from sendonce.program.paths import Path

CODE, NAME = "SO303", "check-then-act"

Found = tuple[Path, Guarding]


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault a check, over all paths that it guards."""
    groups: dict[Place, list[Found]] = {}
    for path in analysis.paths:
        if is_open(path) and path not in explained:
            guarding = _first(analysis, path)
            if guarding is not None:
                groups.setdefault(guarding.check.place, []).append((path, guarding))
    for place in sorted(groups):
        yield _fault(analysis, place, groups[place])


def _first(analysis: Analysis, path: Path) -> Guarding | None:
    """The check of a path to speak of: the surest, the innermost of these."""
    about = analysis.records.about
    found = [one for one in analysis.memory.guards(path) if about.is_about(path, one)]
    sure = [one for one in found if one.confidence == "high"]
    best = sure or found
    return best[-1] if best else None


def _fault(analysis: Analysis, place: Place, group: list[Found]) -> Fault:
    paths = [path for path, _ in group]
    severity = worst(map(severity_of, paths))
    shown = [one for one in group if severity_of(one[0]) == severity]
    path, guarding = min(shown, key=lambda one: one[0].length)
    spot = guarding.mark.written.spot.shown
    order = "after the mail" if guarding.mark.after else "later, in a second step"
    message = (
        f"{named(path)} is guarded by a read only: {spot} is looked at here and written {order} "
        f"({guarding.mark.place.path}:{guarding.mark.place.line}), so two runs of {listed(triggers_of(paths))} "
        f"for one event both find it unset and both send"
    )
    help = (
        "make check and mark one step that only one run can win, before the mail: a conditional update whose count "
        "is tested, an insert under a unique constraint whose conflict leaves, SET NX / cache.add, or a row lock "
        "that is held until the mark is committed"
    )
    related = [Related(send_place(one), "sends here") for one in paths]
    related += [Related(one.mark.place, "the mark") for _, one in group]
    related += [Related(inner, "what is read") for _, one in group for inner in one.check.inner]
    related += [Related(query, "what is read") for _, one in group for query in _queries(one)]
    sure = max((weakest(one.confidence, guarding.confidence) for one, guarding in group), key=_rank)
    function = analysis.program.function(guarding.checked.function).dotted
    return fault(
        analysis, (CODE, NAME), paths, place, function, severity, message, help, related, sure,
        shown_from=[one for one, _ in shown],
    )  # fmt: skip


def _rank(confidence: str) -> int:
    return ("low", "medium", "high").index(confidence)


def _queries(guarding: Guarding) -> Iterator[Place]:
    """The queries that the check tests, where they stand on lines of their own."""
    for read in guarding.check.reads:
        at = getattr(read.part, "at", None)
        if at is not None and read.spot.meets(guarding.mark.written.spot):
            yield Place(*at)


RULE = Rule(CODE, NAME, __doc__, check, replaces=("SO301", "SO302"))
