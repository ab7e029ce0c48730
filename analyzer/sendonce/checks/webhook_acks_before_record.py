"""SO503 webhook-acks-before-record.

## What it finds
A webhook that says "received" before anything was kept: it starts a thread or a background task and answers, or it
catches whatever fails and answers 200 all the same.

## Why it doubles
The sender forgets an event that was answered with 2xx. When the process dies, or the error was swallowed, the event is
gone and nothing tells whether its mail left: it is replayed by hand, and whoever had the mail already gets it twice.

## Bad
```python
@app.post("/payouts")
def payout_webhook():
    event = verified_json()
    try:
        store_event(event["id"])
        send_payout.delay(event["id"])
    except Exception:
        log.exception("payout %s", event["id"])
    return "", 200
```

## Good
```python
@app.post("/payouts")
def payout_webhook():
    event = verified_json()
    store_event(event["id"])
    send_payout.delay(event["id"])
    return "", 200
```

## When it is silent
The event, or the job made from it, was stored before the work is started or before the part that may fail; the handler
of the error stores it, raises, or answers with an error. Answering 200 to a repeat, or to a type that nobody wants, is
right.

## Repair by framework
FastAPI: insert the event in the handler, then `background_tasks.add_task(...)`; better a queue (arq, taskiq).
Flask, Django: let the error out, or answer 500, so that the sender delivers again; enqueue instead of `Thread(...)`.
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, fault, named, send_place
from sendonce.findings import Place, Related
from sendonce.program.acks import Swallowed
from sendonce.program.analysis import Analysis
from sendonce.program.paths import Path, place_of

CODE, NAME = "SO503", "webhook-acks-before-record"

_HELP = (
    "store the event (or enqueue a job on a durable queue) first; let an error out or answer with 500, so that the "
    "sender delivers the event again"
)


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault a start of work, and one an answer."""
    started: dict[Place, list[Path]] = {}
    swallowed: dict[Place, list[tuple[Path, Swallowed]]] = {}
    for path in analysis.paths:
        if path.trigger.kind != "webhook":
            continue
        early = analysis.acks.early(path)
        if early is not None:
            started.setdefault(place_of(early.site), []).append(path)
        for one in analysis.acks.swallowed(path):
            swallowed.setdefault(one.answer, []).append((path, one))
    yield from (_started(analysis, place, started[place]) for place in sorted(started))
    yield from (_swallowed(analysis, place, swallowed[place]) for place in sorted(swallowed))


def _started(analysis: Analysis, place: Place, group: list[Path]) -> Fault:
    shown = min(group, key=lambda path: path.length)
    message = (
        f"the webhook {shown.trigger.function} starts the work that sends {named(shown)} in its own process and "
        f"answers before anything was stored: if the process dies the event is lost, and whoever replays it cannot "
        f"tell whether the mail left"
    )
    related = [Related(send_place(path), "sends here") for path in group]
    return _fault(analysis, group, place, message, related)


def _swallowed(analysis: Analysis, place: Place, group: list[tuple[Path, Swallowed]]) -> Fault:
    shown, one = min(group, key=lambda pair: pair[0].length)
    message = (
        f"the webhook {shown.trigger.function} answers with success although an error of what leads to {named(shown)} "
        f"was caught ({one.handler.path}:{one.handler.line}) and nothing was stored: the sender does not deliver the "
        f"event again, and whoever replays it cannot tell whether the mail left"
    )
    related = [Related(place_of(one.failed), "what may fail") for _, one in group]
    related += [Related(Place(one.handler.path, one.handler.line), "the handler") for _, one in group]
    return _fault(analysis, [path for path, _ in group], place, message, related)


def _fault(analysis: Analysis, paths: list[Path], place: Place, message: str, related: list[Related]) -> Fault:
    function = min(paths, key=lambda path: path.length).trigger.function
    return fault(analysis, (CODE, NAME), paths, place, function, "warning", message, _HELP, related)


RULE = Rule(CODE, NAME, __doc__, check)
