"""SO613 idempotency-result-lost.

## What it finds
A mail API's own idempotency layer that stores a result whose replay is not the first answer: without its status or its
body, a failure kept as a success, or given to the same key with another payload.

## Why it doubles
The client decides by the answer. One that repeats a request and is told 200 for a mail that the provider refused, or
that gets another mail's answer, cannot tell what was sent: it sends again under a new key, or never.

## Bad
```python
def save(key, body, status):
    kv.set(f"key:{key}", json.dumps({"body": body}), ex=86400)


@app.post("/mails")
def create_mail():
    key, mail = request.headers["Idempotency-Key"], request.get_json()
    if not kv.set(f"key:{key}", "{}", nx=True, ex=900):
        saved = json.loads(kv.get(f"key:{key}"))
        return jsonify(saved["body"])
    body, status = work(mail)
    save(key, body, status)
    return jsonify(body), status
```

## Good
```python
def save(key, body, status, digest):
    kv.set(f"key:{key}", json.dumps({"body": body, "status": status, "digest": digest}), ex=86400)


@app.post("/mails")
def create_mail():
    key, mail = request.headers["Idempotency-Key"], request.get_json()
    if not kv.set(f"key:{key}", "{}", nx=True, ex=900):
        saved = json.loads(kv.get(f"key:{key}"))
        if saved["digest"] != digest_of(mail):
            abort(422)
        return jsonify(saved["body"]), saved["status"]
    body, status = work(mail)
    save(key, body, status, digest_of(mail))
    return jsonify(body), status
```

## When it is silent
What is stored holds body and status of the answer (or the status is always the same), a failure is stored as one or
not at all, and the payload of a repeat is compared with that of the first request. A layer that replays nothing, and
only refuses the repeat, has no result to lose.

## Repair by framework
Store `status_code`, body and a hash of the payload (`hashlib.sha256(json.dumps(payload, sort_keys=True).encode())`),
and answer 422 when the hash differs, 409 while the first request is at work.
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, fault, named, send_place
from sendonce.findings import Place, Related
from sendonce.program.analysis import Analysis
from sendonce.program.idempotency import Layer
from sendonce.program.paths import Path
from sendonce.program.replays import Loss

CODE, NAME = "SO613", "idempotency-result-lost"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault a store, over all that is wrong with it and all mails behind its layer."""
    groups: dict[Place, list[tuple[Layer, Loss]]] = {}
    for layer in analysis.idempotency.layers(analysis.paths):
        for loss in analysis.replays.losses(layer):
            groups.setdefault(loss.store.place, []).append((layer, loss))
    yield from (_fault(analysis, place, groups[place]) for place in sorted(groups))


def _fault(analysis: Analysis, place: Place, group: list[tuple[Layer, Loss]]) -> Fault:
    paths = list(dict.fromkeys(path for layer, _ in group for path in layer.paths))
    shown = min(paths, key=lambda path: path.length)
    whys = " and ".join(dict.fromkeys(loss.why for _, loss in group))
    message = (
        f"the result that is stored under a client's idempotency key {whys}: a repeated request is not told what "
        f"became of the first, and the client sends {named(shown)} again under another key"
    )
    help = (
        "store the status, the body and a hash of the payload of the first request; replay both, and refuse the same "
        "key with another payload (422)"
    )
    related = [
        Related(loss.store.site_place, "stored from here") for _, loss in group if loss.store.site_place != place
    ]
    related += [Related(one.place, "read again here") for layer, _ in group for one in layer.of("read")]
    related += [Related(send_place(path), "sends here") for path in paths]
    function = group[0][1].store.function
    return fault(analysis, (CODE, NAME), paths, place, function, "warning", message, help, related)


RULE = Rule(CODE, NAME, __doc__, check)
