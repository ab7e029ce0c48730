"""The mails that are done right go out once, whatever is repeated; a forged webhook sends nothing."""

from __future__ import annotations

import threading
import time
from datetime import timedelta

import pytest
from accounts.tasks import send_welcome
from catalog.models import Product
from catalog.tasks import alert_low_stock
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import timezone
from mailer.models import SentMail
from orders.models import Cart, Order, Pickup, ReturnRequest
from payments.models import StripeEvent
from smtp_server import Mailbox
from steps import Jobs, beat_process_fires, deliver

ANNA = "anna@example.org"


def order(**fields: object) -> Order:
    return Order.objects.create(email=ANNA, total="24.00", **fields)


def register(browser: Client) -> int:
    form = {"email": ANNA, "password": "a long password"}
    return int(browser.post("/register/", form).json()["id"])


@pytest.mark.once
def test_welcome_when_the_broker_delivers_the_job_again(browser: Client, mailbox: Mailbox, worker: Jobs) -> None:
    user_id = register(browser)
    worker.settle()
    assert send_welcome.apply(args=[user_id], task_id="the same job").successful()
    assert mailbox.to(ANNA) == ["Welcome to the Storefront"]


@pytest.mark.once
def test_welcome_when_the_servers_reply_is_lost_and_the_job_is_retried(browser: Client, mailbox: Mailbox) -> None:
    mailbox.lose_replies = 1
    register(browser)
    assert mailbox.to(ANNA) == ["Welcome to the Storefront"]


@pytest.mark.once
def test_welcome_when_four_workers_have_the_job_at_once(browser: Client, mailbox: Mailbox) -> None:
    user_id = register(browser)
    SentMail.objects.all().delete()
    mailbox.reset()
    together = threading.Barrier(4)

    def run() -> None:
        together.wait(10)
        send_welcome.apply(args=[user_id])
        connection.close()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert mailbox.to(ANNA) == ["Welcome to the Storefront"]


@pytest.mark.once
def test_dispute_when_stripe_repeats_the_event(browser: Client, mailbox: Mailbox) -> None:
    bought = order(payment_intent="pi_1")
    for _ in range(3):
        answer = deliver(browser, "evt_1", "charge.dispute.created", {"payment_intent": "pi_1"})
        assert answer.status_code == 200
    assert mailbox.to(ANNA) == [f"About your order {bought.reference}"]


@pytest.mark.once
def test_refund_when_stripe_repeats_the_event(browser: Client, mailbox: Mailbox) -> None:
    bought = order(payment_intent="pi_1")
    for _ in range(3):
        deliver(browser, "evt_1", "charge.refunded", {"payment_intent": "pi_1"})
    assert mailbox.to(ANNA) == [f"Refund for order {bought.reference}"]


@pytest.mark.once
def test_newsletter_welcome_when_the_form_is_posted_twice(browser: Client, mailbox: Mailbox) -> None:
    for _ in range(2):
        browser.post("/newsletter/", {"email": ANNA})
    assert mailbox.to(ANNA) == ["You are on the list"]


@pytest.mark.once
def test_cart_reminder_when_cron_starts_the_command_twice(mailbox: Mailbox) -> None:
    Cart.objects.create(email=ANNA, updated_at=timezone.now() - timedelta(days=2))
    for _ in range(2):
        call_command("remind_carts")
    assert mailbox.to(ANNA) == ["You left something in your cart"]


@pytest.mark.once
def test_low_stock_when_two_beat_processes_run(mailbox: Mailbox) -> None:
    Product.objects.create(sku="CUP", name="Cup", price="12.00", stock=1)
    for _ in range(2):
        beat_process_fires(alert_low_stock)
    assert mailbox.to("managers@storefront.example") == ["[Django] Low stock"]


@pytest.mark.once
def test_collected_when_the_counter_scans_twice(clerk: Client, mailbox: Mailbox) -> None:
    pickup = Pickup.objects.create(order=order())
    for _ in range(2):
        clerk.post(f"/orders/pickups/{pickup.pk}/collect/")
    assert mailbox.to(ANNA) == [f"You have collected order {pickup.order.reference}"]


@pytest.mark.once
def test_return_approved_twice(browser: Client, clerk: Client, mailbox: Mailbox, worker: Jobs) -> None:
    entry = ReturnRequest.objects.create(order=order())
    mailbox.reset()  # what the receiver mailed
    for _ in range(2):
        clerk.post(f"/orders/returns/{entry.pk}/approve/")
    worker.settle()
    assert mailbox.to(ANNA) == ["Your return is approved"]


def test_a_forged_or_stale_webhook_is_refused(browser: Client, mailbox: Mailbox) -> None:
    order(payment_intent="pi_1")
    refund = {"payment_intent": "pi_1"}
    an_hour_ago = int(time.time()) - 3600
    assert deliver(browser, "evt_1", "charge.refunded", refund, secret="wrong").status_code == 400
    assert deliver(browser, "evt_1", "charge.refunded", refund, moment=an_hour_ago).status_code == 400
    assert browser.post("/payments/stripe/webhook/", "{}", "application/json").status_code == 400
    assert not StripeEvent.objects.exists()
    assert mailbox.accepted == []
