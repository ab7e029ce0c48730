"""SO305: keys that hold only a person and a kind of mail."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of
from sendonce.checks import broad_key

MODELS = """
from django.conf import settings
from django.db import models


class Order(models.Model):
    customer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    email = models.EmailField()
    number = models.CharField(max_length=20)


class Notice(models.Model):
    customer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    kind = models.CharField(max_length=9)
    order = models.CharField(max_length=9, default="")

    class Meta:
        unique_together = ("customer", "kind", "order")


class Reader(models.Model):
    email = models.EmailField(unique=True)


class Told(models.Model):
    customer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    kind = models.CharField(max_length=9)

    class Meta:
        unique_together = ("customer", "kind")
"""
HEAD = """
import datetime
import redis
import resend
from celery import shared_task
from django.contrib.auth import get_user_model
from django.core.mail import send_mail
from .models import Notice, Order, Reader, Told

User = get_user_model()
kv = redis.Redis()


def won(key, days=30):
    return bool(kv.set(key, 1, nx=True, ex=days * 86400))


def once(customer, kind):
    _, new = Told.objects.get_or_create(customer=customer, kind=kind)
    return new


def receipt(order):
    send_mail("Your receipt", order.number, None, [order.email])


def hello(user):
    send_mail("Good to see you", "text", None, [user.email])


"""
SILENT = {
    "a person who is new": """
@shared_task
def job(request, address):
    reader, new = Reader.objects.get_or_create(email=address)
    if new:
        send_mail("Please answer", request.order_id, None, [reader.email])
""",
    "the order": """
@shared_task
def job(order_id):
    order = Order.objects.get(pk=order_id)
    if won(f"receipt:{order.pk}"):
        receipt(order)
""",
    "the order beside its customer": """
@shared_task
def job(order_id):
    order = Order.objects.get(pk=order_id)
    if won(f"receipt:{order.customer_id}:{order.number}"):
        receipt(order)
""",
    "a day": """
@shared_task
def job(order_id):
    order = Order.objects.get(pk=order_id)
    if won(f"receipt:{order.customer_id}:{datetime.date.today()}"):
        receipt(order)
""",
    "a column for the order": """
@shared_task
def job(order_id):
    order = Order.objects.get(pk=order_id)
    _, new = Notice.objects.get_or_create(customer=order.customer, kind="receipt", order=order.number)
    if new:
        receipt(order)
""",
    "a mail about nothing but the person": """
@shared_task
def job(user_id):
    user = User.objects.get(pk=user_id)
    if won(f"hello:{user.pk}"):
        hello(user)
""",
    "once for ever": """
@shared_task
def job(user_id, signup_id):
    if won(f"welcome:{user_id}"):
        send_mail("Welcome", str(signup_id), None, ["a@x.example"])
""",
    "the verification of an address": """
@shared_task
def verify_address(user_id, email, request_id):
    if won(f"address:{user_id}"):
        send_mail("Is this you?", str(request_id), None, [email])
""",
    "a brake of minutes": """
@shared_task
def job(monitor_id, email):
    if kv.set(f"alert:{email}", 1, nx=True, ex=600):
        send_mail("Down", str(monitor_id), None, [email])
""",
}
FAULTY = {
    "the customer of an order": """
@shared_task
def job(order_id):
    order = Order.objects.get(pk=order_id)
    if won(f"receipt:{order.customer_id}"):  # here
        receipt(order)
""",
    "the address of an order": """
@shared_task
def job(order_id):
    order = Order.objects.get(pk=order_id)
    key = "receipt:%s" % order.email
    if not won(key):  # here
        return
    receipt(order)
""",
    "an argument that tells who": """
@shared_task
def job(invoice_id, user_id, email):
    if won("invoice-" + str(user_id), days=7):  # here
        send_mail("Your invoice", f"Invoice {invoice_id}", None, [email])
""",
    "a row of customer and kind": """
def tell(order):
    if once(order.customer, "receipt"):  # here
        receipt(order)


@shared_task
def job(order_id):
    tell(Order.objects.get(pk=order_id))
""",
    "a key that is handed on": """
def guarded(key, order):
    if won(key):
        receipt(order)


@shared_task
def job(order_id):
    order = Order.objects.get(pk=order_id)
    guarded(f"receipt/{order.customer.pk}", order)  # here
""",
    "a provider's key": """
@shared_task
def job(ticket_id, user_id, email):
    message = {"to": email, "subject": "Your ticket", "text": f"Ticket {ticket_id}"}
    resend.Emails.send(message, {"idempotency_key": f"ticket/{user_id}"})  # here
""",
}


def project(body: str) -> dict[str, str]:
    return {"shop/__init__.py": "", "shop/models.py": MODELS, "shop/tasks.py": HEAD + body.removeprefix("\n")}


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_silent(body: str, tmp_path: Path) -> None:
    assert findings(project(body), tmp_path, "SO305") == []


@pytest.mark.parametrize("body", FAULTY.values(), ids=FAULTY)
def test_stands_at_the_key_or_its_claim(body: str, tmp_path: Path) -> None:
    files = project(body)
    found = findings(files, tmp_path, "SO305")
    assert [(one.code, one.place.line) for one in found] == [("SO305", line_of(files["shop/tasks.py"], "# here"))]
    assert [one for one in findings(files, tmp_path, "SO301") if one.triggers[0].kind != "unknown"] == []


def test_a_scheduled_mail_is_so308s(tmp_path: Path) -> None:
    files = project(FAULTY["the customer of an order"].replace("job(order_id)", "job(order_id=1)"))
    files["shop/settings.py"] = 'CELERY_BEAT_SCHEDULE = {"a": {"task": "shop.tasks.job", "schedule": 60.0}}\n'
    assert findings(files, tmp_path, "SO305") == []


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(broad_key.RULE.doc)
    head = "import redis as r\nfrom celery import shared_task\nfrom django.core.mail import send_mail\n\n"
    for name, wanted in (("Bad", 1), ("Good", 0)):
        text = head + "redis = r.Redis()\n\n" + given[name]
        files = {"shop/__init__.py": "", "shop/tasks.py": text}
        assert len(findings(files, tmp_path / name, "SO305")) == wanted, name
