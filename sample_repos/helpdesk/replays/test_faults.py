"""Each marked fault, driven until the provider accepts the second message; one message where it is repaired."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from servers import Outside
from smtp_server import Mailbox
from steps import (
    ANNA,
    BEN,
    REDIS,
    TEAM,
    add,
    anna,
    at_once,
    ben,
    change,
    from_billing,
    from_resend,
    model_calls,
    put_question,
    tick,
    ticket,
    work,
)

from helpdesk import config
from helpdesk.models import Customer, Invoice, Outage, Subscription, Ticket, utcnow

# ------------------------------------------------------------------ tickets


def open_ticket(client: TestClient, request: str) -> int:
    new = {"request_id": request, "email": ANNA, "subject": "Printer on fire"}
    return client.post("/tickets", json=new).status_code


@pytest.mark.proves("SO201 helpdesk/api/tickets.py::open_ticket")
def test_ticket_that_was_rolled_back_and_opened_again(
    client: TestClient, mailbox: Mailbox, times: int
) -> None:
    customer = anna(open_limit=0)
    assert open_ticket(client, "r1") == 402
    work()
    change(Customer, customer.id, open_limit=1)
    assert open_ticket(client, "r2") == 201
    work()
    assert mailbox.to(ANNA) == ["ticket_opened"] * times


@pytest.mark.proves("SO301 helpdesk/worker/jobs.py::send_ticket_opened")
def test_ticket_posted_twice(client: TestClient, mailbox: Mailbox, times: int) -> None:
    anna()
    for _ in range(2):
        open_ticket(client, "r1")
    work()
    assert mailbox.to(ANNA) == ["ticket_opened"] * times


@pytest.mark.proves(
    "SO102 helpdesk/api/tickets.py::add_comment",
    "SO301 helpdesk/api/tickets.py::add_comment",
    "SO301 helpdesk/worker/jobs.py::send_comment_added",
)
def test_comment_mailed_by_the_request_and_by_the_job(
    client: TestClient, mailbox: Mailbox, times: int
) -> None:
    chosen = ticket()
    comment = {"request_id": "r1", "body": "Have you tried water?"}
    client.post(f"/tickets/{chosen.id}/comments", json=comment)
    work()
    assert mailbox.to(ANNA) == ["comment_added"] * times
    client.post(f"/tickets/{chosen.id}/comments", json=comment)
    work()
    assert mailbox.to(ANNA) == ["comment_added"] * (4 if times == 2 else 1)


@pytest.mark.proves("SO303 helpdesk/api/tickets.py::resolve")
def test_ticket_resolved_by_two_people_at_once(client: TestClient, mailbox: Mailbox, times: int) -> None:
    chosen = ticket()
    mailbox.slow_by = 0.3
    at_once(*[lambda: client.post(f"/tickets/{chosen.id}/resolve")] * 2)
    assert mailbox.to(ANNA) == ["ticket_resolved"] * times


@pytest.mark.proves("SO304 helpdesk/api/tickets.py::reopen")
def test_ticket_reopened_twice(client: TestClient, mailbox: Mailbox, times: int) -> None:
    chosen = ticket(state="resolved")
    for _ in range(2):
        client.post(f"/tickets/{chosen.id}/reopen")
    assert mailbox.to(ANNA) == ["ticket_reopened"] * times


@pytest.mark.proves("SO312 helpdesk/api/tickets.py::escalate")
def test_ticket_escalated_twice(client: TestClient, mailbox: Mailbox, times: int) -> None:
    chosen = ticket()
    for _ in range(2):
        client.post(f"/tickets/{chosen.id}/escalate")
    assert mailbox.to(ANNA) == ["ticket_escalated"] * times


@pytest.mark.proves("SO403 helpdesk/api/tickets.py::page_on_call", "SO601 helpdesk/mail/resend.py::send_mail")
def test_page_when_the_providers_reply_is_lost(client: TestClient, mailbox: Mailbox, times: int) -> None:
    chosen = ticket()
    mailbox.lose_replies = 1
    assert client.post(f"/tickets/{chosen.id}/page").status_code == 200
    assert mailbox.to(config.ON_CALL) == ["on_call_page"] * times


@pytest.mark.proves("SO301 helpdesk/api/tickets.py::page_on_call")
def test_page_asked_for_twice(client: TestClient, mailbox: Mailbox, times: int) -> None:
    chosen = ticket()
    for _ in range(2):
        client.post(f"/tickets/{chosen.id}/page")
    assert mailbox.to(config.ON_CALL) == ["on_call_page"] * times


@pytest.mark.proves("SO202 helpdesk/api/tickets.py::merge")
def test_merge_that_was_rolled_back_and_tried_again(
    client: TestClient, mailbox: Mailbox, outside: Outside, times: int
) -> None:
    chosen = ticket()
    target = add(Ticket(customer_id=chosen.customer_id, subject="Printer smells"))
    outside.outages = 1
    assert client.post(f"/tickets/{chosen.id}/merge/{target.id}").status_code == 500
    assert client.post(f"/tickets/{chosen.id}/merge/{target.id}").status_code == 200
    assert mailbox.to(ANNA) == ["ticket_merged"] * times


@pytest.mark.proves("SO301 helpdesk/api/tickets.py::merge")
def test_merge_posted_twice(client: TestClient, mailbox: Mailbox, times: int) -> None:
    chosen = ticket()
    target = add(Ticket(customer_id=chosen.customer_id, subject="Printer smells"))
    for _ in range(2):
        client.post(f"/tickets/{chosen.id}/merge/{target.id}")
    assert mailbox.to(ANNA) == ["ticket_merged"] * times


@pytest.mark.proves(
    "SO405 helpdesk/api/tickets.py::accept", "SO101 helpdesk/worker/jobs.py::send_ticket_assigned"
)
def test_ticket_assigned_and_accepted(client: TestClient, mailbox: Mailbox, times: int) -> None:
    chosen, agent = ticket(), ben()
    for way in ("assign", "accept"):
        client.post(f"/tickets/{chosen.id}/{way}", json={"agent_id": agent.id})
    work()
    assert mailbox.to(BEN) == ["ticket_assigned"] * times


@pytest.mark.proves("SO309 helpdesk/api/tickets.py::hand_over")
def test_ticket_handed_over_by_two_people_at_once(client: TestClient, mailbox: Mailbox, times: int) -> None:
    chosen = ticket()
    mailbox.slow_by = 0.5
    at_once(*[lambda: client.post(f"/tickets/{chosen.id}/hand-over")] * 2)
    assert mailbox.to(ANNA) == ["handed_over"] * times


@pytest.mark.loses("SO305 helpdesk/api/tickets.py::ask_for_rating")
def test_rating_of_a_second_ticket(client: TestClient, mailbox: Mailbox, times: int) -> None:
    """Two tickets are two mails: the broad key loses one of them, which the repair does not."""
    first = ticket()
    second = add(Ticket(customer_id=first.customer_id, subject="Printer smells"))
    for chosen in (first, second):
        client.post(f"/tickets/{chosen.id}/rate")
    assert mailbox.to(ANNA) == ["rating"] * (1 if times == 2 else 2)


# ------------------------------------------------------------------ team, customers, invoices


@pytest.mark.proves("SO203 helpdesk/api/team.py::invite", "SO301 helpdesk/api/team.py::invite")
def test_agent_invited_twice(client: TestClient, mailbox: Mailbox, times: int) -> None:
    answers = [client.post("/team/invitations", json={"email": BEN}).status_code for _ in range(2)]
    assert answers == [201, 409]
    assert mailbox.to(BEN) == ["agent_invited"] * times


@pytest.mark.proves("SO308 helpdesk/worker/jobs.py::send_welcome")
def test_welcome_when_the_reply_is_lost_and_the_claim_has_expired(
    client: TestClient, mailbox: Mailbox, times: int
) -> None:
    mailbox.lose_replies = 1
    client.post("/customers", json={"email": ANNA})
    work()
    assert mailbox.to(ANNA) == ["welcome"] * times


@pytest.mark.proves("SO401 helpdesk/api/customers.py::login_link", "SO602 helpdesk/api/customers.py::login_link")
def test_login_link_when_the_providers_reply_is_lost(client: TestClient, mailbox: Mailbox, times: int) -> None:
    mailbox.lose_replies = 1
    answer = client.post(f"/customers/{anna().id}/login-link", json={"request_id": "r1"})
    assert answer.status_code == 200
    assert mailbox.to(ANNA) == ["login_link"] * times


@pytest.mark.proves("SO306 helpdesk/api/customers.py::change_plan")
def test_plan_put_twice(client: TestClient, mailbox: Mailbox, times: int) -> None:
    customer = anna()
    for _ in range(2):
        assert client.put(f"/customers/{customer.id}/plan", json={"plan": "business"}).status_code == 200
    assert mailbox.to(ANNA) == ["plan_changed"] * times


@pytest.mark.proves("SO310 helpdesk/api/customers.py::start_trial")
def test_trial_started_again_while_redis_is_down(client: TestClient, mailbox: Mailbox, times: int) -> None:
    customer = anna()
    client.post(f"/customers/{customer.id}/trial")
    REDIS.connected = False
    client.post(f"/customers/{customer.id}/trial")
    assert mailbox.to(ANNA) == ["trial_started"] * times


@pytest.mark.proves("SO307 helpdesk/api/customers.py::erase", "SO203 helpdesk/api/customers.py::erase")
def test_erasure_that_was_rolled_back_and_tried_again(client: TestClient, mailbox: Mailbox, times: int) -> None:
    customer = anna()
    invoice = add(Invoice(customer_id=customer.id, number="R-1"))
    assert client.post(f"/customers/{customer.id}/erase").status_code == 409
    change(Invoice, invoice.id, state="paid")
    assert client.post(f"/customers/{customer.id}/erase").status_code == 200
    assert mailbox.to(ANNA) == ["data_erased"] * times


@pytest.mark.proves("SO302 helpdesk/api/customers.py::mail_contract")
def test_contract_asked_for_twice(client: TestClient, mailbox: Mailbox, times: int) -> None:
    customer = anna()
    for _ in range(2):
        client.post(f"/customers/{customer.id}/contract")
    assert mailbox.to(ANNA) == ["contract_copy"] * times


@pytest.mark.proves("SO401 helpdesk/worker/jobs.py::send_invoice")
def test_invoice_when_the_providers_reply_is_lost(
    client: TestClient, mailbox: Mailbox, times: int
) -> None:
    anna()
    mailbox.lose_replies = 1
    from_billing(client, "/webhooks/billing", "evt_1", "invoice.created", email=ANNA, number="R-1")
    work()
    assert mailbox.to(ANNA) == ["invoice"] * times


@pytest.mark.proves(
    "SO101 helpdesk/worker/jobs.py::send_payment_received", "SO103 helpdesk/api/invoices.py::book_payment"
)
def test_payment_told_by_the_webhook_and_booked(
    client: TestClient, mailbox: Mailbox, times: int
) -> None:
    add(Invoice(customer_id=anna().id, number="R-1"))
    from_billing(client, "/webhooks/billing", "evt_1", "invoice.paid", number="R-1")
    client.post("/invoices/R-1/book")
    work()
    assert mailbox.to(ANNA) == ["payment_received"] * times


@pytest.mark.proves("SO301 helpdesk/worker/jobs.py::send_payment_received")
def test_payment_booked_twice(client: TestClient, mailbox: Mailbox, times: int) -> None:
    add(Invoice(customer_id=anna().id, number="R-1"))
    for _ in range(2):
        client.post("/invoices/R-1/book")
    work()
    assert mailbox.to(ANNA) == ["payment_received"] * times


# ------------------------------------------------------------------ announcements


@pytest.mark.proves("SO106 helpdesk/api/announcements.py::announce_maintenance")
def test_maintenance_for_a_customer_with_two_tickets(client: TestClient, mailbox: Mailbox, times: int) -> None:
    first = ticket()
    add(Ticket(customer_id=first.customer_id, subject="Printer smells"))
    client.post("/announcements/maintenance", json={"reference": "m1", "product": "app", "text": "Sunday"})
    assert mailbox.to(ANNA) == ["maintenance"] * times


@pytest.mark.proves("SO301 helpdesk/api/announcements.py::announce_maintenance")
def test_maintenance_announced_twice(client: TestClient, mailbox: Mailbox, times: int) -> None:
    ticket()
    for _ in range(2):
        client.post("/announcements/maintenance", json={"reference": "m1", "product": "app", "text": "Sunday"})
    assert mailbox.to(ANNA) == ["maintenance"] * times


@pytest.mark.proves("SO402 helpdesk/worker/jobs.py::send_outage_notices")
def test_outage_when_the_second_recipient_is_refused(
    client: TestClient, mailbox: Mailbox, times: int
) -> None:
    outage = add(Outage(title="No printing", product="app"))
    for address in (ANNA, BEN):
        add(Subscription(product="app", email=address))
    mailbox.refuse.add(BEN)
    client.post(f"/announcements/outages/{outage.id}")
    work()
    assert mailbox.to(BEN) == ["outage"]
    assert mailbox.to(ANNA) == ["outage"] * times


@pytest.mark.proves("SO311 helpdesk/worker/jobs.py::send_outage_over")
def test_end_of_an_outage_told_again_because_the_chat_was_down(
    client: TestClient, mailbox: Mailbox, outside: Outside, times: int
) -> None:
    outage = add(Outage(title="No printing", product="app"))
    outside.outages = 1
    for _ in range(2):
        client.post(f"/announcements/outages/{outage.id}/over")
        work()
    assert mailbox.to(TEAM) == ["outage_over"] * times


# ------------------------------------------------------------------ webhooks


@pytest.mark.proves("SO501 helpdesk/webhooks/inbound.py::inbound_mail")
def test_inbound_mail_delivered_twice(client: TestClient, mailbox: Mailbox, times: int) -> None:
    anna()
    for _ in range(2):
        from_resend(client, "/webhooks/resend/inbound", "msg_1", "email.received", {"from": ANNA, "subject": "Help"})
    work()
    assert mailbox.to(ANNA) == ["auto_reply"] * times


@pytest.mark.proves("SO501 helpdesk/webhooks/inbound.py::bounced")
def test_bounce_delivered_twice(client: TestClient, mailbox: Mailbox, times: int) -> None:
    for _ in range(2):
        assert from_resend(client, "/webhooks/resend/bounces", "msg_1", "email.bounced", {"to": [ANNA]}) == 200
    work()
    assert mailbox.to(TEAM) == ["bounce_alert"] * times


@pytest.mark.proves("SO502 helpdesk/webhooks/inbound.py::bounced")
def test_bounce_delivered_again_while_the_first_delivery_is_not_answered(
    client: TestClient, mailbox: Mailbox, times: int
) -> None:
    mailbox.slow_by = 0.3
    at_once(*[lambda: from_resend(client, "/webhooks/resend/bounces", "msg_1", "email.bounced", {"to": [ANNA]})] * 2)
    work()
    assert mailbox.to(TEAM) == ["bounce_alert"] * times


@pytest.mark.proves("SO503 helpdesk/webhooks/inbound.py::bounced")
def test_bounce_that_seems_lost_and_is_replayed_by_hand(
    client: TestClient, mailbox: Mailbox, times: int
) -> None:
    mailbox.lose_replies = 1
    for _ in range(2):
        assert from_resend(client, "/webhooks/resend/bounces", "msg_1", "email.bounced", {"to": [ANNA]}) == 200
        work()
    assert mailbox.to(TEAM) == ["bounce_alert"] * times


# ------------------------------------------------------------------ schedules


@pytest.mark.proves("SO404 helpdesk/worker/cron.py::send_surveys")
def test_surveys_when_a_run_takes_longer_than_its_period(mailbox: Mailbox, times: int) -> None:
    ticket(state="resolved")
    mailbox.slow_by = 0.8
    tick("send_surveys", times=2)
    assert mailbox.to(ANNA) == ["survey"] * times


@pytest.mark.proves("SO408 helpdesk/worker/cron.py::warn_of_due_tickets")
def test_overdue_ticket_an_hour_later(mailbox: Mailbox, times: int) -> None:
    ticket(assignee_id=ben().id, due_at=utcnow() - timedelta(hours=1))
    for _ in range(2):
        tick("warn_of_due_tickets")
    assert mailbox.to(BEN) == ["overdue"] * times


@pytest.mark.proves("SO301 helpdesk/worker/cron.py::send_morning_report")
def test_morning_report_after_a_deploy(mailbox: Mailbox, times: int) -> None:
    """It runs whenever a worker starts."""
    ben()
    for _ in range(2):
        tick("send_morning_report")
    assert mailbox.to(BEN) == ["morning_report"] * times


@pytest.mark.proves("SO104 helpdesk/worker/settings.py::<module>")
def test_morning_report_on_a_monday(mailbox: Mailbox, times: int) -> None:
    ben()
    tick("send_morning_report", "monday report")
    assert mailbox.to(BEN) == ["morning_report"] * times


# ------------------------------------------------------------------ the assistant


@pytest.mark.proves("SO603 helpdesk/assistant/agent.py::mail_instructions")
def test_instructions_when_the_question_is_put_again(client: TestClient, mailbox: Mailbox, times: int) -> None:
    with model_calls("mail_instructions", topic="printing"):
        for _ in range(2):
            put_question(client)
    assert mailbox.to(ANNA) == ["instructions"] * times


@pytest.mark.proves("SO603 helpdesk/assistant/agent.py::mail_transcript")
def test_transcript_under_a_key_that_the_model_makes_up(client: TestClient, mailbox: Mailbox, times: int) -> None:
    with model_calls("mail_transcript", text="You asked.", idempotency_key=lambda: str(uuid4())):
        for _ in range(2):
            put_question(client)
    assert mailbox.to(ANNA) == ["transcript"] * times
