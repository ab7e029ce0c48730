"""A small Flask site with webhooks, for the rules about what a handler does before it answers."""

from __future__ import annotations

STORE = """
from sqlalchemy import create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, sessionmaker


class Base(DeclarativeBase):
    pass


class Delivery(Base):
    __tablename__ = "deliveries"
    id: Mapped[str] = mapped_column(primary_key=True)


Session = sessionmaker(create_engine("postgresql://db/site"))


def keep(id):
    with Session.begin() as session:
        session.add(Delivery(id=id))
"""
HEAD = """
import logging
import smtplib
import threading
from concurrent.futures import ThreadPoolExecutor
from flask import Flask, abort, request
from redis import Redis
from rq import Queue
from sqlalchemy.exc import IntegrityError, OperationalError
from .store import Delivery, Session, keep

app = Flask(__name__)
log = logging.getLogger(__name__)
redis = Redis()
queue = Queue("site", connection=redis)
pool = ThreadPoolExecutor()


def mail(to):
    smtplib.SMTP("localhost").sendmail("a@x.example", to, "Subject: Paid")


def work(event):
    keep(event["id"])
    mail(event["to"])


def quietly(event):
    try:
        keep(event["id"])
        queue.enqueue(mail, event["to"])
    except Exception:
        log.exception("event %s", event["id"])


@app.post("/webhooks/pay")
def paid():
    event = request.get_json()
"""


def site(body: str) -> dict[str, str]:
    """The site with the body of its one webhook."""
    return {"site/__init__.py": "", "site/store.py": STORE, "site/web.py": HEAD + body.lstrip("\n")}
