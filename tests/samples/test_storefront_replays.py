"""The storefront's marked faults are real: replays send them through an SMTP server and count.

The replays run once, in a process of their own, because they configure Django and Celery. They report
which marks they proved; the marks are the `# fault:` comments of the sample.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

STOREFRONT = Path(__file__).resolve().parents[2] / "sample_repos" / "storefront"
NEEDED = ("django", "celery", "stripe", "requests", "aiosmtpd")
MARK = re.compile(r"#\s*fault:\s*(.+?)\s*$")
SECONDS = 60

pytestmark = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in NEEDED),
    reason="needs the optional dependencies `samples`",
)


@dataclass(frozen=True)
class Mark:
    """One code of one `# fault:` comment: where it stands and in which function."""

    code: str
    note: bool
    path: str
    line: int
    function: str

    @property
    def name(self) -> str:
        return f"{self.code} {self.path}::{self.function}"


@dataclass(frozen=True)
class Replay:
    """What one replay reported: the marks it claims to prove, the mails that the server accepted."""

    name: str
    passed: bool
    proves: tuple[str, ...]
    once: bool
    accepted: tuple[str, ...]
    trouble: str

    def most_to_one_address(self) -> int:
        return max(Counter(self.accepted).values(), default=0)


@dataclass(frozen=True)
class Run:
    replays: tuple[Replay, ...]
    returncode: int
    seconds: float
    output: str


def function_at(tree: ast.Module, line: int) -> str:
    """The name of the innermost function around a line, its decorators included."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    spans = [(min([f.lineno, *(d.lineno for d in f.decorator_list)]), f) for f in functions]
    around = [(start, f.name) for start, f in spans if start <= line <= (f.end_lineno or 0)]
    return max(around)[1]


def marks_of(file: Path) -> list[Mark]:
    text = file.read_text(encoding="utf-8")
    tree, found = ast.parse(text), []
    for number, line in enumerate(text.splitlines(), 1):
        if match := MARK.search(line):
            for entry in match[1].split(","):
                code, _, kind = entry.strip().partition(" ")
                assert re.fullmatch(r"SO\d{3}", code), entry
                assert kind in ("", "note"), entry
                path = file.relative_to(STOREFRONT).as_posix()
                found.append(Mark(code, kind == "note", path, number, function_at(tree, number)))
    return found


def all_marks() -> list[Mark]:
    return [mark for file in sorted(STOREFRONT.rglob("*.py")) for mark in marks_of(file)]


def read_replays(report: Path) -> tuple[Replay, ...]:
    rows = json.loads(report.read_text(encoding="utf-8")) if report.exists() else []
    return tuple(
        Replay(
            name=row["replay"],
            passed=row["passed"],
            proves=tuple(row["proves"]),
            once=row["once"],
            accepted=tuple(to for to, _ in row["accepted"]),
            trouble=row["trouble"],
        )
        for row in rows
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    report = tmp_path_factory.mktemp("storefront") / "replays.json"
    kept_out = ("DJANGO_", "STOREFRONT_", "PYTEST_", "EMAIL_", "STRIPE_", "CELERY_", "COV_")
    env = {key: value for key, value in os.environ.items() if not key.startswith(kept_out)}
    env |= {"REPLAY_REPORT": str(report), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-c", "pytest.ini", "replays"]
    begin = time.monotonic()
    done = subprocess.run(
        command,
        cwd=STOREFRONT,
        env=env,
        capture_output=True,
        text=True,
        timeout=2 * SECONDS,
        check=False,
    )
    seconds = time.monotonic() - begin
    return Run(read_replays(report), done.returncode, seconds, done.stdout[-4000:] + done.stderr[-2000:])


def test_every_replay_passes(run: Run) -> None:
    failed = [f"{replay.name}\n{replay.trouble}" for replay in run.replays if not replay.passed]
    assert not failed, "\n\n".join(failed)
    assert run.returncode == 0, run.output
    assert len(run.replays) >= 30


def test_every_mark_is_proved_and_nothing_else_is(run: Run) -> None:
    proved = {name for replay in run.replays if replay.passed for name in replay.proves}
    assert proved == {mark.name for mark in all_marks()}


def test_a_fault_is_two_messages_to_one_address(run: Run) -> None:
    counts = {replay.name: replay.most_to_one_address() for replay in run.replays if replay.proves}
    assert counts
    assert {name: count for name, count in counts.items() if count < 2} == {}


def test_a_mail_done_right_is_one_message(run: Run) -> None:
    counts = {replay.name: len(replay.accepted) for replay in run.replays if replay.once}
    assert len(counts) >= 8
    assert {name: count for name, count in counts.items() if count != 1} == {}


def test_the_replays_are_quick(run: Run) -> None:
    assert run.seconds < SECONDS


def test_the_readme_names_every_mark_with_its_line() -> None:
    rows = re.findall(
        r"^\| `([\w/]+\.py):(\d+)` \| (SO\d{3})( note)? \|",
        (STOREFRONT / "README.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    named = [(path, int(line), code, bool(note)) for path, line, code, note in rows]
    marked = [(mark.path, mark.line, mark.code, mark.note) for mark in all_marks()]
    assert sorted(named) == sorted(marked)
