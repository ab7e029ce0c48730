"""Each marked fault, driven until the provider accepts the second message; one message where it is repaired."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from fastapi.testclient import TestClient
from smtp_server import Mailbox
from steps import A_DAY, ANNA, at_once, let_pass, post


@pytest.mark.proves("SO611 mailapi/notifications.py::create_notification")
def test_notification_repeated_while_the_first_is_at_work(client: TestClient, mailbox: Mailbox, times: int) -> None:
    mailbox.slow_by = 0.3
    at_once(*[lambda: post(client, "/notifications", "k1")] * 2)
    assert mailbox.to(ANNA) == ["notification"] * times


@pytest.mark.proves("SO601 mailapi/relay.py::submit")
def test_notification_when_the_providers_reply_is_lost(client: TestClient, mailbox: Mailbox, times: int) -> None:
    mailbox.lose_replies = 1
    assert post(client, "/notifications", "k1").status_code == 500
    let_pass(A_DAY)
    assert post(client, "/notifications", "k1").status_code == 202
    assert mailbox.to(ANNA) == ["notification"] * times


@pytest.mark.proves("SO612 mailapi/reminders.py::create_reminder")
def test_reminder_whose_key_is_stuck_for_ever(client: TestClient, mailbox: Mailbox, times: int) -> None:
    """The client repeats under its key; when that gets it nowhere for a day it takes another."""
    mailbox.lose_replies = 1
    assert post(client, "/reminders", "k1").status_code == 500
    let_pass(A_DAY)
    if post(client, "/reminders", "k1").status_code != 202:
        assert post(client, "/reminders", "k2").status_code == 202
    assert mailbox.to(ANNA) == ["reminder"] * times


@pytest.mark.proves("SO612 mailapi/reminders.py::create_invitation")
def test_invitation_that_takes_longer_than_its_claim(client: TestClient, mailbox: Mailbox, times: int) -> None:
    mailbox.slow_by = 0.5
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(post, client, "/invitations", "k1")
        mailbox.wait_for(1)
        let_pass(6)
        post(client, "/invitations", "k1")
        assert first.result().status_code == 202
    assert mailbox.to(ANNA) == ["invitation"] * times


@pytest.mark.proves("SO613 mailapi/receipts.py::create_receipt")
def test_receipt_whose_first_answer_did_not_arrive(client: TestClient, mailbox: Mailbox, times: int) -> None:
    """The client needs the message's id; where the repeat does not tell it, it sends the mail as a new one."""
    post(client, "/receipts", "k1")
    if "id" not in post(client, "/receipts", "k1").json():
        post(client, "/receipts", "k2")
    assert mailbox.to(ANNA) == ["receipt"] * times


@pytest.mark.proves("SO301 mailapi/trials.py::create_trial")
def test_trial_posted_twice(client: TestClient, mailbox: Mailbox, times: int) -> None:
    for _ in range(2):
        assert post(client, "/trials", "k1").status_code == 202
    assert mailbox.to(ANNA) == ["trial"] * times
