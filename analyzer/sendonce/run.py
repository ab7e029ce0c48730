"""The pipeline: read this first.

files ──index──▶ slice ──parse──▶ facts ──link──▶ program ──walk──▶ paths ──checks──▶ findings ──policy──▶ report
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

from sendonce import checks, fixes, policy
from sendonce.config import Settings, nearest
from sendonce.discovery import Sources
from sendonce.errors import UsageError
from sendonce.findings import Finding, Problem, Report
from sendonce.frontend.collector import paused_collector
from sendonce.listing import commit_of
from sendonce.packs import Packs, load_packs
from sendonce.policy import Rule
from sendonce.program import graph, timeline
from sendonce.program.analysis import Analysis, analyse, linked
from sendonce.target import Target
from sendonce.version import __version__

if TYPE_CHECKING:  # only their own commands need them
    from sendonce.audit import Audit
    from sendonce.incidents import Incident, LogNames


def all_rules() -> tuple[Rule, ...]:
    """Every rule there is: those of the checks and those about suppression comments."""
    return (*policy.RULES, *checks.RULES)


def analyze(target: Target, settings: Settings) -> Report:
    """The report on a tree. A file that cannot be used is named in its `problems`.

    Raises `UsageError`, `ConfigError` or `PackError` if the question itself is wrong.
    """
    return _reported(target, settings)[0]


def _reported(target: Target, settings: Settings) -> tuple[Report, Analysis]:
    """The report on a tree, and the analysis that it is of."""
    started = perf_counter()
    policy.check_words(settings, all_rules())  # a wrong word is told before the work, not after it
    packs = load_packs(settings.rules, helpers=settings.helpers)
    sources = target.sources(settings)
    left_out = target.left_out(sources)
    news = policy.News.of(sources, settings)
    with paused_collector():
        analysis = analyse(sources, packs, settings)
        known = [one for one in _judged(analysis, sources, settings) if target.reports(one.place.path)]
        analysis.keep()
    hidden = [one.severity for one in known if not one.suppressed and not policy.is_shown(one, settings)]
    new = news.among(
        policy.shown(known, sources, settings),
        is_whole=target.is_whole and not settings.options,
        before=lambda commit: _before(target.earlier(sources, settings, commit), packs, settings),
    )
    mails = {send.template.value or "" for send in analysis.inventory.sends}
    report = Report(
        root=str(target.root),
        findings=fixes.offered(new.findings, sources.source),
        inventory=analysis.inventory,
        problems=tuple(sorted({*sources.problems, *left_out, *analysis.problems})),
        stats=replace(analysis.stats, files=len(sources.files), seconds=perf_counter() - started),
        unresolved=analysis.unresolved,
        notes=hidden.count("note"),
        unsure=len(hidden) - hidden.count("note"),
        baselined=new.baselined,
        since=settings.since,
        elsewhere=new.elsewhere,
        remarks=(*new.remarks, *(policy.idle(settings, mails) if target.is_whole else ())),
    )
    return report, analysis


def _before(earlier: Sources, packs: Packs, settings: Settings) -> tuple[list[Finding], Sources]:
    """What would have been shown of the tree as it was, and its files."""
    with paused_collector():
        analysis = analyse(earlier, packs, settings)
        return policy.shown(_judged(analysis, earlier, settings), earlier, settings), earlier


def _judged(analysis: Analysis, sources: Sources, settings: Settings) -> list[Finding]:
    """All findings of a tree, with those that are suppressed marked."""
    ignores = policy.read_ignores(sources) if settings.ignores else []
    silenced = policy.silenced(analysis.paths, ignores, settings, all_rules())
    sends = (send.place for send in analysis.inventory.sends)
    return policy.judged(checks.run_checks(analysis, silenced), ignores, sources, settings, all_rules(), sends)


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
    packs = load_packs(settings.rules, helpers=settings.helpers)
    sources = target.sources(settings)
    with paused_collector():
        analysis = (linked if whole else analyse)(sources, packs, settings)
        found = graph.whole(analysis) if whole else graph.mail_slice(analysis)
        analysis.keep()
    return Graphed(found, len(sources.files), tuple(sorted({*sources.problems, *analysis.problems})))


@dataclass(frozen=True)
class Traced:
    """The timelines asked for, how many files the tree has, and the files that could not be used."""

    timelines: tuple[timeline.Timeline, ...]
    files: int
    problems: tuple[Problem, ...]
    names: LogNames


def incident(traced: Traced, lines: Iterable[str]) -> Incident:
    """What the lines of a log tell of timelines."""
    from sendonce.incidents import laid_over

    mails = {one.path.mail.template.value for one in traced.timelines if one.path.mail.template is not None}
    return laid_over(traced.timelines, (mail for mail in mails if mail), lines, traced.names)


def timelines(target: Target, settings: Settings, what: str | tuple[str, int]) -> Traced:
    """The timelines of a mail, by its name, or of all ways over a line of a file (its path and number).

    Raises `UsageError` if nothing on a way to a mail is meant, `ConfigError` or `PackError` as `analyze` does.
    """
    packs = load_packs(settings.rules, helpers=settings.helpers)
    sources = target.sources(settings)
    with paused_collector():
        analysis = analyse(sources, packs, settings)
        paths = (
            timeline.of_template(analysis.paths, what) if isinstance(what, str) else timeline.through(analysis, *what)
        )
        if not paths and sources.files:
            raise UsageError(_not_found(analysis, what))
        findings = policy.shown(_judged(analysis, sources, settings), sources, settings)
        made = timeline.Timelines(analysis, tuple(findings))
        found = tuple(made.of(path) for path in paths)
        analysis.keep()
    problems = tuple(sorted({*sources.problems, *analysis.problems}))
    return Traced(found, len(sources.files), problems, _log_names(packs))


def _log_names(packs: Packs) -> LogNames:
    """The names under which log lines carry what a mail is known by."""
    from sendonce.incidents import LogNames

    rows = [row for pack in packs.packs for row in pack.log]
    events = frozenset(name for row in rows for name in row.event)
    runs = frozenset(name for row in rows for name in row.correlation) - events
    return LogNames(
        runs,
        events,
        frozenset(name for row in rows for name in row.recipient),
        frozenset(name for row in rows for name in (*row.what, *row.template)),
        frozenset(name for row in rows for name in row.template),
    )


def _not_found(analysis: Analysis, what: str | tuple[str, int]) -> str:
    """What to say where no way is meant."""
    if not isinstance(what, str):
        return f"no known way to a mail goes over {what[0]}:{what[1]}; `sendonce inventory` lists sends and triggers"
    names = sorted({path.mail.template.value or "" for path in analysis.paths if path.mail.template is not None})
    return f"no mail with a known trigger is called {what!r}{nearest(what, names)}; `sendonce inventory` lists them"


def audit(target: Target, settings: Settings) -> Audit:
    """The audit of a tree: notes are told, and what a baseline knows too.

    Raises `UsageError`, `ConfigError` or `PackError` as `analyze` does.
    """
    from sendonce.audit import audited

    report, analysis = _reported(target, replace(settings, pedantic=True, baseline=None, since=""))
    return audited(target.root.name, analysis, report, __version__, commit_of(target.root))
