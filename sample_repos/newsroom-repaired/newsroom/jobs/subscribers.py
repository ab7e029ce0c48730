"""Mails about subscriptions and money."""

from datetime import timedelta

from sqlalchemy import select, update

from .. import gateways
from ..claims import claim
from ..db import session
from ..mailer import send, send_once
from ..models import Purchase, Reader, Subscription, now


def schedule(scheduler):
    scheduler.add_job(remind_of_end, "cron", hour=9, minute=15)
    scheduler.add_job(trial_endings, "cron", hour=10)


def mail_welcome(reader_id):
    reader = session.get(Reader, reader_id)
    send("welcome.txt", reader.email, reader=reader)


def mail_started(email, plan):
    send("subscription_started.txt", email, plan=plan)


def mail_cancelled(subscription_id):
    subscription = session.get(Subscription, subscription_id)
    send("subscription_cancelled.txt", subscription.reader.email, subscription=subscription)


def mail_invoice(number, email):
    send_once("invoice.txt", number, email, number=number)


def mail_purchase(purchase_id):
    purchase = session.get(Purchase, purchase_id)
    send_once("purchase.txt", purchase_id, purchase.reader.email, purchase=purchase)


def mail_payment_failed(email, number):
    send("payment_failed.txt", email, number=number)


def close_purchase(purchase_id):
    """Mails the receipt and books the money."""
    purchase = session.get(Purchase, purchase_id)
    send_once("receipt.txt", purchase_id, purchase.reader.email, purchase=purchase)
    gateways.book(f"P{purchase_id}", purchase.paid_cents)


def mail_renewal(subscription_id):
    """The bookkeeping is slow at the end of the month, so this is tried for hours."""
    subscription = session.get(Subscription, subscription_id)
    key = f"{subscription_id}:{subscription.ends_at:%Y-%m}"
    send_once("renewal.txt", key, subscription.reader.email, subscription=subscription)
    gateways.book(f"S{subscription_id}", 990)


def remind_of_end():
    soon = now() + timedelta(days=7)
    ending = select(Subscription).where(Subscription.status == "active", Subscription.ends_at < soon)
    for subscription in session.scalars(ending).all():
        if claim(f"ending:{subscription.id}:{subscription.ends_at:%Y-%m-%d}"):
            send("ending.txt", subscription.reader.email, subscription=subscription)


def trial_endings():
    """One mail when a trial is over."""
    over = select(Subscription.id).where(
        Subscription.plan == "trial", Subscription.ends_at <= now(), Subscription.reminded_at.is_(None)
    )
    for subscription_id in session.scalars(over).all():
        unreminded = update(Subscription).where(
            Subscription.id == subscription_id, Subscription.reminded_at.is_(None)
        )
        mine = session.execute(unreminded.values(reminded_at=now()))
        session.commit()
        if mine.rowcount:
            subscription = session.get(Subscription, subscription_id)
            send("trial_over.txt", subscription.reader.email, subscription=subscription)


def monthly_statement():
    month = now().strftime("%Y-%m")
    for reader_id, email in session.execute(select(Reader.id, Reader.email)).all():
        if claim(f"statement:{month}:{reader_id}"):
            send("statement.txt", email, month=month)
