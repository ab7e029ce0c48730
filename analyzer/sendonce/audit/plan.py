"""The plan: findings grouped by the one repair that closes them, the worst and cheapest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sendonce.audit.meeting import meeting
from sendonce.audit.model import EFFORTS, Effort, Helper, Repair
from sendonce.audit.remedies import REMEDIES, Remedy
from sendonce.findings import SEVERITIES, Finding, Place, Severity
from sendonce.program.analysis import Analysis
from sendonce.program.held import Site
from sendonce.program.paths import Path, place_of
from sendonce.program.program import Program

MOST_HELPERS = 3
_WEIGHT = {"webhook": 4, "job": 4, "cron": 3, "model_callback": 3, "agent_tool": 3, "controller": 2}
_RUN_AGAIN = frozenset({"SO401", "SO402", "SO403", "SO405", "SO407"})
"""Rules by which a job runs again: what guards against them stands inside the job."""


@dataclass(frozen=True)
class _At:
    """Where a repair is made: the function and the place; more functions where no one place does."""

    functions: tuple[str, ...]
    place: Place | None


def plan(analysis: Analysis, findings: Iterable[Finding], paths: Mapping[str, Sequence[Path]]) -> tuple[Repair, ...]:
    """The repairs for all findings that are not suppressed, numbered from 1; each finding is in one of them."""
    groups: dict[tuple[int, tuple[str, ...]], list[tuple[_At, list[Finding]]]] = {}
    for (number, mail, _), found in _by_mail(findings).items():
        for at, some in _placed(analysis.program, REMEDIES[number], found, paths.get(mail, ())):
            groups.setdefault((number, at.functions), []).append((at, some))
    repairs = sorted((_repair(REMEDIES[number], parts) for (number, _), parts in groups.items()), key=_order)
    return tuple(replace(repair, number=number) for number, repair in enumerate(repairs, 1))


def helpers(analysis: Analysis, repairs: Sequence[Repair], paths: Mapping[str, Sequence[Path]]) -> tuple[Helper, ...]:
    """The functions behind the places of several reservations by which all those mails leave, most mails first."""
    behind: dict[str, list[tuple[Site, Repair]]] = {}
    for repair in repairs:
        if repair.reserves and repair.place is not None:
            chain = meeting([path for mail in repair.mails for path in paths.get(mail, ())])
            for site in {analysis.program.function(one.function).dotted: one for one in chain[1:]}.items():
                if site[0] != repair.function:
                    behind.setdefault(site[0], []).append((site[1], repair))
    found = [_helper(name, sites) for name, sites in behind.items() if len(sites) > 1]
    first: dict[tuple[int, ...], Helper] = {}
    for helper in sorted(found, key=lambda one: (-len(one.repairs), one.function)):
        first.setdefault(helper.repairs, helper)
    return tuple(first.values())[:MOST_HELPERS]


def _helper(function: str, sites: list[tuple[Site, Repair]]) -> Helper:
    repairs = [repair for _, repair in sites]
    mails = sorted({mail for repair in repairs for mail in repair.mails})
    count = sum(len(repair.findings) for repair in repairs)
    return Helper(
        function, min(place_of(site) for site, _ in sites), tuple(r.number for r in repairs), tuple(mails), count
    )


def _by_mail(findings: Iterable[Finding]) -> dict[tuple[int, str, bool], list[Finding]]:
    """The findings by the number of their remedy and their mail, notes apart: they ask for no place of their own."""
    found: dict[tuple[int, str, bool], list[Finding]] = {}
    for finding in findings:
        for number, remedy in enumerate(REMEDIES):
            if finding.code in remedy.codes and not finding.suppressed:
                is_note = finding.severity == "note"
                found.setdefault((number, finding.template or finding.function, is_note), []).append(finding)
    return found


def _placed(
    program: Program, remedy: Remedy, findings: list[Finding], paths: Sequence[Path]
) -> Iterator[tuple[_At, list[Finding]]]:
    """The findings by where they are repaired: a guard where the ways of the mail meet, all else where it stands."""
    triggers = {trigger for finding in findings for trigger in finding.triggers}
    concerned = [path for path in paths if path.trigger in triggers] if remedy.guards else []
    if concerned:
        yield _meeting_of(program, findings, concerned), findings
        return
    by_function: dict[str, list[Finding]] = {}
    for finding in findings:
        by_function.setdefault(finding.function or finding.place.path, []).append(finding)
    for function, some in by_function.items():
        yield _At((function,), min(finding.place for finding in some)), some


def _meeting_of(program: Program, findings: list[Finding], paths: list[Path]) -> _At:
    site = next(iter(meeting(paths, in_job=any(finding.code in _RUN_AGAIN for finding in findings))), None)
    if site is not None:
        return _At((program.function(site.function).dotted,), place_of(site))
    return _At(tuple(sorted({program.function(path.send.function).dotted for path in paths})), None)


def _repair(remedy: Remedy, parts: list[tuple[_At, list[Finding]]]) -> Repair:
    """The repair of one kind in one function (or several that do not meet), for all its mails."""
    at = parts[0][0]
    places = [one.place for one, _ in parts if one.place is not None]
    findings = [finding for _, some in parts for finding in some]
    mails = tuple(sorted({finding.template for finding in findings if finding.template}))
    triggers = {trigger for finding in findings for trigger in finding.triggers}
    return Repair(
        number=0,
        title=remedy.title.format(where=_listed(at.functions)),
        how=remedy.how,
        place=min(places, default=None),
        function=at.functions[0],
        reserves=remedy.guards,
        risk=max((finding.severity for finding in findings), key=SEVERITIES.index),
        effort=_effort(remedy, at),
        findings=tuple(sorted(findings, key=lambda one: (-SEVERITIES.index(one.severity), one.code, one.place))),
        mails=mails,
        triggers=len(triggers),
    )


def _listed(functions: tuple[str, ...], most: int = 3) -> str:
    more = f" and {len(functions) - most} more" if len(functions) > most else ""
    return ", ".join(functions[:most]) + more


def _effort(remedy: Remedy, at: _At) -> Effort:
    """What a repair costs: more where several places need it."""
    return remedy.effort if len(at.functions) == 1 else "large"


def _order(repair: Repair) -> tuple[object, ...]:
    """The worst first; of those the cheap ones, then those that close most."""
    return (
        -SEVERITIES.index(repair.risk),
        -_weight(repair, repair.risk),
        EFFORTS.index(repair.effort),
        repair.title,
        repair.place or Place("", 0),
    )


def _weight(repair: Repair, risk: Severity) -> int:
    """How much the worst findings of a repair weigh: by kind and number of their triggers."""
    worst = {trigger for finding in repair.findings if finding.severity == risk for trigger in finding.triggers}
    return sum(_WEIGHT.get(trigger.kind, 1) for trigger in worst)
