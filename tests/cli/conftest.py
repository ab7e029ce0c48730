from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from examples import INVENTORY, RULES, STATS
from sendonce import run
from sendonce.cli import main
from sendonce.findings import Finding, Inventory, Place, Problem, Related, Stats
from sendonce.program.paths import Path


@dataclass(frozen=True)
class Result:
    """What a run of the command line left behind."""

    code: int
    out: str
    err: str


Cli = Callable[..., Result]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs the command line in this process."""

    def call(*arguments: object) -> Result:
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert isinstance(left.value.code, int)
        return Result(left.value.code, out, err)

    return call


@dataclass(frozen=True)
class FakeAnalysis:
    findings: tuple[Finding, ...] = ()
    inventory: Inventory = INVENTORY
    paths: tuple[Path, ...] = ()
    problems: tuple[Problem, ...] = ()
    stats: Stats = STATS
    unresolved: tuple[Related, ...] = (Related(Place("shop/views.py", 4), "handler(order)"),)

    def keep(self) -> None:
        """Nothing was read."""


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts an analysis with the given findings in the place of the real one."""

    def put(*findings: Finding, **changes: Any) -> None:
        analysis = FakeAnalysis(findings, **changes)
        load_packs = run.load_packs
        monkeypatch.setattr(run, "load_packs", lambda extra, helpers: load_packs(extra) if extra else None)  # for speed
        monkeypatch.setattr(run, "analyse", lambda sources, packs, settings: analysis)
        monkeypatch.setattr(run.checks, "RULES", RULES)
        monkeypatch.setattr(run.checks, "run_checks", lambda given, silenced: given.findings)

    return put
