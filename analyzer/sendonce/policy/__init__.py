"""What of the findings is reported: selection, settled assumptions, suppression comments.

`apply` is the whole of it, in two parts; the modules hold one step each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sendonce.config import Settings
from sendonce.discovery import Sources
from sendonce.findings import CONFIDENCES, SEVERITIES, Finding, Place, Severity
from sendonce.policy.assumptions import settled
from sendonce.policy.fingerprint import stamped
from sendonce.policy.selection import Rule, selected_codes
from sendonce.policy.suppression import RULES, read_ignores, suppressed

__all__ = ["RULES", "Rule", "apply", "fails", "is_shown", "judged", "selected_codes", "shown"]


def apply(
    findings: Iterable[Finding],
    sources: Sources,
    settings: Settings,
    rules: Sequence[Rule],
    sends: Iterable[Place] = (),
) -> list[Finding]:
    """The findings to report: those of `judged` that are `shown`."""
    return shown(judged(findings, sources, settings, rules, sends), sources, settings)


def judged(
    findings: Iterable[Finding],
    sources: Sources,
    settings: Settings,
    rules: Sequence[Rule],
    sends: Iterable[Place] = (),
) -> list[Finding]:
    """The findings of the chosen rules, with assumptions settled; suppressed ones are marked.

    `rules` are all rules, those of this package included; `sends` the places of all
    sends. Raises `ConfigError` for a code or name in the settings that no rule has.
    """
    chosen = selected_codes(settings, rules)
    kept = settled((finding for finding in findings if finding.code in chosen), settings.assume)
    return suppressed(kept, read_ignores(sources), rules, chosen, sends) if settings.ignores else list(kept)


def shown(findings: Iterable[Finding], sources: Sources, settings: Settings) -> list[Finding]:
    """The findings that are severe and sure enough to report, sorted by place, with fingerprints."""
    return stamped((finding for finding in findings if is_shown(finding, settings)), sources.lines)


def is_shown(finding: Finding, settings: Settings) -> bool:
    """Whether a finding is severe and sure enough to report."""
    if CONFIDENCES.index(finding.confidence) < CONFIDENCES.index(settings.min_confidence):
        return False
    return finding.severity != "note" or settings.pedantic or settings.fail_on == "note"


def fails(findings: Iterable[Finding], fail_on: Severity) -> bool:
    """Whether one that is not suppressed is at least as severe as `fail_on`."""
    least = SEVERITIES.index(fail_on)
    return any(SEVERITIES.index(finding.severity) >= least for finding in findings if not finding.suppressed)
