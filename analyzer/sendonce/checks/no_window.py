"""SO308 no-window.

## What it finds
A scheduled mail that comes again (a digest, a statement) under a key without its date or period; and a claim of a mail
that goes out once, which expires before the repetitions of its run are over.

## Why it doubles
Without the period the first run's claim blocks every later one, and whoever clears the claims to get the mails going
has them sent again. A claim that lives for minutes is gone when the last retry comes an hour later: that run wins it
again, and sends again.

## Bad
```python
@shared_task(autoretry_for=(OSError,), max_retries=6, default_retry_delay=600)
def tell_refund(refund_id, email):
    if redis.set(f"refund:{refund_id}", 1, nx=True, ex=300):
        send_mail("Your refund", "It is on its way.", None, [email])
    book(refund_id)
```

## Good
```python
@shared_task(autoretry_for=(OSError,), max_retries=6, default_retry_delay=600)
def tell_refund(refund_id, email):
    if redis.set(f"refund:{refund_id}", 1, nx=True, ex=7 * 86400):
        send_mail("Your refund", "It is on its way.", None, [email])
    book(refund_id)
```

## When it is silent
The key holds a date, a week or a month, or a value that is called so; the claim of a scheduled mail ends before the
next one is due; the rows are chosen by what the mail or time uses up, so that each is mailed once. A claim that lasts
longer than all repetitions, one whose time cannot be told, and one beside a lasting mark that is checked as well.

## Repair by framework
Celery, huey, APScheduler: put the period into the key, `f"statement:{account.pk}:{month:%Y-%m}"`.
Redis, cache: let the claim live longer than `max_retries` times the delay, a day at least; `cache.add` without a
timeout lives for 300 seconds.
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, fault, named, send_place, severity_of, worst
from sendonce.findings import Place, Related, Severity
from sendonce.program.analysis import Analysis
from sendonce.program.pathkeys import KeyUse, PathKeys, Written
from sendonce.program.paths import Path
from sendonce.program.windowing import Short, Windows

CODE, NAME = "SO308", "no-window"

Found = tuple[Path, Written, KeyUse | Short]


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault a claim without a window, over all paths that it guards."""
    keys = PathKeys(analysis.claims)
    windows = Windows(keys, analysis.repeating, analysis.selections, analysis.memory)
    groups: dict[Place, list[Found]] = {}
    for path in analysis.paths:
        found = windows.without_period(path) or windows.ends_early(path)
        if found is not None:
            use = found if isinstance(found, KeyUse) else found.use
            written = keys.written(path, use)
            groups.setdefault(written.place, []).append((path, written, found))
    for place in sorted(groups):
        yield _fault(analysis, place, groups[place])


def _fault(analysis: Analysis, place: Place, group: list[Found]) -> Fault:
    path, written, found = min(group, key=lambda one: one[0].length)
    paths = [one for one, *_ in group]
    severity = worst(map(severity_of, paths))
    if isinstance(found, Short):
        message, help = _ends_early(path, found), "let the claim live longer than all repetitions of the run"
    else:
        severity = min(severity, "warning", key=_rank)
        message, help = _without_period(path), "put the date or the period into the key"
    related = [Related(other, "the key on its way to the claim") for _, one, _ in group for other in one.others]
    shorts = [one for *_, one in group if isinstance(one, Short)]
    related += [Related(one.place, "repeats the run") for one in shorts]
    related += [Related(send_place(one), "sends here") for one in paths]
    assumes = [one.assumes for one in shorts if one.assumes]
    function = written.function
    return fault(analysis, (CODE, NAME), paths, place, function, severity, message, help, related, assumes=assumes)


def _rank(severity: Severity) -> int:
    return ("note", "warning", "error").index(severity)


def _without_period(path: Path) -> str:
    return (
        f"{named(path)} comes again with each run of the scheduled job {path.trigger.function}, but its claim names no "
        f"date or period: the first run's claim blocks every later one, and clearing it has the mail sent again"
    )


def _ends_early(path: Path, short: Short) -> str:
    until = f"for {_shown(short.until)}" if short.until != float("inf") else "without an end that is known"
    return (
        f"the claim of {named(path)} ends after {_shown(short.expiry)}, but its run can be repeated {until} "
        f"({short.why}): a later repetition finds the claim gone, wins it again and sends again"
    )


def _shown(seconds: float) -> str:
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds"


RULE = Rule(CODE, NAME, __doc__, check)
