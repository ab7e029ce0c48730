"""What is new: findings that the baseline does not know, on ways that have changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sendonce.config import Settings
from sendonce.discovery import Sources
from sendonce.findings import Finding
from sendonce.policy.baseline import Baseline, baseline_of, load_baseline
from sendonce.policy.changes import Changed, changed_since


@dataclass(frozen=True)
class New:
    """The findings that are left, and how many were left out for which reason."""

    findings: tuple[Finding, ...]
    baselined: int = 0
    elsewhere: int = 0
    remarks: tuple[str, ...] = ()


Before = Callable[[str], tuple[Sequence[Finding], Sources]]
"""Gives the findings of the tree as it was at a commit, and its files."""


@dataclass(frozen=True)
class News:
    """Tells what is new in a tree. Made before the work: what is wrong with the question is told then."""

    sources: Sources
    baseline: Baseline | None
    changed: Changed | None

    @classmethod
    def of(cls, sources: Sources, settings: Settings) -> News:
        """Reads the baseline and asks git, as the settings say; raises `UsageError` or `ConfigError`."""
        known = None if settings.baseline is None else load_baseline(settings.baseline, settings.origin("baseline"))
        return cls(sources, known, changed_since(settings.since, sources.root) if settings.since else None)

    def among(self, findings: Sequence[Finding], is_whole: bool, before: Before) -> New:
        """The new ones. With `is_whole` nothing else was left out, so that entries without a finding are stale."""
        kept, stale = list(findings), 0
        if self.baseline is not None:
            kept, unused = self.baseline.subtract(findings, self.sources.root, self.sources.lines)
            # a part of the project finds a part of what its baseline knows
            within = self.baseline.file.resolve().parent.is_relative_to(self.sources.root)
            stale = unused.total() if is_whole and within else 0
        left = kept if self.changed is None else self._changed(kept, self.changed, before)
        return New(
            tuple(left),
            baselined=len(findings) - len(kept),
            elsewhere=sum(not one.suppressed for one in kept) - sum(not one.suppressed for one in left),
            remarks=(self._stale(stale),) if stale else (),
        )

    def _changed(self, findings: list[Finding], changed: Changed, before: Before) -> list[Finding]:
        """The findings with a step in changed lines, and those that were not there before.

        A guard that was taken away leaves no line behind, and its helper is on no path.
        """
        touched = {one.fingerprint for one in findings if changed.touches(one)}
        if changed.lines and len(touched) < len(findings):
            touched |= self._fresh(findings, *before(changed.base))
        return [one for one in findings if one.fingerprint in touched]

    def _fresh(self, findings: list[Finding], known: Sequence[Finding], earlier: Sources) -> set[str]:
        """The fingerprints of those that the earlier findings do not account for."""
        root = self.sources.root
        past = baseline_of(known, root / "earlier", root, earlier.lines)
        left, _ = past.subtract(findings, root, self.sources.lines, moved=False)
        return {one.fingerprint for one in left if not one.suppressed}

    def _stale(self, count: int) -> str:
        assert self.baseline is not None
        what = "1 finding that is" if count == 1 else f"{count} findings that are"
        return f"{self.baseline.file} knows {what} no longer there; `sendonce baseline --prune` drops them"
