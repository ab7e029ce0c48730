"""SO502: a webhook that talks to the mail server before it answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.hooks import HEAD, site
from checks.project import examples, findings, line_of, lines
from sendonce.checks import webhook_sends_before_reply

SILENT = {
    "enqueued": """
    keep(event["id"])
    queue.enqueue(mail, event["to"])
    return "", 200
""",
    "in a thread": """
    keep(event["id"])
    threading.Thread(target=mail, args=(event["to"],)).start()
    return "", 200
""",
    "in a pool": """
    keep(event["id"])
    pool.submit(mail, event["to"])
    return "", 200
""",
    "no mail": """
    keep(event["id"])
    return "", 200
""",
}
FAULTY = {
    "in the handler": """
    keep(event["id"])
    mail(event["to"])
    return "", 200
""",
    "in a helper": """
    work(event)
    return "", 200
""",
    "one of two events": """
    if event["type"] == "refund":
        queue.enqueue(mail, event["to"])
    else:
        mail(event["to"])
    return "", 200
""",
}


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_silent(body: str, tmp_path: Path) -> None:
    assert findings(site(body), tmp_path, "SO502") == []


def test_silent_for_what_people_ask_for(tmp_path: Path) -> None:
    text = HEAD.replace("/webhooks/pay", "/buy") + '    mail(event["to"])\n    return ""\n'
    assert findings({**site(""), "site/web.py": text}, tmp_path, "SO502") == []


@pytest.mark.parametrize("body", FAULTY.values(), ids=FAULTY)
def test_stands_at_the_call_in_the_handler(body: str, tmp_path: Path) -> None:
    (found,) = findings(site(body), tmp_path, "SO502")
    call = "    work(event)" if "work(" in body else "    mail(event"
    wanted = len(HEAD.strip("\n").splitlines()) + line_of(body, call.strip())
    assert (found.place.line, found.severity) == (wanted, "warning")


AWAITED = """
import asyncio
import smtplib
from fastapi import BackgroundTasks, FastAPI, Request

app = FastAPI()


def mail(to):
    smtplib.SMTP("localhost").sendmail("a@x.example", to, "Subject: Paid")


@app.post("/webhooks/pay")
async def paid(request: Request, tasks: BackgroundTasks):
    event = await request.json()
    loop = asyncio.get_running_loop()
    {}
    return {{"ok": True}}
"""


def test_silent_after_the_answer(tmp_path: Path) -> None:
    for number, call in enumerate(
        ['tasks.add_task(mail, event["to"])', 'loop.run_in_executor(None, mail, event["to"])']
    ):
        assert findings({"app.py": AWAITED.format(call)}, tmp_path / str(number), "SO502") == []


def test_a_thread_that_is_waited_for_answers_no_sooner(tmp_path: Path) -> None:
    text = AWAITED.format('await loop.run_in_executor(None, mail, event["to"])')
    (found,) = findings({"app.py": text}, tmp_path, "SO502")
    assert found.place.line == line_of(text, "await loop")
    assert ("app.py", line_of(text, "sendmail(")) in lines(found)


def test_a_handler_in_a_wrapper_of_the_project(tmp_path: Path) -> None:
    wrapper = """
from functools import wraps
from flask import abort, request


def signed(view):
    @wraps(view)
    def inner(*args, **kwargs):
        if request.headers.get("X-Signature") != "s":
            abort(401)
        return view(*args, **kwargs)
    return inner
"""
    text = HEAD.replace("from .store", "from .signed import signed\nfrom .store").replace(
        "def paid", "@signed\ndef paid"
    )
    text += '    mail(event["to"])\n    return ""\n'
    (found,) = findings({**site(""), "site/web.py": text, "site/signed.py": wrapper}, tmp_path, "SO502")
    assert (found.place.path, found.place.line) == ("site/web.py", len(text.strip("\n").splitlines()) - 1)


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(webhook_sends_before_reply.RULE.doc)
    head = "from django.core.mail import send_mail\nfrom django.http import HttpResponse\n"
    head += "from .checks import text, verified\n"
    head += "from .models import HookEvent\nfrom .tasks import send_receipt\n\n"
    files = {
        "pay/__init__.py": "",
        "pay/checks.py": "def verified(request):\n    return request.POST\n\n\ndef text(event):\n    return 'x'\n",
    }
    files["pay/models.py"] = "from django.db import models\n\nclass HookEvent(models.Model):\n"
    files["pay/models.py"] += "    event_id = models.CharField(max_length=90, unique=True)\n"
    files["pay/tasks.py"] = "from celery import shared_task\nfrom django.core.mail import send_mail\n\n\n@shared_task\n"
    files["pay/tasks.py"] += "def send_receipt(id):\n    send_mail('Receipt', 'x', None, ['a@x.example'])\n"
    files["pay/urls.py"] = "from django.urls import path\nfrom .views import payment_webhook\n\n"
    files["pay/urls.py"] += "urlpatterns = [path('pay/', payment_webhook)]\n"
    for name, wanted in (("Bad", 1), ("Good", 0)):
        assert len(findings({**files, "pay/views.py": head + given[name]}, tmp_path / name, "SO502")) == wanted, name
