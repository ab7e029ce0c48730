"""Sets the shop up on a SQLite file with real servers around it.

Nothing is mocked: requests go through Django's test client with real commits, jobs through Celery
(in place, or in a worker thread), mail over SMTP. What counts is what the server accepted.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from servers import Outside, start_http
from smtp_server import MAILBOX, SMTP

pytest_plugins = ["replay_plugin"]

OUTSIDE = Outside()
HTTP = start_http(OUTSIDE)
FOLDER = tempfile.TemporaryDirectory(prefix="storefront-")

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
from django.db.backends.signals import connection_created  # noqa: E402
from django.dispatch import receiver  # noqa: E402
from django.test import Client  # noqa: E402
from steps import Jobs, running_worker  # noqa: E402


@receiver(connection_created)
def write_without_waiting_for_the_disk(connection: Any, **_: object) -> None:
    connection.cursor().execute("PRAGMA synchronous = OFF")


def pytest_sessionstart() -> None:
    call_command("migrate", verbosity=0)
    call_command("createcachetable", verbosity=0)


def pytest_sessionfinish() -> None:
    HTTP.shutdown()
    FOLDER.cleanup()


@pytest.fixture(autouse=True)
def clean_shop() -> None:
    call_command("flush", interactive=False, verbosity=0)
    cache.clear()
    MAILBOX.reset()
    OUTSIDE.reset()


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


@pytest.fixture
def queue_without_worker() -> Iterator[str]:
    """Jobs go to a queue that the replay itself works off, see `run_next_job`."""
    queues, router = app.amqp.queues, app.amqp.router
    app.conf.task_always_eager, app.conf.task_default_queue = False, "parcels"
    app.amqp.queues, app.amqp.router = app.amqp.Queues(None), app.amqp.Router()
    yield "parcels"
    app.conf.task_always_eager, app.conf.task_default_queue = True, "celery"
    app.amqp.queues, app.amqp.router = queues, router


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
