"""The audit as frozen values: what the renderings show, in the order in which they show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sendonce.findings import (
    SEVERITIES,
    Confidence,
    Finding,
    HopKind,
    Place,
    Problem,
    ProviderCall,
    Related,
    Send,
    Severity,
    Step,
    Trigger,
    TriggerKind,
)

Lane = Literal["web", "by hand", "data", "schedule", "queue", "code", "mail"]
LANES: tuple[Lane, ...] = ("web", "by hand", "data", "schedule", "queue", "code", "mail")
LANE_OF: dict[TriggerKind, Lane] = {
    "controller": "web",
    "webhook": "web",
    "agent_tool": "web",
    "admin": "by hand",
    "command": "by hand",
    "model_callback": "data",
    "cron": "schedule",
    "job": "queue",
    "unknown": "code",
}
"""The lane in which a trigger of a kind is drawn."""

Mark = Literal["guard", "transaction", "retry"]
Effort = Literal["small", "medium", "large"]
EFFORTS: tuple[Effort, ...] = ("small", "medium", "large")
Outcome = Literal["kept", "broken", "does not apply"]


@dataclass(frozen=True)
class Measured:
    """How the audit was made. `commit` is empty where the tree is no work tree of git."""

    version: str
    commit: str
    files: int
    parsed: int
    lines: int
    seconds: float


@dataclass(frozen=True)
class Way:
    """The shortest way from one trigger to a mail, as a timeline. A state holds if it holds on any way of the two."""

    trigger: Trigger
    steps: tuple[Step, ...]
    in_transaction: bool
    guarded: bool
    repeats: bool
    confidence: Confidence


@dataclass(frozen=True)
class Stop:
    """A function (or several alike) in the picture of a mail. `column` counts from 0 at the triggers."""

    number: int
    lane: Lane
    column: int
    row: int
    title: str
    what: str
    place: Place
    count: int = 1
    marks: tuple[Mark, ...] = ()
    codes: tuple[str, ...] = ()


@dataclass(frozen=True, order=True)
class Arrow:
    """A hop between two stops; `calls` counts the plain calls that it stands for."""

    source: int
    target: int
    hop: HopKind
    calls: int = 1


@dataclass(frozen=True)
class Picture:
    """The ways of a mail from the triggers on the left to the provider on the right, by lanes."""

    stops: tuple[Stop, ...]
    arrows: tuple[Arrow, ...]


@dataclass(frozen=True)
class Mail:
    """One mail: its sends, its ways (one a trigger), picture, findings and the numbers of the repairs for it."""

    number: int
    name: str
    confidence: Confidence
    sends: tuple[Send, ...]
    ways: tuple[Way, ...]
    picture: Picture | None
    findings: tuple[Finding, ...]
    repairs: tuple[int, ...]

    @property
    def worst(self) -> Severity | None:
        """The severity of its worst finding."""
        return max((finding.severity for finding in self.findings), key=SEVERITIES.index, default=None)


@dataclass(frozen=True)
class Repair:
    """One thing to do and the findings that it closes; `place` is where, None for several places."""

    number: int
    title: str
    how: str
    place: Place | None
    function: str
    reserves: bool
    """It is a reservation before the send."""
    risk: Severity
    effort: Effort
    findings: tuple[Finding, ...]
    mails: tuple[str, ...]
    triggers: int


@dataclass(frozen=True)
class Helper:
    """A function of the project that several mails leave by: a key that it takes and reserves guards them all."""

    function: str
    place: Place
    repairs: tuple[int, ...]
    mails: tuple[str, ...]
    findings: int


@dataclass(frozen=True)
class Practice:
    """One line of the checklist: what good practice asks, how many places it was looked for at, what was found."""

    title: str
    why: str
    outcome: Outcome
    subjects: int
    what: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Audit:
    """The whole audit of a tree."""

    project: str
    measured: Measured
    mails: tuple[Mail, ...]
    kinds: tuple[TriggerKind, ...]
    """The kinds of trigger that occur, in the order of the matrix."""
    calls: tuple[ProviderCall, ...]
    triggers: int
    findings: tuple[Finding, ...]
    plan: tuple[Repair, ...]
    helpers: tuple[Helper, ...]
    practices: tuple[Practice, ...]
    assumptions: tuple[tuple[str, int], ...]
    """What findings hang on, with how many do."""
    unresolved: tuple[Related, ...]
    problems: tuple[Problem, ...]
