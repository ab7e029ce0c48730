"""What the replays of all samples share: the mail server, the marks, and the report of what each replay saw.

A sample's `replays/conftest.py` names this plugin and points its application to the server in `smtp_server`.
`pytest.ini` says which tree is run: `repaired = true` in the repaired one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from smtp_server import MAILBOX, SMTP, Mailbox

RESULTS: list[dict[str, Any]] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("repaired", "whether this tree is the repaired one", type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    for line in (
        'proves(*faults): the faults, "CODE path::function", that this replay turns into a second message',
        'loses(*faults): the faults, "CODE path::function", that this replay turns into a mail that is never sent',
        "once: a mail done right, which this replay tries to double",
    ):
        config.addinivalue_line("markers", line)


@pytest.fixture
def mailbox() -> Mailbox:
    return MAILBOX


@pytest.fixture
def times(pytestconfig: pytest.Config) -> int:
    """How many messages an event that is told twice makes: two where it is at fault, one where repaired."""
    return 1 if pytestconfig.getini("repaired") else 2


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    report: Any = yield
    if report.when == "call" or not report.passed:
        RESULTS.append(
            {
                "replay": item.name,
                "when": report.when,
                "passed": report.passed,
                "proves": [f for mark in item.iter_markers("proves") for f in mark.args],
                "loses": [f for mark in item.iter_markers("loses") for f in mark.args],
                "once": item.get_closest_marker("once") is not None,
                "accepted": [[m.to, m.subject] for m in MAILBOX.accepted],
                "trouble": report.longreprtext[-1500:],
            }
        )
    return report


def pytest_sessionfinish() -> None:
    SMTP.stop()
    if report := os.environ.get("REPLAY_REPORT"):
        Path(report).write_text(json.dumps(RESULTS, indent=1), encoding="utf-8")
