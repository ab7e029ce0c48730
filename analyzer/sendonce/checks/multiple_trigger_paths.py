"""SO101 multiple-trigger-paths.

## What it finds
One mail that two or more independent triggers send: a model callback and a view, a webhook and the
page the buyer returns to, a view and a nightly job.

## Why it doubles
Both triggers answer to the same business event, and neither knows of the other: an order that is paid
runs the callback and the view, and each mails the receipt.

## Bad
```python
@receiver(post_save, sender=Order)
def order_saved(instance, **kwargs):
    if instance.paid:
        send_receipt(instance)

def pay(request, pk):
    charge(pk)
    Order.objects.filter(pk=pk).update(paid=True)
    send_receipt(Order.objects.get(pk=pk))
```

## Good
```python
def send_receipt(order):
    if not Order.objects.filter(pk=order.pk, receipt_sent_at=None).update(receipt_sent_at=now()):
        return
    send_templated("mail/receipt", order.email, order=order)
```

## When it is silent
All ways share one reservation, one trigger is only a hop of the other (view, save, callback), or the
mails differ. A resend that the user asks for, two controllers, an admin action or a command beside
another trigger are notes.

## Repair by framework
Claim the event where all ways meet, in the helper that sends: a conditional update of the row in
Django or SQLAlchemy, SET NX in Redis. Or send from one of the triggers only.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from sendonce.checks.base import Fault, Rule, fault, is_asked, kind_name, named, send_place, triggers_of, worst
from sendonce.checks.two import severity_of_two
from sendonce.findings import SEVERITIES, Related
from sendonce.program.analysis import Analysis
from sendonce.program.flags import exclude
from sendonce.program.paths import Path
from sendonce.program.templates import identity
from sendonce.program.words import differ

CODE, NAME = "SO101", "multiple-trigger-paths"

FEW = 60
"""Up to this many ways, each pair is looked at; of more, this many of each kind."""


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault a template with two triggers that do not know of each other."""
    templates: dict[str, list[Path]] = {}
    for path in analysis.paths:
        template = path.mail.template
        if template is not None and template.value and template.confidence != "low" and path.trigger.kind != "unknown":
            templates.setdefault(identity(template.value), []).append(path)
    for name in sorted(templates):
        paths = [path for path in templates[name] if path not in explained]
        pairs = _pairs(analysis, _ways(paths))
        if pairs:
            yield _fault(analysis, pairs)


def _ways(paths: list[Path]) -> list[Path]:
    """One path for each trigger, send and way out of the trigger: the shortest, unguarded ones first."""
    best: dict[object, Path] = {}
    for path in sorted(paths, key=lambda path: (path.mail.guard is not None, path.length)):
        best.setdefault((path.trigger.function, path.trigger.kind, path.send, _fork(path)), path)
    return list(best.values())


def _pairs(analysis: Analysis, ways: list[Path]) -> list[tuple[Path, Path]]:
    """The pairs that both can send for one event: all of them, or for each of very many paths its worst."""
    if len(ways) <= FEW:
        return [pair for pair in combinations(ways, 2) if _doubles(analysis, *pair)]
    alike: dict[object, list[int]] = {}
    for number, path in enumerate(ways):
        alike.setdefault(_likeness(path), []).append(number)
    found: dict[tuple[int, int], None] = {}
    for number, path in enumerate(ways):
        groups = sorted(alike.values(), key=lambda group: -SEVERITIES.index(severity_of_two(path, ways[group[0]])))
        for other in (one for group in groups for one in group[:FEW] if one != number):
            pair = (min(number, other), max(number, other))
            if pair in found or _doubles(analysis, ways[pair[0]], ways[pair[1]]):
                found[pair] = None
                break
    return [(ways[left], ways[right]) for left, right in sorted(found)]


def _likeness(path: Path) -> object:
    """What decides for most pairs whether they double, and how bad that is."""
    trigger, guard = path.trigger, path.mail.guard
    return (
        trigger.kind,
        is_asked(path),
        path.internal,
        guard and (guard.key or (guard.path, guard.line)),
    )


def _fork(path: Path) -> object:
    """Where a webhook's path leaves for the send: another call or another handler is another event type."""
    if path.trigger.kind != "webhook":
        return None
    outermost = list(path.crossings())[:2]
    return tuple((one.site, one.callee) for one in outermost)


def _doubles(analysis: Analysis, left: Path, right: Path) -> bool:
    """Whether two paths can both send for one event, as far as triggers and reservations tell."""
    one, other = left.trigger, right.trigger
    if one.function == other.function:
        if one.kind != "webhook" or not _other_event(analysis, left, right):
            return False
    elif _same_class(one.function, other.function) and one.kind == other.kind == "controller":
        return False
    if one.kind == other.kind and one.kind in ("cron", "job", "model_callback", "admin", "command"):
        return False
    if _is_hop(left, right) or _is_hop(right, left):
        return False
    if differ(analysis.evaluator, left.mail, right.mail) or exclude(analysis.evaluator, left, right):
        return False
    return not _shared_guard(left, right)


def _other_event(analysis: Analysis, left: Path, right: Path) -> bool:
    """Two branches of one webhook: calls that exclude each other, or two handlers of one table."""
    for a, b in zip(left.crossings(), right.crossings(), strict=False):
        if a.site is not b.site:
            return analysis.exclusive(a.site, b.site)
        if a.callee != b.callee:
            return True
    return False


def _same_class(left: str, right: str) -> bool:
    """Two methods of one view class serve one page."""
    owner = left.rpartition(".")[0]
    return owner == right.rpartition(".")[0] and owner.rpartition(".")[2][:1].isupper()


def _is_hop(inner: Path, outer: Path) -> bool:
    """Whether the outer path passes through the inner path's trigger: then it is one path."""
    if inner.trigger.kind == "cron":
        return False  # the schedule starts the job too, whatever enqueues it
    return inner.start.function in outer.functions()[1:] and inner.start.function != outer.start.function


def _shared_guard(left: Path, right: Path) -> bool:
    one, other = left.mail.guard, right.mail.guard
    if one is None or other is None:
        return False
    if left.trigger.function == right.trigger.function and one.function == other.function == left.start.function:
        return False  # claimed before the ways part, by an id that the two events do not share
    return one.key == other.key if one.key or other.key else (one.path, one.line) == (other.path, other.line)


def _weight(pair: tuple[Path, Path]) -> tuple[int, int]:
    """The worst pair is shown, of those the shortest."""
    return SEVERITIES.index(severity_of_two(*pair)), -pair[0].length - pair[1].length


def _fault(analysis: Analysis, pairs: list[tuple[Path, Path]]) -> Fault:
    left, right = max(
        pairs, key=lambda pair: (SEVERITIES.index(severity_of_two(*pair)), -pair[0].length - pair[1].length)
    )
    paths = list(dict.fromkeys(path for pair in pairs for path in pair))
    message = (
        f"{named(left)} is sent by {_told(left)} and by {_told(right)}: one event that reaches both sends it twice, "
        f"and no reservation is shared by the two ways"
    )
    help = "let one of them send, or claim the event in the helper where both ways meet, before the send"
    related = [Related(send_place(path), f"sent here by {path.trigger.function}") for path in paths]
    related += [Related(trigger.place, f"{trigger.kind} {trigger.function}") for trigger in triggers_of(paths)]
    place = send_place(left)
    function = analysis.program.function(left.send.function).dotted
    severity = worst(severity_of_two(*pair) for pair in pairs)
    return fault(analysis, (CODE, NAME), paths, place, function, severity, message, help, related)


def _told(path: Path) -> str:
    return f"the {kind_name(path.trigger.kind)} {path.trigger.function}"


RULE = Rule(CODE, NAME, __doc__, check)
