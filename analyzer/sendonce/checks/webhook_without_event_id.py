"""SO501 webhook-without-event-id.

## What it finds
A webhook that reaches a send without having stored, under a unique constraint, which delivery it is:
neither the event's id nor a unique business object made from it, or stored and never asked whether
it was new.

## Why it doubles
Providers deliver at least once: a slow answer, a timeout or a 500 brings the same event again, for
days. Without a record that only the first delivery can make, each delivery mails.

## Bad
```python
def stripe_webhook(request):
    event = stripe.Webhook.construct_event(request.body, signature, secret)
    send_receipt(event["data"]["object"])
    return HttpResponse()
```

## Good
```python
def stripe_webhook(request):
    event = stripe.Webhook.construct_event(request.body, signature, secret)
    _, new = StripeEvent.objects.get_or_create(event_id=event["id"])  # event_id is unique
    if new:
        send_receipt(event["data"]["object"])
    return HttpResponse()
```

## When it is silent
Any reservation stands on every way from the handler to the send: the event id or a unique business
object inserted and tested, a conditional update whose count is tested, a row lock held. A record that only one host
sees (an SQLite file) is SO309.

## Repair by framework
Django: `get_or_create(event_id=…)` on a unique field, and return unless it was created.
SQLAlchemy: insert the id, `on_conflict_do_nothing`, and return unless a row came back.
Redis: `set(event_id, 1, nx=True, ex=…)` for longer than the provider repeats (Stripe: three days).
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, by_place, fault, named, send_place
from sendonce.findings import Place, Related
from sendonce.program.analysis import Analysis
from sendonce.program.near import flawed
from sendonce.program.paths import Path

CODE, NAME = "SO501", "webhook-without-event-id"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault a handler, over all sends that it reaches unguarded."""
    open_paths = (path for path in analysis.paths if path.trigger.kind == "webhook" and path.mail.guard is None)
    paths = [path for path in open_paths if flawed(analysis.claims, path, "host") is None]
    for place, group in by_place(paths, _place).items():
        shown = min(group, key=lambda path: path.length)
        message = (
            f"the webhook {shown.trigger.function} sends {named(shown)} without storing which delivery it is: the "
            f"provider delivers an event at least once, and every delivery mails again"
        )
        help = (
            "first insert the event's id under a unique constraint (or claim the business object with a conditional "
            "update), and leave unless this delivery won"
        )
        related = [Related(send_place(path), "sends here") for path in group]
        yield fault(analysis, (CODE, NAME), group, place, shown.trigger.function, "error", message, help, related)


def _place(path: Path) -> Place:
    return path.trigger.place


RULE = Rule(CODE, NAME, __doc__, check, replaces=("SO301",))
