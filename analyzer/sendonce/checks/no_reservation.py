"""SO301 no-reservation.

## What it finds
A send that a trigger reaches without a reservation on the way: nothing that only one run can win
stands before the mail.

## Why it doubles
Webhooks are delivered at least once, jobs run again after a timeout or an error, schedules start
twice, forms are sent twice. Each such run is a new run of the same event, and without a claim that
the second run loses it mails again.

## Bad
```python
@shared_task(acks_late=True)
def send_receipt(order_id):
    order = Order.objects.get(pk=order_id)
    send_mail("Your receipt", render(order), None, [order.email])
```

## Good
```python
@shared_task(acks_late=True)
def send_receipt(order_id):
    claimed = Order.objects.filter(pk=order_id, receipt_sent_at=None).update(receipt_sent_at=now())
    if not claimed:
        return
    order = Order.objects.get(pk=order_id)
    send_mail("Your receipt", render(order), None, [order.email])
```

## When it is silent
Every way from the trigger to the send crosses an atomic claim: a unique insert whose conflict
leaves, `created` of a get-or-create backed by a unique constraint, a conditional update whose count
is tested, SET NX or `cache.add`, a row lock held around check, send and mark, a unique job key.

## Repair by framework
Django: `filter(pk=…, sent_at=None).update(sent_at=now())` and leave when it returns 0, or
`get_or_create` on a row with a `UniqueConstraint` and leave unless `created`.
SQLAlchemy: `insert(…).on_conflict_do_nothing()` and test `rowcount`, or `update(…).where(…)`.
Redis: `set(key, 1, nx=True, ex=…)` with a key made from the event, longer than all retries.
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import (
    Fault,
    Rule,
    by_place,
    fault,
    is_open,
    listed,
    named,
    send_place,
    severity_of,
    triggers_of,
    worst,
)
from sendonce.findings import Confidence, Place, Related, Severity
from sendonce.program.analysis import Analysis
from sendonce.program.held import Site
from sendonce.program.paths import Path

CODE, NAME = "SO301", "no-reservation"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault a send, over all triggers that reach it unguarded."""
    open_paths = [path for path in analysis.paths if is_open(path) and path not in explained]
    sends = {path.send: send_place(path) for path in open_paths}
    for place, paths in _once(by_place(open_paths, lambda path: _sent_at(path, sends))).items():
        severity = worst(map(_severity, paths))
        shown = [path for path in paths if _severity(path) == severity]
        shown = [path for path in shown if _is_named(path)] or shown
        message = (
            f"{named(shown[0])} is sent with no reservation before it: {listed(triggers_of(shown))} can run twice "
            f"for one event ({_why(shown)}), and nothing on the way lets only one run send"
        )
        passing = [path.mail.guard.passing for path in shown if path.mail.guard is not None]
        if len(passing) == len(shown):
            message = f"{named(shown[0])} is sent twice if {listed(triggers_of(shown))} runs again later: {passing[0]}"
        related = [Related(trigger.place, f"{trigger.kind} {trigger.function}") for trigger in triggers_of(paths)]
        related += [Related(other, "or sent here") for other in sorted({*map(send_place, paths)} - {place})]
        help = (
            "before the send, claim the event with something that only one run can win: a conditional update whose "
            "count is tested, an insert under a unique constraint whose conflict leaves, or SET NX / cache.add"
        )
        function = analysis.program.function(shown[0].send.function).dotted
        sure: Confidence | None = "medium" if len(passing) == len(shown) else None
        yield fault(
            analysis, (CODE, NAME), paths, place, function, severity, message, help, related, sure, shown_from=shown
        )


def _sent_at(path: Path, sends: dict[Site, Place]) -> Place:
    """Where the mail of a path is sent; one that nothing names is the mail at whose send its way begins."""
    outer = None if _is_named(path) else next((site for site in path.sites() if site in sends), None)
    return send_place(path) if outer is None else sends[outer]


def _once(groups: dict[Place, list[Path]]) -> dict[Place, list[Path]]:
    """The groups, with several calls by which one helper hands on mails that nothing names as one: the outermost.

    A helper may hand a mail to one of several servers, or try another way when one fails: for its callers it is one.
    """
    found: dict[Place, list[Path]] = {}
    for place, paths in sorted(groups.items(), key=lambda one: (_depth(one[1]), one[0])):
        home = None if any(map(_is_named, paths)) else _of_same_mail(found, paths)
        if home is None:
            found[place] = list(paths)
        else:
            found[home].extend(paths)
    return {place: found[place] for place in sorted(found)}


def _of_same_mail(found: dict[Place, list[Path]], paths: list[Path]) -> Place | None:
    """The group of nameless mails of the same triggers whose sends stand on the ways of these."""
    triggers = triggers_of(paths)
    for place, others in found.items():
        if not any(map(_is_named, others)) and set(triggers) <= set(triggers_of(others)):
            homes = {path.send.function for path in others}
            if all(not homes.isdisjoint(path.functions()) for path in paths):
                return place
    return None


def _is_named(path: Path) -> bool:
    return path.mail.template is not None and bool(path.mail.template.value)


def _depth(paths: list[Path]) -> int:
    """How many calls the sends are from their triggers, at least."""
    found = (path.functions().index(path.send.function) for path in paths if path.send.function in path.functions())
    return min(found, default=0)


_REPEATS = {
    "webhook": "the sender delivers an event again until it gets an answer",
    "cron": "two runs can overlap, and a run that died is started again",
    "job": "nobody known enqueues it, and each time that somebody does is one run",
    "controller": "a form sent twice, a request that the client repeats",
    "model_callback": "each save that calls it is one run",
    "agent_tool": "the model calls it again",
    "admin": "it is done twice by hand",
    "command": "it is started twice by hand",
}


def _severity(path: Path) -> Severity:
    """How bad an unguarded mail is. What repeats a job is told by the rules on retries: nothing known repeats these."""
    return "note" if path.trigger.kind == "job" else severity_of(path)


def _why(paths: list[Path]) -> str:
    """How the trigger of the first path comes to run twice."""
    trigger = triggers_of(paths)[0]
    if all(path.of_new_row for path in paths):
        return "each row that is made is one run"
    if all(path.of_new_row or path.of_change for path in paths):
        return "two saves that meet both find the change"
    return _REPEATS.get(trigger.kind, "nothing keeps its callers from calling it again")


RULE = Rule(CODE, NAME, __doc__, check)
