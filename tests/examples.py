"""Findings, reports and rules to test with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sendonce.findings import (
    Finding,
    Inventory,
    Place,
    Problem,
    ProviderCall,
    Related,
    Report,
    Route,
    Send,
    Stats,
    Step,
    TemplateName,
    Trigger,
)


@dataclass(frozen=True)
class ExampleRule:
    code: str
    name: str

    @property
    def doc(self) -> str:
        return f"""{self.code} {self.name}.

        ## What it finds
        A job.
        """


RULES = (
    ExampleRule("SO101", "multiple-trigger-paths"),
    ExampleRule("SO201", "enqueue-in-transaction"),
    ExampleRule("SO202", "send-in-transaction"),
    ExampleRule("SO301", "no-reservation"),
)

VIEWS = """\
from django.db import transaction
from .tasks import send_receipt


def checkout(request):
    order = place(request)
    with transaction.atomic():
\torder.save()
        send_receipt.delay(order.id)
    return done(order)
"""
TASKS = """\
from celery import shared_task


@shared_task
def send_receipt(order_id):
    EmailMessage("Receipt", to=[address(order_id)]).send()
"""

ENQUEUE = Place("shop/views.py", 9, 9, 9, 37)
SEND = Place("shop/tasks.py", 6, 5, 6, 59)
CHECKOUT = Trigger(Place("shop/views.py", 5, 1), "controller", "shop.views.checkout", "POST /checkout")
NIGHTLY = Trigger(Place("shop/jobs.py", 3, 1), "cron", "shop.jobs.nightly", "every night")


def finding(code: str = "SO201", **changes: Any) -> Finding:
    """The enqueue inside a transaction of `VIEWS`, with changes."""
    name = {rule.code: rule.name for rule in RULES}.get(code, "other")
    values: dict[str, Any] = {
        "code": code,
        "name": name,
        "severity": "error",
        "confidence": "high",
        "message": "The job is enqueued before the order is committed, so a rollback and repeat enqueues it again.",
        "help": "Use transaction.on_commit(lambda: send_receipt.delay(order.id)).",
        "place": ENQUEUE,
        "function": "shop.views.checkout",
        "template": "emails/receipt.html",
        "triggers": (CHECKOUT,),
        "trace": (
            Step("trigger", CHECKOUT.place, "shop.views.checkout", "POST /checkout"),
            Step("transaction", Place("shop/views.py", 7, 5), "shop.views.checkout", "opens here"),
            Step("enqueue", ENQUEUE, "shop.views.checkout"),
            Step("send", SEND, "shop.tasks.send_receipt", "django"),
        ),
        "related": (Related(Place("shop/views.py", 7, 5), "the transaction"),),
    }
    return Finding(**{**values, **changes})


CALL = ProviderCall(SEND, "shop.tasks.send_receipt", "django.core.mail.EmailMessage.send", "django")
INVENTORY = Inventory(
    sends=(
        Send(
            SEND,
            "shop.tasks.send_receipt",
            TemplateName("emails/receipt.html", "template", "high"),
            CALL,
            (Route(CHECKOUT, finding().trace, True, False), Route(NIGHTLY, (), None, None)),
        ),
        Send(Place("shop/x.py", 2, 1), "shop.x.f", TemplateName(None, "function", "low"), CALL, ()),
    ),
    calls=(
        CALL,
        ProviderCall(Place("shop/tests/t.py", 4, 1), "shop.tests.t.f", "smtplib.SMTP.sendmail", "smtp", "test"),
    ),
    triggers=(NIGHTLY, CHECKOUT),
)


STATS = Stats(files=5, files_parsed=2, lines=120, sends=2, templates=1, triggers=2, unresolved=1, seconds=0.25)


def report(*findings: Finding, **changes: Any) -> Report:
    """A report of these findings on five files."""
    values: dict[str, Any] = {
        "root": "/srv/shop",
        "findings": findings,
        "inventory": INVENTORY,
        "stats": Stats(
            files=5, files_parsed=2, lines=120, sends=2, templates=1, triggers=2, unresolved=1, seconds=0.25
        ),
    }
    return Report(**{**values, **changes})


BROKEN = Problem("shop/old.py", 3, "cannot be parsed: print 'x'")
