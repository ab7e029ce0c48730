"""SO405: one mailing job from two places."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of, lines
from sendonce.checks import job_without_key

TASKS = """
from celery import shared_task
from django.core.mail import send_mail
from .models import Seat


@shared_task
def tell(pk):
    seat = Seat.objects.get(pk=pk)
    send_mail("Your seat", "x", None, [seat.email])


@shared_task
def tell_once(pk):
    if Seat.objects.filter(pk=pk, told=False).update(told=True):
        send_mail("Your seat", "x", None, [Seat.objects.get(pk=pk).email])


@shared_task
def write(subject, to):
    send_mail(subject, "x", None, [to])


@shared_task(bind=True)
def chase(self, pk):
    send_mail("Still free", "x", None, [Seat.objects.get(pk=pk).email])
    chase.apply_async((pk,), countdown=60)
"""
FILES = {
    "hall/__init__.py": "",
    "hall/models.py": """
        from django.db import models


        class Seat(models.Model):
            email = models.EmailField()
            told = models.BooleanField(default=False)
    """,
    "hall/urls.py": """
        from django.urls import path
        from . import views

        urlpatterns = [path("book", views.book), path("pay", views.pay)]
    """,
    "hall/tasks.py": TASKS,
}
HEAD = """
from .tasks import chase, tell, tell_once, write


def by_mail(subject, to):
    write.delay(subject, to)

"""
SILENT = {
    "one place": """
def book(request):
    tell.delay(1)


def pay(request):
    pass
""",
    "the job claims": """
def book(request):
    tell_once.delay(1)


def pay(request):
    tell_once.delay(1)
""",
    "different mails through one job": """
def book(request):
    write.delay("Booked", request.POST["to"])


def pay(request):
    write.delay("Paid", request.POST["to"])
""",
    "different mails through one helper": """
def book(request):
    by_mail("Booked", request.POST["to"])


def pay(request):
    by_mail("Paid", request.POST["to"])
""",
    "one helper that enqueues": """
def both(pk):
    tell.delay(pk)


def book(request):
    both(1)


def pay(request):
    both(1)
""",
    "branches of one function": """
def book(request):
    if request.POST.get("later"):
        tell.apply_async((1,), countdown=60)
    else:
        tell.delay(1)


def pay(request):
    pass
""",
    "a job that goes on as itself": """
def book(request):
    chase.delay(1)


def pay(request):
    pass
""",
}
FAULTY = {
    "two views": """
def book(request):
    tell.delay(1)  # one


def pay(request):
    tell.apply_async((1,), countdown=5)  # two
""",
    "one mail through a helper": """
def book(request):
    by_mail("Booked", request.POST["to"])  # one


def pay(request):
    by_mail("Booked", request.POST["to"])  # two
""",
}


def project(views: str) -> dict[str, str]:
    return {**FILES, "hall/views.py": HEAD + views}


@pytest.mark.parametrize("views", SILENT.values(), ids=SILENT)
def test_silent(views: str, tmp_path: Path) -> None:
    assert findings(project(views), tmp_path, "SO405") == []


@pytest.mark.parametrize("views", FAULTY.values(), ids=FAULTY)
def test_found_in_place_of_a_missing_reservation(views: str, tmp_path: Path) -> None:
    told = findings(project(views), tmp_path, "SO405", "SO301")
    mail = "Booked" if "Booked" in views else "Your seat"
    (found,) = [one for one in told if one.template == mail]
    assert (found.code, found.severity, found.place.line) == ("SO405", "note", line_of(HEAD + views, "# two"))
    assert ("hall/views.py", line_of(HEAD + views, "# one")) in lines(found)


RQ = """
from redis import Redis
from rq import Queue
from rq.exceptions import DuplicateJobError
from .jobs import tell

queue = Queue(connection=Redis())


def put(key, address):
    try:
        queue.enqueue(tell, address, job_id={id}, unique=True, result_ttl=90 * 86400)
    except DuplicateJobError:
        pass
"""


JOBS = """
from django.core.mail import send_mail


def tell(to):
    send_mail("a", "x", None, [to])
"""
VIEWS = """

def book(request):
    put(1, "a")
    {more}


def pay(request):
    put(1, "a")
"""


@pytest.mark.parametrize(("more", "wanted"), [("pass", 0), ("queue.enqueue(tell, 'a')", 0)])
def test_a_key_of_the_queue(more: str, wanted: int, tmp_path: Path) -> None:
    views = RQ.replace("{id}", 'f"seat-{key}"') + VIEWS.replace("{more}", more)
    files = {
        "hall/__init__.py": "",
        "hall/jobs.py": JOBS,
        "hall/views.py": views,
        "hall/urls.py": FILES["hall/urls.py"],
    }
    assert len(findings(files, tmp_path, "SO405")) == wanted


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(job_without_key.RULE.doc)
    head = "from redis import Redis\nfrom rq import Queue\nfrom rq.exceptions import DuplicateJobError\n"
    head += "from .jobs import mail_booking\n\nMONTH = 30 * 86400\nqueue = Queue(connection=Redis())\n\n"
    jobs = "from django.core.mail import send_mail\n\ndef mail_booking(id):\n    send_mail('Booked', 'x', None, [id])\n"
    urls = "from django.urls import path\nfrom .views import booked, paid\n\n"
    urls += "urlpatterns = [path('a', booked), path('b', paid)]\n"
    for name, wanted in (("Bad", 1), ("Good", 0)):
        files = {
            "shop/__init__.py": "",
            "shop/jobs.py": jobs,
            "shop/urls.py": urls,
            "shop/views.py": head + given[name],
        }
        assert len(findings(files, tmp_path / name, "SO405")) == wanted, name
