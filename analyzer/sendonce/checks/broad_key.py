"""SO305 broad-key.

## What it finds
A claim or an idempotency key that holds only a person and a kind of mail, before a mail about something that can
happen to the person more than once.

## Why it doubles
Two real events of one person share the key: the second order finds the first one's claim, and its receipt is never
sent. Whoever frees the key to get the missing mail out has the first one sent again.

## Bad
```python
@shared_task
def announce(parcel_id, email):
    if redis.set(f"shipped:{email}", 1, nx=True, ex=30 * 86400):
        send_mail("Your parcel is on its way", str(parcel_id), None, [email])
```

## Good
```python
@shared_task
def announce(parcel_id, email):
    if redis.set(f"shipped:{parcel_id}:{email}", 1, nx=True, ex=30 * 86400):
        send_mail("Your parcel is on its way", str(parcel_id), None, [email])
```

## When it is silent
The key holds what the mail is about, or a period; the mail goes out once for a person for ever (a welcome, the
verification of an address); the mail is about nothing but the person; the claim ends within the hour and only keeps
mails from coming too often. A scheduled mail without its period is SO308.

## Repair by framework
Django, SQLAlchemy: a column for what the mail is about, in the unique constraint and in the claim.
Redis, cache, provider keys: the id of the order, invoice or ticket in the key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, fault, listed, named, send_place, severity_of, triggers_of, worst
from sendonce.findings import Place, Related, Severity
from sendonce.program.analysis import Analysis
from sendonce.program.durations import Durations
from sendonce.program.origins import Origin
from sendonce.program.pathkeys import KeyUse, PathKeys, Written
from sendonce.program.paths import Path
from sendonce.program.persons import Persons
from sendonce.program.values import Call, Const, Value

CODE, NAME = "SO305", "broad-key"

HOUR = 3600
_ONCE = re.compile(
    r"welcome|verif|validat|activat|opt_?-?in|onboard|sign_?-?up|confirm_?-?(?:e_?)?-?mail|confirm_?-?address|e?mail_?-?confirm"
    r"|throttl|rate_?-?limit|cool_?-?down|debounce",
    re.IGNORECASE,
)
"""Mails that a person gets once for ever, and keys that only keep mails from coming too often."""

Found = tuple[Path, KeyUse, Written]


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault an expression that makes a key, over all paths that the key guards."""
    keys = PathKeys(analysis.claims)
    broad = Broad(analysis, keys)
    groups: dict[Place, list[Found]] = {}
    for path in analysis.paths:
        if path.mail.guard is not None and path.trigger.kind != "cron":
            use = next(keys.uses(path), None)
            if use is not None and broad.is_broad(path, use):
                written = keys.written(path, use)
                groups.setdefault(written.place, []).append((path, use, written))
    for place in sorted(groups):
        yield _fault(analysis, place, groups[place])


class Broad:
    """Whether the keys of paths tell two events of one person apart."""

    def __init__(self, analysis: Analysis, keys: PathKeys) -> None:
        self.analysis = analysis
        self.keys = keys
        self.origins = analysis.claims.stability.origins
        self.persons = Persons(analysis.evaluator)
        self.durations = Durations(analysis.claims, analysis.repeating.repeats)

    def is_broad(self, path: Path, use: KeyUse) -> bool:
        """Whether a key names only a person and a kind, before a mail that is about something else as well."""
        here = [one for value in use.values for one in self.origins.of(value) if not _is_constant(one)]
        outside = [one for value in self.keys.outward(path, use) for one in self.origins.of(value)]
        told = [one for one in outside if not _is_constant(one)]
        if not here or not told or any(one.entry is not None for one in (*here, *told)):
            return False
        if path.mail.guard is not None and self.persons.are_rows_of(path.mail.guard.prefix):
            return False  # the event is that the person is new
        if not self._are_persons(here) and not self._are_persons(told):
            return False
        return self._has_event(path, use, [*here, *told]) and not self._is_once(path, use) and not self._is_short(use)

    def _are_persons(self, parts: list[Origin]) -> bool:
        return all(self.persons.tells_person(one.value) for one in parts)

    def _has_event(self, path: Path, use: KeyUse, parts: list[Origin]) -> bool:
        """Whether the mail is about a row that the person is read from, or about something with an id of its own."""
        for base in (self.persons.read_from(one.value) for one in parts):
            if base is not None and any(map(self.persons.is_event, (base, path.outward(use.number, base)))):
                return True
        call = path.outward(use.number, use.site.call)
        calls = [one for one in (use.site.call, call) if isinstance(one, Call)]
        return any(True for one in calls for _ in self.persons.events(one))

    def _is_once(self, path: Path, use: KeyUse) -> bool:
        template = path.mail.template
        texts = [template.value if template is not None and template.value else ""]
        texts += [self.analysis.program.function(site.function).name for site in path.sites()]
        texts += [str(part) for value in use.values for part in _constants(self.origins.of(value))]
        return any(_ONCE.search(text) for text in texts)

    def _is_short(self, use: KeyUse) -> bool:
        """Whether a claim only keeps mails from coming too often."""
        if use.claim is None:
            return False
        found = self.durations.expiry(use.claim)
        return found is None or found < HOUR


def _is_constant(origin: Origin) -> bool:
    return isinstance(origin.value, Const)


def _constants(origins: tuple[Origin, ...]) -> Iterator[Value]:
    return (one.value.value for one in origins if isinstance(one.value, Const))


def _fault(analysis: Analysis, place: Place, group: list[Found]) -> Fault:
    paths = [path for path, *_ in group]
    path, _, written = min(group, key=lambda one: one[0].length)
    message = (
        f"the key under which {named(path)} is claimed names only a person and a kind of mail: a second event of the "
        f"same person through {listed(triggers_of(paths))} finds the first one's claim and is never mailed, and "
        f"freeing the key sends the first one again"
    )
    help = "put what the mail is about into the key: the id of the order, invoice, parcel or ticket"
    related = [Related(other, "the key on its way to the claim") for *_, one in group for other in one.others]
    related += [Related(send_place(one), "sends here") for one in paths]
    severity: Severity = "warning" if worst(map(severity_of, paths)) != "note" else "note"
    return fault(analysis, (CODE, NAME), paths, place, written.function, severity, message, help, related)


RULE = Rule(CODE, NAME, __doc__, check)
