"""SO601 no-idempotency-key.

## What it finds
A call of a mail provider that takes an idempotency key and is given none, where nothing else keeps a repeated run from
sending.

## Why it doubles
The provider drops a request that repeats the key of an earlier one. Without a key it cannot tell a repetition from a
new message: a job that is run again, a webhook that is delivered again and a form that is sent twice each mail again.

## Bad
```python
@shared_task(autoretry_for=(OSError,))
def send_receipt(order_id):
    order = Order.objects.get(pk=order_id)
    resend.Emails.send({"from": SENDER, "to": [order.email], "subject": "Your receipt"})
```

## Good
```python
@shared_task(autoretry_for=(OSError,))
def send_receipt(order_id):
    order = Order.objects.get(pk=order_id)
    message = {"from": SENDER, "to": [order.email], "subject": "Your receipt"}
    resend.Emails.send(message, {"idempotency_key": f"receipt/{order.pk}"})
```

## When it is silent
A reservation stands before the call, or a key is passed; one that differs on every attempt is SO304's or SO602's.
Where the headers or options come from elsewhere and cannot be seen, nothing is said. Providers that document no key
(Amazon SES, SendGrid, Postmark, Mailgun, SMTP servers) are never named.

## Repair by framework
Resend: `Emails.send(message, {"idempotency_key": key})`, by HTTP the header `Idempotency-Key`; Loops, Courier, Knock
and others take the same header or an argument `idempotency_key`. Make the key of the event's id and the mail's kind.
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, by_place, fault, is_open, listed, named, severity_of, triggers_of, worst
from sendonce.findings import Place, Related, Severity
from sendonce.program.analysis import Analysis
from sendonce.program.paths import Path, place_of
from sendonce.program.values import Call

CODE, NAME = "SO601", "no-idempotency-key"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault a call of a provider, over all unguarded paths that reach it without a key."""
    found = [path for path in analysis.paths if is_open(path) and _lacks_key(analysis, path)]
    for place, paths in by_place(found, _call_place).items():
        yield _fault(analysis, place, paths)


def _call_place(path: Path) -> Place:
    return place_of(path.mail.provider.site)


def _lacks_key(analysis: Analysis, path: Path) -> bool:
    """Whether the provider would take a key, and surely gets none on a path."""
    provider = path.mail.provider
    if not provider.takes:
        return False
    call = path.outward(len(list(path.crossings())), provider.site.call)
    return analysis.claims.provider_keys.lacks(provider.site, call if isinstance(call, Call) else provider.site.call)


def _fault(analysis: Analysis, place: Place, paths: list[Path]) -> Fault:
    severity: Severity = "warning" if worst(map(severity_of, paths)) != "note" else "note"
    shown = [path for path in paths if severity == "note" or severity_of(path) != "note"]
    provider = shown[0].mail.provider
    message = (
        f"{named(shown[0])} goes to {provider.provider} without an idempotency key ({provider.takes}): if "
        f"{listed(triggers_of(shown))} runs twice for one event, the provider cannot tell the second request from a "
        f"new message"
    )
    help = f"pass {provider.takes}, made of what names the event (its id and the mail's kind), the same each time"
    related = [Related(trigger.place, f"{trigger.kind} {trigger.function}") for trigger in triggers_of(paths)]
    function = analysis.program.function(provider.site.function).dotted
    return fault(analysis, (CODE, NAME), paths, place, function, severity, message, help, related, shown_from=shown)


RULE = Rule(CODE, NAME, __doc__, check)
