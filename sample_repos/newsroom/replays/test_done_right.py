"""The mails that are done right go out once, whatever is repeated."""

from __future__ import annotations

import paper
import pytest
from flask import Flask
from flask.testing import FlaskClient
from newsroom.jobs.letters import weekly_letter
from newsroom.jobs.notices import lift_embargoes, tell_of_reply
from newsroom.jobs.subscribers import monthly_statement, remind_of_end
from newsroom.models import now
from paper import ANNA, AUTHOR
from smtp_server import Mailbox
from steps import at_once, deliver, work


@pytest.mark.once
def test_welcome_when_the_form_is_posted_twice(browser: FlaskClient, mailbox: Mailbox) -> None:
    answers = [browser.post("/readers", json={"email": ANNA}).status_code for _ in range(2)]
    work()
    assert answers == [201, 409]
    assert mailbox.to(ANNA) == ["Welcome to the Gazette"]


@pytest.mark.once
def test_sign_in_link_when_the_button_is_clicked_twice(app: Flask, mailbox: Mailbox) -> None:
    reader = paper.reader()
    at_once(*[lambda: app.test_client().post(f"/readers/{reader}/sign-in-link")] * 4)
    assert mailbox.to(ANNA) == ["Your sign-in link"]


@pytest.mark.once
def test_weekly_letter_when_two_runs_overlap(mailbox: Mailbox) -> None:
    paper.reader()
    mailbox.slow_by = 0.3
    at_once(weekly_letter, weekly_letter)
    assert mailbox.to(ANNA) == [f"The week {now():%G-W%V}"]


@pytest.mark.once
def test_statement_when_the_run_is_started_again(mailbox: Mailbox) -> None:
    paper.reader()
    for _ in range(2):
        monthly_statement()
    assert mailbox.to(ANNA) == [f"Statement {now():%Y-%m}"]


@pytest.mark.once
def test_end_of_a_subscription_on_seven_days(mailbox: Mailbox) -> None:
    paper.ending(days=3)
    for _day in range(7):
        remind_of_end()
    assert mailbox.to(ANNA) == ["Your subscription ends soon"]


@pytest.mark.once
def test_embargo_when_two_runs_overlap(mailbox: Mailbox) -> None:
    paper.article(status="embargoed", embargo_until=now())
    mailbox.slow_by = 0.3
    at_once(lift_embargoes, lift_embargoes)
    assert mailbox.to(AUTHOR) == ["Embargo over: The tide"]


@pytest.mark.once
def test_answer_to_a_comment_that_is_approved_twice(browser: FlaskClient, mailbox: Mailbox) -> None:
    answer = paper.answer_to(paper.comment(author_told=True))
    for _ in range(2):
        tell_of_reply(answer)
    assert mailbox.to(ANNA) == ["Somebody has answered you"]


@pytest.mark.once
def test_cancellation_posted_twice(browser: FlaskClient, mailbox: Mailbox) -> None:
    subscription = paper.subscription()
    for _ in range(2):
        browser.post(f"/subscriptions/{subscription}/cancel")
    work()
    assert mailbox.to(ANNA) == ["You have cancelled"]


@pytest.mark.once
def test_failed_payment_that_is_delivered_three_times(browser: FlaskClient, mailbox: Mailbox) -> None:
    event = {"id": "evt_1", "type": "payment.failed", "email": ANNA, "number": "I9"}
    for _ in range(3):
        deliver(browser, "/hooks/payments", event)
    work()
    assert mailbox.to(ANNA) == ["Payment I9 failed"]


@pytest.mark.once
def test_proof_asked_for_twice_at_once(app: Flask, mailbox: Mailbox) -> None:
    release = paper.release()
    mailbox.slow_by = 0.3
    at_once(*[lambda: app.test_client().post(f"/press/{release}/proof")] * 2)
    assert mailbox.to("printer@print.example") == ["Proof: A new editor"]


@pytest.mark.once
def test_price_rise_command_that_was_started_again(app: Flask, mailbox: Mailbox) -> None:
    paper.reader()
    for _ in range(2):
        app.test_cli_runner().invoke(args=["paper", "price-rise", "990"])
    assert mailbox.to(ANNA) == ["A new price"]


def test_a_forged_event_is_refused(browser: FlaskClient, mailbox: Mailbox) -> None:
    answer = browser.post("/hooks/payments", json={"id": "evt_1"}, headers={"X-Signature": "no"})
    assert answer.status_code == 401
    assert mailbox.accepted == []
