"""SO502 webhook-sends-before-reply.

## What it finds
A webhook whose handler talks to the mail provider itself, before it answers.

## Why it doubles
The sender of a webhook waits some seconds for the answer. A mail server that is slow for once makes it hang up and
deliver the event again, while the first delivery is still at work, has mailed already, or fails after the mail.
How long a delivery takes must not hang on a third party.

## Bad
```python
def payment_webhook(request):
    event = verified(request)
    _, new = HookEvent.objects.get_or_create(event_id=event["id"])
    if new:
        send_mail("Your receipt", text(event), None, [event["email"]])
    return HttpResponse()
```

## Good
```python
def payment_webhook(request):
    event = verified(request)
    _, new = HookEvent.objects.get_or_create(event_id=event["id"])
    if new:
        send_receipt.delay(event["id"])
    return HttpResponse()
```

## When it is silent
The handler only records the event and enqueues a job, or defers the mail until it has recorded and answered. A mail
that is stored for a later run of a mailer is no send.

## Repair by framework
Django: `send_receipt.delay_on_commit(event_id)` or a task of django.tasks after the event is stored.
FastAPI, Starlette: enqueue to arq, taskiq or dramatiq once the event's row is committed.
Flask: `queue.enqueue(send_receipt, event_id)` (RQ) or a Celery task, then return 200.
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, by_place, fault, named, send_place
from sendonce.findings import Related, Severity
from sendonce.program.analysis import Analysis
from sendonce.program.held import Site
from sendonce.program.link import Crossing
from sendonce.program.paths import Path, place_of

CODE, NAME = "SO502", "webhook-sends-before-reply"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault a call of the handler, over all mails that it leads to."""
    paths = [path for path in analysis.paths if path.trigger.kind == "webhook" and _is_inline(analysis, path)]
    for place, group in by_place(paths, lambda path: place_of(_left(analysis, path))).items():
        shown = min(group, key=lambda path: path.length)
        provider = shown.mail.provider
        message = (
            f"the webhook {shown.trigger.function} sends {named(shown)} itself before it answers "
            f"({provider.api} at {provider.site.path}:{provider.site.at[0]}): when the mail server is slow the sender "
            f"of the event gives up waiting and delivers it again"
        )
        help = "record the event, enqueue a job that sends the mail, and answer at once"
        severity: Severity = "note" if all(path.internal for path in group) else "warning"
        related = [Related(send_place(path), "sends here") for path in group]
        yield fault(
            analysis, (CODE, NAME), group, place, shown.trigger.function, severity, message, help, related
        )  # fmt: skip


def _is_inline(analysis: Analysis, path: Path) -> bool:
    """Whether the provider is called in the handler's own run, and waited for."""
    return path.mail.provider.delivery == "now" and all(_is_waited_for(analysis, one) for one in path.crossings())


def _is_waited_for(analysis: Analysis, crossing: Crossing) -> bool:
    if crossing.hop == "thread":
        return analysis.awaits.is_awaited(crossing.site)
    return crossing.hop in ("call", "signal")


def _left(analysis: Analysis, path: Path) -> Site:
    """The call in the handler that leads to the send; for a handler that is wrapped, in the function inside."""
    sites = list(path.sites())
    own = (one for one in sites if analysis.program.function(one.function).dotted == path.trigger.function)
    inside = (one for one in sites if one.function == path.start.function)
    return next(own, None) or next(inside, sites[0])


RULE = Rule(CODE, NAME, __doc__, check)
