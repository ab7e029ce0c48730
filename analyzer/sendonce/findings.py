"""What the checks say and the reports show. All values are frozen; nothing here knows a library.

Paths are relative to the analysed root with forward slashes; lines and columns count from 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["error", "warning", "note"]
Confidence = Literal["high", "medium", "low"]
TriggerKind = Literal[
    "controller",
    "webhook",
    "model_callback",
    "cron",
    "job",
    "admin",
    "command",
    "agent_tool",
    "unknown",
]
HopKind = Literal[
    "trigger",
    "call",
    "enqueue",
    "signal",
    "defer",
    "thread",
    "schedule",
    "retry",
    "transaction",
    "reservation",
    "send",
    "log",
]

Why = Literal["exact", "typed", "framework", "table", "override", "unique name"]
"""What an edge of the call graph rests on: the very object, the class of the receiver, what a library does with what
it is given, one of several values, a method of a subclass, or nothing but a name that only one class has."""

SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")
CONFIDENCES: tuple[Confidence, ...] = ("low", "medium", "high")


def weakest(*levels: Confidence) -> Confidence:
    """The least sure of the given confidences; `high` for none."""
    return min(levels, key=CONFIDENCES.index, default="high")


@dataclass(frozen=True, order=True)
class Place:
    """A stretch of source: relative path, first and last line and column (from 1, end column exclusive)."""

    path: str
    line: int
    column: int = 1
    end_line: int = 0
    end_column: int = 0


@dataclass(frozen=True, order=True)
class Trigger:
    """Where a run starts. `function` is its dotted name, `detail` the route, schedule or event."""

    place: Place
    kind: TriggerKind
    function: str
    detail: str = ""


@dataclass(frozen=True)
class Step:
    """One step of a path: what kind of hop, where, in which function, and a word about it."""

    hop: HopKind
    place: Place
    function: str
    note: str = ""


@dataclass(frozen=True)
class Related:
    """Another place that a finding speaks of."""

    place: Place
    note: str


@dataclass(frozen=True)
class Fix:
    """A repair that can be made mechanically. A `safe` one only moves a call; any other somebody should look at."""

    safe: bool
    title: str


@dataclass(frozen=True)
class Finding:
    """One fault, with the path that proves it. The only thing that passes from the checks to the outputs."""

    code: str
    name: str
    severity: Severity
    confidence: Confidence
    message: str
    help: str
    place: Place
    function: str
    template: str | None
    triggers: tuple[Trigger, ...] = ()
    trace: tuple[Step, ...] = ()
    related: tuple[Related, ...] = ()
    assumes: tuple[str, ...] = ()
    fingerprint: str = ""
    suppressed: bool = False
    fix: Fix | None = None
    silenced: tuple[Trigger, ...] = ()
    """Triggers that a comment or the policy of a mail has taken out of it."""


@dataclass(frozen=True, order=True)
class Problem:
    """A file that could not be used, and why. `line` is 0 where none is known."""

    path: str
    line: int
    message: str


@dataclass(frozen=True)
class ProviderCall:
    """A call that hands a message to a provider, wherever it stands."""

    place: Place
    function: str
    api: str
    provider: str
    marked: str = ""
    """Why its send is not reported: "test", "migration" or "vendored"; empty for application code."""


@dataclass(frozen=True)
class TemplateName:
    """What makes two messages the same e-mail, where that name was read, and how sure it is."""

    value: str | None
    source: Literal["template", "template_id", "constant", "subject", "message_class", "function"]
    confidence: Confidence


@dataclass(frozen=True)
class Route:
    """One trigger of a send: its shortest trace, and what is known of its transaction and guard."""

    trigger: Trigger
    trace: tuple[Step, ...]
    in_transaction: bool | None
    guarded: bool | None


@dataclass(frozen=True)
class Send:
    """A logical send: the call at which the template is known."""

    place: Place
    function: str
    template: TemplateName
    call: ProviderCall
    routes: tuple[Route, ...]


@dataclass(frozen=True)
class Inventory:
    """Every send, provider call and trigger of a tree, sorted by place."""

    sends: tuple[Send, ...] = ()
    calls: tuple[ProviderCall, ...] = ()
    triggers: tuple[Trigger, ...] = ()


@dataclass(frozen=True)
class Stats:
    """Figures of a run; `seconds` is wall time."""

    files: int = 0
    files_parsed: int = 0
    lines: int = 0
    sends: int = 0
    templates: int = 0
    triggers: int = 0
    unresolved: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Report:
    """The whole result of one run."""

    root: str
    findings: tuple[Finding, ...] = ()
    inventory: Inventory = field(default_factory=Inventory)
    problems: tuple[Problem, ...] = ()
    stats: Stats = field(default_factory=Stats)
    unresolved: tuple[Related, ...] = ()
    """Calls that could lead to a send and were not resolved."""
    notes: int = 0
    """Notes that the settings keep from being shown."""
    unsure: int = 0
    """Other findings that are too unsure to be shown."""
    baselined: int = 0
    """Findings that the baseline knows."""
    since: str = ""
    """The revision after which lines had to change for a finding to be shown, if one was given."""
    elsewhere: int = 0
    """Findings without a step in such lines."""
    remarks: tuple[str, ...] = ()
    """What the user should know of the settings: patterns that fit nothing, a baseline that knows too much."""
