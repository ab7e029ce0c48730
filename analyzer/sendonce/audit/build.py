"""From an analysis and its findings to the audit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import get_args

from sendonce.audit.model import Audit, Mail, Measured, Repair
from sendonce.audit.picture import picture
from sendonce.audit.plan import helpers, plan
from sendonce.audit.practices import practices
from sendonce.audit.ways import NAMELESS, paths_by_mail, ways
from sendonce.findings import SEVERITIES, Finding, Report, Send, TriggerKind, weakest
from sendonce.program.analysis import Analysis
from sendonce.program.paths import Path
from sendonce.program.timeline import Timelines

_KINDS: tuple[TriggerKind, ...] = get_args(TriggerKind)


def audited(project: str, analysis: Analysis, report: Report, version: str, commit: str) -> Audit:
    """The audit of a tree. `report` has its findings, the notes among them."""
    paths = paths_by_mail(analysis)
    alive = [finding for finding in report.findings if not finding.suppressed]
    repairs = plan(analysis, alive, paths)
    mails = tuple(_mails(analysis, report, paths, repairs))
    occurring = {way.trigger.kind for mail in mails for way in mail.ways}
    stats = report.stats
    return Audit(
        project=project,
        measured=Measured(version, commit, stats.files, stats.files_parsed, stats.lines, stats.seconds),
        mails=mails,
        kinds=tuple(kind for kind in _KINDS if kind in occurring),
        calls=report.inventory.calls,
        triggers=len(report.inventory.triggers),
        findings=tuple(alive),
        plan=repairs,
        helpers=helpers(analysis, repairs, paths),
        practices=practices(mails, alive),
        assumptions=tuple(sorted(Counter(one for finding in alive for one in finding.assumes).items())),
        unresolved=report.unresolved,
        problems=report.problems,
    )


def _mails(
    analysis: Analysis, report: Report, paths: dict[str, list[Path]], repairs: Sequence[Repair]
) -> Iterable[Mail]:
    """The mails: those with the worst findings first, then by name."""
    sends: dict[str, list[Send]] = {}
    for send in report.inventory.sends:
        sends.setdefault(send.template.value or NAMELESS, []).append(send)
    timelines = Timelines(analysis)
    found = [_mail(analysis, timelines, name, sends[name], paths.get(name, []), report, repairs) for name in sends]
    order = {"error": 0, "warning": 1, "note": 2, None: 3}
    found.sort(key=lambda mail: (order[mail.worst], mail.name))
    return (replace(mail, number=number) for number, mail in enumerate(found, 1))


def _mail(
    analysis: Analysis,
    timelines: Timelines,
    name: str,
    sends: list[Send],
    paths: list[Path],
    report: Report,
    repairs: Sequence[Repair],
) -> Mail:
    over = ways(timelines, paths)
    retries = {(step.place.path, step.place.line) for way in over for step in way.steps if step.hop == "retry"}
    about = (
        one
        for one in report.findings
        if not one.suppressed and (_is_about(one, name, sends) or (one.place.path, one.place.line) in retries)
    )
    findings = tuple(sorted(about, key=lambda one: -SEVERITIES.index(one.severity)))
    return Mail(
        number=0,
        name=name,
        confidence=weakest(*(send.template.confidence for send in sends)),
        sends=tuple(sends),
        ways=over,
        picture=picture(analysis, paths, over, findings) if paths else None,
        findings=findings,
        repairs=tuple(one.number for one in repairs if not set(one.findings).isdisjoint(findings)),
    )


def _is_about(finding: Finding, name: str, sends: list[Send]) -> bool:
    """Whether a finding speaks of a mail: by its name, or for one without by a function that sends it."""
    if finding.template is not None:
        return finding.template == name
    return any(finding.function == send.function for send in sends)
