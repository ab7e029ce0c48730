"""SO304: keys that differ on every attempt."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of
from sendonce.checks import unstable_key

MODELS = """
import uuid
from django.db import models


class Trip(models.Model):
    email = models.EmailField()
    number = models.CharField(max_length=20)
    token = models.UUIDField(default=uuid.uuid4)


class Sent(models.Model):
    key = models.CharField(max_length=80, unique=True)


class Ticket(models.Model):
    trip = models.ForeignKey(Trip, on_delete=models.CASCADE)
    kind = models.CharField(max_length=9)
    code = models.CharField(max_length=20, unique=True)

    class Meta:
        unique_together = ("trip", "kind")
"""
HEAD = """
import hashlib
import random
import secrets
import time
import uuid
from datetime import date, datetime
from email.utils import make_msgid

import redis
import resend
from celery import shared_task
from django.core.mail import send_mail
from django.db import IntegrityError
from django.utils import timezone
from django.utils.crypto import get_random_string

from .models import Sent, Ticket, Trip

kv = redis.Redis()


def won(key):
    return bool(kv.set(f"mail:{key}", 1, nx=True, ex=86400))


def mail(trip):
    send_mail("Your trip", "text", None, [trip.email])


@shared_task(autoretry_for=(OSError,))
def job(pk, nonce=None):
    trip = Trip.objects.get(pk=pk)
"""
SILENT = {
    "the row and the kind": '    if won(f"trip:{trip.pk}"):\n        mail(trip)\n',
    "the day": '    if won(f"trip:{trip.pk}:{timezone.localdate()}"):\n        mail(trip)\n',
    "the clock, as a day": '    if won(f"trip:{trip.pk}:{timezone.now():%Y-%m-%d}"):\n        mail(trip)\n',
    "a day, formatted": '    if won("trip:{}:{:%G-W%V}".format(trip.pk, datetime.now())):\n        mail(trip)\n',
    "the day of the clock": '    if won(f"trip:{trip.pk}:{timezone.now().date()}"):\n        mail(trip)\n',
    "year and day": """
    now = timezone.now()
    if won(f"trip:{trip.pk}:{now.year}-{now.month}-{now.day}"):
        mail(trip)
""",
    "the first of the month": """
    start = timezone.now().replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    if won(f"trip:{trip.pk}:{start.isoformat()}"):
        mail(trip)
""",
    "seconds, cut to days": '    if won(f"trip:{trip.pk}:{int(time.time() // 86400)}"):\n        mail(trip)\n',
    "seconds, cut by their rest": """
    now = int(time.time())
    if won(f"trip:{trip.pk}:{now - now % 86400}"):
        mail(trip)
""",
    "the letters of a day": '    if won(f"trip:{trip.pk}:{datetime.now().isoformat()[:10]}"):\n        mail(trip)\n',
    "the week": '    if won(f"trip:{trip.pk}:{date.today().isocalendar()[1]}"):\n        mail(trip)\n',
    "the library's day": "    if won(f\"trip:{trip.pk}:{time.strftime('%Y%m%d')}\"):\n        mail(trip)\n",
    "a token of the row": '    if won(f"trip:{trip.token}"):\n        mail(trip)\n',
    "a value of a name": '    if won(str(uuid.uuid5(uuid.NAMESPACE_URL, f"trip/{trip.pk}"))):\n        mail(trip)\n',
    "a hash of the library": "    if won(hashlib.sha256(trip.number.encode()).hexdigest()):\n        mail(trip)\n",
    "an argument of the job": '    if won(f"trip:{nonce}"):\n        mail(trip)\n',
    "a key that was given, else a new one": """
    if won(nonce or trip.number or uuid.uuid4().hex):
        mail(trip)
""",
    "a random value beside the key": """
    if kv.set(f"trip:{pk}", uuid.uuid4().hex, nx=True, ex=99999):
        mail(trip)
""",
    "a number for a new row": """
    try:
        ticket = Ticket.objects.create(trip=trip, kind="a", code=get_random_string(8))
    except IntegrityError:
        return
    mail(trip)
""",
    "a new row under a token": """
    try:
        Sent.objects.create(key=secrets.token_urlsafe())
    except IntegrityError:
        return
    mail(trip)
""",
    "another guard": """
    if not won(f"trip:{trip.pk}"):
        return
    if won(f"trip:{trip.pk}:{time.time()}"):
        mail(trip)
""",
    "no claim": '    kv.set(f"trip:{trip.pk}:{uuid.uuid4()}", 1)\n    mail(trip)\n',
}
FAULTY = {
    "a uuid": '    if won(f"trip:{trip.pk}:{uuid.uuid4()}"):  # here\n        mail(trip)\n',
    "a part that was drawn before": """
    part = uuid.uuid4().hex
    print(part)
    key = f"trip:{trip.pk}:{part}"  # here
    if won(key):
        mail(trip)
""",
    "formatted": '    if won("trip:%d:%s" % (trip.pk, secrets.token_hex(4))):  # here\n        mail(trip)\n',
    "joined": '    if won(":".join([trip.number, str(random.random())])):  # here\n        mail(trip)\n',
    "the clock": '    if won("trip:{0}:{1}".format(trip.pk, timezone.now())):  # here\n        mail(trip)\n',
    "the clock to the second": '    if won(f"trip:{trip.pk}:{int(time.time())}"):  # here\n        mail(trip)\n',
    "the clock without its parts of a second": """
    now = timezone.now().replace(microsecond=0)
    if won(f"trip:{trip.pk}:{now}"):  # here
        mail(trip)
""",
    "the clock as the library shows it": """
    if won(f"trip:{trip.pk}:{time.strftime('%Y%m%d%H%M%S')}"):  # here
        mail(trip)
""",
    "a Message-ID": """
    id = make_msgid()
    if won(f"{trip.number}{id}"):  # here
        mail(trip)
""",
    "the process's own hash": '    if won(f"trip:{hash(trip.number)}"):  # here\n        mail(trip)\n',
    "hashed with the clock": """
    digest = hashlib.sha1(f"{trip.pk}{time.time()}".encode()).hexdigest()  # here
    if won(digest):
        mail(trip)
""",
    "get or create": """
    _, new = Sent.objects.get_or_create(key=f"{trip.pk}-{uuid.uuid4()}")  # here
    if new:
        mail(trip)
""",
    "an insert that may fail": """
    try:
        Sent.objects.create(key=f"{trip.pk}-{timezone.now().timestamp()}")  # here
    except IntegrityError:
        return
    mail(trip)
""",
    "a provider's key": """
    resend.Emails.send({"to": trip.email, "subject": "x"}, {"idempotency_key": f"{pk}:{uuid.uuid4()}"})  # here
""",
    "nothing was given": "    if won(None or uuid.uuid4().hex):  # here\n        mail(trip)\n",
}


def project(body: str) -> dict[str, str]:
    return {"shop/__init__.py": "", "shop/models.py": MODELS, "shop/tasks.py": HEAD + body.removeprefix("\n")}


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_silent(body: str, tmp_path: Path) -> None:
    assert findings(project(body), tmp_path, "SO304", "SO602") == []


@pytest.mark.parametrize("body", FAULTY.values(), ids=FAULTY)
def test_stands_where_the_key_is_made(body: str, tmp_path: Path) -> None:
    files = project(body)
    found = [one for one in findings(files, tmp_path, "SO301", "SO304", "SO602") if one.function == "shop.tasks.job"]
    code = "SO602" if "idempotency_key" in body else "SO304"
    assert [(one.code, one.place.line) for one in found] == [(code, line_of(files["shop/tasks.py"], "# here"))]


HELPERS = """


def nonce():
    return secrets.token_hex(8)


def key_of(trip):
    return f"{trip.pk}-{time.time_ns()}"  # in the helper


@shared_task
def told(pk):
    trip = Trip.objects.get(pk=pk)
    if won(key_of(trip)):
        mail(trip)


@shared_task
def asked(pk):
    trip = Trip.objects.get(pk=pk)
    key = f"trip:{trip.pk}:{nonce()}"  # in the job
    if won(key):
        mail(trip)
"""


def test_a_helper_makes_the_key_or_a_part_of_it(tmp_path: Path) -> None:
    files = project("    pass\n" + HELPERS)
    found = findings(files, tmp_path, "SO301", "SO304")
    text = files["shop/tasks.py"]
    wanted = [line_of(text, "# in the helper"), line_of(text, "# in the job")]
    assert [(one.code, one.place.line) for one in found] == [("SO304", line) for line in wanted]


VIEW = """
from .tasks import job


def buy(request, pk):
    {0}
"""
GIVEN = {
    "made where the job is enqueued": ("job.delay(pk, nonce=uuid.uuid4().hex)", "nonce"),
    "made for each run of the job": ("job.delay(pk)", "nonce or uuid.uuid4().hex"),
}


@pytest.mark.parametrize(("call", "key"), GIVEN.values(), ids=GIVEN)
def test_a_job_finds_its_arguments_as_they_were(call: str, key: str, tmp_path: Path) -> None:
    files = project(f'    if won(f"trip:{{{key}}}"):\n        mail(trip)\n')
    files["shop/views.py"] = "import uuid\n" + VIEW.replace("{0}", call)
    files["shop/urls.py"] = (
        "from django.urls import path\nfrom .views import buy\nurlpatterns = [path('<int:pk>', buy)]\n"
    )
    found = findings(files, tmp_path, "SO301", "SO304")
    assert [one.code for one in found] == (["SO304"] if "or" in key else [])


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(unstable_key.RULE.doc)
    head = (
        HEAD.partition("def won")[0]
        .replace("kv = redis.Redis()", "redis = redis.Redis()")
        .replace("Trip", "Trip, Order")
    )
    head += "def text(order):\n    return 'x'\n\n\n"
    models = MODELS + "\n\nclass Order(models.Model):\n    email = models.EmailField()\n"
    for name, wanted in (("Bad", 1), ("Good", 0)):
        files = {"shop/__init__.py": "", "shop/models.py": models, "shop/tasks.py": head + given[name]}
        assert len(findings(files, tmp_path / name, "SO304")) == wanted, name
