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

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, by_place, fault, kind_name, named, send_place, triggers_of, worst
from sendonce.checks.multiple_trigger_paths import is_asked
from sendonce.findings import Place, Related, Severity
from sendonce.program.analysis import Analysis
from sendonce.program.mail import Guard
from sendonce.program.paths import Path, place_of
from sendonce.program.templates import identity

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


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault for each call by which a trigger leaves unguarded for a mail that another one guards."""
    templates: dict[str, list[Path]] = {}
    for path in analysis.paths:
        template = path.mail.template
        if template is not None and template.value and template.confidence != "low" and path.trigger.kind != "unknown":
            templates.setdefault(identity(template.value), []).append(path)
    for name in sorted(templates):
        guarded = [path for path in templates[name] if _reserves(path.mail.guard)]
        unguarded = [path for path in templates[name] if path.mail.guard is None]
        sure = len(triggers_of(unguarded)) <= FEW * len(triggers_of(guarded))
        for place, paths in by_place(unguarded, _leaves).items() if guarded else ():
            others = [path for path in guarded if path.trigger not in triggers_of(paths)]
            if others:
                yield _fault(analysis, place, paths, others, sure)


def _reserves(guard: Guard | None) -> bool:
    """Whether a path is reserved for good, by something that the code asks for."""
    return guard is not None and not guard.passing and not guard.implied


def _leaves(path: Path) -> Place:
    """The call in the trigger's own function by which a path leaves towards the send."""
    inside = (site for site in path.sites() if site.function == path.start.function)
    site = next(inside, None)
    return send_place(path) if site is None else place_of(site)


def _fault(analysis: Analysis, place: Place, paths: list[Path], guarded: list[Path], sure: bool) -> Fault:
    shown = min(paths, key=lambda path: path.length)
    other = min(guarded, key=lambda path: path.length)
    assert other.mail.guard is not None
    message = (
        f"{named(shown)} is reserved on the way from the {kind_name(other.trigger.kind)} {other.trigger.function} "
        f"({other.mail.guard.note}), but the {kind_name(shown.trigger.kind)} {shown.trigger.function} sends it without "
        f"any reservation: one event that reaches both mails twice"
    )
    help = "move the claim into the helper where both ways meet, right before the send"
    guards = [path.mail.guard for path in guarded if path.mail.guard is not None]
    related = [Related(Place(one.path, one.line), f"reserved on the other way: {one.note}") for one in guards]
    related += [Related(send_place(path), "sent here") for path in paths]
    severity = worst(_severity(path) for path in paths) if sure else "note"
    function = shown.trigger.function
    return fault(analysis, (CODE, NAME), paths, place, function, severity, message, help, related)


def _severity(path: Path) -> Severity:
    if path.mail.provider.internal or is_asked(path):
        return "note"
    return _SEVERITY.get(path.trigger.kind, "note")


RULE = Rule(CODE, NAME, __doc__, check)
