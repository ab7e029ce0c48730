"""SO407: a job that a queue is told to deliver again, around an unguarded send."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of, lines
from sendonce.checks import redelivered_job

TASKS = """
from celery import Task, shared_task
from django.core.mail import send_mail
from django.core.cache import cache
from .base import Late
from redis import Redis


@shared_task({options})  # task
def confirm(pk):
    {claim}
    send_mail("Confirmed", "x", None, ["a@x.example"])  # sent
"""
BASE = "from celery import Task\n\n\nclass Late(Task):\n    acks_late = True\n"


def project(settings: str = "", options: str = "", claim: str = "pass") -> dict[str, str]:
    return {
        "hotel/__init__.py": "",
        "hotel/base.py": BASE,
        "hotel/tasks.py": TASKS.format(options=options, claim=claim),
        "hotel/settings.py": settings,
    }


SILENT = {
    "early acknowledgement": project(),
    "said so": project("CELERY_TASK_ACKS_LATE = False\n"),
    "the task says otherwise": project("CELERY_TASK_ACKS_LATE = True\n", "acks_late=False"),
    "guarded": project("", "acks_late=True", 'if not Redis().set(f"confirm:{pk}", 1, nx=True):\n        return'),
    "a short visibility without late acknowledgement": project(
        'CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 60}\nCELERY_TASK_TIME_LIMIT = 600\n'
    ),
    "rejecting without late acknowledgement": project("", "reject_on_worker_lost=True"),
}
AT_THE_TASK = {
    "an option": ("", "acks_late=True"),
    "an option with rejection": ("", "acks_late=True, reject_on_worker_lost=True"),
    "an attribute of its class": ("", "base=Late"),
    "an option though the settings say it too": ("CELERY_TASK_ACKS_LATE = True\n", "acks_late=True"),
}
AT_THE_SETTING = {
    "a constant": "CELERY_TASK_ACKS_LATE = True  # here\n",
    "the old name": "CELERY_ACKS_LATE = True  # here\n",
    "the environment's default": 'from environ import Env\n\nCELERY_TASK_ACKS_LATE = Env().bool("L", True)  # here\n',
    "an attribute": "from celery import Celery\n\napp = Celery()\napp.conf.task_acks_late = True  # here\n",
    "an update": "from celery import Celery\n\napp = Celery()\napp.conf.update(\n    task_acks_late=True,  # here\n)\n",
    "a table": 'CELERY = {\n    "task_acks_late": True,  # here\n}\n',
    "in the application's factory": (
        "def make(app):\n    app.conf.update(task_acks_late=True)  # here\n    return app\n"
    ),
    "annotations": 'CELERY_TASK_ANNOTATIONS = {"*": {"acks_late": True}}  # here\n',
    "a lease that ends before the limit": (
        "CELERY_TASK_ACKS_LATE = True\n"
        'CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 60 * 5}  # here\n'
        "CELERY_TASK_TIME_LIMIT = 60 * 30\n"
    ),
    "a lease that is long enough": (
        "CELERY_TASK_ACKS_LATE = True  # here\n"
        'CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 7200}\n'
        "CELERY_TASK_TIME_LIMIT = 60\n"
    ),
}


@pytest.mark.parametrize("files", SILENT.values(), ids=SILENT)
def test_silent(files: dict[str, str], tmp_path: Path) -> None:
    assert findings(files, tmp_path, "SO407") == []


@pytest.mark.parametrize(("settings", "options"), AT_THE_TASK.values(), ids=AT_THE_TASK)
def test_stands_at_the_task(settings: str, options: str, tmp_path: Path) -> None:
    files = project(settings, options)
    found = findings(files, tmp_path)
    assert [(one.code, one.place.path) for one in found] == [("SO407", "hotel/tasks.py")]
    assert found[0].place.line == line_of(files["hotel/tasks.py"], "# task")
    assert ("hotel/tasks.py", line_of(files["hotel/tasks.py"], "# sent")) in lines(found[0])


@pytest.mark.parametrize("settings", AT_THE_SETTING.values(), ids=AT_THE_SETTING)
def test_stands_at_the_setting(settings: str, tmp_path: Path) -> None:
    found = findings(project(settings), tmp_path, "SO407")
    assert [(one.place.path, one.place.line) for one in found] == [("hotel/settings.py", line_of(settings, "# here"))]


@pytest.mark.parametrize(
    ("cluster", "count"),
    [
        ('{"retry": 90, "timeout": 600}', 1),
        ('{"timeout": 600}', 1),
        ('{"retry": 900, "timeout": 600}', 0),
        ('{"workers": 4}', 0),
    ],
)
def test_a_queue_that_always_acknowledges_late(cluster: str, count: int, tmp_path: Path) -> None:
    views = """
    from django.core.mail import send_mail
    from django_q.tasks import async_task


    def confirm(pk):
        send_mail("Confirmed", "x", None, ["a@x.example"])


    def book(request):
        async_task(confirm, 7)
    """
    files = {"hotel/__init__.py": "", "hotel/views.py": views, "hotel/settings.py": f"Q_CLUSTER = {cluster}\n"}
    found = findings(files, tmp_path, "SO407")
    assert [one.place.path for one in found] == ["hotel/settings.py"] * count


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(redelivered_job.RULE.doc)
    head = "from celery import shared_task\nfrom django.core.mail import send_mail\n"
    head += "from django.utils.timezone import now\nfrom .models import Order, address, text\n\n"
    models = "from django.db import models\n\nclass Order(models.Model):\n"
    models += "    email = models.EmailField()\n    receipt_sent_at = models.DateTimeField(null=True)\n\n"
    models += "def address(pk):\n    return Order.objects.get(pk=pk).email\n\ndef text(pk):\n    return str(pk)\n"
    for name, wanted in (("Bad", 1), ("Good", 0)):
        files = {"shop/__init__.py": "", "shop/models.py": models, "shop/tasks.py": head + given[name]}
        assert len(findings(files, tmp_path / name, "SO407")) == wanted, name
