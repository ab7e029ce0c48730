"""What of the findings is reported: selection, settled assumptions, suppression, what is known or unchanged.

`apply` is the whole of it, in two parts; the modules hold one step each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sendonce.config import Settings
from sendonce.discovery import Sources
from sendonce.findings import CONFIDENCES, SEVERITIES, Finding, Place, Severity
from sendonce.policy.assumptions import settled
from sendonce.policy.baseline import Baseline, baseline_of, load_baseline
from sendonce.policy.files import file_ignores, without_files
from sendonce.policy.fingerprint import stamped
from sendonce.policy.news import News
from sendonce.policy.selection import Rule, selected_codes
from sendonce.policy.silence import idle, policies, silenced
from sendonce.policy.suppression import RULES, Ignore, read_ignores, suppressed

__all__ = [
    "RULES",
    "Baseline",
    "News",
    "Rule",
    "apply",
    "baseline_of",
    "check_words",
    "fails",
    "idle",
    "is_shown",
    "judged",
    "load_baseline",
    "read_ignores",
    "selected_codes",
    "shown",
    "silenced",
]


def apply(
    findings: Iterable[Finding],
    sources: Sources,
    settings: Settings,
    rules: Sequence[Rule],
    sends: Iterable[Place] = (),
) -> list[Finding]:
    """The findings to report: those of `judged` that are `shown`."""
    ignores = read_ignores(sources) if settings.ignores else []
    return shown(judged(findings, ignores, sources, settings, rules, sends), sources, settings)


def judged(
    findings: Iterable[Finding],
    ignores: Sequence[Ignore],
    sources: Sources,
    settings: Settings,
    rules: Sequence[Rule],
    sends: Iterable[Place] = (),
) -> list[Finding]:
    """The findings of the chosen rules, with assumptions settled; suppressed ones are marked.

    `ignores` are the comments, `rules` all rules, those of this package included; `sends` the places
    of all sends. Raises `ConfigError` for a code or name in the settings that no rule has.
    """
    chosen = selected_codes(settings, rules)
    kept = settled((finding for finding in findings if finding.code in chosen), settings.assume)
    if not settings.ignores:
        return kept
    return without_files(suppressed(kept, ignores, rules, chosen, sends), sources.root, settings, rules)


def check_words(settings: Settings, rules: Sequence[Rule]) -> None:
    """Raises `ConfigError` for a code or name in the settings that no rule has: before the work, not after it."""
    selected_codes(settings, rules)
    file_ignores(settings, rules)
    list(policies(settings, rules))


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
