"""The pipeline: read this first.

files ──index──▶ slice ──parse──▶ facts ──link──▶ program ──walk──▶ paths ──checks──▶ findings ──policy──▶ report
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import perf_counter

from sendonce import checks, policy
from sendonce.config import Settings
from sendonce.discovery import Exclusion, Sources, discover
from sendonce.findings import Report
from sendonce.packs import load_packs
from sendonce.policy import Rule
from sendonce.program.analysis import analyse
from sendonce.target import Target


def all_rules() -> tuple[Rule, ...]:
    """Every rule there is: those of the checks and those about suppression comments."""
    return (*policy.RULES, *checks.RULES)


def analyze(target: Target, settings: Settings) -> tuple[Report, Sources]:
    """The report on a tree, and the sources that it speaks of.

    A file that cannot be used is named in the report's `problems`. Raises `UsageError`,
    `ConfigError` or `PackError` if the question itself is wrong.
    """
    started = perf_counter()
    policy.selected_codes(settings, all_rules())  # a wrong code is told before the work, not after it
    packs = load_packs(settings.rules)
    sources = find_sources(target, settings)
    analysis = analyse(sources, packs, settings)
    findings = policy.apply(checks.run_checks(analysis), sources, settings, all_rules())
    report = Report(
        root=str(target.root),
        findings=tuple(finding for finding in findings if target.reports(finding.place.path)),
        inventory=analysis.inventory,
        problems=tuple(sorted({*sources.problems, *analysis.problems})),
        stats=replace(analysis.stats, files=len(sources.files), seconds=perf_counter() - started),
        unresolved=analysis.unresolved,
    )
    return report, sources


def find_sources(target: Target, settings: Settings) -> Sources:
    """The files of the target that the settings do not exclude."""
    base = settings.source.parent if settings.source else Path(target.root)
    exclusion = Exclusion(base, (*settings.exclude, *settings.extend_exclude))
    return discover(target.root, within=target.within, exclusions=[exclusion])
