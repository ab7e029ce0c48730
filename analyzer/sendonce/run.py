"""The pipeline: read this first.

files ──index──▶ slice ──parse──▶ facts ──link──▶ program ──walk──▶ paths ──checks──▶ findings ──policy──▶ report
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter

from sendonce import checks, policy
from sendonce.config import Settings
from sendonce.findings import Problem, Report
from sendonce.frontend.collector import paused_collector
from sendonce.packs import load_packs
from sendonce.policy import Rule
from sendonce.program import graph
from sendonce.program.analysis import analyse, linked
from sendonce.target import Target


def all_rules() -> tuple[Rule, ...]:
    """Every rule there is: those of the checks and those about suppression comments."""
    return (*policy.RULES, *checks.RULES)


def analyze(target: Target, settings: Settings) -> Report:
    """The report on a tree. A file that cannot be used is named in its `problems`.

    Raises `UsageError`, `ConfigError` or `PackError` if the question itself is wrong.
    """
    started = perf_counter()
    policy.selected_codes(settings, all_rules())  # a wrong code is told before the work, not after it
    packs = load_packs(settings.rules)
    sources = target.sources(settings)
    with paused_collector():
        analysis = analyse(sources, packs, settings)
        sends = (send.place for send in analysis.inventory.sends)
        findings = policy.apply(checks.run_checks(analysis), sources, settings, all_rules(), sends)
    return Report(
        root=str(target.root),
        findings=tuple(finding for finding in findings if target.reports(finding.place.path)),
        inventory=analysis.inventory,
        problems=tuple(sorted({*sources.problems, *analysis.problems})),
        stats=replace(analysis.stats, files=len(sources.files), seconds=perf_counter() - started),
        unresolved=analysis.unresolved,
    )


@dataclass(frozen=True)
class Graphed:
    """A call graph, how many files the tree has, and the files that could not be used."""

    graph: graph.CallGraph
    files: int
    problems: tuple[Problem, ...]


def call_graph(target: Target, settings: Settings, whole: bool) -> Graphed:
    """The call graph of a tree: what leads to mail, or (`whole`) every application function.

    Raises `UsageError`, `ConfigError` or `PackError` if the question itself is wrong.
    """
    packs = load_packs(settings.rules)
    sources = target.sources(settings)
    with paused_collector():
        analysis = (linked if whole else analyse)(sources, packs, settings)
        found = graph.whole(analysis) if whole else graph.mail_slice(analysis)
    return Graphed(found, len(sources.files), tuple(sorted({*sources.problems, *analysis.problems})))
