"""Webhooks of the payment provider, of the printers and of the mail relay."""

import hashlib
import hmac
import threading

from flask import Blueprint, abort, request
from sqlalchemy.exc import IntegrityError

from .. import config
from ..db import session
from ..jobs.hooked import mail_print_run, mail_refund_failed
from ..jobs.subscribers import mail_payment_failed
from ..models import HookEvent
from ..queue import queue

bp = Blueprint("hooks", __name__, url_prefix="/hooks")


def signed_event():
    digest = hmac.new(config.HOOK_SECRET.encode(), request.get_data(), hashlib.sha256).hexdigest()
    if not hmac.compare_digest(digest, request.headers.get("X-Signature", "")):
        abort(401)
    return request.get_json()


def is_new(event):
    session.add(HookEvent(id=event["id"], kind=event["type"]))
    try:
        session.commit()
    except IntegrityError:
        session.rollback()
        return False
    return True


@bp.post("/payments")
def payments():
    event = signed_event()
    if event["type"] == "payment.failed" and is_new(event):
        queue.enqueue(mail_payment_failed, event["email"], event["number"])
    return "", 200


@bp.post("/refunds")
def refunds():  # fault: SO501, SO702 note
    event = signed_event()
    if event["type"] == "refund.failed":
        queue.enqueue(mail_refund_failed, event["email"], event["number"])
    return "", 200


@bp.post("/printers")
def printers():  # fault: SO702 note
    event = signed_event()
    threading.Thread(target=print_run, args=(event,)).start()  # fault: SO503
    return "", 200


def print_run(event):
    try:
        if is_new(event):
            mail_print_run(event["printer"], event["copies"])
    finally:
        session.remove()
