"""The checklist: what good practice asks, and what was found for each line of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sendonce.audit.model import Mail, Outcome, Practice, Way
from sendonce.audit.remedies import CHECKS, Check
from sendonce.findings import Finding

_QUEUE = "queue"


def practices(mails: Sequence[Mail], findings: Iterable[Finding]) -> tuple[Practice, ...]:
    """One line for each check."""
    alive = [finding for finding in findings if not finding.suppressed]
    return tuple(_practice(check, mails, [one for one in alive if one.code in check.codes]) for check in CHECKS)


def _practice(check: Check, mails: Sequence[Mail], findings: list[Finding]) -> Practice:
    subjects = sum(1 for _ in _subjects(check, mails))
    noun = "way" if check.asked_of else "mail"
    outcome: Outcome = "broken" if findings else "kept" if subjects else "does not apply"
    return Practice(check.title, check.why, outcome, subjects, noun, tuple(findings))


def _subjects(check: Check, mails: Sequence[Mail]) -> Iterator[object]:
    """What a check is asked of: the ways from triggers of its kinds, or every mail."""
    for mail in mails:
        if not check.asked_of:
            yield mail
            continue
        yield from (way for way in mail.ways if way.trigger.kind in check.asked_of)
        if _QUEUE in check.asked_of:
            yield from (way for way in mail.ways if _is_queued(way))


def _is_queued(way: Way) -> bool:
    return way.trigger.kind == "job" or any(step.hop == "enqueue" for step in way.steps)
