"""Steps that replays share: requests with a key, requests side by side, time that passes in Redis."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from fastapi.testclient import TestClient

from mailapi.store import kv

ANNA = "anna@example.org"
A_DAY = 24 * 3600


def post(client: TestClient, path: str, key: str, **variables: str) -> Any:
    """One request of a client; its answer."""
    mail = {"account_id": "acme", "to": ANNA, "variables": variables or {"name": "Anna"}}
    return client.post(path, json=mail, headers={"Idempotency-Key": key})


def at_once(*requests: Callable[[], Any]) -> list[Any]:
    with ThreadPoolExecutor(len(requests)) as pool:
        return [one.result() for one in [pool.submit(request) for request in requests]]


def let_pass(seconds: int) -> None:
    """Lets time pass for all keys that expire."""
    for name in kv.keys("*"):
        left = kv.pttl(name)
        if left > 0:
            kv.pexpire(name, max(1, left - seconds * 1000))
