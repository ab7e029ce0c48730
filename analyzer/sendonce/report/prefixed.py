"""A report with its paths relative to another folder: services look for files from the top of the repository."""

from __future__ import annotations

from dataclasses import replace

from sendonce.findings import Finding, Place, Report


def prefixed(report: Report, prefix: str) -> Report:
    """The findings and problems with `prefix/` before each path; as they are for an empty prefix."""
    if not prefix:
        return report
    return replace(
        report,
        findings=tuple(_finding(finding, prefix) for finding in report.findings),
        problems=tuple(replace(one, path=f"{prefix}/{one.path}") for one in report.problems),
    )


def _finding(finding: Finding, prefix: str) -> Finding:
    return replace(
        finding,
        place=_place(finding.place, prefix),
        triggers=tuple(replace(one, place=_place(one.place, prefix)) for one in finding.triggers),
        trace=tuple(replace(one, place=_place(one.place, prefix)) for one in finding.trace),
        related=tuple(replace(one, place=_place(one.place, prefix)) for one in finding.related),
    )


def _place(place: Place, prefix: str) -> Place:
    return replace(place, path=f"{prefix}/{place.path}")
