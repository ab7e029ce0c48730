"""SO402: a loop of sends inside one repeated run."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of, lines
from sendonce.checks import batch_retry

MODELS = """
from django.db import models


class Member(models.Model):
    email = models.EmailField()
    told = models.BooleanField(default=False)


class Told(models.Model):
    member = models.OneToOneField(Member, on_delete=models.CASCADE)
"""
HEAD = """
import dramatiq
import smtplib
from celery import shared_task
from django.core.mail import send_mail
from tenacity import retry, stop_after_attempt
from .models import Member, Told

"""
SILENT = {
    "each item claims itself": """
@shared_task(autoretry_for=(OSError,), max_retries=3)
def tell():
    for member in Member.objects.all():
        _, mine = Told.objects.get_or_create(member=member)
        if mine:
            send_mail("The meeting", "x", None, [member.email])
""",
    "the error of one is caught in the loop": """
@shared_task(autoretry_for=(OSError,), max_retries=3)
def tell():
    for member in Member.objects.all():
        try:
            send_mail("The meeting", "x", None, [member.email])
        except OSError:
            print("lost", member.pk)
""",
    "nothing repeats the run": """
@shared_task
def tell():
    for member in Member.objects.all():
        send_mail("The meeting", "x", None, [member.email])
""",
    "each item is a job": """
@shared_task(autoretry_for=(OSError,), max_retries=3)
def tell_one(pk):
    send_mail("The meeting", "x", None, [Member.objects.get(pk=pk).email])


@shared_task(autoretry_for=(OSError,), max_retries=3)
def tell():
    for member in Member.objects.all():
        tell_one.delay(member.pk)
""",
    "the retry is inside the loop": """
@retry(stop=stop_after_attempt(3))
def deliver(to):
    send_mail("The meeting", "x", None, [to])


def tell():
    for member in Member.objects.all():
        deliver(member.email)
""",
    "the loop counts attempts": """
@shared_task(autoretry_for=(OSError,), max_retries=3)
def tell(to):
    for _ in range(3):
        try:
            send_mail("The meeting", "x", None, [to])
            break
        except ConnectionRefusedError:
            continue
""",
    "each item leaves the selection before the next": """
@shared_task(autoretry_for=(OSError,), max_retries=3)
def tell():
    for member in Member.objects.filter(told=False):
        send_mail("The meeting", "x", None, [member.email])
        member.told = True
        member.save()
""",
    "the next run is given what is left": """
@shared_task(bind=True, max_retries=3)
def tell(self, addresses):
    left = []
    for address in addresses:
        try:
            send_mail("The meeting", "x", None, [address])
        except OSError:
            left.append(address)
    if left:
        raise self.retry(args=[left])
""",
}
FAULTY = {
    "an option of the queue": """
@shared_task(autoretry_for=(OSError,), max_retries=3)  # retry
def tell():
    for member in Member.objects.all():  # list
        send_mail("The meeting", "x", None, [member.email])  # here
""",
    "what a server certainly refuses repeats those before": """
@shared_task(autoretry_for=(smtplib.SMTPRecipientsRefused,), max_retries=3)  # retry
def tell():
    for member in Member.objects.all():  # list
        send_mail("The meeting", "x", None, [member.email])  # here
""",
    "the queue's own default": """
@dramatiq.actor  # retry
def tell():
    for member in Member.objects.all():  # list
        send_mail("The meeting", "x", None, [member.email])  # here
""",
    "late acknowledgement": """
@shared_task(acks_late=True)  # retry
def tell():
    for member in Member.objects.all():  # list
        send_mail("The meeting", "x", None, [member.email])  # here
""",
    "the failed ones start all again": """
@shared_task(bind=True, max_retries=3)
def tell(self):
    lost = 0
    for member in Member.objects.all():  # list
        try:
            send_mail("The meeting", "x", None, [member.email])  # here
        except OSError:
            lost += 1
    if lost:
        raise self.retry()  # retry
""",
    "the items leave the selection only after the last": """
@shared_task(autoretry_for=(OSError,), max_retries=3)  # retry
def tell():
    members = Member.objects.filter(told=False)
    for member in members:  # list
        send_mail("The meeting", "x", None, [member.email])  # here
    members.update(told=True)
""",
    "a decorator around the loop": """
def deliver(member):
    send_mail("The meeting", "x", None, [member.email])


@retry(stop=stop_after_attempt(3))  # retry
def tell_all():
    for member in Member.objects.all():  # list
        deliver(member)  # here


def tell(request):
    tell_all()
""",
    "attempts around the loop": """
def tell():
    for attempt in range(3):  # retry
        try:
            for member in Member.objects.all():  # list
                send_mail("The meeting", "x", None, [member.email])  # here
            break
        except OSError:
            print("again")
""",
}


def project(tasks: str) -> dict[str, str]:
    return {"club/__init__.py": "", "club/models.py": MODELS, "club/tasks.py": HEAD + tasks}


@pytest.mark.parametrize("tasks", SILENT.values(), ids=SILENT)
def test_silent(tasks: str, tmp_path: Path) -> None:
    assert findings(project(tasks), tmp_path, "SO402") == []


@pytest.mark.parametrize("tasks", FAULTY.values(), ids=FAULTY)
def test_stands_at_the_call_in_the_loop(tasks: str, tmp_path: Path) -> None:
    found = findings(project(tasks), tmp_path, "SO402", "SO401")
    text = HEAD + tasks
    assert [(one.code, one.place.line) for one in found] == [("SO402", line_of(text, "# here"))]
    wanted = {("club/tasks.py", line_of(text, part)) for part in ("# retry", "# list")}
    assert wanted <= lines(found[0])


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(batch_retry.RULE.doc)
    head = "from celery import shared_task\nfrom django.core.mail import send_mail\nfrom .models import *\n\n"
    models = "from django.db import models\n\nclass Reader(models.Model):\n    email = models.EmailField()\n"
    models += "    active = models.BooleanField()\n\nclass Delivery(models.Model):\n"
    models += "    issue_id = models.IntegerField()\n    reader_id = models.IntegerField()\n"
    models += (
        "    class Meta:\n        unique_together = [('issue_id', 'reader_id')]\n\ndef text(pk):\n    return 'x'\n"
    )
    for name, wanted in (("Bad", 1), ("Good", 0)):
        files = {"press/__init__.py": "", "press/models.py": models, "press/tasks.py": head + given[name]}
        assert len(findings(files, tmp_path / name, "SO402")) == wanted, name
