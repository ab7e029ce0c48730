"""SO102 double-send.

## What it finds
One run of one trigger that can send the same mail twice to the same recipient: directly and through a
callback, directly and as a job, or twice in sequence.

## Why it doubles
The second call does not know of the first. Nothing has to be repeated for this: every run mails twice.

## Bad
```python
def create(request):
    order = Order.objects.create(email=request.POST["email"])  # its post_save receiver mails
    send_confirmation(order)
```

## Good
```python
def create(request):
    order = Order.objects.create(email=request.POST["email"])  # its post_save receiver mails
    return redirect(order)
```

## When it is silent
The two calls stand on branches that exclude each other, go to recipients that are provably
different, send different mails, or must both win one claim.

## Repair by framework
Django: send from the receiver or from the view, not from both. Queues: enqueue or send in place; if a
failed enqueue falls back to sending, claim the mail first.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, takewhile

from sendonce.checks.base import Fault, Rule, fault, named, send_place
from sendonce.findings import Place, Related, Severity
from sendonce.program.analysis import Analysis
from sendonce.program.answers import answered, inner_site
from sendonce.program.flags import exclude
from sendonce.program.held import Caught, Site, Trying, blocks, newest_first
from sendonce.program.mail import Guard
from sendonce.program.paths import Path, place_of
from sendonce.program.recipients import Recipients
from sendonce.program.templates import identity
from sendonce.program.values import Attr, ClassRef, Const, External, Seq, Value
from sendonce.program.words import differ

CODE, NAME = "SO102", "double-send"

_DATA_ERRORS = frozenset(
    f"builtins.{name}"
    for name in ("KeyError", "IndexError", "LookupError", "ValueError", "TypeError", "AttributeError")
)
Pair = tuple[Site, Site, Path, Path]
"""The earlier and the later call at which two paths of one run part, and those paths."""


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault for each later call that leads to the mail of an earlier one in the same run."""
    runs: dict[tuple[object, str], list[Path]] = {}
    for path in analysis.paths:
        template = path.mail.template
        if template is not None and template.value and template.confidence != "low":
            runs.setdefault((path.trigger, identity(template.value)), []).append(path)
    found: dict[Place, list[Pair]] = {}
    for paths in runs.values():
        for left, right in (*combinations(paths, 2), *((one, other) for one in paths for other in analysis.again(one))):
            parted = _parting(analysis, left, right)
            if parted is not None and _same_mail(analysis, left, right, parted):
                earlier, later = sorted(parted, key=lambda site: site.index)
                found.setdefault(place_of(later), []).append((earlier, later, left, right))
    for place in sorted(found):
        yield _fault(analysis, place, found[place])


def _parting(analysis: Analysis, left: Path, right: Path) -> tuple[Site, Site] | None:
    """The two calls of one function at which two paths of one run part, if both can be made in one run."""
    for a, b in zip(left.sites(), right.sites(), strict=False):
        if a is b:
            continue
        if a.function != b.function or analysis.exclusive(a, b) or _is_other_error(a, b) or _is_other_error(b, a):
            return None
        if _goes_on(left, a) or _goes_on(right, b) or _is_answered(analysis, left, right, a, b):
            return None
        return a, b
    return None


def _is_answered(analysis: Analysis, left: Path, right: Path, a: Site, b: Site) -> bool:
    """Whether the later call is made only where the earlier one has answered that it sent nothing."""
    path, earlier, later = (left, a, b) if a.index < b.index else (right, b, a)
    inner = inner_site(iter(path.sites()), earlier)
    return inner is not None and answered(analysis.evaluator, analysis.flows, earlier, inner, later)


def _goes_on(path: Path, site: Site) -> bool:
    """Whether a call leads into its own function again: a job that puts itself back on the queue runs another time."""
    return any(one.site is site and one.callee == site.function for one in path.crossings())


def _is_other_error(tried: Site, fallback: Site) -> bool:
    """Whether a call stands in a handler of errors that the call in its `try` cannot raise: no row, a wrong value."""
    around = {fact.at for fact in blocks(tried.held) if isinstance(fact, Trying)}
    for fact in newest_first(fallback.held):
        if isinstance(fact, Caught) and fact.trying.at in around:
            return bool(fact.types) and all(map(_is_of_data, fact.types))
    return False


def _is_of_data(error: Value) -> bool:
    """Whether an exception speaks of the project's data (`Order.DoesNotExist`, `KeyError`), not of a queue."""
    if isinstance(error, External):
        return error.dotted in _DATA_ERRORS
    return isinstance(error, ClassRef | Attr)


def _same_mail(analysis: Analysis, left: Path, right: Path, parted: tuple[Site, Site]) -> bool:
    """Whether both paths may mail one recipient, and one of them does not take the mail from the other by its claim."""
    if _of_others(analysis, left, right, parted):
        return False
    if Recipients(analysis.evaluator).same(left.mail.recipient, right.mail.recipient) is False:
        return False
    if differ(analysis.evaluator, left.mail, right.mail) or exclude(analysis.evaluator, left, right):
        return False
    one, other = _claim(analysis, left), _claim(analysis, right)
    if one is None or other is None or not one.key or one.key != other.key:
        return True
    # What is won once, before the ways part, lets both of them pass.
    parting = parted[0]
    shared = {site.function for site in takewhile(lambda site: site is not parting, left.sites())} | {parting.function}
    return (one.path, one.line) == (other.path, other.line) and one.function in shared


def _of_others(analysis: Analysis, left: Path, right: Path, parted: tuple[Site, Site]) -> bool:
    """Whether mails to one fixed address speak of different objects: the two calls are given different ones."""
    if not _is_fixed(analysis, left.mail.recipient) or not _is_fixed(analysis, right.mail.recipient):
        return False
    recipients = Recipients(analysis.evaluator)
    one, other = (site.call for site in parted)
    pairs = zip(one.args, other.args, strict=False)
    return any(recipients.same_row(a, b) is False for a, b in pairs if not isinstance(a, Const))


def _is_fixed(analysis: Analysis, value: Value | None) -> bool:
    """Whether a recipient is written in the code or in the settings."""
    while isinstance(value, Seq) and len(value.items) == 1:
        value = value.items[0]
    return value is not None and isinstance(analysis.evaluator.resolve(value), Const | External)


def _claim(analysis: Analysis, path: Path) -> Guard | None:
    """The claim that a path must win; one that only this host sees does for what starts in one run."""
    if path.mail.guard is not None:
        return path.mail.guard
    # A claim that holds everywhere and is not the path's was lost on the way: its key is nothing there.
    sites = [site for site in path.sites() if analysis.claims.guard_at(site) is None]
    found = (analysis.claims.on_one_host.guard_at(site) for site in sites)
    return next((guard for guard in found if guard is not None), None)


def _is_evident(analysis: Analysis, pair: Pair) -> bool:
    """Whether the code itself shows that both ways mail one recipient; else the rows may be different ones.

    Mails to one fixed address are the same only if they speak of the same things.
    """
    one, other, left, right = pair
    recipients = Recipients(analysis.evaluator)
    if recipients.same(left.mail.recipient, right.mail.recipient) is not True:
        return False
    if not _is_fixed(analysis, left.mail.recipient):
        return True
    things = zip(recipients.things(one.call), recipients.things(other.call), strict=False)
    return all(recipients.same_row(a, b) is True for a, b in things)


def _fault(analysis: Analysis, place: Place, pairs: list[tuple[Site, Site, Path, Path]]) -> Fault:
    earlier, later, left, _right = pairs[0]
    paths = list(dict.fromkeys(path for *_, a, b in pairs for path in (a, b)))
    message = (
        f"one run of {left.trigger.function} sends {named(left)} twice: by the call in line {earlier.at[0]} and again "
        f"by the call in line {later.at[0]}, and nothing keeps the second from mailing what the first has mailed"
    )
    help = "send from one of the two places, or claim the mail before the send so that only the first wins"
    related = [Related(place_of(site), "the first call that leads to the mail") for site, *_ in pairs]
    related += [Related(send_place(path), "sent here") for path in paths]
    evident = any(_is_evident(analysis, pair) for pair in pairs)
    severity: Severity = "error" if evident and not left.internal else "note"
    function = analysis.program.function(later.function).dotted
    return fault(analysis, (CODE, NAME), paths, place, function, severity, message, help, related)


RULE = Rule(CODE, NAME, __doc__, check, replaces=("SO101",))
