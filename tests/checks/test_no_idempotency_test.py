"""SO702: triggers that are run at least once, and no test that runs them twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of
from sendonce.checks import no_idempotency_test

TASKS = """
from celery import shared_task
from django.core.mail import send_mail


@shared_task
def send_receipt(order_id):
    send_mail("Receipt", "x", None, ["a@x.example"])


def shown(order_id):
    return order_id
"""
HEAD = """
from unittest import mock
from django.core import mail
from shop.tasks import send_receipt, shown


def order():
    return 1


"""
SILENT = {
    "two calls": """
def test_once(mailoutbox):
    send_receipt(1)
    send_receipt(1)
    assert len(mailoutbox) == 1
""",
    "a loop": """
def test_once():
    for _ in range(2):
        send_receipt.apply(args=[1])
    assert len(mail.outbox) == 1
""",
    "a method of a class": """
class TestReceipt:
    def test_once(self):
        send_receipt(1)
        send_receipt(1)
        self.assertEqual(len(mail.outbox), 1)
""",
    "a fake provider": """
def test_once():
    with mock.patch("shop.tasks.send_mail") as fake:
        send_receipt(1)
        send_receipt(1)
    fake.assert_called_once()
""",
    "none more": """
def test_once():
    send_receipt(1)
    mail.outbox.clear()
    send_receipt(1)
    assert len(mail.outbox) == 0
""",
}
SILENT["two threads"] = """
def test_once():
    threads = [Thread(target=send_receipt, args=[1]) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert len(mail.outbox) == 1
"""
SILENT["two runs handed to a helper"] = """
def test_once():
    at_once(send_receipt, send_receipt)
    assert len(mail.outbox) == 1
"""
FAULTY = {
    "one run handed to a helper": """
def test_sent():
    at_once(send_receipt, shown)
    assert len(mail.outbox) == 1
""",
    "no test": "",
    "one call": """
def test_sent():
    send_receipt(1)
    assert len(mail.outbox) == 1
""",
    "two messages": """
def test_two():
    send_receipt(1)
    send_receipt(2)
    assert len(mail.outbox) == 2
""",
    "another one is run twice": """
def test_sent():
    send_receipt(1)
    assert len(mail.outbox) == 1


def test_other():
    shown(1)
    shown(1)
    assert len(mail.outbox) == 1
""",
    "nothing asserted": """
def test_runs():
    send_receipt(1)
    send_receipt(1)
""",
}


def project(body: str) -> dict[str, str]:
    tests = HEAD + body.lstrip("\n")
    return {"shop/__init__.py": "", "shop/tasks.py": TASKS, "tests/test_receipt.py": tests}


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_silent(body: str, tmp_path: Path) -> None:
    assert findings(project(body), tmp_path, "SO702") == []


@pytest.mark.parametrize("body", FAULTY.values(), ids=FAULTY)
def test_stands_at_the_trigger(body: str, tmp_path: Path) -> None:
    (found,) = findings(project(body), tmp_path, "SO702")
    assert (found.place.line, found.severity) == (line_of(TASKS, "def send_receipt"), "note")


def test_a_test_by_the_route(tmp_path: Path) -> None:
    app = """
    import smtplib
    from flask import Flask

    app = Flask(__name__)


    @app.post("/webhooks/pay")
    def handle():
        smtplib.SMTP("localhost").sendmail("a@x.example", "b@x.example", "Subject: Paid")
        return ""
    """
    test = """
    def test_twice(client, outbox):
        for _ in range(2):
            client.post("/webhooks/pay", json={"id": 1})
        assert len(outbox) == 1
    """
    assert len(findings({"app.py": app}, tmp_path / "none", "SO702")) == 1
    assert findings({"app.py": app, "tests/test_hook.py": test}, tmp_path / "one", "SO702") == []


def test_silent_for_what_people_do(tmp_path: Path) -> None:
    app = TASKS.replace("from celery import shared_task", "import click").replace("@shared_task", "@click.command()")
    assert findings({"shop.py": app}, tmp_path, "SO702") == []


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(no_idempotency_test.RULE.doc)
    head = "from shop.tasks import send_receipt\n\n\ndef order():\n    return 1\n\n\n"
    for name, wanted in (("Bad", 1), ("Good", 0)):
        files = {**project(""), "tests/test_receipt.py": head + given[name]}
        assert len(findings(files, tmp_path / name, "SO702")) == wanted, name


HELPERS = """
import pytest
from shop.tasks import send_receipt


def deliver(number):
    send_receipt(number)


@pytest.fixture
def delivered():
    send_receipt(1)


def shown_twice(number):
    return number
"""
WITH_HELPERS = {
    "a helper of another file": """
from steps import deliver


def test_once(mailbox):
    for _ in range(2):
        deliver(1)
    assert mailbox.to("a@x.example") == ["Receipt"]
""",
    "a fixture of another file": """
from steps import deliver


def test_once(mailbox, delivered):
    deliver(1)
    deliver(1)
    assert mailbox.to("a@x.example") == ["Receipt"]
""",
}
NO_PROOF = {
    "a list of two": """
from steps import deliver


def test_two(mailbox):
    for _ in range(2):
        deliver(1)
    assert mailbox.to("a@x.example") == ["Receipt", "Receipt"]
""",
    "a list of as many as there are": """
from steps import deliver


def test_some(mailbox, subjects):
    for _ in range(2):
        deliver(1)
    assert mailbox.to("a@x.example") == [*subjects]
""",
    "a helper that runs something else": """
from steps import shown_twice


def test_shown(mailbox):
    for _ in range(2):
        shown_twice(1)
    assert mailbox.to("a@x.example") == ["Receipt"]
""",
}


def with_helpers(body: str) -> dict[str, str]:
    files = {"shop/__init__.py": "", "shop/tasks.py": TASKS, "tests/steps.py": HELPERS}
    return {**files, "tests/test_receipt.py": body.lstrip("\n")}


@pytest.mark.parametrize("body", WITH_HELPERS.values(), ids=WITH_HELPERS)
def test_silent_where_the_run_is_in_a_helper_of_the_tests(body: str, tmp_path: Path) -> None:
    assert findings(with_helpers(body), tmp_path, "SO702") == []


@pytest.mark.parametrize("body", NO_PROOF.values(), ids=NO_PROOF)
def test_a_helper_is_no_proof_by_itself(body: str, tmp_path: Path) -> None:
    assert [one.code for one in findings(with_helpers(body), tmp_path, "SO702")] == ["SO702"]
