"""SO602 key-per-attempt.

## What it finds
An idempotency key for the mail provider that is made inside the part that a retry repeats, so that every attempt has a
new one.

## Why it doubles
The provider drops the repetition of a request that carries the same key. An attempt whose answer was lost may have
been accepted; the next one comes under another key and is a new message.

## Bad
```python
@tenacity.retry(stop=tenacity.stop_after_attempt(4))
def deliver(message):
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    requests.post("https://api.resend.com/emails", json=message, headers=headers, timeout=10).raise_for_status()
```

## Good
```python
@tenacity.retry(stop=tenacity.stop_after_attempt(4))
def deliver(message, key):
    headers = {"Idempotency-Key": key}
    requests.post("https://api.resend.com/emails", json=message, headers=headers, timeout=10).raise_for_status()
```

## When it is silent
The key is made outside the retried part and passed in, or is made of what names the event. A client that sends the
failed request again sends the same key. A key that no retry is known for is SO304's.

## Repair by framework
tenacity, backoff, stamina, loops: make the key in the caller, of the event's id and the mail's kind.
Celery, RQ, huey, dramatiq, arq: make it of the job's arguments, or pass it as one of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, fault, is_open, named, send_place, severity_of, worst
from sendonce.checks.keys import differs, place_of_key
from sendonce.findings import Place, Related
from sendonce.program.analysis import Analysis
from sendonce.program.keyattempts import repeated
from sendonce.program.paths import Path, place_of
from sendonce.program.repeating import Repeated
from sendonce.program.unsteady import Unsteady, UnsteadyKeys

CODE, NAME = "SO602", "key-per-attempt"

Found = tuple[Path, Unsteady, Repeated]


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault an expression that makes a key, over all paths whose retry makes it anew."""
    keys = UnsteadyKeys(analysis.claims)
    groups: dict[Place, list[Found]] = {}
    for path in analysis.paths:
        key = keys.on(path) if is_open(path) else None
        retry = repeated(analysis.repeating, path, key) if key is not None and key.provider else None
        if key is not None and retry is not None:
            groups.setdefault(place_of_key(key), []).append((path, key, retry))
    for place in sorted(groups):
        yield _fault(analysis, place, groups[place])


def _fault(analysis: Analysis, place: Place, group: list[Found]) -> Fault:
    paths = [path for path, *_ in group]
    path, key, retry = min(group, key=lambda one: one[0].length)
    message = (
        f"each attempt to send {named(path)} carries another idempotency key: {differs(key)}, inside what is repeated "
        f"after an error ({retry.repetition.note}), so the provider takes every attempt for a new message"
    )
    help = "make the key outside the repeated part, of what names the event, and pass it in"
    related = [Related(one.repetition.place, "repeats it") for *_, one in group]
    related += [Related(Place(*one.source), "what differs each time") for _, one, _ in group]
    related += [Related(place_of(one.site), "the key is passed here") for _, one, _ in group]
    related += [Related(send_place(one), "sends here") for one in paths]
    function = key.made.function if key.made is not None else analysis.program.function(key.site.function).dotted
    severity = worst(map(severity_of, paths))
    return fault(analysis, (CODE, NAME), paths, place, function, severity, message, help, related)


RULE = Rule(CODE, NAME, __doc__, check, replaces=("SO301", "SO304"))
