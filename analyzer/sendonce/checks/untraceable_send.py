"""SO701 untraceable-send.

## What it finds
A mail that leaves without a log line before it that says for whom or for which object, and which mail or event it is.

## Why it doubles
It does not: but when a mail went out twice, nothing tells which event, which run and which of several ways sent it.
What cannot be traced is sent again by hand, or never mended.

## Bad
```python
@shared_task
def send_receipt(order_id):
    order = Order.objects.get(pk=order_id)
    send_mail("Your receipt", text(order), None, [order.email])
```

## Good
```python
@shared_task
def send_receipt(order_id):
    order = Order.objects.get(pk=order_id)
    log.info("sending receipt", extra={"order_id": order.pk, "template": "receipt"})
    send_mail("Your receipt", text(order), None, [order.email])
```

## When it is silent
In the run that sends, a line that is surely written before the send carries an id (of the run, the request, the event
or the object) and the template, the event or a word for it, by itself or by what is bound to the logger.

## Repair by framework
Anywhere: one line right before the provider's call, in the helper that all sends share, with the template's name and
the id that it was given. structlog: `bind_contextvars(order_id=...)` at the trigger. Celery: the task's own request id.
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, by_place, fault, listed, named, triggers_of
from sendonce.findings import Related
from sendonce.program.analysis import Analysis
from sendonce.program.paths import Path, place_of

CODE, NAME = "SO701", "untraceable-send"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One note a provider call, over all paths that write no such line."""
    paths = [path for path in analysis.paths if not analysis.log_lines.is_traced(path)]
    for place, group in by_place(paths, lambda path: place_of(path.mail.provider.site)).items():
        triggers = triggers_of(group)
        message = (
            f"{named(group[0])} leaves here without a log line before it that carries an id and the mail's name: when "
            f"it arrives twice, nothing tells which run of {listed(triggers)} sent it"
        )
        help = "log the template or event and the id of the object, run or event right before the provider's call"
        related = [Related(trigger.place, f"{trigger.kind} {trigger.function}") for trigger in triggers]
        function = analysis.program.function(group[0].mail.provider.site.function).dotted
        yield fault(analysis, (CODE, NAME), group, place, function, "note", message, help, related)


RULE = Rule(CODE, NAME, __doc__, check)
