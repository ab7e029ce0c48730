"""What the HTML and the Markdown of an audit say in the same words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sendonce.audit.model import Audit, Mail, Practice, Repair
from sendonce.findings import SEVERITIES, Severity, TriggerKind
from sendonce.report.text import plural


@dataclass(frozen=True)
class Cell:
    """One cell of the matrix of mails and kinds of trigger."""

    ways: int
    guarded: int
    in_transaction: int
    repeats: int
    worst: Severity | None

    @property
    def words(self) -> str:
        """The cell in words: `3 ways: 1 guarded, 2 in a transaction, 1 may run again`."""
        states = (
            (self.guarded, "guarded"),
            (self.in_transaction, "in a transaction"),
            (self.repeats, "may run again"),
        )
        told = ", ".join(f"{count} {word}" for count, word in states if count)
        return plural(self.ways, "way") + (f": {told}" if told else "")


def kind_name(kind: TriggerKind) -> str:
    """A kind of trigger in words."""
    return "public function" if kind == "unknown" else kind.replace("_", " ")


def cell(mail: Mail, kind: TriggerKind) -> Cell | None:
    """What the matrix says of a mail and a kind of trigger; None where no way of that kind leads to it."""
    ways = [way for way in mail.ways if way.trigger.kind == kind]
    if not ways:
        return None
    here = [one for one in mail.findings if any(trigger.kind == kind for trigger in one.triggers)]
    return Cell(
        len(ways),
        sum(way.guarded for way in ways),
        sum(way.in_transaction for way in ways),
        sum(way.repeats for way in ways),
        max((one.severity for one in here), key=SEVERITIES.index, default=None),
    )


def headline(audit: Audit) -> tuple[str, ...]:
    """The summary for who reads nothing else, a sentence each."""
    bad = [mail for mail in audit.mails if mail.worst == "error"]
    weak = [mail for mail in audit.mails if mail.worst == "warning"]
    sent = f"The code sends {plural(len(audit.mails), 'mail')} by {plural(_live(audit), 'provider call')}"
    sentences = [f"{sent}, started by {plural(audit.triggers, 'trigger')}."]
    if bad:
        verb = "is" if len(bad) == 1 else "are"
        sentences.append(
            f"{plural(len(bad), 'mail')} {verb} sent twice when what starts it comes twice, which it does."
        )
    if weak:
        noun = "further mail" if bad else "mail"
        sentences.append(f"{plural(len(weak), noun)} can be sent twice, by hand, by a second click or under load.")
    if not bad and not weak:
        sentences.append("No way was found on which one event sends one of them twice.")
    urgent = [repair for repair in audit.plan if repair.risk != "note"]
    if urgent:
        closed = sum(len(repair.findings) for repair in urgent[:3])
        first = f"Begin with {_first(urgent)} of the plan: {plural(closed, 'finding')} of {len(audit.findings)}."
        sentences.append(first)
    return tuple(sentences)


def _first(repairs: Sequence[Repair]) -> str:
    return "step 1" if len(repairs) == 1 else f"steps 1 to {min(3, len(repairs))}"


def _live(audit: Audit) -> int:
    return sum(1 for call in audit.calls if not call.marked)


def outcome_words(practice: Practice) -> str:
    """What was found for a line of the checklist."""
    if practice.outcome == "does not apply":
        return "nothing of this kind here"
    looked = plural(practice.subjects, practice.what)
    if practice.outcome == "kept":
        return f"nothing against it in {looked}"
    return f"{plural(len(practice.findings), 'finding')} in {looked}"
