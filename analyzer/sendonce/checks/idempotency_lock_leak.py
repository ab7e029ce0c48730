"""SO612 idempotency-lock-leak.

## What it finds
A mail API's own idempotency layer whose claim on the client's key does not hold as it should: it never runs out, it
runs out sooner than the work's own timeout, or it is released before the result is stored.

## Why it doubles
A process that dies between claim and result leaves a key in progress for ever: the client gets nowhere with it, comes
back under a new key, and mails again. A claim that ends too soon lets the client's repeat in while the first request
is still at work, or has worked and not yet said so.

## Bad
```python
@app.post("/mails")
def create_mail():
    name = "idem:" + request.headers["Idempotency-Key"]
    if not kv.setnx(name, "working"):
        return earlier(name)
    body = {"id": transmit(request.get_json())}
    kv.set(name, json.dumps(body), ex=86400)
    return body
```

## Good
```python
@app.post("/mails")
def create_mail():
    name = "idem:" + request.headers["Idempotency-Key"]
    if not kv.set(name, "working", nx=True, ex=900):
        return earlier(name)
    body = {"id": transmit(request.get_json())}
    kv.set(name, json.dumps(body), ex=86400)
    return body
```

## When it is silent
The claim runs out by itself, well after the longest that the work may take, and stands until the result is stored in
its place. A claim that is the result itself, with nothing stored behind the work, is told by other rules. Counters and
other keys beside it are nobody's claim.

## Repair by framework
Redis: `set(name, value, nx=True, ex=900)`, never `setnx` alone; overwrite it with the result. Django: `cache.add(name,
value, timeout=900)`. Locks: a `timeout`, and the result stored inside the block.
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, fault, named, send_place
from sendonce.findings import Place, Related
from sendonce.program.analysis import Analysis
from sendonce.program.holding import Leak
from sendonce.program.idempotency import Layer
from sendonce.program.paths import Path, place_of

CODE, NAME = "SO612", "idempotency-lock-leak"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault a claim, over all mails behind its layer."""
    groups: dict[Place, list[tuple[Layer, Leak]]] = {}
    for layer in analysis.idempotency.layers(analysis.paths):
        leak = analysis.holding.leak(layer)
        if leak is not None:
            groups.setdefault(leak.claim.place, []).append((layer, leak))
    yield from (_fault(analysis, place, groups[place]) for place in sorted(groups))


def _fault(analysis: Analysis, place: Place, group: list[tuple[Layer, Leak]]) -> Fault:
    paths = [path for layer, _ in group for path in layer.paths]
    leak = group[0][1]
    shown = min(paths, key=lambda path: path.length)
    message = (
        f"the claim on a client's idempotency key {leak.why}: a request that dies or takes long before its result is "
        f"stored leaves the client with no way but to ask again, and {named(shown)} is sent twice"
    )
    help = (
        "claim the key with an expiry well above the work's own timeout (SET NX EX, cache.add with a timeout), and "
        "overwrite the claim with the result instead of releasing it first"
    )
    related = [Related(place_of(one.shown), "shown by this") for _, one in group if one.shown is not None]
    related += [Related(one.place, "the result") for layer, _ in group for one in layer.of("store", after=True)]
    related += [Related(send_place(path), "sends here") for path in paths]
    return fault(analysis, (CODE, NAME), paths, place, leak.claim.function, "warning", message, help, related)


RULE = Rule(CODE, NAME, __doc__, check)
