"""SO304 unstable-key.

## What it finds
A claim, a job's unique key or a provider's idempotency key that is made anew for each attempt: it has a random
value, the clock, a token that was just made, a fresh Message-ID or the built-in `hash()` of text in it.

## Why it doubles
The repetition of a run asks for another key than the run before it, so it wins its claim as well, and the provider
takes its request for a new message. `hash()` of a text differs from process to process: each worker has its own keys.

## Bad
```python
@shared_task(autoretry_for=(OSError,), max_retries=5)
def send_receipt(order_id):
    order = Order.objects.get(pk=order_id)
    if redis.set(f"receipt:{order.pk}:{uuid.uuid4()}", 1, nx=True, ex=86400):
        send_mail("Your receipt", text(order), None, [order.email])
```

## Good
```python
@shared_task(autoretry_for=(OSError,), max_retries=5)
def send_receipt(order_id):
    order = Order.objects.get(pk=order_id)
    if redis.set(f"receipt:{order.pk}", 1, nx=True, ex=86400):
        send_mail("Your receipt", text(order), None, [order.email])
```

## When it is silent
The value was stored with the event before: it is read back from a row, or is an argument of the job. A clock that is
cut to the mail's own period (`date.today()`, `strftime("%Y-%m")`, `// 86400`) is a good part of a key. A provider's key
that is made outside a retry and passed into it serves that retry.

## Repair by framework
Django, SQLAlchemy: make the key of the row's primary key and the mail's kind, or store the random value with the row.
Celery, RQ, arq: make the key where the job is enqueued and pass it as an argument.
Python: `hashlib.sha256(text.encode()).hexdigest()` or `uuid.uuid5(NAMESPACE, text)` in place of `hash(text)`.
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, fault, is_open, listed, named, send_place, severity_of, triggers_of, worst
from sendonce.checks.keys import differs, place_of_key
from sendonce.findings import Place, Related
from sendonce.program.analysis import Analysis
from sendonce.program.keyattempts import is_outside
from sendonce.program.paths import Path
from sendonce.program.unsteady import Unsteady, UnsteadyKeys

CODE, NAME = "SO304", "unstable-key"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault an expression that makes a key, over all paths that the key would guard."""
    keys = UnsteadyKeys(analysis.claims)
    groups: dict[Place, list[tuple[Path, Unsteady]]] = {}
    for path in analysis.paths:
        found = keys.on(path) if is_open(path) and path not in explained else None
        if found is not None and not (found.provider and is_outside(analysis.repeating, path, found)):
            groups.setdefault(place_of_key(found), []).append((path, found))
    for place in sorted(groups):
        yield _fault(analysis, place, groups[place])


def _fault(analysis: Analysis, place: Place, group: list[tuple[Path, Unsteady]]) -> Fault:
    paths = [path for path, _ in group]
    path, key = min(group, key=lambda one: one[0].length)
    message = (
        f"the key that is to keep {named(path)} from going out twice is another one each time: {differs(key)}, "
        f"so a repeated run of {listed(triggers_of(paths))} finds it free and sends again"
    )
    help = (
        "make the key of what names the event (its id, the row's primary key and the mail's kind), or store the value "
        "with the event and read it back"
    )
    related = [
        Related(where, "what differs each time") for where in dict.fromkeys(Place(*one.source) for _, one in group)
    ]
    related += [Related(where, "the key on its way to the claim") for _, one in group for where in one.handed]
    related += [Related(send_place(one), "sends here") for one in paths]
    function = key.made.function if key.made is not None else analysis.program.function(key.site.function).dotted
    severity = worst(map(severity_of, paths))
    return fault(analysis, (CODE, NAME), paths, place, function, severity, message, help, related)


RULE = Rule(CODE, NAME, __doc__, check, replaces=("SO301",))
