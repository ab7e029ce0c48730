"""Each marked fault sends two mails for one event, or one for an event that was rolled back."""

from __future__ import annotations

import json
import threading
import time

import pytest
from accounts.models import Profile
from catalog.models import Product
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import connection
from django.test import Client
from newsletter.models import Subscriber
from newsletter.tasks import send_weekly_digest
from orders.models import Order, ReturnRequest, Shipment
from payments.models import GiftCard
from servers import Outside
from smtp_server import Mailbox
from steps import Jobs, beat_process_fires, deliver, run_next_job, writing_at_once

STRIPE_WAITS = 1.0  # seconds for an answer; in life some more
ANNA = "anna@example.org"


def product(stock: int = 5) -> Product:
    return Product.objects.create(sku="CUP", name="Cup", price="12.00", stock=stock)


def order(**fields: object) -> Order:
    return Order.objects.create(email=ANNA, total="24.00", **fields)


def edit(clerk: Client, **fields: object) -> None:
    clerk.post("/products/CUP/edit/", json.dumps(fields), content_type="application/json")


def check_out(browser: Client, quantity: int, form: str = "form-1") -> int:
    """The shop's page gives each checkout form a key of its own, whether the server looks at it or not."""
    body = json.dumps({"email": ANNA, "items": {"CUP": quantity}})
    headers = {"Idempotency-Key": form}
    return browser.post("/orders/", body, content_type="application/json", headers=headers).status_code


@pytest.mark.proves("SO101 orders/emails.py::send_receipt", "SO301 orders/emails.py::send_receipt")
def test_receipt_from_the_receiver_and_from_the_accounting_view(
    browser: Client, clerk: Client, mailbox: Mailbox, times: int
) -> None:
    bought = order()
    browser.post(f"/orders/{bought.pk}/pay/", {"payment_intent": "pi_1"})
    assert mailbox.to(ANNA) == [f"Receipt for order {bought.reference}"]
    clerk.post(f"/orders/{bought.pk}/book-payment/", {"note": "statement 12"})
    assert mailbox.to(ANNA) == [f"Receipt for order {bought.reference}"] * times


@pytest.mark.proves("SO303 orders/views.py::pay")
def test_receipt_of_one_order_paid_in_two_tabs_at_once(mailbox: Mailbox, times: int) -> None:
    bought = order()
    together = threading.Barrier(2)

    def pay() -> None:
        client = Client(raise_request_exception=False)
        with writing_at_once(together):
            client.post(f"/orders/{bought.pk}/pay/", {"payment_intent": "pi_1"})
        connection.close()

    tabs = [threading.Thread(target=pay) for _ in range(2)]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join(30)
    assert mailbox.to(ANNA) == [f"Receipt for order {bought.reference}"] * times


@pytest.mark.proves("SO301 orders/emails.py::send_receipt")
def test_receipt_of_one_booking_posted_twice(clerk: Client, mailbox: Mailbox, times: int) -> None:
    bought = order()
    for _ in range(2):
        clerk.post(f"/orders/{bought.pk}/book-payment/", {"note": "statement 12"})
    assert mailbox.to(ANNA) == [f"Receipt for order {bought.reference}"] * times


def gift_card_for_anna(browser: Client) -> str:
    answer = browser.post("/payments/gift-cards/", {"amount": "25", "recipient": ANNA})
    return str(answer.json()["session"])


@pytest.mark.proves("SO101 payments/emails.py::send_gift_card")
def test_gift_card_from_the_webhook_and_from_the_return_page(browser: Client, mailbox: Mailbox, times: int) -> None:
    session = gift_card_for_anna(browser)
    deliver(
        browser,
        "evt_1",
        "checkout.session.completed",
        {"id": session, "object": "checkout.session"},
    )
    browser.get("/payments/gift-cards/return/", {"session_id": session})
    assert mailbox.to(ANNA) == ["A gift card for you"] * times


@pytest.mark.proves("SO301 payments/emails.py::send_gift_card")
def test_gift_card_when_the_return_page_is_reloaded(browser: Client, mailbox: Mailbox, times: int) -> None:
    session = gift_card_for_anna(browser)
    for _ in range(2):
        browser.get("/payments/gift-cards/return/", {"session_id": session})
    assert mailbox.to(ANNA) == ["A gift card for you"] * times
    assert GiftCard.objects.count() == 1


@pytest.mark.proves("SO501 payments/webhooks.py::stripe_webhook")
def test_gift_card_when_stripe_repeats_the_event(browser: Client, mailbox: Mailbox, times: int) -> None:
    session = gift_card_for_anna(browser)
    for _ in range(2):
        deliver(
            browser,
            "evt_1",
            "checkout.session.completed",
            {"id": session, "object": "checkout.session"},
        )
    assert mailbox.to(ANNA) == ["A gift card for you"] * times


@pytest.mark.proves("SO502 payments/webhooks.py::stripe_webhook")
def test_gift_card_when_a_slow_mail_server_keeps_stripe_waiting(
    browser: Client, mailbox: Mailbox, worker: Jobs, times: int
) -> None:
    paid = {"id": gift_card_for_anna(browser), "object": "checkout.session"}
    mailbox.slow_by = 1.5 * STRIPE_WAITS
    began = time.monotonic()
    deliver(browser, "evt_1", "checkout.session.completed", paid)
    if time.monotonic() - began > STRIPE_WAITS:  # Stripe has hung up by now, and tries again
        mailbox.slow_by = 0
        deliver(browser, "evt_1", "checkout.session.completed", paid)
    worker.settle()
    assert mailbox.to(ANNA) == ["A gift card for you"] * times


@pytest.mark.proves("SO501 payments/webhooks.py::stripe_webhook")
def test_invoice_when_stripe_repeats_the_event(browser: Client, mailbox: Mailbox, times: int) -> None:
    invoice = {
        "number": "R-1",
        "customer_email": ANNA,
        "hosted_invoice_url": "https://invoice.example/1",
    }
    for _ in range(2):
        deliver(browser, "evt_1", "invoice.paid", invoice)
    assert mailbox.to(ANNA) == ["Invoice R-1"] * times


@pytest.mark.proves("SO401 payments/tasks.py::send_invoice")
def test_invoice_when_the_servers_reply_is_lost_and_the_job_is_retried(
    browser: Client, mailbox: Mailbox, times: int
) -> None:
    mailbox.lose_replies = 1
    invoice = {
        "number": "R-1",
        "customer_email": ANNA,
        "hosted_invoice_url": "https://invoice.example/1",
    }
    deliver(browser, "evt_1", "invoice.paid", invoice)
    assert mailbox.to(ANNA) == ["Invoice R-1"] * times


@pytest.mark.proves(
    "SO103 orders/views.py::refund",
    "SO101 orders/emails.py::send_refund_notice",
    "SO301 orders/emails.py::send_refund_notice",
)
def test_refund_from_the_back_office_and_from_the_webhook_that_it_causes(
    clerk: Client, mailbox: Mailbox, times: int
) -> None:
    bought = order(payment_intent="pi_1", status="paid")
    mailbox.reset()  # the receipt
    clerk.post(f"/orders/{bought.pk}/refund/")
    deliver(clerk, "evt_1", "charge.refunded", {"payment_intent": "pi_1"})
    assert mailbox.to(ANNA) == [f"Refund for order {bought.reference}"] * times


@pytest.mark.proves("SO301 orders/emails.py::send_refund_notice")
def test_refund_when_the_button_is_pressed_twice(clerk: Client, mailbox: Mailbox, times: int, outside: Outside) -> None:
    bought = order(payment_intent="pi_1", status="paid")
    mailbox.reset()
    for _ in range(2):
        clerk.post(f"/orders/{bought.pk}/refund/")
    assert outside.refunded == {"pi_1"}
    assert mailbox.to(ANNA) == [f"Refund for order {bought.reference}"] * times


@pytest.mark.proves("SO201 orders/services.py::place_order")
def test_confirmation_of_an_order_that_was_rolled_back(
    browser: Client, mailbox: Mailbox, worker: Jobs, times: int
) -> None:
    product(stock=1)
    assert check_out(browser, quantity=2) == 409
    worker.settle()
    assert len(mailbox.to(ANNA)) == times - 1
    assert not Order.objects.exists()
    Product.objects.update(stock=2)
    assert check_out(browser, quantity=2) == 201
    worker.settle()
    assert Order.objects.count() == 1
    assert len(mailbox.to(ANNA)) == times


@pytest.mark.proves("SO301 orders/tasks.py::send_order_confirmation")
def test_confirmation_when_the_checkout_is_posted_twice(browser: Client, mailbox: Mailbox, times: int) -> None:
    product(stock=5)
    for _ in range(2):
        assert check_out(browser, quantity=1) == 201
    assert len(mailbox.to(ANNA)) == times
    assert all(subject.startswith("We have your order") for subject in mailbox.to(ANNA))


@pytest.mark.proves("SO202 orders/services.py::cancel_order")
def test_cancellation_that_was_rolled_back_and_tried_again(
    browser: Client, mailbox: Mailbox, times: int, outside: Outside
) -> None:
    bought = order(payment_intent="pi_1")
    outside.declined_refunds = 1
    assert browser.post(f"/orders/{bought.pk}/cancel/").status_code == 500
    bought.refresh_from_db()
    assert bought.status == "open"
    assert len(mailbox.to(ANNA)) == times - 1
    assert browser.post(f"/orders/{bought.pk}/cancel/").status_code == 200
    assert mailbox.to(ANNA) == [f"Order {bought.reference} is cancelled"] * times


@pytest.mark.proves("SO301 orders/emails.py::send_cancellation")
def test_cancellation_posted_twice(browser: Client, mailbox: Mailbox, times: int) -> None:
    bought = order()
    for _ in range(2):
        browser.post(f"/orders/{bought.pk}/cancel/")
    assert mailbox.to(ANNA) == [f"Order {bought.reference} is cancelled"] * times


@pytest.mark.proves("SO102 orders/views.py::request_return")
def test_return_mailed_by_the_receiver_and_by_the_view(browser: Client, mailbox: Mailbox, times: int) -> None:
    bought = order()
    browser.post(f"/orders/{bought.pk}/returns/", {"reason": "broken"})
    assert ReturnRequest.objects.count() == 1
    assert mailbox.to(ANNA) == [f"Your return for order {bought.reference}"] * times


@pytest.mark.proves("SO301 orders/emails.py::send_return_requested")
def test_return_asked_for_twice(browser: Client, mailbox: Mailbox, times: int) -> None:
    bought = order()
    for _ in range(2):
        browser.post(f"/orders/{bought.pk}/returns/", {"reason": "broken"})
    assert mailbox.to(ANNA) == [f"Your return for order {bought.reference}"] * times**2


@pytest.mark.proves("SO201 orders/admin.py::save_model")
def test_shipping_notice_of_an_admin_save_that_was_rolled_back(
    clerk: Client, mailbox: Mailbox, times: int, outside: Outside, worker: Jobs
) -> None:
    parcel = Shipment.objects.create(order=order())
    form = {"order": parcel.order_id, "carrier": "post", "tracking_code": "T1", "_save": "Save"}
    outside.carrier_outages = 1
    assert clerk.post(f"/admin/orders/shipment/{parcel.pk}/change/", form).status_code == 500
    worker.settle()
    parcel.refresh_from_db()
    assert parcel.tracking_code == ""
    assert clerk.post(f"/admin/orders/shipment/{parcel.pk}/change/", form).status_code == 302
    worker.settle()
    assert mailbox.to(ANNA) == [f"Order {parcel.order.reference} is on its way"] * times


@pytest.mark.proves("SO407 orders/tasks.py::send_shipping_notice")
def test_shipping_notice_when_the_worker_dies_after_the_mail(
    clerk: Client, mailbox: Mailbox, queue_without_worker: str, times: int
) -> None:
    bought = order()
    form = {"order": bought.pk, "carrier": "post", "tracking_code": "T1", "_save": "Save"}
    assert clerk.post("/admin/orders/shipment/add/", form).status_code == 302
    assert run_next_job(queue_without_worker, dies=True)
    assert run_next_job(queue_without_worker)
    assert mailbox.to(ANNA) == [f"Order {bought.reference} is on its way"] * times


@pytest.mark.proves("SO105 catalog/models.py::save")
def test_back_in_stock_again_when_only_the_price_changes(
    browser: Client, clerk: Client, mailbox: Mailbox, times: int
) -> None:
    product(stock=0)
    browser.post("/products/CUP/notify-me/", {"email": ANNA})
    edit(clerk, stock=5)
    assert mailbox.to(ANNA) == ["Cup is back"]
    edit(clerk, price="11.00")
    assert mailbox.to(ANNA) == ["Cup is back"] * times


@pytest.mark.proves("SO301 newsletter/tasks.py::send_weekly_digest")
def test_digest_when_two_beat_processes_run(mailbox: Mailbox, times: int) -> None:
    product()
    Subscriber.objects.create(email=ANNA)
    for _ in range(2):
        beat_process_fires(send_weekly_digest)
    assert mailbox.to(ANNA) == ["This week in the shop"] * times


@pytest.mark.proves("SO301 catalog/emails.py::send_announcement")
def test_announcement_command_started_twice(mailbox: Mailbox, times: int) -> None:
    product()
    Subscriber.objects.create(email=ANNA)
    for _ in range(2):
        call_command("announce_product", "CUP")
    assert mailbox.to(ANNA) == ["New: Cup"] * times


@pytest.mark.proves("SO301 accounts/emails.py::send_voucher")
def test_voucher_action_sent_twice(clerk: Client, mailbox: Mailbox, times: int) -> None:
    anna = get_user_model().objects.create_user(ANNA, email=ANNA)
    chosen = Profile.objects.create(user=anna, marketing=True)
    form = {"action": "mail_voucher", "_selected_action": [chosen.pk]}
    for _ in range(2):
        assert clerk.post("/admin/accounts/profile/", form).status_code == 302
    assert mailbox.to(ANNA) == ["A voucher for you"] * times


@pytest.mark.proves("SO301 accounts/views.py::contact")
def test_contact_form_posted_twice(browser: Client, mailbox: Mailbox, times: int) -> None:
    for _ in range(2):
        browser.post("/contact/", {"email": ANNA, "text": "Hello"})
    assert mailbox.to("managers@storefront.example") == ["[Django] Contact form"] * times
