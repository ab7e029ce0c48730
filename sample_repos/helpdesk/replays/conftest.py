"""Sets the helpdesk up on a SQLite file with real servers around it.

Requests go through its routes, jobs through arq's worker, mail over HTTP to a stand-in for Resend; what counts is
what that accepted. Redis is fakeredis, in the process, and the language model is a script.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator

import pytest
from resend_server import Resend, start_resend
from servers import Outside
from smtp_server import MAILBOX

pytest_plugins = ["replay_plugin"]

RESEND, OUTSIDE = Resend(), Outside()
HTTP = start_resend(RESEND, OUTSIDE.answer)
FOLDER = tempfile.TemporaryDirectory(prefix="helpdesk-")
HTTP_URL = f"http://127.0.0.1:{HTTP.server_port}"

os.environ.update(
    DATABASE_URL=f"sqlite+aiosqlite:///{FOLDER.name}/helpdesk.db",
    RESEND_URL=HTTP_URL,
    CRM_URL=HTTP_URL,
    CHAT_HOOK_URL=f"{HTTP_URL}/chat",
    MAIL_TIMEOUT="5",
)

from fastapi.testclient import TestClient  # noqa: E402
from steps import REDIS, clear  # noqa: E402

from helpdesk.main import app  # noqa: E402


def pytest_sessionfinish() -> None:
    HTTP.shutdown()
    FOLDER.cleanup()


@pytest.fixture(scope="session")
def running_app() -> Iterator[TestClient]:
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


@pytest.fixture(autouse=True)
def client(running_app: TestClient) -> TestClient:
    """A client of the API on a clean database, queue and mail provider; an error of the API is a 500, as in life."""
    REDIS.connected = True
    clear()
    MAILBOX.reset()
    RESEND.keys.clear()
    OUTSIDE.outages = 0
    return running_app


@pytest.fixture
def outside() -> Outside:
    return OUTSIDE
