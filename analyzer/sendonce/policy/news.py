"""What is new: findings that the baseline does not know, on ways that have changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sendonce.config import Settings
from sendonce.discovery import Sources
from sendonce.findings import Finding
from sendonce.policy.baseline import Baseline, load_baseline
from sendonce.policy.changes import Changed, changed_since


@dataclass(frozen=True)
class New:
    """The findings that are left, and how many were left out for which reason."""

    findings: tuple[Finding, ...]
    baselined: int = 0
    elsewhere: int = 0
    remarks: tuple[str, ...] = ()


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
        changed = changed_since(settings.since, sources.root, sources.lines) if settings.since else None
        return cls(sources, known, changed)

    def among(self, findings: Sequence[Finding], is_whole: bool) -> New:
        """The new ones. With `is_whole` nothing else was left out, so that entries without a finding are stale."""
        kept, stale = list(findings), 0
        if self.baseline is not None:
            kept, unused = self.baseline.subtract(findings, self.sources.root, self.sources.lines)
            stale = unused.total() if is_whole else 0
        touched = kept if self.changed is None else [one for one in kept if self.changed.touches(one)]
        return New(
            tuple(touched),
            baselined=len(findings) - len(kept),
            elsewhere=sum(not one.suppressed for one in kept) - sum(not one.suppressed for one in touched),
            remarks=(self._stale(stale),) if stale else (),
        )

    def _stale(self, count: int) -> str:
        assert self.baseline is not None
        what = "1 finding that is" if count == 1 else f"{count} findings that are"
        return f"{self.baseline.file} knows {what} no longer there; `sendonce baseline --prune` drops them"
