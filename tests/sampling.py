"""The applications of sample_repos/: their marked faults, their replays, what the tool says of them."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

REPOS = Path(__file__).resolve().parents[1] / "sample_repos"
MARK = re.compile(r"#\s*fault:\s*(.+?)\s*$")
WHOLE_MODULE = "<module>"
KEPT_OUT = ("DJANGO_", "PYTEST_", "EMAIL_", "STRIPE_", "CELERY_", "COV_", "FLASK_", "SMTP_", "REDIS_", "DATABASE_")


@dataclass(frozen=True)
class Sample:
    """One application: the name of its folder, the packages that its replays import, how many these are at least."""

    name: str
    needs: tuple[str, ...]
    replays: int = 20

    @property
    def root(self) -> Path:
        return REPOS / self.name

    @property
    def repaired(self) -> Path:
        return REPOS / f"{self.name}-repaired"

    @property
    def readme(self) -> str:
        return (self.root / "README.md").read_text(encoding="utf-8")

    def runs_here(self) -> bool:
        return all(importlib.util.find_spec(name) for name in (*self.needs, "aiosmtpd"))


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
    """What one replay reported: the marks it claims to prove, the mails that the server accepted.

    `proves` are marks that make a second mail of one event, `loses` those that keep away the mail of another one.
    """

    name: str
    passed: bool
    proves: tuple[str, ...]
    loses: tuple[str, ...]
    once: bool
    accepted: tuple[tuple[str, str], ...]
    trouble: str

    def most_to_one_address(self) -> int:
        return max(Counter(to for to, _ in self.accepted).values(), default=0)


@dataclass(frozen=True)
class Run:
    replays: tuple[Replay, ...]
    returncode: int
    output: str


def function_at(tree: ast.Module, line: int) -> str:
    """The name of the innermost function around a line, its decorators included."""
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    spans = [(min([f.lineno, *(d.lineno for d in f.decorator_list)]), f) for f in functions]
    around = [(start, f.name) for start, f in spans if start <= line <= (f.end_lineno or 0)]
    return max(around)[1] if around else WHOLE_MODULE


def marks_of(file: Path, root: Path) -> list[Mark]:
    text = file.read_text(encoding="utf-8")
    tree, found = ast.parse(text), []
    for number, line in enumerate(text.splitlines(), 1):
        if match := MARK.search(line):
            for entry in match[1].split(","):
                code, _, kind = entry.strip().partition(" ")
                assert re.fullmatch(r"SO\d{3}", code), entry
                assert kind in ("", "note"), entry
                path = file.relative_to(root).as_posix()
                found.append(Mark(code, kind == "note", path, number, function_at(tree, number)))
    return found


def all_marks(root: Path) -> list[Mark]:
    return [mark for file in sorted(root.rglob("*.py")) for mark in marks_of(file, root)]


def read_replays(report: Path) -> tuple[Replay, ...]:
    rows = json.loads(report.read_text(encoding="utf-8")) if report.exists() else []
    return tuple(
        Replay(
            name=row["replay"],
            passed=row["passed"],
            proves=tuple(row["proves"]),
            loses=tuple(row["loses"]),
            once=row["once"],
            accepted=tuple((to, subject) for to, subject in row["accepted"]),
            trouble=row["trouble"],
        )
        for row in rows
    )


def replay(tree: Path, report: Path, seconds: float) -> Run:
    """Runs the replays on one tree, in a process of their own because they configure the application."""
    env = {key: value for key, value in os.environ.items() if not key.startswith(KEPT_OUT)}
    env |= {"REPLAY_REPORT": str(report), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-c", "pytest.ini"],
        cwd=tree,
        env=env,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    return Run(read_replays(report), done.returncode, done.stdout[-4000:] + done.stderr[-2000:])
