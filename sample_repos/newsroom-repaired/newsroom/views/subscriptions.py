from flask import Blueprint, abort, jsonify, request
from rq import Retry
from sqlalchemy import update
from sqlalchemy.exc import IntegrityError

from .. import gateways
from ..db import session
from ..jobs.subscribers import close_purchase, mail_cancelled, mail_invoice, mail_purchase, mail_renewal, mail_started
from ..mailer import send_once
from ..models import Gift, Purchase, Reader, Subscription
from ..queue import queue

bp = Blueprint("subscriptions", __name__)


@bp.post("/subscriptions")
def subscribe():
    reader = session.get(Reader, request.json["reader"]) or abort(404)
    session.add(Subscription(reader_id=reader.id, plan=request.json["plan"]))
    email = reader.email
    try:
        session.commit()
    except IntegrityError:
        session.rollback()
        return jsonify(error="has it already"), 409
    queue.enqueue(mail_started, email, request.json["plan"])
    return jsonify(ok=True), 201


@bp.post("/subscriptions/<int:subscription_id>/cancel")
def cancel(subscription_id):
    ended = session.execute(
        update(Subscription)
        .where(Subscription.id == subscription_id, Subscription.status == "active")
        .values(status="cancelled")
    )
    session.commit()
    if ended.rowcount == 1:
        queue.enqueue(mail_cancelled, subscription_id)
    return jsonify(cancelled=ended.rowcount == 1)


@bp.post("/subscriptions/<int:subscription_id>/refund")
def refund(subscription_id):
    subscription = session.get(Subscription, subscription_id) or abort(404)
    send_once("refund.txt", subscription_id, subscription.reader.email, subscription=subscription)
    return jsonify(ok=True)


@bp.post("/subscriptions/<int:subscription_id>/renew")
def renew(subscription_id):
    retry = Retry(max=5, interval=600)
    queue.enqueue(
        mail_renewal, subscription_id, retry=retry, job_id=f"renewal-{subscription_id}", unique=True
    )
    return jsonify(ok=True), 202


@bp.post("/subscriptions/<int:subscription_id>/invoice")
def invoice(subscription_id):
    subscription = session.get(Subscription, subscription_id) or abort(404)
    number = f"R{subscription_id:05}"
    queue.enqueue(mail_invoice, number, subscription.reader.email, retry=Retry(max=3))
    return jsonify(number=number), 202


@bp.post("/gifts")
def give():
    order, email = request.json["order"], request.json["email"]
    session.add(Gift(order=order, email=email, plan="year"))
    try:
        session.flush()
    except IntegrityError:
        session.rollback()
        return jsonify(error="ordered already"), 409
    gateways.book(order, 9900)
    session.commit()
    send_once("gift.txt", order, email, order=order)
    return jsonify(ok=True), 201


@bp.post("/purchases")
def buy():
    purchase = Purchase(
        reader_id=request.json["reader"], article_id=request.json["article"], paid_cents=199
    )
    session.add(purchase)
    session.commit()
    queue.enqueue(mail_purchase, purchase.id)
    return jsonify(id=purchase.id), 201


@bp.post("/purchases/<int:purchase_id>/close")
def close(purchase_id):
    queue.enqueue(close_purchase, purchase_id, retry=Retry(max=3))
    return jsonify(ok=True), 202
