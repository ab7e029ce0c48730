"""Sets the newsroom up on a SQLite file, with Redis in memory and real servers around it.

Requests go through Flask's test client, jobs through RQ's own worker, mail over SMTP. What counts is what the
server accepted.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from servers import Outside, RedisServers, start_http
from smtp_server import MAILBOX, SMTP

pytest_plugins = ["replay_plugin"]

OUTSIDE, REDIS = Outside(), RedisServers()
HTTP = start_http(OUTSIDE)
FOLDER = tempfile.TemporaryDirectory(prefix="newsroom-")
redis.Redis.from_url = lambda url, **options: REDIS.client(url, **options)  # type: ignore[method-assign]

os.environ.update(
    DATABASE_URL=f"sqlite:///{Path(FOLDER.name) / 'paper.sqlite3'}?timeout=2",
    REDIS_URL="redis://replays/0",
    CLAIMS_REDIS_URL="redis://replays/1",
    SMTP_HOST="127.0.0.1",
    SMTP_PORT=str(SMTP.port),
    SMS_URL=f"http://127.0.0.1:{HTTP.server_port}",
    LEDGER_URL=f"http://127.0.0.1:{HTTP.server_port}",
)

from flask import Flask  # noqa: E402
from flask.testing import FlaskClient  # noqa: E402
from newsroom import create_app  # noqa: E402
from newsroom.db import Base, create_tables, engine, session  # noqa: E402
from sqlalchemy import event  # noqa: E402


@event.listens_for(engine, "connect")
def write_without_waiting_for_the_disk(connection: Any, _: object) -> None:
    connection.execute("PRAGMA synchronous = OFF")


def pytest_sessionstart() -> None:
    create_tables()


def pytest_sessionfinish() -> None:
    HTTP.shutdown()
    engine.dispose()
    FOLDER.cleanup()


@pytest.fixture(autouse=True)
def clean_paper() -> Iterator[None]:
    session.remove()
    with engine.begin() as connection:
        for table in reversed(Base.metadata.sorted_tables):
            connection.execute(table.delete())
    REDIS.reset()
    MAILBOX.reset()
    OUTSIDE.reset()
    yield
    session.remove()


@pytest.fixture(scope="session")
def app() -> Iterator[Flask]:
    """A worker process of the web server."""
    yield from a_process()


@pytest.fixture
def second_app() -> Iterator[Flask]:
    """The next worker process of the web server."""
    yield from a_process()


def a_process() -> Iterator[Flask]:
    """An application whose scheduler, if it has one, is ticked by the replays."""
    made = create_app()
    scheduler = made.extensions.get("scheduler")
    if scheduler is not None:
        scheduler.pause()
    yield made
    if scheduler is not None:
        scheduler.shutdown(wait=False)


@pytest.fixture
def browser(app: Flask) -> FlaskClient:
    """An error of the application is an answer with status 500, as in life."""
    return app.test_client()


@pytest.fixture
def outside() -> Outside:
    return OUTSIDE


@pytest.fixture
def servers() -> RedisServers:
    return REDIS
