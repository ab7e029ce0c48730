"""Sets the shop up on a SQLite file with real servers around it, and writes what each replay proved.

Nothing is mocked: requests go through Django's test client with real commits, jobs through Celery
(in place, or in a worker thread), mail over SMTP. What counts is what the server accepted.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from servers import Mailbox, Outside, start_http, start_smtp

MAILBOX, OUTSIDE = Mailbox(), Outside()
SMTP, HTTP = start_smtp(MAILBOX), start_http(OUTSIDE)
FOLDER = tempfile.TemporaryDirectory(prefix="storefront-")
RESULTS: list[dict[str, Any]] = []

os.environ.update(
    DJANGO_SETTINGS_MODULE="config.settings_local",
    STOREFRONT_DB=str(Path(FOLDER.name) / "shop.sqlite3"),
    EMAIL_HOST="127.0.0.1",
    EMAIL_PORT=str(SMTP.port),
    STRIPE_API_BASE=f"http://127.0.0.1:{HTTP.server_port}",
    CARRIER_URL=f"http://127.0.0.1:{HTTP.server_port}",
)

import django  # noqa: E402

django.setup()

from config.celery import app  # noqa: E402
from django.contrib.auth import get_user_model  # noqa: E402
from django.core.cache import cache  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.test import Client  # noqa: E402
from steps import Jobs, running_worker  # noqa: E402


def pytest_sessionstart() -> None:
    call_command("migrate", verbosity=0)
    call_command("createcachetable", verbosity=0)


def pytest_sessionfinish() -> None:
    SMTP.stop()
    HTTP.shutdown()
    FOLDER.cleanup()
    if report := os.environ.get("REPLAY_REPORT"):
        Path(report).write_text(json.dumps(RESULTS, indent=1), encoding="utf-8")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, Any, Any]:
    report: Any = yield
    if report.when == "call" or not report.passed:
        RESULTS.append(
            {
                "replay": item.name,
                "when": report.when,
                "passed": report.passed,
                "proves": [f for mark in item.iter_markers("proves") for f in mark.args],
                "once": item.get_closest_marker("once") is not None,
                "accepted": [[m.to, m.subject] for m in MAILBOX.accepted],
                "trouble": report.longreprtext[-1500:],
            }
        )
    return report


@pytest.fixture(autouse=True)
def clean_shop() -> None:
    call_command("flush", interactive=False, verbosity=0)
    cache.clear()
    MAILBOX.reset()
    OUTSIDE.reset()


@pytest.fixture
def mailbox() -> Mailbox:
    return MAILBOX


@pytest.fixture
def outside() -> Outside:
    return OUTSIDE


@pytest.fixture
def browser() -> Client:
    """A customer's browser; an error of the shop is a page with status 500, as in life."""
    return Client(raise_request_exception=False)


@pytest.fixture
def clerk() -> Client:
    client = Client(raise_request_exception=False)
    boss = get_user_model().objects.create_superuser("boss", "boss@storefront.example", "pw")
    client.force_login(boss)
    return client


@pytest.fixture(scope="session")
def worker_thread() -> Iterator[Jobs]:
    with running_worker() as jobs:
        yield jobs


@pytest.fixture
def worker(worker_thread: Jobs) -> Iterator[Jobs]:
    """A worker beside the web process: jobs are queued, and run on another database connection."""
    app.conf.task_always_eager = False
    yield worker_thread
    worker_thread.settle()
    app.conf.task_always_eager = True
