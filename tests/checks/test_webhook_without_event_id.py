"""SO501: a webhook that mails without having recorded which delivery it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of, lines
from sendonce.checks import webhook_without_event_id

STORE = """
from sqlalchemy import create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, sessionmaker


class Base(DeclarativeBase):
    pass


class Delivery(Base):
    __tablename__ = "deliveries"
    id: Mapped[str] = mapped_column(primary_key=True)


Session = sessionmaker(create_engine("postgresql://db/site"))
"""
HEAD = """
import smtplib
import sqlite3
import stripe
from flask import Flask, request
from redis import Redis
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError
from .store import Delivery, Session

app = Flask(__name__)
redis = Redis()


def mail(to):
    smtplib.SMTP("localhost").sendmail("a@x.example", to, "Subject: Paid")


@app.post("/pay")
def paid():
    event = stripe.Webhook.construct_event(request.data, request.headers["Stripe-Signature"], "s")
"""
SILENT = {
    "insert that may conflict": """
    with Session() as session:
        session.add(Delivery(id=event["id"]))
        try:
            session.commit()
        except IntegrityError:
            return "", 200
    mail("b@x.example")
    return ""
""",
    "conflict asked by rowcount": """
    with Session.begin() as session:
        made = session.execute(insert(Delivery).values(id=event["id"]).on_conflict_do_nothing())
    if made.rowcount:
        mail("b@x.example")
    return ""
""",
    "a file of this host, which is another rule's": """
    db = sqlite3.connect("seen.db")
    if db.execute("INSERT OR IGNORE INTO seen (id) VALUES (?)", (event["id"],)).rowcount:
        db.commit()
        mail("b@x.example")
    return ""
""",
    "key in a shared store": """
    if redis.set("event:" + event["id"], 1, nx=True, ex=604800):
        mail("b@x.example")
    return ""
""",
}
FAULTY = {
    "nothing stored": """
    mail("b@x.example")
    return ""
""",
    "upsert": """
    with Session.begin() as session:
        statement = insert(Delivery).values(id=event["id"])
        session.execute(statement.on_conflict_do_update(index_elements=["id"], set_={"id": event["id"]}))
    mail("b@x.example")
    return ""
""",
    "conflict swallowed": """
    with Session() as session:
        session.add(Delivery(id=event["id"]))
        try:
            session.commit()
        except IntegrityError:
            session.rollback()
    mail("b@x.example")
    return ""
""",
    "result not asked": """
    redis.set("event:" + event["id"], 1, nx=True, ex=604800)
    mail("b@x.example")
    return ""
""",
    "stored after the mail": """
    mail("b@x.example")
    with Session.begin() as session:
        session.add(Delivery(id=event["id"]))
    return ""
""",
    "stored for another event": """
    if event["type"] == "invoice.created":
        if not redis.set("event:" + event["id"], 1, nx=True, ex=604800):
            return ""
    elif event["type"] == "invoice.paid":
        mail("b@x.example")
    return ""
""",
}


def project(body: str) -> dict[str, str]:
    return {"site/__init__.py": "", "site/store.py": STORE, "site/web.py": HEAD + body.lstrip("\n")}


def test_a_library_that_stores_the_event_first(tmp_path: Path) -> None:
    hooks = (
        "from django.core.mail import send_mail\nfrom djstripe.event_handlers import djstripe_receiver\n\n"
        '@djstripe_receiver("invoice.paid")\ndef paid(sender, event, **kwargs):\n'
        '    send_mail("Paid", "x", None, [event.customer.email])\n'
    )
    found = findings({"shop/__init__.py": "", "shop/hooks.py": hooks}, tmp_path, "SO301", "SO501", "SO202")
    assert [(one.code, one.severity) for one in found] == [("SO202", "warning")]


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_silent(body: str, tmp_path: Path) -> None:
    assert findings(project(body), tmp_path, "SO501", "SO301") == []


@pytest.mark.parametrize("body", FAULTY.values(), ids=FAULTY)
def test_stands_at_the_handler(body: str, tmp_path: Path) -> None:
    found = findings(project(body), tmp_path, "SO501", "SO301")
    assert [(one.code, one.place.line, one.severity) for one in found] == [
        ("SO501", line_of(HEAD, "def paid"), "error")
    ]
    assert ("site/web.py", line_of(HEAD, "sendmail(")) in lines(found[0])


def test_what_a_dependency_verifies_makes_a_webhook(tmp_path: Path) -> None:
    app = """
    import smtplib
    from fastapi import Depends, FastAPI, Request
    from svix.webhooks import Webhook

    app = FastAPI()


    async def delivered(request: Request) -> dict:
        return Webhook("s").verify(await request.body(), dict(request.headers))


    @app.post("/people")
    async def person(event: dict = Depends(delivered)):
        smtplib.SMTP("localhost").sendmail("a@x.example", event["to"], "Subject: Welcome")
    """
    found = findings({"app.py": app}, tmp_path, "SO501", "SO301")
    assert [(one.code, one.place.line) for one in found] == [("SO501", line_of(app, "def person"))]


def test_another_trigger_of_the_send_keeps_its_own_finding(tmp_path: Path) -> None:
    body = """
    mail("b@x.example")
    return ""


@app.post("/again")
def once_more():
    mail(request.form["to"])
    return ""
"""
    found = findings(project(body), tmp_path, "SO501", "SO301")
    assert [one.code for one in found] == ["SO301", "SO501"]
    assert [trigger.function for trigger in found[0].triggers] == ["site.web.once_more"]


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(webhook_without_event_id.RULE.doc)
    head = "import stripe\nfrom django.core.mail import send_mail\nfrom django.http import HttpResponse\n"
    head += "from .models import StripeEvent\n\nsignature = secret = ''\n\n"
    head += "def send_receipt(invoice):\n    send_mail('Receipt', 'x', None, [invoice['customer_email']])\n\n"
    models = "from django.db import models\n\nclass StripeEvent(models.Model):\n"
    models += "    event_id = models.CharField(max_length=90, unique=True)\n"
    urls = "from django.urls import path\nfrom .views import stripe_webhook\n\n"
    urls += "urlpatterns = [path('stripe/', stripe_webhook)]\n"
    for name, wanted in (("Bad", 1), ("Good", 0)):
        files = {"pay/__init__.py": "", "pay/models.py": models, "pay/urls.py": urls}
        files["pay/views.py"] = head + given[name]
        assert len(findings(files, tmp_path / name, "SO501")) == wanted, name
