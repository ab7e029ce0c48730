"""SO701: mails that leave no trace in the log."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of
from sendonce.checks import untraceable_send

HEAD = """
import logging
import smtplib
import structlog
from celery import shared_task
from structlog.contextvars import bind_contextvars

log = logging.getLogger(__name__)
slog = structlog.get_logger()


def deliver(to, text):
    smtplib.SMTP("localhost").sendmail("a@x.example", to, text)


def told(kind, number):
    log.info("sending %s to %s", kind, number)


"""
SILENT = {
    "id and word": """
@shared_task
def receipt(order_id, to):
    log.info("sending receipt of order %s", order_id)
    deliver(to, "x")
""",
    "an f-string": """
@shared_task
def receipt(order, to):
    log.info(f"receipt of {order.pk}")
    deliver(to, "x")
""",
    "extra": """
@shared_task
def receipt(order, to, template):
    log.info("sending", extra={"order_id": order.pk, "template": template})
    deliver(to, "x")
""",
    "structured": """
@shared_task
def receipt(order, to):
    slog.info("receipt_sending", order=order.pk)
    deliver(to, "x")
""",
    "bound": """
@shared_task
def receipt(order, to):
    bind_contextvars(order_id=order.pk)
    slog.info("receipt")
    deliver(to, "x")
""",
    "a bound logger": """
@shared_task
def receipt(order, to):
    own = slog.bind(order_id=order.pk)
    own.info("receipt")
    deliver(to, "x")
""",
    "in a helper": """
@shared_task
def receipt(order_id, to):
    told("receipt", order_id)
    deliver(to, "x")
""",
}
FAULTY = {
    "nothing": """
@shared_task
def receipt(order_id, to):
    deliver(to, "x")
""",
    "no id": """
@shared_task
def receipt(order_id, to):
    log.info("sending receipt")
    deliver(to, "x")
""",
    "no name": """
@shared_task
def receipt(order_id, to):
    log.info("sending mail to user %s", order_id)
    deliver(to, "x")
""",
    "afterwards": """
@shared_task
def receipt(order_id, to):
    deliver(to, "x")
    log.info("sent receipt of order %s", order_id)
""",
    "on one way only": """
@shared_task
def receipt(order_id, to, loud):
    if loud:
        log.info("sending receipt of order %s", order_id)
    deliver(to, "x")
""",
    "in the run that enqueues": """
@shared_task
def receipt(order_id, to):
    deliver(to, "x")


def buy(order_id, to):
    log.info("sending receipt of order %s", order_id)
    receipt.delay(order_id, to)
""",
}


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_silent(body: str, tmp_path: Path) -> None:
    assert findings({"shop.py": HEAD.replace("number", "order_id") + body.lstrip("\n")}, tmp_path, "SO701") == []


@pytest.mark.parametrize("body", FAULTY.values(), ids=FAULTY)
def test_stands_at_the_provider_call(body: str, tmp_path: Path) -> None:
    (found,) = findings({"shop.py": HEAD + body.lstrip("\n")}, tmp_path, "SO701")
    assert (found.place.line, found.severity) == (line_of(HEAD, "sendmail("), "note")


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(untraceable_send.RULE.doc)
    head = "import logging\nfrom celery import shared_task\nfrom django.core.mail import send_mail\n"
    head += "from .models import Order\n\nlog = logging.getLogger()\n\n\ndef text(order):\n    return 'x'\n\n\n"
    models = "from django.db import models\n\n\nclass Order(models.Model):\n    email = models.EmailField()\n"
    for name, wanted in (("Bad", 1), ("Good", 0)):
        files = {"shop/__init__.py": "", "shop/models.py": models, "shop/tasks.py": head + given[name]}
        assert len(findings(files, tmp_path / name, "SO701")) == wanted, name
