"""SO309: a lock or claim that does not reach as far as the mail."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of, lines
from sendonce.checks import claim_released_before_send

HEAD = """
import smtplib
import sqlite3
import threading
from celery import shared_task
from django.core.cache import cache
from django.db import models, transaction
from filelock import FileLock
from redis import Redis

redis = Redis()
mutex = threading.Lock()
db = sqlite3.connect("/var/sent.db")
db.execute("CREATE TABLE sent (key TEXT PRIMARY KEY)")

class Payout(models.Model):
    email = models.EmailField()
    told = models.BooleanField(default=False)

def mail(payout):
    smtplib.SMTP("relay").sendmail("a@x.example", [payout.email], "Subject: paid out")

def locked(pk):
    with transaction.atomic():
        return Payout.objects.select_for_update().filter(pk=pk, told=False).first()

def may(pk):
    with redis.lock(f"p:{pk}", timeout=9):
        return not Payout.objects.get(pk=pk).told

@shared_task
def notify(pk):
"""
SETTINGS = 'SECRET_KEY = "x"\nINSTALLED_APPS = ["bank"]\n'
SHARED = 'CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache"}}\n'
SILENT = {
    "the mark is set under the lock": """
    with redis.lock(f"p:{pk}", timeout=9):
        payout = Payout.objects.get(pk=pk)
        if payout.told:
            return
        payout.told = True
        payout.save()
    mail(payout)
""",
    "all of it under the lock": """
    with redis.lock(f"p:{pk}", timeout=9):
        payout = Payout.objects.get(pk=pk)
        if payout.told:
            return
        mail(payout)
        payout.told = True
        payout.save()
""",
    "the row lock is held to the end": """
    with transaction.atomic():
        payout = Payout.objects.select_for_update().get(pk=pk)
        if payout.told:
            return
        mail(payout)
        payout.told = True
        payout.save()
""",
    "a lock for something else": """
    with redis.lock("numbers", timeout=9):
        number = redis.get("number")
    if number:
        mail(Payout.objects.get(pk=pk))
""",
    "a shared cache": """
    if cache.add(f"p:{pk}", 1, None):
        mail(Payout.objects.get(pk=pk))
""",
}
FAULTY = {
    "the mail stands behind the lock": """
    with redis.lock(f"p:{pk}", timeout=9):
        payout = Payout.objects.get(pk=pk)
        if payout.told:
            return
    mail(payout)  # fault
    payout.told = True
    payout.save()
""",
    "read under the lock, tested behind it": """
    with redis.lock(f"p:{pk}", timeout=9):
        payout = Payout.objects.get(pk=pk)
    if not payout.told:
        mail(payout)  # fault
        payout.told = True
        payout.save()
""",
    "the row lock ends with its helper": """
    payout = locked(pk)
    if payout is None:
        return
    mail(payout)  # fault
    payout.told = True
    payout.save()
""",
    "the lock is in a helper that answers": """
    if not may(pk):
        return
    payout = Payout.objects.get(pk=pk)
    mail(payout)  # fault
    Payout.objects.filter(pk=pk).update(told=True)
""",
    "a lock of one process": """
    with mutex:
        payout = Payout.objects.get(pk=pk)
        if payout.told:
            return
        mail(payout)  # fault
        payout.told = True
        payout.save()
""",
    "a lock of one host": """
    with FileLock("/tmp/p.lock"):
        payout = Payout.objects.get(pk=pk)
        if not payout.told:
            mail(payout)  # fault
            payout.told = True
            payout.save()
""",
    "a claim in a file": """
    if db.execute("INSERT OR IGNORE INTO sent (key) VALUES (?)", (pk,)).rowcount:
        mail(Payout.objects.get(pk=pk))  # fault
""",
}
LOCAL = '\n    if cache.add(f"p:{pk}", 1, None):\n        mail(Payout.objects.get(pk=pk))  # fault\n'


def project(body: str, settings: str = SETTINGS + SHARED) -> dict[str, str]:
    return {"bank/__init__.py": "", "bank/settings.py": settings, "bank/jobs.py": HEAD + body.lstrip("\n")}


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_silent(body: str, tmp_path: Path) -> None:
    assert findings(project(body), tmp_path, "SO309") == []


@pytest.mark.parametrize("body", FAULTY.values(), ids=FAULTY)
def test_stands_at_the_call_that_leads_to_the_mail(body: str, tmp_path: Path) -> None:
    files = project(body)
    found = findings(files, tmp_path, "SO309", "SO301")
    assert [(one.code, one.place.line) for one in found] == [("SO309", line_of(files["bank/jobs.py"], "# fault"))]


def test_the_cache_without_a_setting_is_one_process_own(tmp_path: Path) -> None:
    files = project(LOCAL, SETTINGS)
    (found,) = findings(files, tmp_path, "SO309", "SO301")
    assert (found.code, found.assumes) == ("SO309", ("more than one worker process",))
    assert ("bank/jobs.py", line_of(files["bank/jobs.py"], "cache.add(")) in lines(found)


def test_the_example_of_the_documentation(tmp_path: Path) -> None:
    head = "from django.core.mail import send_mail\nfrom django.db import models\nfrom redis import Redis\n\n"
    head += "redis = Redis()\n\nclass Order(models.Model):\n    email = models.EmailField()\n"
    head += "    receipt_sent = models.BooleanField()\n\ndef text(order):\n    return 'x'\n\n"
    for name, wanted in (("Bad", 1), ("Good", 0)):
        code = examples(claim_released_before_send.RULE.doc)[name]
        found = findings({"shop/__init__.py": "", "shop/receipts.py": head + code}, tmp_path / name, "SO309")
        assert len(found) == wanted, name
