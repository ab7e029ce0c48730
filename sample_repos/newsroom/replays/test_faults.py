"""Each marked fault sends two mails for one event."""

from __future__ import annotations

import paper
import pytest
from flask import Flask
from flask.testing import FlaskClient
from newsroom.db import session
from newsroom.jobs.letters import answer_letters, desk_summary, morning_briefing
from newsroom.jobs.subscribers import trial_endings
from newsroom.models import Subscription
from paper import ANNA, AUTHOR, BEN
from servers import Outside, RedisServers
from smtp_server import Mailbox
from steps import at_once, deliver, let_pass, schedulers, tick, work

DESK = "desk@gazette.example"


# ---------------------------------------------------------------------- the clock


@pytest.mark.proves("SO406 newsroom/__init__.py::create_app")
def test_briefing_when_the_web_server_has_two_processes(
    app: Flask, second_app: Flask, mailbox: Mailbox, times: int
) -> None:
    paper.reader()
    for scheduler in schedulers(app, second_app):
        tick(scheduler, morning_briefing)
    assert mailbox.to(ANNA) == ["Good morning"] * times


@pytest.mark.proves("SO301 newsroom/jobs/letters.py::morning_briefing")
def test_briefing_when_the_run_is_started_again(app: Flask, mailbox: Mailbox, times: int) -> None:
    paper.reader()
    (scheduler,) = schedulers(app)
    for _ in range(2):
        tick(scheduler, morning_briefing)
    assert mailbox.to(ANNA) == ["Good morning"] * times


@pytest.mark.proves("SO104 newsroom/schedule.py::build_scheduler")
def test_summary_of_one_evening(app: Flask, mailbox: Mailbox, times: int) -> None:
    (scheduler,) = schedulers(app)
    tick(scheduler, desk_summary)
    assert mailbox.to(DESK) == ["Letters waiting: 0"] * times


@pytest.mark.proves("SO301 newsroom/jobs/letters.py::desk_summary")
def test_summary_when_the_run_is_started_again(mailbox: Mailbox, times: int) -> None:
    for _ in range(2):
        desk_summary()
    assert mailbox.to(DESK) == ["Letters waiting: 0"] * times


@pytest.mark.proves("SO404 newsroom/jobs/letters.py::answer_letters")
def test_thanks_when_two_runs_overlap(mailbox: Mailbox, times: int) -> None:
    paper.letter()
    mailbox.slow_by = 0.5
    at_once(answer_letters, answer_letters)
    assert mailbox.to(ANNA) == ["Thank you for your letter"] * times


@pytest.mark.proves("SO408 newsroom/jobs/subscribers.py::trial_endings")
def test_trial_of_somebody_who_does_not_renew(app: Flask, mailbox: Mailbox, times: int) -> None:
    paper.ending(days=-1, plan="trial")
    (scheduler,) = schedulers(app)
    for _day in range(2):
        tick(scheduler, trial_endings)
    assert mailbox.to(ANNA) == ["Your trial is over"] * times


# ---------------------------------------------------------------------- articles


def edit(browser: FlaskClient, article: int, revision: int) -> int:
    change = {"title": f"The tide {revision}", "revision": revision}
    return browser.put(f"/articles/{article}", json=change).status_code


@pytest.mark.proves("SO105 newsroom/events.py::article_changed")
def test_author_when_a_published_article_is_edited_twice(
    browser: FlaskClient, mailbox: Mailbox, times: int
) -> None:
    article = paper.article()
    browser.post(f"/articles/{article}/publish")
    for revision in (1, 2):
        assert edit(browser, article, revision) == 200
    work()
    assert len(mailbox.to(AUTHOR)) == times


@pytest.mark.proves("SO201 newsroom/events.py::article_changed")
def test_author_when_an_edit_is_rolled_back(browser: FlaskClient, mailbox: Mailbox, times: int) -> None:
    article = paper.article()
    browser.post(f"/articles/{article}/publish")
    assert [edit(browser, article, 1), edit(browser, article, 1)] == [200, 409]
    work()
    assert len(mailbox.to(AUTHOR)) == times


@pytest.mark.proves("SO402 newsroom/jobs/notices.py::alert_followers")
def test_followers_when_one_address_is_refused(browser: FlaskClient, mailbox: Mailbox, times: int) -> None:
    for email in (ANNA, BEN):
        paper.follow(email)
    mailbox.refuse.add(BEN)
    browser.post(f"/articles/{paper.article()}/publish")
    work()
    assert mailbox.to(ANNA) == ["New: The tide"] * (1 if times == 1 else 4)  # the first try and three more


@pytest.mark.proves(
    "SO405 newsroom/views/articles.py::set_day", "SO101 newsroom/jobs/notices.py::mail_assignment"
)
def test_photographer_who_is_booked_for_a_day(browser: FlaskClient, mailbox: Mailbox, times: int) -> None:
    article = paper.article()
    browser.post(f"/articles/{article}/photographer", json={"email": ANNA})
    browser.post(f"/articles/{article}/shooting", json={"day": "Friday"})
    work()
    assert mailbox.to(ANNA) == ["A photograph for The tide"] * times


@pytest.mark.proves("SO301 newsroom/jobs/notices.py::mail_breaking")
def test_breaking_news_when_the_button_is_pressed_twice(
    browser: FlaskClient, mailbox: Mailbox, times: int
) -> None:
    article = paper.article()
    for _ in range(2):
        browser.post(f"/articles/{article}/breaking")
    work()
    assert mailbox.to(DESK) == ["Breaking: The tide"] * times


@pytest.mark.proves("SO310 newsroom/claims.py::claim_if_possible")
def test_correction_while_redis_is_down(
    browser: FlaskClient, mailbox: Mailbox, servers: RedisServers, times: int
) -> None:
    article = paper.article()
    for up in (True, False):
        servers.server("1").connected = up
        browser.post(f"/articles/{article}/correction", json={"readers": [ANNA]})
    assert mailbox.to(ANNA) == ["Correction: The tide"] * times


@pytest.mark.proves("SO304 newsroom/views/articles.py::legal")
def test_lawyer_when_the_button_is_pressed_twice(browser: FlaskClient, mailbox: Mailbox, times: int) -> None:
    article = paper.article()
    for _ in range(2):
        browser.post(f"/articles/{article}/legal", json={"lawyer": ANNA})
    assert mailbox.to(ANNA) == ["To be checked: The tide"] * times


@pytest.mark.proves("SO311 newsroom/jobs/notices.py::deliver_alert")
def test_alert_when_the_text_message_fails(
    browser: FlaskClient, mailbox: Mailbox, outside: Outside, times: int
) -> None:
    paper.reader(phone="+49 1")
    outside.sms_outages = 1
    browser.post("/articles/alerts", json={"text": "A storm"})
    work()
    assert outside.sms_outages == 0
    assert mailbox.to(ANNA) == ["Alert"] * times


@pytest.mark.proves("SO401 newsroom/views/articles.py::alert")
def test_alert_when_the_servers_reply_is_lost(browser: FlaskClient, mailbox: Mailbox, times: int) -> None:
    paper.reader(phone="+49 1")
    mailbox.lose_replies = 1
    browser.post("/articles/alerts", json={"text": "A storm"})
    work()
    assert mailbox.to(ANNA) == ["Alert"] * times


# ---------------------------------------------------------------------- comments and accounts


@pytest.mark.proves("SO312 newsroom/jobs/notices.py::tell_of_comment")
def test_comment_approved_twice(browser: FlaskClient, mailbox: Mailbox, times: int) -> None:
    comment = paper.comment()
    for _ in range(2):
        browser.post(f"/comments/{comment}/approve")
        work()
    assert mailbox.to(ANNA) == ["Your comment is online"] * times


@pytest.mark.proves("SO306 newsroom/views/comments.py::report")
def test_comment_reported_twice_by_one_reader(browser: FlaskClient, mailbox: Mailbox, times: int) -> None:
    comment, reader = paper.comment(), paper.reader(BEN)
    for _ in range(2):
        browser.post(f"/comments/{comment}/report", json={"reader": reader})
    work()
    assert mailbox.to(DESK) == ["A comment was reported"] * times


@pytest.mark.proves("SO303 newsroom/views/accounts.py::verify")
def test_verification_asked_for_in_two_tabs_at_once(app: Flask, mailbox: Mailbox, times: int) -> None:
    reader = paper.reader()
    mailbox.slow_by = 0.5
    at_once(*[lambda: app.test_client().post(f"/readers/{reader}/verify")] * 2)
    assert mailbox.to(ANNA) == ["Please verify your address"] * times


# ---------------------------------------------------------------------- subscriptions and money


@pytest.mark.proves(
    "SO203 newsroom/views/subscriptions.py::subscribe", "SO301 newsroom/jobs/subscribers.py::mail_started"
)
def test_subscription_that_the_reader_has_already(browser: FlaskClient, mailbox: Mailbox, times: int) -> None:
    order = {"reader": paper.reader(), "plan": "year"}
    answers = [browser.post("/subscriptions", json=order).status_code for _ in range(2)]
    work()
    assert answers == [201, 409]
    assert mailbox.to(ANNA) == ["Welcome to the plan year"] * times


@pytest.mark.proves("SO302 newsroom/views/subscriptions.py::refund")
def test_refund_posted_twice(browser: FlaskClient, mailbox: Mailbox, times: int) -> None:
    subscription = paper.subscription()
    for _ in range(2):
        browser.post(f"/subscriptions/{subscription}/refund")
    assert mailbox.to(ANNA) == ["Your refund"] * times


@pytest.mark.proves("SO308 newsroom/jobs/subscribers.py::mail_renewal")
def test_renewal_while_the_ledger_is_down(
    browser: FlaskClient, mailbox: Mailbox, outside: Outside, times: int
) -> None:
    subscription = paper.ending(days=30)
    outside.ledger_outages = 1
    browser.post(f"/subscriptions/{subscription}/renew")
    work()
    let_pass(600)
    work()
    assert outside.ledger_outages == 0
    assert mailbox.to(ANNA) == ["Renewed"] * times


@pytest.mark.proves("SO401 newsroom/views/subscriptions.py::invoice")
def test_invoice_when_the_servers_reply_is_lost(browser: FlaskClient, mailbox: Mailbox, times: int) -> None:
    subscription = paper.subscription()
    mailbox.lose_replies = 1
    browser.post(f"/subscriptions/{subscription}/invoice")
    work()
    assert mailbox.to(ANNA) == [f"Invoice R{subscription:05}"] * times


def give(browser: FlaskClient) -> int:
    return browser.post("/gifts", json={"order": "G1", "email": ANNA}).status_code


@pytest.mark.proves("SO202 newsroom/views/subscriptions.py::give")
def test_gift_that_was_rolled_back_and_ordered_again(
    browser: FlaskClient, mailbox: Mailbox, outside: Outside, times: int
) -> None:
    outside.ledger_outages = 1
    assert [give(browser), give(browser)] == [500, 201]
    work()
    assert mailbox.to(ANNA) == ["A gift for you"] * times


@pytest.mark.proves("SO301 newsroom/views/subscriptions.py::give")
def test_gift_ordered_twice(browser: FlaskClient, mailbox: Mailbox, times: int) -> None:
    for _ in range(2):
        give(browser)
    work()
    assert mailbox.to(ANNA) == ["A gift for you"] * times


@pytest.mark.proves(
    "SO307 newsroom/jobs/subscribers.py::close_purchase",
    "SO203 newsroom/jobs/subscribers.py::close_purchase",
)
def test_receipt_while_the_ledger_is_down(
    browser: FlaskClient, mailbox: Mailbox, outside: Outside, times: int
) -> None:
    purchase = paper.purchase()
    outside.ledger_outages = 1
    browser.post(f"/purchases/{purchase}/close")
    work()
    assert outside.ledger_outages == 0
    assert mailbox.to(ANNA) == [f"Receipt P{purchase}"] * times


# ---------------------------------------------------------------------- press and webhooks


@pytest.mark.proves("SO106 newsroom/views/press.py::send_release")
def test_press_release_to_somebody_with_two_topics(browser: FlaskClient, mailbox: Mailbox, times: int) -> None:
    paper.contact("media", "people")
    browser.post(f"/press/{paper.release()}/send", json={"topics": ["media", "people"]})
    assert mailbox.to(ANNA) == ["A new editor"] * times


@pytest.mark.proves("SO403 newsroom/views/press.py::fax")
def test_fax_when_the_bridges_reply_is_lost(browser: FlaskClient, mailbox: Mailbox, times: int) -> None:
    mailbox.lose_replies = 1
    browser.post(f"/press/{paper.release()}/fax")
    assert mailbox.to("fax@bridge.example") == ["Fax: A new editor"] * times


@pytest.mark.proves("SO301 newsroom/views/press.py::fax")
def test_fax_when_the_button_is_pressed_twice(browser: FlaskClient, mailbox: Mailbox, times: int) -> None:
    release = paper.release()
    for _ in range(2):
        browser.post(f"/press/{release}/fax")
    assert mailbox.to("fax@bridge.example") == ["Fax: A new editor"] * times


@pytest.mark.proves("SO309 newsroom/views/press.py::preview")
def test_preview_asked_for_twice_at_once(app: Flask, mailbox: Mailbox, times: int) -> None:
    release = paper.release()
    mailbox.slow_by = 0.5
    at_once(*[lambda: app.test_client().post(f"/press/{release}/preview", json={"email": ANNA})] * 2)
    assert mailbox.to(ANNA) == ["Preview: A new editor"] * times


@pytest.mark.proves("SO501 newsroom/views/hooks.py::refunds")
def test_failed_refund_that_is_delivered_twice(browser: FlaskClient, mailbox: Mailbox, times: int) -> None:
    event = {"id": "evt_1", "type": "refund.failed", "email": ANNA, "number": "F7"}
    for _ in range(2):
        deliver(browser, "/hooks/refunds", event)
    work()
    assert mailbox.to(ANNA) == ["Refund F7 failed"] * times


@pytest.mark.proves("SO301 newsroom/cli.py::obituary")
def test_obituary_command_started_twice(app: Flask, mailbox: Mailbox, times: int) -> None:
    for _ in range(2):
        app.test_cli_runner().invoke(args=["paper", "obituary", "Jane Doe"])
    assert mailbox.to("archive@gazette.example") == ["Obituary: Jane Doe"] * times


def test_what_the_replays_leave_behind_is_gone() -> None:
    assert session.query(Subscription).count() == 0
