"""Sets the API up with a stand-in for Resend behind it; Redis is fakeredis, in the process."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
import redis
from fakeredis import FakeRedis, FakeServer
from resend_server import Resend, start_resend
from smtp_server import MAILBOX

pytest_plugins = ["replay_plugin"]

RESEND = Resend()
HTTP = start_resend(RESEND)
SERVER = FakeServer()

os.environ["RESEND_URL"] = f"http://127.0.0.1:{HTTP.server_port}"
redis.Redis.from_url = lambda url: FakeRedis(server=SERVER)

from fastapi.testclient import TestClient  # noqa: E402

from mailapi.main import app  # noqa: E402
from mailapi.store import kv  # noqa: E402


def pytest_sessionfinish() -> None:
    HTTP.shutdown()


@pytest.fixture(scope="session")
def running_app() -> Iterator[TestClient]:
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


@pytest.fixture(autouse=True)
def client(running_app: TestClient) -> TestClient:
    """A client of the API on an empty store; an error of the API is a 500, as in life."""
    kv.flushall()
    MAILBOX.reset()
    RESEND.keys.clear()
    return running_app
