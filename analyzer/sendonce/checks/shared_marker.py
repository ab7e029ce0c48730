"""SO311 shared-marker.

## What it finds
One mark that is written after several effects: the mail and a text message, the mail and a request to another service,
two mails, the mails to all recipients.

## Why it doubles
When the second effect fails, the mark is not written, and the repeated run starts again with the first: the mail that
has already gone goes again. Behind a loop, the failure for one recipient mails all those before it again.

## Bad
```python
@shared_task(autoretry_for=(OSError,), max_retries=5)
def deliver(notice_id):
    notice = Notice.objects.get(pk=notice_id)
    if notice.delivered_at:
        return
    send_mail("A notice", notice.text, None, [notice.email])
    requests.post(SMS_URL, json={"to": notice.phone, "text": notice.text}).raise_for_status()
    notice.delivered_at = now()
    notice.save()
```

## Good
```python
@shared_task(autoretry_for=(OSError,), max_retries=5)
def deliver(notice_id):
    notice = Notice.objects.get(pk=notice_id)
    if Notice.objects.filter(pk=notice_id, mailed_at=None).update(mailed_at=now()):
        send_mail("A notice", notice.text, None, [notice.email])
    if Notice.objects.filter(pk=notice_id, texted_at=None).update(texted_at=now()):
        requests.post(SMS_URL, json={"to": notice.phone, "text": notice.text}).raise_for_status()
```

## When it is silent
Each effect has its own mark or claim. What cannot keep the mark from being written is no effect: a counter, a log line,
a request whose error is caught and passed over.

## Repair by framework
Django, SQLAlchemy: a column (or a row) an effect, each claimed before its effect by a conditional update.
Queues: one job an effect, so that each is repeated by itself; for recipients, one job or one row each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sendonce.checks.base import Fault, Rule, fault, is_open, named, send_place, severity_of, worst
from sendonce.findings import Place, Related
from sendonce.program.analysis import Analysis
from sendonce.program.effects import Effects
from sendonce.program.held import Site
from sendonce.program.paths import Path
from sendonce.program.writes import Mark

CODE, NAME = "SO311", "shared-marker"


@dataclass(frozen=True, eq=False)
class Shared:
    """A mark that stands for the mail of a path and for other effects; for all recipients if there are none."""

    path: Path
    mark: Mark
    effects: tuple[Place, ...]


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault a mark, over all mails that it stands for."""
    effects = Effects(analysis.evaluator, analysis.flows, analysis.linker, analysis.paths)
    groups: dict[Place, list[Shared]] = {}
    for path in analysis.paths:
        if is_open(path) and path not in explained:
            for shared in _shared(analysis, effects, path):
                groups.setdefault(shared.mark.place, []).append(shared)
                break
    for place in sorted(groups):
        yield _fault(analysis, place, groups[place])


def _shared(analysis: Analysis, effects: Effects, path: Path) -> Iterator[Shared]:
    """The marks of a path that other effects share."""
    for site, mark in _marks(analysis, path):
        beside = tuple(dict.fromkeys(effects.beside(path, site, mark)))
        if beside or effects.to_all(site, mark):
            yield Shared(path, mark, beside)


def _marks(analysis: Analysis, path: Path) -> Iterator[tuple[Site, Mark]]:
    """The marks behind a mail: those that a check reads, else its records."""
    about = analysis.records.about
    found = (one for one in analysis.memory.guards(path) if one.mark.after and about.is_about(path, one))
    guards = [(one.marked, one.mark) for one in found]
    yield from guards or analysis.records.after(path)


def _fault(analysis: Analysis, place: Place, group: list[Shared]) -> Fault:
    shown = min(group, key=lambda one: one.path.length)
    paths = [one.path for one in group]
    spot = shown.mark.written.spot.shown
    if shown.effects:
        other = shown.effects[0]
        message = (
            f"{spot} is written here once for {named(shown.path)} and for what {other.path}:{other.line} does: when "
            f"the second fails, the mark is missing, and the next run does the first again"
        )
    else:
        message = (
            f"{spot} is written here once, behind a loop that sends {named(shown.path)} to several recipients: when "
            f"one send fails, the mark is missing, and the next run mails all those before it again"
        )
    help = (
        "give each effect (each recipient) its own mark, claimed before it by a conditional update or a unique insert"
    )
    related = [Related(send_place(one), "sends here") for one in paths]
    related += [Related(effect, "another effect") for one in group for effect in one.effects]
    function = analysis.program.function(shown.path.send.function).dotted
    return fault(
        analysis, (CODE, NAME), paths, place, function, worst(map(severity_of, paths)), message, help, related
    )  # fmt: skip


RULE = Rule(CODE, NAME, __doc__, check, replaces=("SO301", "SO302", "SO303"))
