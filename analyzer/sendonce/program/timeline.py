"""One way of one mail as a timeline: the steps of its path, with the retries around them and the log lines on the way.

The static side of an incident: which lines a run that sends this mail writes, in their order, and
where on the way it may begin again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from sendonce import facts
from sendonce.findings import Finding, Place, Step
from sendonce.program import held as h
from sendonce.program.analysis import Analysis
from sendonce.program.held import Site
from sendonce.program.loglines import Names
from sendonce.program.paths import Path, place_of, trace
from sendonce.program.symbols import Function
from sendonce.program.values import Attr, Const, Text, Value

_FILLED_IN = re.compile(r"%\(?\w*\)?[-+ #0]*\d*(?:\.\d+)?[sdrifxegu]|\{[^{}\s]*\}")
"""Where the logging module, or a logger in the style of `str.format`, puts a value into a text."""

_SAME_RUN = ("call", "trigger")
"""Hops behind which a run comes back to what stands after the call."""


@dataclass(frozen=True)
class Logged:
    """A log call on a path and the written pieces of its text, with None for what is filled in."""

    place: Place
    pieces: tuple[str | None, ...]


@dataclass(frozen=True)
class Timeline:
    """A path, its steps in the order of time, and the findings that rest on it."""

    path: Path
    steps: tuple[Step, ...]
    findings: tuple[Finding, ...] = ()
    logged: tuple[Logged, ...] = ()
    """The log lines among the steps, in their order."""
    names: Names = field(default_factory=Names)
    """What those lines name."""

    @property
    def missing(self) -> tuple[str, ...]:
        """What an incident would ask for and no line on the way tells."""
        wanted = (
            (self.names.runs, "an id of the run (request, task or event)"),
            (self.names.objects, "an id of the object that the mail is about"),
            (self.names.what, "the name of the mail or event"),
        )
        return tuple(words for told, words in wanted if not told)


class Timelines:
    """Makes them for the paths of an analysis."""

    def __init__(self, analysis: Analysis, findings: tuple[Finding, ...] = ()) -> None:
        self.analysis = analysis
        self.program = analysis.program
        self.evaluator = analysis.evaluator
        self.findings = [finding for finding in findings if not finding.suppressed]

    def of(self, path: Path) -> Timeline:
        """The timeline of a path."""
        steps = tuple(self._steps(path))
        calls = {place_of(site): site for site in self._log_sites(path)}
        lines = [calls[step.place] for step in steps if step.hop == "log" and step.place in calls]
        return Timeline(
            path,
            steps,
            tuple(one for one in self.findings if _rests_on(one, path, steps)),
            tuple(Logged(place_of(site), self._pieces(site)) for site in lines),
            self.analysis.log_lines.names(site.call for site in lines),
        )

    def _steps(self, path: Path) -> Iterator[Step]:
        """The steps of the trace, what repeats a part before that part, log lines where they are written."""
        rest = list(trace(path, self.program))
        yield rest.pop(0)
        again = self._retries(path)
        told: set[Site] = set()
        for site in path.sites():
            yield from again.pop(site, ())
            here = place_of(site)
            until = next((number for number, step in enumerate(rest) if step.place == here), len(rest) - 1) + 1
            ahead, rest = rest[:until], rest[until:]
            yield from _merged(ahead, [self._log(one) for one in self._before(site) if one not in told])
            told.update(self._before(site))
        yield from rest
        yield from map(self._log, self._afterwards(path))

    def _retries(self, path: Path) -> dict[Site, list[Step]]:
        """What runs a part of the path again, by the first call of that part."""
        found: dict[Site, list[Step]] = {}
        repeating = self.analysis.repeating
        for one in (*repeating.of(path), *repeating.redelivered(path), *repeating.redelivered(path, by_default=True)):
            first = one.run.sites[0]
            step = Step("retry", one.repetition.place, self._name(first), one.repetition.note)
            if step not in found.setdefault(first, []):
                found[first].append(step)
        return found

    # ------------------------------------------------------------------ log lines

    def _before(self, site: Site) -> list[Site]:
        """The log calls that were surely made in the function when it comes to a call, oldest first."""
        done = (fact.site for fact in h.oldest_first(site.held) if isinstance(fact, h.Done))
        return [one for one in done if self._logs(one)]

    def _log_sites(self, path: Path) -> Iterator[Site]:
        """The log calls on the way and afterwards."""
        for site in path.sites():
            yield from self._before(site)
        yield from self._afterwards(path)

    def _afterwards(self, path: Path) -> Iterator[Site]:
        """The log calls that are surely made when the send has returned, in the run that sends."""
        sites = list(path.sites())
        hops = [crossing.hop for crossing in path.crossings()]
        for number in range(len(sites) - 1, -1, -1):
            site = sites[number]
            for one in self.analysis.flows.of(self.program.function(site.function)).sites:
                if one.index > site.index and self._logs(one) and _is_done(site, one) and _is_certain(one, site):
                    yield one
            if number and hops[number - 1] not in _SAME_RUN:
                return

    def _logs(self, site: Site) -> bool:
        return bool(self.evaluator.lookup(self.analysis.program.packs.logs, site.call.func))

    def _log(self, site: Site) -> Step:
        level = site.call.func.name if isinstance(site.call.func, Attr) else ""
        words = _shown(self.evaluator.resolve(site.call.args[0])) if site.call.args else ""
        return Step("log", place_of(site), self._name(site), " ".join(filter(None, (level, words))))

    def _pieces(self, site: Site) -> tuple[str | None, ...]:
        """The written pieces of a log line; of a text with `%s` in it, what stands between."""
        value = self.evaluator.resolve(site.call.args[0]) if site.call.args else None
        parts = value.pieces if isinstance(value, Text) else (value,)
        found: list[str | None] = []
        for part in parts:
            if isinstance(part, Const) and isinstance(part.value, str):
                for number, text in enumerate(_FILLED_IN.split(part.value)):
                    found += [None, text] if number else [text]
            else:
                found.append(None)
        return tuple(found)

    def _name(self, site: Site) -> str:
        return self.program.function(site.function).dotted


def _merged(steps: list[Step], logs: list[Step]) -> Iterator[Step]:
    """Steps with log lines among them by their lines; the last step, the hop itself, stays last."""
    for step in steps:
        is_hop = step is steps[-1]
        while logs and (is_hop or (logs[0].place.path == step.place.path and logs[0].place.line < step.place.line)):
            yield logs.pop(0)
        yield step


def _is_done(site: Site, later: Site) -> bool:
    return any(isinstance(fact, h.Done) and fact.site is site for fact in h.newest_first(later.held))


def _is_certain(later: Site, site: Site) -> bool:
    """Whether a later call is made whenever an earlier one is: no branch, loop or handler begins between them."""
    before = set(h.newest_first(site.held))
    return all(fact in before for fact in h.newest_first(later.held) if isinstance(fact, h.Test | h.Loop | h.Caught))


def _shown(value: Value) -> str:
    """A log line's text as far as it is written out."""
    if isinstance(value, Const):
        return f'"{value.value}"'
    if isinstance(value, Text):
        return '"' + "".join(str(one.value) if isinstance(one, Const) else "{}" for one in value.pieces) + '"'
    return ""


def _rests_on(finding: Finding, path: Path, steps: tuple[Step, ...]) -> bool:
    """Whether a finding speaks of the trigger of a path and its mail, or stands at what repeats the path.

    A retry that many mails share is told once, with one of them.
    """
    template = path.mail.template
    same_mail = finding.template is None or (template is not None and finding.template == template.value)
    shared = any(
        step.hop == "retry" and step.place.path == finding.place.path and step.place.line == finding.place.line
        for step in steps
    )
    return (same_mail or shared) and path.trigger in finding.triggers


# ---------------------------------------------------------------------- which paths are meant


def of_template(paths: tuple[Path, ...], name: str) -> tuple[Path, ...]:
    """The paths that send the mail of this name; where none has it, those with the word in the name of their mail."""
    named = [(path, path.mail.template.value or "") for path in paths if path.mail.template is not None]
    exact = tuple(path for path, value in named if value == name)
    return exact or tuple(path for path, value in named if name.lower() in value.lower())


def through(analysis: Analysis, file: str, line: int) -> tuple[Path, ...]:
    """The paths with a call or their trigger at a line; where none has, those through the function around it."""
    there = tuple(path for path in analysis.paths if any(_covers(place, file, line) for place in _places(path)))
    if there:
        return there
    around = [
        function.id
        for id in sorted({id for path in analysis.paths for id in path.functions()})
        if (function := analysis.program.function(id)).module.path == file and _spans(function, line)
    ]
    return tuple(path for path in analysis.paths if not set(around).isdisjoint(path.functions()))


def _places(path: Path) -> Iterator[Place]:
    yield path.trigger.place
    yield from (place_of(site) for site in path.sites())
    if path.mail.bound is not None:
        yield path.mail.bound.place


def _covers(place: Place, file: str, line: int) -> bool:
    return place.path == file and place.line <= line <= max(place.line, place.end_line)


def _spans(function: Function, line: int) -> bool:
    node = function.node
    return not isinstance(node, facts.ModuleFacts) and node.at[0] <= line <= node.at[2]
