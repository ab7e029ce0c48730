"""SO308: recurring mails without a period in their key, claims that end before the retries."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of
from sendonce.checks import no_window

MODELS = """
from django.db import models


class Member(models.Model):
    email = models.EmailField()
    active = models.BooleanField(default=True)
    weekly = models.BooleanField(default=True)


class Visit(models.Model):
    email = models.EmailField()
    at = models.DateTimeField()
    told = models.BooleanField(default=False)


class Claim(models.Model):
    name = models.CharField(max_length=80, unique=True)
"""
HEAD = """
import datetime
import redis
from celery import Celery, shared_task
from celery.schedules import crontab
from django.core.cache import cache
from django.core.mail import send_mail
from django.db import IntegrityError
from django.utils import timezone
from .models import Claim, Member, Visit

app = Celery("shop")
kv = redis.Redis()
WEEK = datetime.timedelta(days=7)


def won(name):
    return Claim.objects.get_or_create(name=name)[1]


def mail(row):
    send_mail("Your digest", "text", None, [row.email])


"""
SETTINGS = """
CELERY_BEAT_SCHEDULE = {"run": {"task": "shop.tasks.digest", "schedule": crontab(day_of_week=1, hour=6)}}
CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache"}}
"""
SILENT = {
    "the day": """
@shared_task
def digest():
    for member in Member.objects.filter(active=True):
        if won(f"digest:{member.pk}:{datetime.date.today()}"):
            mail(member)
""",
    "the week, handed on": """
@shared_task
def digest():
    send_digests(timezone.now().strftime("%G-%V"))


def send_digests(week):
    for member in Member.objects.all():
        if won(f"digest:{member.pk}:{week}"):
            mail(member)
""",
    "a claim for less than a week": """
@shared_task
def digest():
    for member in Member.objects.all():
        if kv.set(f"digest:{member.pk}", 1, nx=True, ex=6 * 86400):
            mail(member)
""",
    "rows that time chooses": """
@shared_task
def digest():
    for visit in Visit.objects.filter(at__lt=timezone.now()):
        if won(f"digest:{visit.pk}"):
            mail(visit)
""",
    "rows that are used up": """
@shared_task
def digest():
    for visit in Visit.objects.filter(told=False):
        if won(f"visit:{visit.pk}"):
            mail(visit)
""",
    "a lock of the run": """
@shared_task
def digest():
    if kv.set("digest-run", 1, nx=True, ex=3600):
        for member in Member.objects.all():
            mail(member)
""",
    "no guard at all": """
@shared_task
def digest():
    for member in Member.objects.all():
        mail(member)
""",
    "a claim that outlives the retries": """
@shared_task(autoretry_for=(OSError,), max_retries=5, default_retry_delay=60)
def refund(pk, email):
    if kv.set(f"refund:{pk}", 1, nx=True, ex=86400):
        send_mail("Refund", "text", None, [email])
""",
    "no retries": """
@shared_task(max_retries=5, default_retry_delay=600)
def refund(pk, email):
    if kv.set(f"refund:{pk}", 1, nx=True, ex=60):
        send_mail("Refund", "text", None, [email])
""",
    "a lasting claim": """
@shared_task(autoretry_for=(OSError,), max_retries=5, default_retry_delay=600)
def refund(pk, email):
    if kv.setnx(f"refund:{pk}", 1):
        send_mail("Refund", "text", None, [email])
""",
    "a short one beside a lasting one": """
@shared_task(autoretry_for=(OSError,), max_retries=5, default_retry_delay=600)
def refund(pk, email):
    if not won(f"refund:{pk}"):
        return
    deliver(pk, email)


def deliver(pk, email):
    if kv.set(f"refund-mail:{pk}", 1, nx=True, ex=60):
        send_mail("Refund", "text", None, [email])
""",
    "a time that cannot be told": """
@shared_task(autoretry_for=(OSError,), max_retries=5, default_retry_delay=600)
def refund(pk, email, ttl):
    if kv.set(f"refund:{pk}", 1, nx=True, ex=ttl):
        send_mail("Refund", "text", None, [email])
""",
}
FAULTY = {
    "a digest under the member": """
@shared_task
def digest():
    for member in Member.objects.filter(active=True):
        if won(f"digest:{member.pk}"):  # here
            mail(member)
""",
    "a mail of each week to persons": """
@shared_task
def digest():
    for member in Member.objects.filter(weekly=True):
        key = f"news-{member.email}"
        if not won(key):  # here
            continue
        send_mail("What is new", "text", None, [member.email])
""",
    "a name alone": """
@shared_task
def digest():
    try:
        Claim.objects.create(name="to the office")  # here
    except IntegrityError:
        return
    send_mail("The week", "text", None, ["office@x.example"])
""",
    "a claim for longer than a week": """
@shared_task
def digest():
    for member in Member.objects.all():
        if kv.set(f"digest:{member.pk}", 1, nx=True, ex=90 * 86400):  # here
            mail(member)
""",
    "retries that come later": """
@shared_task(autoretry_for=(OSError,), max_retries=5, default_retry_delay=600)
def refund(pk, email):
    if kv.set(f"refund:{pk}", 1, nx=True, px=600_000):  # here
        send_mail("Refund", "text", None, [email])
""",
    "by default": """
@shared_task(autoretry_for=(OSError,))
def refund(pk, email):
    if cache.add(f"refund:{pk}", 1):  # here
        send_mail("Refund", "text", None, [email])
""",
    "waits that double": """
@shared_task(autoretry_for=(OSError,), retry_backoff=True, retry_backoff_max=3600, max_retries=12)
def refund(pk, email):
    if kv.set(f"refund:{pk}", 1, nx=True, ex=datetime.timedelta(minutes=30)):  # here
        send_mail("Refund", "text", None, [email])
""",
    "a repetition that is asked for": """
@shared_task(bind=True, max_retries=4)
def refund(self, pk, email):
    try:
        if kv.set(f"refund:{pk}", 1, nx=True, ex=900):  # here
            send_mail("Refund", "text", None, [email])
    except OSError as error:
        raise self.retry(exc=error, countdown=1800)
""",
}


def project(body: str) -> dict[str, str]:
    text = HEAD + body.removeprefix("\n")
    return {
        "shop/__init__.py": "",
        "shop/models.py": MODELS,
        "shop/tasks.py": text,
        "shop/settings.py": "from celery.schedules import crontab\n" + SETTINGS.lstrip("\n"),
    }


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_silent(body: str, tmp_path: Path) -> None:
    assert findings(project(body), tmp_path, "SO308") == []


@pytest.mark.parametrize("body", FAULTY.values(), ids=FAULTY)
def test_stands_at_the_key_or_its_claim(body: str, tmp_path: Path) -> None:
    files = project(body)
    found = findings(files, tmp_path, "SO308")
    assert [(one.code, one.place.line) for one in found] == [("SO308", line_of(files["shop/tasks.py"], "# here"))]


QUEUES = {
    "RQ": (
        "from redis import Redis\nfrom rq import Queue, Retry\n\nqueue = Queue(connection=Redis())\n",
        "queue.enqueue(job, pk, retry=Retry(max=3, interval=[60, 600, 3600]))",
        "",
    ),
    "huey": (
        "from huey import RedisHuey\n\nhuey = RedisHuey()\n",
        "job(pk)",
        "@huey.task(retries=5, retry_delay=600)\n",
    ),
    "dramatiq": ("import dramatiq\n", "job.send(pk)", "@dramatiq.actor\n"),
}


@pytest.mark.parametrize(("head", "call", "decorator"), QUEUES.values(), ids=QUEUES)
@pytest.mark.parametrize(("seconds", "wanted"), [(900, 1), (400 * 86400, 0)])
def test_queues(head: str, call: str, decorator: str, seconds: int, wanted: int, tmp_path: Path) -> None:
    text = f"""{head}
import smtplib
import redis
from flask import Flask

app = Flask(__name__)
kv = redis.Redis()


{decorator}def job(pk):
    if kv.set(f"told:{{pk}}", 1, nx=True, ex={seconds}):
        smtplib.SMTP("localhost").sendmail("a@x.example", "b@x.example", "Subject: Hello")


@app.post("/<int:pk>")
def tell(pk):
    {call}
    return ""
"""
    assert len(findings({"app.py": text}, tmp_path, "SO308")) == wanted


HOOK = """
import redis
import smtplib
import stripe
from flask import Flask, request

app = Flask(__name__)
kv = redis.Redis()


@app.post("/webhooks/stripe")
def stripe_webhook():
    event = stripe.Webhook.construct_event(request.data, request.headers["Stripe-Signature"], "x")
    if kv.set(f"event:{event['id']}", 1, nx=True, ex=SECONDS):
        smtplib.SMTP("localhost").sendmail("a@x.example", "b@x.example", "Subject: Paid")
    return ""
"""


@pytest.mark.parametrize(("seconds", "wanted"), [("300", 1), ("7 * 86400", 0)])
def test_webhooks_come_again_for_hours(seconds: str, wanted: int, tmp_path: Path) -> None:
    found = findings({"app.py": HOOK.replace("SECONDS", seconds)}, tmp_path, "SO308")
    assert [len(one.assumes) for one in found] == [1] * wanted


ARQ = """
import smtplib

from arq import Retry, create_pool
from fastapi import FastAPI
from sqlalchemy import create_engine
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, sessionmaker

app = FastAPI()
Session = sessionmaker(create_engine("postgresql://"))


class Base(DeclarativeBase):
    pass


class Guest(Base):
    __tablename__ = "guest"
    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(unique=True)


async def greet(ctx, pk):
    if not await ctx["redis"].set(f"greeted:{pk}", 1, nx=True, ex=SECONDS):
        return
    try:
        smtplib.SMTP("localhost").sendmail("a@x.example", "b@x.example", "Subject: Hello")
    except OSError:
        raise Retry(defer=300)


class WorkerSettings:
    functions = [greet]


@app.post("/guests")
async def register(email: str):
    pool = await create_pool()
    with Session() as session:
        guest = Guest(email=email)
        session.add(guest)
        try:
            session.commit()
        except IntegrityError:
            return ""
    await pool.enqueue_job("greet", guest.id)
"""


@pytest.mark.parametrize(("seconds", "wanted"), [("7 * 86400", 0), ("60", 1)])
def test_what_was_won_before_the_job_keeps_no_repetition_of_it_back(seconds: str, wanted: int, tmp_path: Path) -> None:
    assert len(findings({"app.py": ARQ.replace("SECONDS", seconds)}, tmp_path, "SO308")) == wanted


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(no_window.RULE.doc)
    head = "import redis as r\nfrom celery import shared_task\nfrom django.core.mail import send_mail\n\n"
    for name, wanted in (("Bad", 1), ("Good", 0)):
        text = head + "redis = r.Redis()\n\ndef book(pk):\n    pass\n\n" + given[name]
        assert len(findings({"shop/__init__.py": "", "shop/tasks.py": text}, tmp_path / name, "SO308")) == wanted, name
