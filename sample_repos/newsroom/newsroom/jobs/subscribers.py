"""Mails about subscriptions and money."""

from datetime import timedelta

from sqlalchemy import select

from .. import gateways
from ..claims import claim, claim_for
from ..db import session
from ..mailer import send
from ..models import Purchase, Reader, SentMail, Subscription, now
from .letters import desk_summary


def schedule(scheduler):
    scheduler.add_job(remind_of_end, "cron", hour=9, minute=15)
    scheduler.add_job(trial_endings, "cron", hour=10)
    # bookkeeping reads the desk's summary too
    scheduler.add_job(desk_summary, "cron", hour=18)


def mail_welcome(reader_id):
    reader = session.get(Reader, reader_id)
    send("welcome.txt", reader.email, reader=reader)


def mail_started(email, plan):
    send("subscription_started.txt", email, plan=plan)  # fault: SO301


def mail_cancelled(subscription_id):
    subscription = session.get(Subscription, subscription_id)
    send("subscription_cancelled.txt", subscription.reader.email, subscription=subscription)


def mail_invoice(number, email):
    send("invoice.txt", email, number=number)


def mail_purchase(purchase_id):
    purchase = session.get(Purchase, purchase_id)
    if claim(f"purchase:{purchase.reader.email}"):  # fault: SO305
        send("purchase.txt", purchase.reader.email, purchase=purchase)


def mail_payment_failed(email, number):
    send("payment_failed.txt", email, number=number)


def close_purchase(purchase_id):
    """Mails the receipt and books the money."""
    purchase = session.get(Purchase, purchase_id)
    session.add(SentMail(key=f"receipt:{purchase_id}"))
    session.flush()  # fault: SO307
    send("receipt.txt", purchase.reader.email, purchase=purchase)  # fault: SO203
    gateways.book(f"P{purchase_id}", purchase.paid_cents)
    session.commit()


def mail_renewal(subscription_id):
    """The bookkeeping is slow at the end of the month, so this is tried for hours."""
    subscription = session.get(Subscription, subscription_id)
    if claim_for(f"renewal:{subscription_id}:{subscription.ends_at:%Y-%m}", 300):  # fault: SO308
        send("renewal.txt", subscription.reader.email, subscription=subscription)
    gateways.book(f"S{subscription_id}", 990)


def remind_of_end():
    soon = now() + timedelta(days=7)
    ending = select(Subscription).where(Subscription.status == "active", Subscription.ends_at < soon)
    for subscription in session.scalars(ending).all():
        if claim(f"ending:{subscription.id}:{subscription.ends_at:%Y-%m-%d}"):
            send("ending.txt", subscription.reader.email, subscription=subscription)


def trial_endings():  # fault: SO702 note
    """One mail when a trial is over; those who renew are charged and leave the list."""
    over = select(Subscription).where(
        Subscription.plan == "trial", Subscription.ends_at <= now(), Subscription.reminded_at.is_(None)
    )
    for subscription in session.scalars(over).all():  # fault: SO408
        send("trial_over.txt", subscription.reader.email, subscription=subscription)
        if subscription.renews:
            subscription.reminded_at = now()
            session.commit()


def monthly_statement():
    month = now().strftime("%Y-%m")
    for reader_id, email in session.execute(select(Reader.id, Reader.email)).all():
        if claim(f"statement:{month}:{reader_id}"):
            send("statement.txt", email, month=month)
