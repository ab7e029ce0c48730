"""SO310: a claim that cannot stop the mail."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of
from sendonce.checks import fail_open_guard

HEAD = """
from contextlib import suppress

import redis
from celery import shared_task
from django.core.cache import cache
from django.core.mail import send_mail
from django.db import IntegrityError, models, transaction

store = redis.Redis()

class Member(models.Model):
    email = models.EmailField(unique=True)
    told = models.BooleanField(default=False)

class Welcome(models.Model):
    member = models.OneToOneField(Member, on_delete=models.CASCADE)
    text = models.TextField()

class Token(models.Model):
    email = models.EmailField()
    used = models.BooleanField(default=False)

def first(key):
    return bool(store.set(key, 1, nx=True))

"""
TASK = "\n@shared_task\ndef welcome(pk):\n    member = Member.objects.get(pk=pk)\n"
SEND = '    send_mail("Welcome", "x", None, [member.email])\n'
SILENT = {
    "the conflict leaves": (
        """
    try:
        Welcome.objects.create(member=member)
    except IntegrityError:
        return
"""
    ),
    "the error rises": "    if not first(f'w:{pk}'):\n        return\n",
    "get or create by hand": (
        """
    try:
        with transaction.atomic():
            welcome = Welcome.objects.create(member=member)
    except IntegrityError:
        welcome = Welcome.objects.get(member=member)
    member.email = welcome.text
"""
    ),
    "the row is used": "    found, _ = Welcome.objects.get_or_create(member=member)\n    member.email = found.text\n",
    "about something else": "    Welcome.objects.get_or_create(member_id=1)\n",
    "older links are ended": "    Token.objects.filter(email=member.email, used=False).update(used=True)\n",
    "a counter is made": "    cache.add(f'n:{pk}', 0)\n    cache.incr(f'n:{pk}')\n",
    "errors of the data": (
        """
    try:
        Welcome.objects.get(member=member)
    except Welcome.DoesNotExist:
        pass
"""
    ),
}
FAULTY = {
    "the conflict is logged": (
        """
    try:
        with transaction.atomic():
            Welcome.objects.create(member=member)
    except IntegrityError:  # fault
        print("again")
"""
    ),
    "the conflict is suppressed": (
        """
    with suppress(IntegrityError), transaction.atomic():  # fault
        Welcome.objects.create(member=member)
"""
    ),
    "any error goes on": (
        """
    fresh = True
    try:
        fresh = first(f"w:{pk}")
    except Exception:  # fault
        print("no store")
    if not fresh:
        return
"""
    ),
    "created is dropped": "    Welcome.objects.get_or_create(member=member)  # fault\n",
    "created is not read": "    _, created = Welcome.objects.get_or_create(member=member)  # fault\n",
    "the count is dropped": "    Member.objects.filter(pk=pk, told=False).update(told=True)  # fault\n",
    "the claim is dropped": "    store.set(f'w:{pk}', 1, nx=True)  # fault\n    print(pk)\n",
    "the helper's answer is dropped": "    first(f'w:{member.pk}')  # fault\n",
}


def project(body: str) -> dict[str, str]:
    return {"c/__init__.py": "", "c/tasks.py": HEAD + TASK + body.lstrip("\n") + SEND}


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_silent(body: str, tmp_path: Path) -> None:
    assert findings(project(body), tmp_path, "SO310") == []


@pytest.mark.parametrize("body", FAULTY.values(), ids=FAULTY)
def test_stands_at_the_handler_or_claim(body: str, tmp_path: Path) -> None:
    files = project(body)
    found = findings(files, tmp_path, "SO310", "SO301")
    assert [(one.code, one.place.line) for one in found] == [("SO310", line_of(files["c/tasks.py"], "# fault"))]


def test_what_a_webhook_records_is_another_rule(tmp_path: Path) -> None:
    code = """
    import smtplib
    import stripe
    from flask import Flask, request
    from redis import Redis

    app = Flask(__name__)

    @app.post("/pay")
    def paid():
        event = stripe.Webhook.construct_event(request.data, request.headers["Stripe-Signature"], "s")
        Redis().set(event["id"], 1, nx=True)
        smtplib.SMTP("relay").sendmail("a@x.example", [event["id"]], "Subject: paid")
        return ""
    """
    assert [one.code for one in findings({"pay.py": code}, tmp_path, "SO310", "SO301", "SO501")] == ["SO501"]


def test_the_example_of_the_documentation(tmp_path: Path) -> None:
    head = "import redis as lib\nimport redis\nfrom django.core.mail import send_mail\n\n"
    head = "import redis as store\nfrom django.core.mail import send_mail\n\nredis = store.Redis()\n"
    head += "redis.RedisError = store.RedisError\n\ndef text(order):\n    return 'x'\n\n"
    for name, wanted in (("Bad", 1), ("Good", 0)):
        code = examples(fail_open_guard.RULE.doc)[name].replace("except redis.", "except store.")
        found = findings({"shop/__init__.py": "", "shop/tickets.py": head + code}, tmp_path / name, "SO310")
        assert len(found) == wanted, name


POOL = """
import smtplib

from arq import ArqRedis
from fastapi import FastAPI
from redis.exceptions import RedisError

app = FastAPI()


@app.post("/{pk}")
async def greet(pk: int, pool: ArqRedis):
    try:
        first = await pool.set(f"greeted:{pk}", 1, nx=True)
    except ERROR:
        first = True
    if first:
        smtplib.SMTP("localhost").sendmail("a@x.example", "b@x.example", "Subject: Hello")
"""


@pytest.mark.parametrize(("error", "wanted"), [("KeyError", 0), ("RedisError", 1)])
def test_a_library_class_raises_the_errors_of_what_it_inherits_from(error: str, wanted: int, tmp_path: Path) -> None:
    assert len(findings({"app.py": POOL.replace("ERROR", error)}, tmp_path, "SO310")) == wanted
