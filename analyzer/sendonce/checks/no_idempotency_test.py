"""SO702 no-idempotency-test.

## What it finds
A webhook, a job, a scheduled run or an agent's tool that sends mail, and no test that runs it twice and asserts one
message.

## Why it doubles
What is delivered at least once will be delivered twice one day. That a second run sends nothing is a property like any
other: nobody sees it break, and a change of the guard, of a constraint or of an order of statements breaks it.

## Bad
```python
def test_receipt(mailoutbox):
    send_receipt(order().pk)
    assert len(mailoutbox) == 1
```

## Good
```python
def test_receipt_once(mailoutbox):
    number = order().pk
    send_receipt(number)
    send_receipt(number)
    assert len(mailoutbox) == 1
```

## When it is silent
A test names the handler, its class, its route or a job on the way, runs something twice (two calls, a loop, two
requests) and asserts one message or, after it has cleared the outbox, none. What people do by hand needs no such test.

## Repair by framework
Django: post the same event twice and assert `len(mail.outbox) == 1`; `captureOnCommitCallbacks(execute=True)` where the
mail waits for the commit. pytest: the `mailoutbox` fixture. Elsewhere: a fake provider, `assert_called_once()`.
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, by_place, fault, kind_name, named, send_place
from sendonce.findings import Related
from sendonce.program.analysis import Analysis
from sendonce.program.paths import Path, place_of

CODE, NAME = "SO702", "no-idempotency-test"

_REPEATED = ("webhook", "job", "cron", "agent_tool")


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One note a trigger that is run at least once, over all its mails."""
    paths = [path for path in analysis.paths if path.trigger.kind in _REPEATED]
    for place, group in by_place(paths, lambda path: path.trigger.place).items():
        if any(analysis.proofs.is_proven(path) for path in group):
            continue
        trigger = group[0].trigger
        message = (
            f"no test runs the {kind_name(trigger.kind)} {trigger.function} twice and asserts one message: nothing "
            f"would notice that {named(group[0])} is sent again when it is"
        )
        help = "write a test that runs it twice for one event and asserts one message"
        related = [Related(send_place(path), "sends here") for path in group]
        related += [Related(place_of(path.mail.provider.site), "the provider's call") for path in group]
        yield fault(analysis, (CODE, NAME), group, place, trigger.function, "note", message, help, related)


RULE = Rule(CODE, NAME, __doc__, check)
