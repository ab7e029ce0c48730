"""`# sendonce: ignore[SO201] reason`: on a line of the finding, or in a comment of its own above it.

At the finding or at its send a comment silences the finding; at a trigger it silences the paths
from there. A comment that says nothing, gives no reason or is not needed is a finding itself.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sendonce.discovery import Sources
from sendonce.findings import Finding, Place, Step
from sendonce.policy.selection import Rule

MARK = b"sendonce:"
_COMMENT = re.compile(r"#\s*sendonce:\s*ignore\b\s*(?:\[(?P<codes>[^\]]*)\])?[\s:–—-]*(?P<reason>[^#]*)")
_MEANT = re.compile(r"#\s*sendonce:\s*(?P<said>\w+)\s*\[[^\]]*\]")
"""A comment that has the form of a suppression, but another word than `ignore`."""
_DEFINITION = re.compile(r"\s*(?:async\s+def|def|class)\b")
_NEEDED_TRIGGERS = {"SO101": 2}
"""Rules that compare triggers need more than one."""


@dataclass(frozen=True)
class OwnRule:
    """A rule about suppression comments."""

    code: str
    name: str
    doc: str


BAD = OwnRule(
    "SO001",
    "bad-suppression",
    """SO001 bad-suppression.

    ## What it finds
    A suppression comment that names no rule, an unknown one, or gives no reason.

    ## Why it matters
    Whoever reads the code later must be able to judge whether the reason still holds, and a comment
    for all rules would hide the next fault too.

    ## Bad
    ```python
    send_receipt(order)  # sendonce: ignore
    ```

    ## Good
    ```python
    send_receipt(order)  # sendonce: ignore[SO301] the provider drops repeats of one order id
    ```

    ## Repair
    Name the code, and say behind the bracket why this place cannot send twice.
    """,
)
UNUSED = OwnRule(
    "SO002",
    "unused-suppression",
    """SO002 unused-suppression.

    ## What it finds
    A suppression comment whose finding is no longer there.

    ## Why it matters
    It would hide a new fault at the same place without anyone having judged it.

    ## Repair
    Take the code, or the comment, out.
    """,
)
RULES: tuple[OwnRule, ...] = (BAD, UNUSED)


@dataclass(frozen=True)
class Ignore:
    """One comment: where it stands, what it names, and the lines of the file for which it speaks."""

    place: Place
    words: tuple[str, ...]
    reason: str
    covers: frozenset[int]
    said: str = ""
    """The word that stands where `ignore` should."""


def suppressed(
    findings: Iterable[Finding],
    ignores: Sequence[Ignore],
    rules: Sequence[Rule],
    chosen: Collection[str],
    sends: Iterable[Place] = (),
) -> list[Finding]:
    """The findings, marked where a comment silences them, and findings about the comments themselves.

    `sends` are the places of all sends of the tree: where a trace passes one, a comment silences it.
    """
    codes = meaning(rules)
    book = _Book(ignores, codes, sends)
    marked = [book.judge(finding) for finding in findings]
    about_comments = [*_bad(ignores, codes), *_unused(ignores, codes, book.used, chosen)]
    return marked + [book.judge(finding) for finding in about_comments if finding.code in chosen]


def meaning(rules: Sequence[Rule]) -> dict[str, str]:
    """The code that each whole code or name means."""
    return {word: rule.code for rule in rules for word in (rule.code, rule.name)}


def read_ignores(sources: Sources) -> list[Ignore]:
    """All suppression comments in application code, by place."""
    found: list[Ignore] = []
    for file in sources.files:
        if file.role == "application":
            try:
                content = sources.read(file)
            except OSError:
                continue
            if MARK in content:
                found.extend(ignores_in(file.path, content, sources.lines(file.path)))
    return found


def ignores_in(path: str, content: bytes, lines: Sequence[str]) -> Iterator[Ignore]:
    """The suppression comments of one file."""
    for number, column, comment in _comments(content, lines):
        match = _COMMENT.search(comment)
        if match:
            words = tuple(filter(None, re.split(r"[\s,]+", match["codes"] or "")))
            start = column + match.start()
            place = Place(path, number, start + 1, number, column + len(comment) + 1)
            yield Ignore(place, words, match["reason"].strip(), _covered(number, lines))
        elif meant := _MEANT.search(comment):
            place = Place(path, number, column + meant.start() + 1, number, column + len(comment) + 1)
            yield Ignore(place, (), "", frozenset(), meant["said"])


def _comments(content: bytes, lines: Sequence[str]) -> list[tuple[int, int, str]]:
    """(line, column from 0, text) of each comment; where the file cannot be split into tokens, of each `#`."""
    try:
        tokens = tokenize.tokenize(io.BytesIO(content).readline)
        return [(*token.start, token.string) for token in tokens if token.type == tokenize.COMMENT]
    except (tokenize.TokenError, SyntaxError, ValueError):
        found = ((number, line.find("#"), line) for number, line in enumerate(lines, 1))
        return [(number, column, line[column:]) for number, column, line in found if column >= 0]


def _covered(number: int, lines: Sequence[str]) -> frozenset[int]:
    """A comment behind code speaks for its line; one of its own for the next code, decorators and their `def`."""
    if not lines[number - 1].lstrip().startswith("#"):
        return frozenset({number})
    following = number
    while following < len(lines) and lines[following].lstrip().startswith("#"):
        following += 1
    covered = {following + 1}
    if following < len(lines) and lines[following].lstrip().startswith("@"):
        last = next((n for n in range(following, len(lines)) if _DEFINITION.match(lines[n])), following)
        covered.update(range(following + 1, last + 2))
    return frozenset(covered)


class _Book:
    """The comments by line, and which of their codes have silenced something."""

    def __init__(self, ignores: Sequence[Ignore], meaning: dict[str, str], sends: Iterable[Place]) -> None:
        self.used: set[tuple[Place, str]] = set()
        self._sends = {(place.path, place.line) for place in sends}
        self._at: dict[tuple[str, int, str], list[Ignore]] = {}
        for ignore in ignores:
            for line in ignore.covers:
                for code in {meaning[word] for word in ignore.words if word in meaning}:
                    self._at.setdefault((ignore.place.path, line, code), []).append(ignore)

    def judge(self, finding: Finding) -> Finding:
        sends = (step.place for step in finding.trace if self._is_send(step))
        silenced = [place for place in (finding.place, *sends) if self._silences(place, finding.code)]
        if silenced:
            return replace(finding, suppressed=True)
        for trigger in finding.silenced:
            self._silences(head(trigger.place), finding.code)
        left = tuple(t for t in finding.triggers if not self._silences(head(t.place), finding.code))
        if len(left) == len(finding.triggers) or finding.suppressed:
            return finding
        enough = len(left) >= _NEEDED_TRIGGERS.get(finding.code, 1)
        return replace(finding, triggers=left) if enough else replace(finding, suppressed=True)

    def _is_send(self, step: Step) -> bool:
        return step.hop == "send" or (step.place.path, step.place.line) in self._sends

    def _silences(self, place: Place, code: str) -> bool:
        lines = range(place.line, max(place.line, place.end_line) + 1)
        hits = [ignore for line in lines for ignore in self._at.get((place.path, line, code), ())]
        self.used.update((ignore.place, code) for ignore in hits)
        return bool(hits)


def head(place: Place) -> Place:
    """The first line of a trigger: its span may be the whole function."""
    return Place(place.path, place.line, place.column)


def _bad(ignores: Iterable[Ignore], meaning: dict[str, str]) -> Iterator[Finding]:
    for ignore in ignores:
        if ignore.said:
            message = f"The comment says {ignore.said!r} where `ignore` should stand, so it silences nothing."
            yield _finding(BAD, ignore, message, "Write `ignore[CODE] reason`.")
        elif not ignore.words:
            message = "The comment names no rule, so it silences nothing."
            yield _finding(BAD, ignore, message, "Write `ignore[CODE] reason`.")
        elif not ignore.reason:
            message = "The comment gives no reason, so nobody can judge later whether it still holds."
            yield _finding(BAD, ignore, message, "Say behind the bracket why this place cannot send twice.")
        for word in ignore.words:
            if word not in meaning:
                message = f"The comment names {word!r}, which is the code or name of no rule."
                yield _finding(BAD, ignore, message, "Name a rule by its whole code or name: `sendonce explain`.")


def _unused(
    ignores: Iterable[Ignore], meaning: dict[str, str], used: Collection[tuple[Place, str]], chosen: Collection[str]
) -> Iterator[Finding]:
    for ignore in ignores:
        for word in ignore.words:
            code = meaning.get(word)
            if code in chosen and (ignore.place, code) not in used:
                message = f"No finding of {word} is silenced by this comment; it would hide a new one unjudged."
                yield _finding(UNUSED, ignore, message, f"Take {word} out of the comment.")


def _finding(rule: OwnRule, ignore: Ignore, message: str, repair: str) -> Finding:
    return Finding(
        code=rule.code,
        name=rule.name,
        severity="warning",
        confidence="high",
        message=message,
        help=repair,
        place=ignore.place,
        function="",
        template=None,
    )
