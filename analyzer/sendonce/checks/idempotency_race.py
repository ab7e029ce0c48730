"""SO611 idempotency-race.

## What it finds
A mail API's own idempotency layer that reads the client's key and writes it in a later step, with nothing between that
only one request can win.

## Why it doubles
A client that repeats a request because the answer is late sends it while the first one is still at work. Both requests
read nothing under the key, both write it, both send.

## Bad
```python
@app.post("/mails")
def create_mail():
    name = "idem:" + request.headers["Idempotency-Key"]
    saved = kv.get(name)
    if saved:
        return json.loads(saved)
    body = {"id": transmit(request.get_json())}
    kv.set(name, json.dumps(body), ex=86400)
    return body
```

## Good
```python
@app.post("/mails")
def create_mail():
    name = "idem:" + request.headers["Idempotency-Key"]
    if not kv.set(name, "working", nx=True, ex=3600):
        return earlier(name)
    body = {"id": transmit(request.get_json())}
    kv.set(name, json.dumps(body), ex=86400)
    return body
```

## When it is silent
The key is claimed before the work by one step that only one request wins: SET NX or `cache.add` whose answer is looked
at, a unique insert whose conflict leaves, a row lock around read, work and write. A read that follows a lost claim, or
that only shows a stored result on a route of its own, is no guard.

## Repair by framework
Redis: `set(name, "working", nx=True, ex=...)`, and read only after it was lost. Django: `get_or_create(key=...)` on a
unique field, or `cache.add`. SQLAlchemy: insert with `on_conflict_do_nothing()` and look at the count of rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, fault, named, send_place
from sendonce.findings import Place, Related
from sendonce.program.analysis import Analysis
from sendonce.program.idempotency import Access, Layer
from sendonce.program.paths import Path

CODE, NAME = "SO611", "idempotency-race"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault a read, over all mails behind its layer."""
    groups: dict[Place, list[tuple[Layer, Access, Access]]] = {}
    for layer in analysis.idempotency.layers(analysis.paths):
        found = None if _is_claimed(layer) else _race(layer)
        if found is not None:
            groups.setdefault(found[0].place, []).append((layer, *found))
    yield from (_fault(analysis, place, groups[place]) for place in sorted(groups))


def _is_claimed(layer: Layer) -> bool:
    """Whether requests with one key are told apart by one step, which is looked at."""
    if any(one.is_asked for one in layer.of("claim")) or any(layer.of("lock")):
        return True
    return any(path.mail.guard is not None and not path.mail.guard.passing for path in layer.paths)


def _race(layer: Layer) -> tuple[Access, Access] | None:
    """The read before the work, and the write that it does not see yet."""
    reads = [one for one in layer.of("read", after=False) if one.is_asked]
    writes = [one for one in layer.of("store", "claim") if not one.failed]
    for read in reads:
        behind = [one for one in writes if one.after or one.place > read.place]
        if behind:
            return read, behind[0]
    return None


def _fault(analysis: Analysis, place: Place, group: list[tuple[Layer, Access, Access]]) -> Fault:
    paths = [path for layer, _, _ in group for path in layer.paths]
    _, read, write = group[0]
    shown = min(paths, key=lambda path: path.length)
    message = (
        f"the idempotency key of a client is read here and written in a later step "
        f"({write.place.path}:{write.place.line}): two requests with one key that come together both read nothing, "
        f"and both send {named(shown)}"
    )
    help = (
        "claim the key in one step before the work (SET NX, cache.add, a unique insert whose conflict leaves), and "
        "read what is stored only after the claim was lost"
    )
    related = [Related(one.place, "the write") for _, _, one in group]
    related += [Related(send_place(path), "sends here") for path in paths]
    related += [Related(read.site_place, "asked from here")] if read.site_place != place else []
    return fault(analysis, (CODE, NAME), paths, place, read.function, "warning", message, help, related)


RULE = Rule(CODE, NAME, __doc__, check, replaces=("SO301", "SO302", "SO303"))
