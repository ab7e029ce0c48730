"""What the API does once: each replay does its best to double a mail."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from fastapi.testclient import TestClient
from smtp_server import Mailbox
from steps import A_DAY, ANNA, at_once, let_pass, post

pytestmark = pytest.mark.once


@pytest.mark.parametrize("kind", ["statement", "notification", "reminder", "invitation"])
def test_repeated_later_under_the_same_key(kind: str, client: TestClient, mailbox: Mailbox) -> None:
    first, second = (post(client, f"/{kind}s", "k1") for _ in range(2))
    assert (first.status_code, first.json()) == (second.status_code, second.json())
    assert mailbox.to(ANNA) == [kind]


@pytest.mark.parametrize("kind", ["statement", "reminder", "receipt"])
def test_repeated_while_the_first_is_at_work(kind: str, client: TestClient, mailbox: Mailbox) -> None:
    mailbox.slow_by = 0.3
    answers = at_once(*[lambda: post(client, f"/{kind}s", "k1")] * 2)
    assert sorted(answer.status_code for answer in answers) == [202, 409]
    assert mailbox.to(ANNA) == [kind]


def test_statement_that_takes_long(client: TestClient, mailbox: Mailbox) -> None:
    mailbox.slow_by = 0.5
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(post, client, "/statements", "k1")
        mailbox.wait_for(1)
        let_pass(60)
        assert post(client, "/statements", "k1").status_code == 409
        assert first.result().status_code == 202
    assert mailbox.to(ANNA) == ["statement"]


def test_statement_when_the_providers_reply_is_lost(client: TestClient, mailbox: Mailbox) -> None:
    mailbox.lose_replies = 1
    assert post(client, "/statements", "k1").status_code == 500
    assert post(client, "/statements", "k1").status_code == 409
    let_pass(A_DAY)
    assert post(client, "/statements", "k1").status_code == 202
    assert mailbox.to(ANNA) == ["statement"]


def test_statement_that_was_refused_first(client: TestClient, mailbox: Mailbox) -> None:
    mailbox.refuse.add(ANNA)
    assert post(client, "/statements", "k1").status_code == 502
    for _ in range(2):
        assert post(client, "/statements", "k1").status_code == 202
    assert mailbox.to(ANNA) == ["statement"]


def test_statement_under_the_key_of_another(client: TestClient, mailbox: Mailbox) -> None:
    post(client, "/statements", "k1", month="May")
    assert post(client, "/statements", "k1", month="June").status_code == 422
    assert mailbox.to(ANNA) == ["statement"]
