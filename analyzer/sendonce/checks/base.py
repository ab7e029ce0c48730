"""What all checks share: the rule, the fault it finds, and how a fault becomes a finding."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from sendonce.findings import CONFIDENCES, SEVERITIES, Confidence, Finding, Place, Related, Severity, Trigger
from sendonce.program.analysis import Analysis
from sendonce.program.paths import Path, place_of, trace


@dataclass(frozen=True, eq=False)
class Fault:
    """A finding and the paths that it explains, on which weaker rules stay silent."""

    finding: Finding
    explains: frozenset[Path] = frozenset()


@dataclass(frozen=True)
class Rule:
    """One rule: its code, name and documentation, and the check that finds its faults."""

    code: str
    name: str
    doc: str
    check: Callable[[Analysis, frozenset[Path]], Iterator[Fault]]
    """Given the analysis and the paths that stronger rules have explained."""
    replaces: tuple[str, ...] = ()


def worst(severities: Iterable[Severity]) -> Severity:
    """The most severe of some severities."""
    return max(severities, key=SEVERITIES.index)


_BY_TRIGGER: dict[str, Severity] = {
    "webhook": "error",
    "cron": "error",
    "controller": "warning",
    "model_callback": "warning",
    "agent_tool": "warning",
    "job": "warning",
}


_ASKED = re.compile(
    r"re_?send|re_?mail|send_?again|remind|retry|send_?test|test_?(?:e?mail|smtp|message|notification)", re.IGNORECASE
)
"""Names by which a user asks for one more mail."""


def is_asked(path: Path) -> bool:
    """Whether a user asks for one more mail: the trigger's function or route says so."""
    by_hand = path.trigger.kind in ("controller", "admin", "command")
    return by_hand and _ASKED.search(f"{path.trigger.function} {path.trigger.detail}") is not None


def severity_of(path: Path) -> Severity:
    """How bad an unguarded mail is: what is delivered at least once is worse than what a person does by hand.

    A callback that only a new row starts runs once a row: whether that row is made twice is asked of what makes it.
    Whoever asks for one more mail, or tries one out, means to.
    """
    if path.internal or path.of_new_row or is_asked(path):
        return "note"
    return _BY_TRIGGER.get(path.trigger.kind, "note")


def is_open(path: Path) -> bool:
    """Whether nothing reserves a path, or only a job's id that the queue frees again."""
    return path.mail.guard is None or bool(path.mail.guard.passing)


def surest(levels: Iterable[Confidence]) -> Confidence:
    """The surest of some confidences: one sure path proves the fault."""
    return max(levels, key=CONFIDENCES.index)


def fault(
    analysis: Analysis,
    rule: tuple[str, str],
    paths: list[Path],
    place: Place,
    function: str,
    severity: Severity,
    message: str,
    help: str,
    related: Iterable[Related] = (),
    confidence: Confidence | None = None,
    assumes: Iterable[str] = (),
    shown_from: list[Path] | None = None,
) -> Fault:
    """A fault that some paths (at least one) have in common; the shortest sure one is its trace.

    `shown_from` are those of the paths that decide the severity, if not all do.
    """
    shown = min(shown_from or paths, key=lambda path: (-CONFIDENCES.index(path.confidence), path.length, path.trigger))
    name = shown.mail.template
    finding = Finding(
        code=rule[0],
        name=rule[1],
        severity=severity,
        confidence=confidence or surest(path.confidence for path in paths),
        message=message,
        help=help,
        place=place,
        function=function,
        template=None if name is None else name.value,
        triggers=triggers_of(paths),
        trace=trace(shown, analysis.program),
        related=tuple(dict.fromkeys(related)),
        assumes=tuple(dict.fromkeys(assumes)),
    )
    return Fault(finding, frozenset(paths))


def triggers_of(paths: Iterable[Path]) -> tuple[Trigger, ...]:
    """The triggers of some paths, sorted, each once."""
    return tuple(sorted({path.trigger for path in paths}))


def listed(triggers: Iterable[Trigger], most: int = 3) -> str:
    """Triggers as words: "the controller a.b, the webhook c.d and 2 more"."""
    names = list(dict.fromkeys(f"the {kind_name(one.kind)} {one.function}" for one in triggers))
    more = len(names) - most
    shown = names[:most]
    if more > 0:
        return ", ".join(shown) + f" and {more} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]


def kind_name(kind: str) -> str:
    """A trigger kind in words."""
    return {
        "model_callback": "model callback",
        "cron": "scheduled job",
        "agent_tool": "agent tool",
        "unknown": "function",
    }.get(kind, kind)


def named(path: Path) -> str:
    """The mail of a path in words."""
    template = path.mail.template
    return f'the mail "{template.value}"' if template is not None and template.value else "a mail"


def by_place(paths: Iterable[Path], where: Callable[[Path], Place]) -> dict[Place, list[Path]]:
    """Paths grouped by a place, in the order of places."""
    groups: dict[Place, list[Path]] = {}
    for path in paths:
        groups.setdefault(where(path), []).append(path)
    return {place: groups[place] for place in sorted(groups)}


def send_place(path: Path) -> Place:
    """Where the send of a path stands."""
    return path.mail.bound.place if path.mail.bound is not None else place_of(path.send)
