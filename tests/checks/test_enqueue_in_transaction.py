"""SO201: a job that mails is enqueued while a transaction is open."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of, lines
from sendonce.checks import enqueue_in_transaction

MODELS = """
from django.db import models


class Parcel(models.Model):
    email = models.EmailField(unique=True)
    tags = models.ManyToManyField("Tag")


class Tag(models.Model):
    name = models.CharField(max_length=20)
"""
TASKS = """
from celery import shared_task
from django.core.mail import send_mail


@shared_task
def tell(pk):
    send_mail("Parcel", "x", None, ["a@example.org"])


@shared_task(name="depot.lost")
def lost(pk):
    send_mail("Lost", "x", None, ["a@example.org"])


@shared_task
def count():
    return 1
"""
URLS = """
from django.urls import path
from . import views

urlpatterns = [path("parcels", views.add)]
"""
HEAD = """
import contextlib
from functools import partial
from celery import chain
from django.db import transaction
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver
from django.http import HttpResponse
from . import tasks
from .models import Parcel


"""
SILENT = {
    "after the block": """
def add(request):
    with transaction.atomic():
        parcel = Parcel.objects.create(email=request.POST["email"])
    tasks.tell.delay(parcel.pk)
    return HttpResponse()
""",
    "a job that does not mail": """
def add(request):
    with transaction.atomic():
        Parcel.objects.create(email=request.POST["email"])
        tasks.count.delay()
    return HttpResponse()
""",
    "deferred in a helper": """
def later(task, *args):
    transaction.on_commit(partial(task.delay, *args))


@transaction.atomic
def add(request):
    parcel = Parcel.objects.create(email=request.POST["email"])
    later(tasks.tell, parcel.pk)
    transaction.on_commit(lambda pk=parcel.pk: tasks.tell.delay(pk), robust=True)
    tasks.tell.delay_on_commit(parcel.pk)
    return HttpResponse()
""",
    "the other branch": """
def add(request):
    if request.POST.get("dry"):
        with transaction.atomic():
            Parcel.objects.create(email=request.POST["email"])
    else:
        tasks.tell.delay(1)
    return HttpResponse()
""",
    "a receiver in autocommit": """
@receiver(post_save, sender=Parcel)
def saved(sender, instance, created, **kwargs):
    tasks.tell.delay(instance.pk)


def add(request):
    Parcel.objects.create(email=request.POST["email"])
    return HttpResponse()
""",
    "a stack that is closed": """
def add(request):
    with contextlib.ExitStack() as stack:
        stack.enter_context(transaction.atomic())
        parcel = Parcel.objects.create(email=request.POST["email"])
    tasks.tell.delay(parcel.pk)
    return HttpResponse()
""",
}
FAULTY = {
    "block": """
def add(request):
    with transaction.atomic():  # opens
        parcel = Parcel.objects.create(email=request.POST["email"])
        tasks.tell.delay(parcel.pk)  # here
    return HttpResponse()
""",
    "savepoint inside": """
def make(email):
    with transaction.atomic():
        parcel = Parcel.objects.create(email=email)
    tasks.tell.delay(parcel.pk)  # here


def add(request):
    with transaction.atomic(durable=True):  # opens
        make(request.POST["email"])
    return HttpResponse()
""",
    "decorator": """
@transaction.atomic  # opens
def add(request):
    parcel = Parcel.objects.create(email=request.POST["email"])
    tasks.tell.apply_async((parcel.pk,), countdown=3)  # here
    return HttpResponse()
""",
    "open stack": """
def add(request):
    with contextlib.ExitStack() as stack:
        stack.enter_context(transaction.atomic())  # opens
        parcel = Parcel.objects.create(email=request.POST["email"])
        tasks.tell.delay(parcel.pk)  # here
    return HttpResponse()
""",
    "own context manager": """
class Locked:
    def __enter__(self):
        self.block = transaction.atomic()
        self.block.__enter__()

    def __exit__(self, *details):
        self.block.__exit__(*details)


def add(request):
    with Locked():  # opens
        tasks.tell.delay(1)  # here
    return HttpResponse()
""",
    "the library's own transaction": """
@receiver(post_save, sender=Parcel)
def saved(sender, instance, created, **kwargs):
    if created:
        tasks.tell.delay(instance.pk)  # here


def add(request):
    Parcel.objects.get_or_create(email=request.POST["email"])  # opens
    return HttpResponse()
""",
    "a helper that is given the job": """
def enqueue(task, *args):
    task.delay(*args)  # opens


def add(request):
    with transaction.atomic():
        enqueue(tasks.tell, 1)  # here
    return HttpResponse()
""",
    "the last job of a chain": """
def add(request):
    with transaction.atomic():  # opens
        chain(tasks.count.si(), tasks.tell.si(1)).delay()  # here
    return HttpResponse()
""",
    "on_commit of what is called at once": """
def add(request):
    with transaction.atomic():  # opens
        transaction.on_commit(tasks.tell.delay(1))  # here
    return HttpResponse()
""",
}
REQUESTS = {
    "item of the setting": 'DATABASES["default"]["ATOMIC_REQUESTS"] = env.bool("ATOMIC", default=True)',
    "keyword": 'DATABASES = {"default": dict(NAME="x", ATOMIC_REQUESTS=True)}',
}


def _project(view: str, **more: str) -> dict[str, str]:
    files = {"depot/__init__.py": "", "depot/models.py": MODELS, "depot/tasks.py": TASKS, "depot/urls.py": URLS}
    return {**files, "depot/views.py": HEAD + view, **more}


@pytest.mark.parametrize("view", SILENT.values(), ids=SILENT.keys())
def test_silent(view: str, tmp_path: Path) -> None:
    assert findings(_project(view), tmp_path, "SO201") == []


@pytest.mark.parametrize("view", FAULTY.values(), ids=FAULTY.keys())
def test_faulty(view: str, tmp_path: Path) -> None:
    found = findings(_project(view), tmp_path, "SO201")
    text = HEAD + view
    assert [(one.place.path, one.place.line) for one in found] == [("depot/views.py", line_of(text, "# here"))]
    assert ("depot/views.py", line_of(text, "# opens")) in lines(found[0])
    assert found[0].severity == "error"


@pytest.mark.parametrize("setting", REQUESTS.values(), ids=REQUESTS.keys())
def test_whole_requests(setting: str, tmp_path: Path) -> None:
    view = """
def add(request):
    tasks.tell.delay(1)  # here
    return HttpResponse()


@transaction.non_atomic_requests
def free(request):
    tasks.lost.delay(1)
    return HttpResponse()
"""
    urls = URLS.replace("]", ', path("free", views.free)]')
    settings = "import environ\nenv = environ.Env()\n" + setting
    found = findings(_project(view, **{"depot/urls.py": urls, "conf/settings.py": settings}), tmp_path, "SO201")
    assert [one.place.line for one in found] == [line_of(HEAD + view, "# here")]
    assert ("conf/settings.py", 3) in lines(found[0])


def test_no_whole_requests(tmp_path: Path) -> None:
    view = "def add(request):\n    tasks.tell.delay(1)\n    return HttpResponse()\n"
    settings = {"conf/settings.py": 'DATABASES = {"default": {"ATOMIC_REQUESTS": False}}'}
    assert findings(_project(view, **settings), tmp_path, "SO201") == []


def test_admin_hooks_and_actions(tmp_path: Path) -> None:
    admin = """
from django.contrib import admin
from . import tasks
from .models import Parcel


@admin.register(Parcel)
class ParcelAdmin(admin.ModelAdmin):
    actions = ["lose"]

    def save_model(self, request, obj, form, change):
        super().save_model(request, obj, form, change)
        tasks.tell.delay(obj.pk)  # here

    def lose(self, request, queryset):
        for parcel in queryset:
            tasks.lost.delay(parcel.pk)
"""
    found = findings(_project("", **{"depot/admin.py": admin}), tmp_path, "SO201")
    assert [(one.place.path, one.place.line, one.severity) for one in found] == [
        ("depot/admin.py", line_of(admin, "# here"), "warning")
    ]


def test_queue_in_the_same_database(tmp_path: Path) -> None:
    view = """
from django_q.tasks import async_task


@transaction.atomic
def add(request):
    async_task("depot.tasks.tell", 1)
    return HttpResponse()
"""
    stored = {"conf/settings.py": 'Q_CLUSTER = {"orm": "default"}'}
    elsewhere = {"conf/settings.py": 'Q_CLUSTER = {"redis": "redis://localhost"}'}
    assert findings(_project(view, **stored), tmp_path / "stored", "SO201") == []
    assert len(findings(_project(view, **elsewhere), tmp_path / "elsewhere", "SO201")) == 1


EVENTS = """
from sqlalchemy import event
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from depot.tasks import tell


class Base(DeclarativeBase):
    pass


class Parcel(Base):
    __tablename__ = "parcel"
    id: Mapped[int] = mapped_column(primary_key=True)


@event.listens_for({event})
def changed(*given):
    tell.delay(1)  # here
"""
FIRED = {
    "inside the flush": ('Parcel, "after_update"', 1),
    "before the insert": ('Parcel, "before_insert"', 1),
    "behind the commit": ('Session, "after_commit"', 0),
}


@pytest.mark.parametrize(("event", "wanted"), FIRED.values(), ids=FIRED)
def test_events_that_run_inside_the_flush(event: str, wanted: int, tmp_path: Path) -> None:
    rows = EVENTS.replace("{event}", event)
    files = {"depot/__init__.py": "", "depot/tasks.py": TASKS, "depot/rows.py": rows}
    found = findings(files, tmp_path, "SO201")
    assert [(one.place.path, one.place.line) for one in found] == [("depot/rows.py", line_of(rows, "# here"))] * wanted


def test_examples(tmp_path: Path) -> None:
    code = examples(enqueue_in_transaction.__doc__ or "")
    head = "from django.db import transaction\nfrom .tasks import send_receipt\n\n\ndef pay(order):\n"
    task = TASKS.replace("def tell(", "def send_receipt(")
    for title, wanted in (("Bad", 1), ("Good", 0)):
        body = "".join(f"    {line}\n" for line in code[title].splitlines())
        files = {"shop/__init__.py": "", "shop/tasks.py": task, "shop/pay.py": head + body}
        assert len(findings(files, tmp_path / title, "SO201")) == wanted, title
