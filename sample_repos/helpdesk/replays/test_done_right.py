"""Mails that the helpdesk sends once: each replay does its best to double one."""

from __future__ import annotations

from datetime import timedelta

import pytest
from fastapi.testclient import TestClient
from helpdesk.models import utcnow
from smtp_server import Mailbox
from steps import ANNA, TEAM, anna, at_once, ben, from_billing, from_resend, model_calls, put_question, tick, ticket, work

pytestmark = pytest.mark.once


def test_archived_by_two_people_at_once(client: TestClient, mailbox: Mailbox) -> None:
    chosen = ticket()
    at_once(*[lambda: client.post(f"/tickets/{chosen.id}/archive")] * 2)
    assert mailbox.to(ANNA) == ["ticket_archived"]


def test_taken_by_two_agents_at_once(client: TestClient, mailbox: Mailbox) -> None:
    chosen, agent = ticket(), ben()
    answers = at_once(
        *[lambda: client.post(f"/tickets/{chosen.id}/take", json={"agent_id": agent.id})] * 2
    )
    work()
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    assert mailbox.to(ANNA) == ["ticket_taken"]


def test_complaint_delivered_twice(client: TestClient, mailbox: Mailbox) -> None:
    for _ in range(2):
        assert from_resend(client, "/webhooks/resend/complaints", "msg_1", "email.complained", {"to": [ANNA]}) == 200
        work()
    assert mailbox.to(TEAM) == ["complaint_alert"]


def test_payment_failed_delivered_twice(client: TestClient, mailbox: Mailbox) -> None:
    anna()
    from_billing(client, "/webhooks/billing", "evt_1", "invoice.created", email=ANNA, number="R-1")
    work()
    mailbox.accepted.clear()  # the invoice
    for _ in range(2):
        from_billing(client, "/webhooks/billing", "evt_2", "payment.failed", number="R-1")
    from_billing(client, "/webhooks/billing", "evt_3", "payment.failed", number="R-1")
    work()
    assert mailbox.to(ANNA) == ["payment_failed"]


def test_silent_ticket_closed_by_two_runs(mailbox: Mailbox) -> None:
    ticket(created_at=utcnow() - timedelta(days=40))
    for _ in range(2):
        tick("close_silent_tickets", times=2)
    assert mailbox.to(ANNA) == ["closed_silently"]


def test_weekly_summary_of_two_runs(mailbox: Mailbox) -> None:
    anna(plan="business")
    for _ in range(2):
        tick("send_weekly_summary", times=2)
    assert mailbox.to(ANNA) == ["weekly_summary"]


def test_summary_when_the_question_is_put_again(client: TestClient, mailbox: Mailbox) -> None:
    with model_calls("mail_summary", text="You asked how to print."):
        for _ in range(2):
            assert put_question(client) == {"answer": "Done."}
    assert mailbox.to(ANNA) == ["summary"]


def test_callback_when_the_question_is_put_again(client: TestClient, mailbox: Mailbox) -> None:
    with model_calls("open_callback", phone="123"):
        for _ in range(2):
            put_question(client)
    assert mailbox.to(ANNA) == ["callback"]


def test_offer_that_is_approved_twice(client: TestClient, mailbox: Mailbox) -> None:
    with model_calls("mail_offer", discount=10):
        [call] = put_question(client)["waiting"]
        assert mailbox.accepted == []
        for _ in range(2):
            client.post("/assistant/approvals", json={"request_id": "q1", "email": ANNA, "call_id": call})
    assert mailbox.to(ANNA) == ["offer"]
