"""SO405 job-without-key.

## What it finds
One job that mails, put on its queue from two or more places, with no key by which the queue would refuse the
second and no reservation in the job.

## Why it doubles
Two pieces of code that know nothing of each other answer to the same event: the booking enqueues the mail, and so
does its payment. The queue sees two jobs, and each mails.

## Bad
```python
def booked(booking):
    queue.enqueue(mail_booking, booking.id)

def paid(booking):
    queue.enqueue(mail_booking, booking.id)
```

## Good
```python
def booked(booking):
    mail_booking_once(booking.id)

def paid(booking):
    mail_booking_once(booking.id)

def mail_booking_once(booking_id):
    try:
        queue.enqueue(mail_booking, booking_id, job_id=f"booking-{booking_id}", unique=True, result_ttl=MONTH)
    except DuplicateJobError:
        pass
```

## When it is silent
The job claims its mail before it sends, every enqueue names a unique job whose key comes from the event, the places
exclude each other, or the places enqueue different mails through one general job.

## Repair by framework
RQ: `job_id=` with `unique=True` and a `result_ttl` as long as the event can come again. arq: `_job_id=`. Celery has no
such key: claim in the task, with a conditional update or a unique insert. huey, dramatiq: claim in the job.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from sendonce.checks.base import Fault, Rule, fault, named, send_place, worst
from sendonce.checks.leaving import left_at
from sendonce.checks.two import severity_of_two
from sendonce.findings import Related
from sendonce.program.analysis import Analysis
from sendonce.program.flags import exclude
from sendonce.program.held import Site
from sendonce.program.link import Crossing
from sendonce.program.paths import Path, place_of
from sendonce.program.recipients import Recipients
from sendonce.program.templates import identity

CODE, NAME = "SO405", "job-without-key"

MAX_PATHS = 5
"""How many ways to one place are compared with those to another."""

Job = tuple[str, str]
"""A job's function and the mail that it leads to."""


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault for each job and mail that two places enqueue unreserved."""
    found: dict[Job, dict[Site, list[Path]]] = {}
    for path in analysis.paths:
        if path.mail.guard is None and path not in explained and path.trigger.kind != "unknown":
            for crossing in _enqueues(path):
                job = (crossing.callee, _mail(path))
                found.setdefault(job, {}).setdefault(left_at(path, crossing.site), []).append(path)
    told: dict[tuple[str, tuple[Site, ...]], dict[Site, list[Path]]] = {}
    for job in sorted(found):
        places = tuple(sorted(found[job], key=place_of))
        if _pair(analysis, places, found[job]) is not None:
            for place in places:  # a job may send one of several mails
                told.setdefault((job[0], places), {}).setdefault(place, []).extend(found[job][place])
    for name, places in sorted(told, key=lambda key: (key[0], [place_of(site) for site in key[1]])):
        pair = _pair(analysis, places, told[name, places])
        if pair is not None:
            yield _fault(analysis, name, pair, places, told[name, places])


def _enqueues(path: Path) -> Iterator[Crossing]:
    """The enqueue of the job that sends, unless the job goes on as itself."""
    found = [crossing for crossing in path.crossings() if crossing.hop == "enqueue" and crossing.callee]
    if found and found[-1].callee != found[-1].site.function:
        yield found[-1]


def _mail(path: Path) -> str:
    template = path.mail.template
    return identity(template.value) if template is not None and template.value else str(send_place(path))


def _both(analysis: Analysis, found: dict[Site, list[Path]], one: Site, other: Site) -> bool:
    """Whether one event can pass both places and mail one person from both."""
    if one.function == other.function and analysis.exclusive(one, other):
        return False
    recipients = Recipients(analysis.evaluator)
    return any(
        not (one.function == other.function and recipients.same(a.mail.recipient, b.mail.recipient) is False)
        and not exclude(analysis.evaluator, a, b)
        for a in found[one][:MAX_PATHS]
        for b in found[other][:MAX_PATHS]
    )


def _fault(
    analysis: Analysis,
    job: str,
    pair: tuple[Site, Site],
    places: tuple[Site, ...],
    found: dict[Site, list[Path]],
) -> Fault:
    first, second = pair
    paths = list(dict.fromkeys(path for place in places for path in found[place]))
    shown = found[second][0]
    name = analysis.program.function(job).dotted
    message = (
        f"{named(shown)} is sent by the job {name}, which is enqueued here and in {first.path} line {first.at[0]}: no "
        f"job key and no reservation in the job tells the queue that both mean one event, and each run mails"
    )
    help = "give every enqueue the same unique job key made from the event, or claim the mail in the job"
    related = [Related(place_of(place), "enqueued here too") for place in places if place is not second]
    related += [Related(send_place(path), "sent here") for path in paths]
    severity = worst(
        severity_of_two(left, right)
        for one, other in combinations(places, 2)
        for left in found[one][:MAX_PATHS]
        for right in found[other][:MAX_PATHS]
    )
    function = analysis.program.function(second.function).dotted
    return fault(analysis, (CODE, NAME), paths, place_of(second), function, severity, message, help, related)


def _pair(analysis: Analysis, places: tuple[Site, ...], found: dict[Site, list[Path]]) -> tuple[Site, Site] | None:
    """The first two places that one event can pass."""
    return next((pair for pair in combinations(places, 2) if _both(analysis, found, *pair)), None)


RULE = Rule(CODE, NAME, __doc__, check, replaces=("SO301",))
