"""What the text formats share: safe text, colour, excerpts, counts."""

from __future__ import annotations

import textwrap
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import click

from sendonce.findings import SEVERITIES, Finding, Place, Report, Severity, Step

WIDTH = 100
HOP_WIDTH = 12
LONGEST_NAME = 160
LONGEST_TEXT = 1200
_LONGEST_EXCERPT = 160
_COLORS: dict[Severity, str] = {"error": "red", "warning": "yellow", "note": "cyan"}
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Categories of characters that move the cursor, reorder or hide text, or cannot be encoded."""


def visible(text: str) -> str:
    """Text of the analysed tree made safe to print: unprintable characters as backslash escapes, tabs as blanks."""
    text = text.expandtabs(4)
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(char) if unicodedata.category(char) in _UNSAFE else char for char in text)


def cut(text: str, most: int = LONGEST_NAME) -> str:
    """Printable text of bearable length."""
    shown = visible(text)
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def _escaped(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class Paint:
    """Colours text, or leaves it as it is."""

    def __init__(self, color: bool) -> None:
        self.color = color

    def __call__(self, text: str, *, fg: str | None = None, bold: bool = False, dim: bool = False) -> str:
        if not self.color:
            return text
        return click.style(text, fg=fg, bold=bold or None, dim=dim or None)

    def severity(self, severity: Severity, text: str) -> str:
        """Text in the colour of a severity."""
        return self(text, fg=_COLORS[severity], bold=True)


def where(place: Place) -> str:
    """`path:line:column`, safe to print."""
    return f"{visible(place.path)}:{place.line}:{place.column}"


def excerpt(lines: Sequence[str], line: int) -> str:
    """One source line, safe and of bearable length; empty if there is none."""
    if not 0 < line <= len(lines):
        return ""
    text = visible(lines[line - 1]).rstrip()
    return text if len(text) <= _LONGEST_EXCERPT else text[: _LONGEST_EXCERPT - 1] + "…"


def numbered(number: int, step: Step, lines: Sequence[str], paint: Paint) -> Iterator[str]:
    """A step of a path with its number, and its line in the source."""
    note = f"  {cut(step.note)}" if step.note else ""
    hop = paint(f"{step.hop:<{HOP_WIDTH}}", fg="blue")
    yield f"  {number:>2} {hop} {visible(step.place.path)}:{step.place.line}  {cut(step.function)}{note}"
    text = excerpt(lines, step.place.line)
    if text:
        yield " " * (HOP_WIDTH + 6) + paint(f"{step.place.line} | ", dim=True) + text.strip()


def paragraph(label: str, text: str, indent: int = 2) -> Iterator[str]:
    """`label: text`, wrapped; line breaks of the text are kept."""
    pad = " " * indent
    first = f"{pad}{label}: "
    hang = pad + " " * (len(label) + 2)
    for part in text.splitlines() or [""]:
        yield from textwrap.wrap(
            cut(part, LONGEST_TEXT),
            WIDTH,
            initial_indent=first,
            subsequent_indent=hang,
            break_long_words=False,
            break_on_hyphens=False,
        )
        first = hang


def shown(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that are not suppressed."""
    return [finding for finding in findings if not finding.suppressed]


def summary(report: Report) -> str:
    """The last line: how many of what, in how much code."""
    counts = Counter(finding.severity for finding in shown(report.findings))
    found = ", ".join(plural(counts[severity], severity) for severity in reversed(SEVERITIES) if counts[severity])
    parts = [found or "No findings"]
    silenced = len(report.findings) - counts.total()
    if silenced:
        parts.append(f"{silenced} suppressed")
    if report.notes:
        parts.append(f"{plural(report.notes, 'note')} not shown (--pedantic)")
    if report.unsure:
        parts.append(f"{report.unsure} less sure not shown (--min-confidence low)")
    if report.baselined:
        parts.append(f"{report.baselined} in the baseline")
    if report.since:
        parts.append(f"{report.elsewhere} not in what changed since {visible(report.since)}")
    if report.unresolved:
        parts.append(f"{plural(len(report.unresolved), 'call')} not resolved (-v)")
    if report.problems:
        parts.append(f"{plural(len({problem.path for problem in report.problems}), 'file')} left out")
    sends = f"{plural(report.stats.sends, 'send')} of {plural(report.stats.templates, 'mail')}"
    return f"{'; '.join(parts)}. Read {plural(report.stats.files, 'file')}, {sends}."


def plural(count: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def statistics(report: Report) -> Iterator[str]:
    """A line for each rule that was found: count, code, name."""
    counts = Counter((finding.code, finding.name) for finding in shown(report.findings))
    for (code, name), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"{count:>5}  {code}  {name}"
