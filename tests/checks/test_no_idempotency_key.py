"""SO601: providers that take an idempotency key and are given none."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of
from sendonce.checks import no_idempotency_key

HEAD = """
import os
import boto3
import httpx
import redis
import requests
import resend
from courier import Courier
from knockapi import Knock

URL = "https://api.resend.com/emails"
MAIL = {"to": "a@x.example", "subject": "Hello"}
kv = redis.Redis()
"""
APP = """
from flask import Flask
from .mail import run

app = Flask(__name__)


@app.post("/orders/<int:number>")
def order(number):
    run(number)
    return ""
"""
SILENT = {
    "a key": '    resend.Emails.send(MAIL, {"idempotency_key": f"order/{number}"})\n',
    "a header": '    httpx.post(URL, json=MAIL, headers={"idempotency-key": f"order/{number}"})\n',
    "options from elsewhere": "    resend.Emails.send(MAIL, options_of(number))\n",
    "headers that are put together elsewhere": "    httpx.post(URL, json=MAIL, headers={**base(), 'X-Tag': 'a'})\n",
    "a claim": """
    if kv.set(f"order:{number}", 1, nx=True, ex=999999):
        resend.Emails.send(MAIL)
""",
    "a header of the session": """
    session = requests.Session()
    session.headers["Idempotency-Key"] = f"order/{number}"
    session.post(URL, json=MAIL)
""",
    "a header of the client": """
    with httpx.Client(headers={"Idempotency-Key": f"order/{number}"}) as client:
        client.post(URL, json=MAIL)
""",
    "a provider without one": """
    boto3.client("sesv2").send_email(
        FromEmailAddress="a@x.example", Destination={"ToAddresses": ["b@x.example"]}, Content={}
    )
""",
    "another provider's host": '    httpx.post("https://api.postmarkapp.com/email", json=MAIL)\n',
    "all that was given": """
    send_all(number)

def send_all(number, **rest):
    resend.Emails.send(MAIL, **rest)
""",
}
FAULTY = {
    "no options": "    resend.Emails.send(MAIL)  # here\n",
    "other options": '    resend.Batch.send([MAIL], {"batch_validation": "strict"})  # here\n',
    "a key that is None": """
    deliver(MAIL)


def deliver(mail, key=None):
    resend.Emails.send(mail, {"idempotency_key": key})  # here
""",
    "options that are None": """
    deliver(MAIL)


def deliver(mail, options=None):
    resend.Emails.send(mail, options)  # here
""",
    "by HTTP": '    httpx.post(URL, json=MAIL, headers={"Authorization": os.environ["KEY"]})  # here\n',
    "headers of a helper": """
    requests.post(URL, json=MAIL, headers=headers())  # here


def headers():
    return {"Authorization": f"Bearer {os.environ['KEY']}", "X-Request-Id": "1"}
""",
    "a client of its own": """
    with httpx.Client(base_url="https://api.resend.com", headers={"Authorization": "x"}) as client:
        client.post("/emails", json=MAIL)  # here
""",
    "Knock": '    Knock().workflows.trigger("shipped", recipients=["1"], data={})  # here\n',
    "Courier": '    Courier().send.message(message={"to": {"email": "a@x.example"}})  # here\n',
}


def project(body: str) -> dict[str, str]:
    text = f"{HEAD}\n\ndef run(number):\n{body.removeprefix(chr(10))}"
    return {"shop/__init__.py": "", "shop/mail.py": text, "shop/app.py": APP}


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_silent(body: str, tmp_path: Path) -> None:
    assert findings(project(body), tmp_path, "SO601") == []


@pytest.mark.parametrize("body", FAULTY.values(), ids=FAULTY)
def test_stands_at_the_call_of_the_provider(body: str, tmp_path: Path) -> None:
    files = project(body)
    found = findings(files, tmp_path, "SO304", "SO601")
    wanted = line_of(files["shop/mail.py"], "# here")
    assert [(one.code, one.place.line, one.severity) for one in found] == [("SO601", wanted, "warning")]


def test_the_caller_decides(tmp_path: Path) -> None:
    body = """
    deliver(MAIL, f"order/{number}")


def deliver(mail, key=None):
    resend.Emails.send(mail, {"idempotency_key": key})  # here
"""
    files = project(body)
    assert findings(files, tmp_path, "SO601") == []
    files["shop/app.py"] += '\n\n@app.post("/again")\ndef again():\n    deliver({"to": "b@x.example"})\n    return ""\n'
    files["shop/app.py"] = files["shop/app.py"].replace("import run", "import deliver, run")
    (found,) = findings(files, tmp_path, "SO601")
    assert [one.function for one in found.triggers] == ["shop.app.again"]


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(no_idempotency_key.RULE.doc)
    head = "import resend\nfrom celery import shared_task\nfrom .models import Order\n\nSENDER = 'a@x.example'\n\n"
    models = "from django.db import models\n\nclass Order(models.Model):\n    email = models.EmailField()\n"
    for name, wanted in (("Bad", 1), ("Good", 0)):
        files = {"shop/__init__.py": "", "shop/models.py": models, "shop/tasks.py": head + given[name]}
        assert len(findings(files, tmp_path / name, "SO601")) == wanted, name
