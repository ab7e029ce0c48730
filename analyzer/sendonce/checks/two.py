"""Two triggers of one mail: how bad it is that one event may reach both."""

from __future__ import annotations

import re

from sendonce.checks.base import is_asked
from sendonce.findings import Severity
from sendonce.program.paths import Path

_PAIRS: dict[frozenset[str], Severity] = {
    frozenset({"model_callback", "controller"}): "error",
    frozenset({"model_callback", "webhook"}): "warning",
    frozenset({"model_callback", "cron"}): "warning",
    frozenset({"model_callback", "job"}): "warning",
    frozenset({"webhook", "controller"}): "warning",
    frozenset({"webhook", "job"}): "warning",
    frozenset({"webhook", "cron"}): "warning",
    frozenset({"webhook"}): "warning",
    frozenset({"controller", "cron"}): "warning",
}
_TRIAL = re.compile(r"(?:test|sample|preview)_?(?:e?mail|smtp|notification|message)", re.IGNORECASE)
"""Names of triggers that only try out how a mail looks or whether it arrives."""


def severity_of_two(left: Path, right: Path) -> Severity:
    """What happens by itself is bad beside what a person asks for; two things that a person asks for are a note."""
    kinds = frozenset({left.trigger.kind, right.trigger.kind})
    found = _PAIRS.get(kinds, "note")
    if is_asked(left) or is_asked(right):
        return "note"
    return "note" if left.internal else found


def is_trial(path: Path) -> bool:
    """Whether a trigger only tries a mail out: that belongs to no event."""
    return _TRIAL.search(path.trigger.function) is not None
