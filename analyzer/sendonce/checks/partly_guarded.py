"""SO103 partly-guarded.

## What it finds
A mail that one trigger reserves before it sends and another trigger sends without any reservation: only one of
them was mended.

## Why it doubles
The claim protects a mail only if every way to it asks for the same claim. The unguarded way neither takes the claim
nor respects it: whichever of the two comes second mails again.

## Bad
```python
def webhook(request):
    order = order_of(request)
    if Order.objects.filter(pk=order.pk, receipt_sent_at=None).update(receipt_sent_at=now()):
        send_receipt(order)

@shared_task
def reconcile():
    for order in settled_orders():
        send_receipt(order)
```

## Good
```python
def send_receipt(order):
    if Order.objects.filter(pk=order.pk, receipt_sent_at=None).update(receipt_sent_at=now()):
        send_mail("Your receipt", "x", None, [order.email])

def webhook(request):
    send_receipt(order_of(request))

@shared_task
def reconcile():
    for order in settled_orders():
        send_receipt(order)
```

## When it is silent
Every way is reserved, or none is (that is SO301). A read such as `exclude(sent=True)` is no reservation: alone it
makes no way a guarded one, and beside a real claim it does not protect. A resend that a user asks for is a note; so
is a mail with many ways of which few are reserved: what these claim is hardly the mail.

## Repair by framework
Move the claim into the function where all ways meet, right before the send: the conditional update, the unique
insert or SET NX that the guarded way uses, with the same key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from sendonce.checks.base import Fault, Rule, fault, is_asked, kind_name, named, send_place, triggers_of, worst
from sendonce.checks.two import is_trial
from sendonce.findings import Place, Related, Severity
from sendonce.program.analysis import Analysis
from sendonce.program.paths import Path, place_of
from sendonce.program.templates import identity
from sendonce.program.values import Call, ClassRef, walk
from sendonce.program.words import differ

CODE, NAME = "SO103", "partly-guarded"

FEW = 3
"""How many triggers may be unguarded for each guarded one: where more are, the claim is hardly the mail's own."""

_SEVERITY: dict[str, Severity] = {
    "webhook": "error",
    "cron": "error",
    "job": "error",
    "controller": "warning",
    "model_callback": "warning",
    "agent_tool": "warning",
}


class Pair(NamedTuple):
    """An unguarded path, a guarded one to the same mail, and whether the claim of that is surely the mail's own."""

    path: Path
    guarded: Path
    sure: bool


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault for each call by which a trigger leaves unguarded for mails that another one guards."""
    templates: dict[str, list[Path]] = {}
    for path in analysis.paths:
        template = path.mail.template
        if template is not None and template.value and template.confidence != "low" and path.trigger.kind != "unknown":
            templates.setdefault(identity(template.value), []).append(path)
    found: dict[Place, list[Pair]] = {}
    stored = cache(lambda path: frozenset(_stored(analysis, path)))
    for name in sorted(templates):
        guarded = [path for path in templates[name] if _reserves(analysis, path)]
        unguarded = [path for path in templates[name] if path.mail.guard is None]
        sure = len(triggers_of(unguarded)) <= FEW * len(triggers_of(guarded))
        for path in unguarded if guarded else ():
            other = next((one for one in guarded if _meet(analysis, one, path, stored)), None)
            if other is not None and not is_trial(path):
                found.setdefault(_leaves(path), []).append(Pair(path, other, sure))
    for place in sorted(found):
        yield _fault(analysis, place, found[place])


def _reserves(analysis: Analysis, path: Path) -> bool:
    """Whether a path is reserved for good by a claim that another path could ask for as well.

    The row of the recipient that a path makes itself is none: whoever comes later finds it there.
    """
    guard = path.mail.guard
    if guard is None or guard.passing or guard.implied:
        return False
    return not (guard.note.startswith("unique insert") and guard.prefix in set(_recipients(analysis, path)))


def _recipients(analysis: Analysis, path: Path) -> Iterator[str]:
    """The ids of the models of the rows that a path mails."""
    for part in walk(path.mail.recipient) if path.mail.recipient is not None else ():
        yield from (cls.id for cls in analysis.evaluator.types(part) if isinstance(cls, ClassRef))


def _meet(analysis: Analysis, guarded: Path, path: Path, stored: Callable[[Path], frozenset[str]]) -> bool:
    """Whether one event can go both ways: other triggers, one wording, and a stored row of the claimed model."""
    if guarded.trigger == path.trigger or differ(analysis.evaluator, guarded.mail, path.mail):
        return False
    guard = guarded.mail.guard
    model = guard.prefix.rpartition(".")[0] if guard is not None and not guard.parts else ""
    if model not in analysis.evaluator.program.class_ids:
        return True
    return model in stored(path)


def _stored(analysis: Analysis, path: Path) -> Iterator[str]:
    """The ids of the models of stored rows that the calls of a path work on; what was just made is not stored."""
    for index, site in enumerate(path.sites()):
        for part in walk(path.outward(index, site.call)):
            made = isinstance(part, Call) and isinstance(analysis.evaluator.resolve(part.func), ClassRef)
            if not made:
                yield from (cls.id for cls in analysis.evaluator.types(part) if isinstance(cls, ClassRef))


def _leaves(path: Path) -> Place:
    """The call in the trigger's own function by which a path leaves towards the send."""
    inside = (site for site in path.sites() if site.function == path.start.function)
    site = next(inside, None)
    return send_place(path) if site is None else place_of(site)


def _fault(analysis: Analysis, place: Place, pairs: list[Pair]) -> Fault:
    paths = list(dict.fromkeys(pair.path for pair in pairs))
    severity = worst(_severity(pair) for pair in pairs)
    shown, other, _ = min((pair for pair in pairs if _severity(pair) == severity), key=lambda pair: pair.path.length)
    assert other.mail.guard is not None
    message = (
        f"{named(shown)} is reserved on the way from the {kind_name(other.trigger.kind)} {other.trigger.function} "
        f"({other.mail.guard.note}), but the {kind_name(shown.trigger.kind)} {shown.trigger.function} sends it without "
        f"any reservation: one event that reaches both mails twice"
    )
    help = "move the claim into the helper where both ways meet, right before the send"
    guards = [path.mail.guard for _, path, _ in pairs if path.mail.guard is not None]
    related = [Related(Place(one.path, one.line), f"reserved on the other way: {one.note}") for one in guards]
    related += [Related(send_place(path), "sent here") for path in paths]
    function = shown.trigger.function
    return fault(analysis, (CODE, NAME), paths, place, function, severity, message, help, related, shown_from=[shown])


def _severity(pair: Pair) -> Severity:
    path = pair.path
    if path.internal or is_asked(path) or not pair.sure:
        return "note"
    return _SEVERITY.get(path.trigger.kind, "note")


RULE = Rule(CODE, NAME, __doc__, check)
