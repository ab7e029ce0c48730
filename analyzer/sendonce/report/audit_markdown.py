"""The audit as Markdown, with the pictures as mermaid."""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.audit.model import LANES, Audit, Mail, Picture, Practice, Repair
from sendonce.findings import Finding
from sendonce.report import View
from sendonce.report.audit_words import cell, headline, kind_name, outcome_words
from sendonce.report.markup import at, code, label, plain
from sendonce.report.text import plural

_BOXES = {"kept": "[x]", "broken": "[ ]", "does not apply": "[-]"}
_ARROWS = {"enqueue": "-.->", "schedule": "-.->", "thread": "-.->"}


def render(audit: Audit, view: View) -> str:
    """The whole document."""
    return "\n".join(_document(audit)) + "\n"


def _document(audit: Audit) -> Iterator[str]:
    yield f"# E-mail audit of {plain(audit.project)}"
    yield ""
    yield " ".join(headline(audit))
    yield from ("", "## Plan", "")
    for helper in audit.helpers:
        yield (
            f"**One helper for many:** {code(helper.function)} ({at(helper.place)}) is on every way of"
            f" {plural(len(helper.mails), 'mail')}: a key that it takes and reserves closes"
            f" {plural(helper.findings, 'finding')}."
        )
        yield ""
    told: dict[str, int] = {}
    for repair in audit.plan:
        first = told.setdefault(repair.how, repair.number)
        yield from _repair(repair, repair.how if first == repair.number else f"How: as in step {first}.")
    yield from ("", "## Mails and triggers", "")
    yield from _matrix(audit)
    yield from ("", "## Each mail")
    for mail in audit.mails:
        yield from _mail(mail)
    yield from ("", "## Good practice", "")
    yield from (_practice(practice) for practice in audit.practices)
    yield from ("", "## Provider calls", "", "| where | in | call | provider |", "| --- | --- | --- | --- |")
    for call in audit.calls:
        yield f"| {at(call.place)} | {code(call.function)} | {plain(call.api)} | {plain(call.provider)} |"
    yield from _open(audit)
    measured = audit.measured
    commit = f" at commit {measured.commit[:12]}" if measured.commit else ""
    yield from ("", "## How this was measured", "")
    yield (
        f"By sendonce {measured.version}{commit}: {plural(measured.files, 'Python file')} with {measured.lines:,} lines"
        f" read, {measured.parsed} of them parsed in full, in {measured.seconds:.1f} seconds. Nothing was run."
    )


def _repair(repair: Repair, how: str) -> Iterator[str]:
    where = f" at {at(repair.place)}" if repair.place else ""
    yield f"{repair.number}. **{plain(repair.title, 240)}**{where}"
    yield f"   ({repair.risk}, {repair.effort} effort, closes {plural(len(repair.findings), 'finding')})"
    yield f"   {how}"
    for finding in repair.findings[:12]:
        mail = f" {code(finding.template)}" if finding.template else ""
        yield f"   - {finding.code} {finding.name} {at(finding.place)}{mail}"
    if len(repair.findings) > 12:
        yield f"   - and {len(repair.findings) - 12} more"


def _matrix(audit: Audit) -> Iterator[str]:
    yield f"| mail | {' | '.join(kind_name(kind) for kind in audit.kinds)} |"
    yield f"| --- |{' --- |' * len(audit.kinds)}"
    for mail in audit.mails:
        cells = (cell(mail, kind) for kind in audit.kinds)
        shown = [f"{one.words}{f' ({one.worst})' if one.worst else ''}" if one else "" for one in cells]
        yield f"| {plain(mail.name)} | {' | '.join(shown)} |"


def _mail(mail: Mail) -> Iterator[str]:
    yield from ("", f"### {plain(mail.name)}", "")
    for send in mail.sends:
        yield f"- sent at {at(send.place)} in {code(send.function)} by {plain(send.call.api)}"
    if mail.picture:
        yield from ("", "```mermaid")
        yield from _mermaid(mail.picture)
        yield "```"
    for finding in mail.findings:
        yield from _finding(finding)
    for way in mail.ways:
        states = ((way.guarded, "guarded"), (way.in_transaction, "in a transaction"), (way.repeats, "may run again"))
        told = "".join(f", {word}" for holds, word in states if holds)
        detail = f" {plain(way.trigger.detail)}" if way.trigger.detail else ""
        kind = kind_name(way.trigger.kind)
        yield from ("", f"From {kind} {code(way.trigger.function)}{detail}{told}:", "")
        for number, step in enumerate(way.steps, 1):
            note = f" {plain(step.note)}" if step.note else ""
            yield f"{number}. {step.hop} {at(step.place)} {code(step.function)}{note}"


def _finding(finding: Finding) -> Iterator[str]:
    yield ""
    sure = f"({finding.severity}, {finding.confidence} confidence)"
    yield f"**{finding.code} {finding.name}** {sure} {at(finding.place)}"
    yield ""
    yield plain(finding.message, 1200)
    yield ""
    yield f"Repair: {plain(finding.help, 1200)}"
    if finding.assumes:
        yield ""
        yield f"Assumes: {plain('; '.join(finding.assumes), 600)}"


def _mermaid(picture: Picture) -> Iterator[str]:
    yield "flowchart LR"
    for lane in LANES:
        stops = [stop for stop in picture.stops if stop.lane == lane]
        if stops:
            yield f'  subgraph {lane.replace(" ", "_")}_lane["{lane}"]'
            for stop in stops:
                count = f"{stop.count} × " if stop.count > 1 else ""
                notes = " ".join([*stop.marks, *stop.codes])
                yield f'    n{stop.number}["{label(count + stop.title)}{f"<br/>{notes}" if notes else ""}"]'
            yield "  end"
    for arrow in picture.arrows:
        hop = f"|{arrow.hop}|" if arrow.hop not in ("call", "send") else ""
        yield f"  n{arrow.source} {_ARROWS.get(arrow.hop, '-->')}{hop} n{arrow.target}"


def _practice(practice: Practice) -> str:
    places = ", ".join(f"{finding.code} {at(finding.place)}" for finding in practice.findings[:8])
    more = f" and {len(practice.findings) - 8} more" if len(practice.findings) > 8 else ""
    told = f" ({places}{more})" if places else ""
    return f"- {_BOXES[practice.outcome]} **{practice.title}**: {outcome_words(practice)}{told}. {practice.why}."


def _open(audit: Audit) -> Iterator[str]:
    yield from ("", "## What stays open", "")
    yield "The code was read, not run: dashboards, brokers, worker counts and hand-made constraints are not seen."
    yield ""
    yield from (f"- {plural(count, 'finding')}: assumes {plain(text)}" for text, count in audit.assumptions)
    yield from (f"- not followed: {at(one.place)} {plain(one.note)}" for one in audit.unresolved)
    yield from (f"- left out: {plain(one.path)}: {plain(one.message)}" for one in audit.problems)
