"""SO602: idempotency keys that a retry makes anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of
from sendonce.checks import key_per_attempt

HEAD = """
import uuid
import httpx
import requests
import resend
import tenacity
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

URL = "https://api.resend.com/emails"
again = tenacity.retry(stop=tenacity.stop_after_attempt(3))
"""
APP = """
from flask import Flask
from .mail import *

app = Flask(__name__)


@app.post("/invoices/<int:number>")
def invoice(number):
    run(number)
    return ""
"""
SILENT = {
    "the caller makes it": """
@again
def deliver(message, key):
    resend.Emails.send(message, {"idempotency_key": key})

def run(number):
    deliver({"to": "a@x.example"}, str(uuid.uuid4()))
""",
    "made of the event": """
@again
def deliver(number):
    httpx.post(URL, json={"to": "a@x.example"}, headers={"Idempotency-Key": f"invoice-{number}"})

def run(number):
    deliver(number)
""",
    "before the loop": """
def run(number):
    key = uuid.uuid4().hex
    for attempt in range(3):
        try:
            httpx.post(URL, json={"to": "a@x.example"}, headers={"Idempotency-Key": key})
            break
        except httpx.HTTPError:
            continue
""",
    "another header": """
@again
def deliver(number):
    headers = {"X-Request-Id": uuid.uuid4().hex, "Idempotency-Key": f"invoice-{number}"}
    httpx.post(URL, json={"to": "a@x.example"}, headers=headers)

def run(number):
    deliver(number)
""",
    "the client repeats the request as it was": """
session = requests.Session()
session.mount("https://", HTTPAdapter(max_retries=Retry(3, allowed_methods=None, status_forcelist=[502])))

def run(number):
    session.post(URL, json={"to": "a@x.example"}, headers={"Idempotency-Key": str(uuid.uuid4())})
""",
}
FAULTY = {
    "in a decorated function": """
@again
def deliver(message):
    options = {"idempotency_key": str(uuid.uuid4())}  # here
    resend.Emails.send(message, options)

def run(number):
    deliver({"to": "a@x.example"})
""",
    "in the loop": """
def run(number):
    for attempt in range(3):
        try:
            key = f"invoice-{number}-{uuid.uuid4()}"  # here
            httpx.post(URL, json={"to": "a@x.example"}, headers={"Idempotency-Key": key})
            break
        except httpx.HTTPError:
            continue
""",
    "in a helper that the loop calls": """
def fresh():
    return uuid.uuid4().hex  # here

def deliver(number):
    httpx.post(URL, json={"to": "a@x.example"}, headers={"Idempotency-Key": fresh()})

def run(number):
    for attempt in tenacity.Retrying(stop=tenacity.stop_after_attempt(3)):
        with attempt:
            deliver(number)
""",
    "given by the repeated function": """
def deliver(message, key):
    resend.Emails.send(message, {"idempotency_key": key})

@again
def run(number):
    deliver({"to": "a@x.example"}, str(uuid.uuid4()))  # here
""",
}


def project(body: str) -> dict[str, str]:
    return {"shop/__init__.py": "", "shop/mail.py": HEAD + body, "shop/app.py": APP}


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_silent(body: str, tmp_path: Path) -> None:
    assert [one.code for one in findings(project(body), tmp_path, "SO602")] == []


@pytest.mark.parametrize("body", FAULTY.values(), ids=FAULTY)
def test_stands_where_the_key_is_made(body: str, tmp_path: Path) -> None:
    files = project(body)
    found = findings(files, tmp_path, "SO304", "SO602")
    wanted = line_of(files["shop/mail.py"], "# here")
    related = [one.place.line for one in found[0].related] if found else []
    assert [one.code for one in found] == ["SO602"]
    assert wanted in (found[0].place.line, *related)


@pytest.mark.parametrize("name", ["the caller makes it", "before the loop"])
def test_a_key_made_before_a_retry_serves_that(name: str, tmp_path: Path) -> None:
    assert findings(project(SILENT[name]), tmp_path, "SO304") == []


def test_no_retry_is_so304(tmp_path: Path) -> None:
    body = 'def run(number):\n    resend.Emails.send({"to": "a"}, {"idempotency_key": str(uuid.uuid4())})\n'
    assert [one.code for one in findings(project(body), tmp_path, "SO304", "SO602")] == ["SO304"]


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(key_per_attempt.RULE.doc)
    calls = {"Bad": "deliver({'to': 'a'})", "Good": "deliver({'to': 'a'}, f'invoice-{number}')"}
    for name, wanted in (("Bad", 1), ("Good", 0)):
        body = f"{given[name]}\n\ndef run(number):\n    {calls[name]}\n"
        assert len(findings(project(body), tmp_path / name, "SO602")) == wanted, name
