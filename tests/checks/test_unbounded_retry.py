"""SO403: a retry without an end around a provider send."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of, lines
from sendonce.checks import unbounded_retry

HEAD = """
import itertools
import time
from datetime import timedelta
import backoff
from celery import Task, shared_task
from django.core.mail import send_mail
from procrastinate import App, RetryStrategy
from temporalio import activity, workflow
from temporalio.common import RetryPolicy
from tenacity import retry, stop_after_attempt, stop_never

"""
SILENT = {
    "a limit": """
@shared_task(bind=True, max_retries=9)
def remind(self, to):
    try:
        send_mail("A reminder", "x", None, [to])
    except OSError as error:
        raise self.retry(exc=error)
""",
    "the default limit": """
@shared_task(bind=True)
def remind(self, to):
    try:
        send_mail("A reminder", "x", None, [to])
    except OSError as error:
        raise self.retry(exc=error)
""",
    "a limit in the call": """
@shared_task(bind=True, max_retries=None)
def remind(self, to):
    try:
        send_mail("A reminder", "x", None, [to])
    except OSError as error:
        raise self.retry(exc=error, max_retries=4)
""",
    "no limit where nothing asks for a repetition": """
@shared_task(max_retries=None)
def remind(to):
    send_mail("A reminder", "x", None, [to])
""",
    "only the wait for a file is repeated": """
@retry
def text():
    return open("reminder.txt").read()


@shared_task
def remind(to):
    send_mail("A reminder", text(), None, [to])
""",
    "attempts are counted in the loop": """
def remind(to):
    tries = 0
    while True:
        try:
            send_mail("A reminder", "x", None, [to])
            return
        except OSError:
            tries += 1
            if tries > 4:
                raise
            time.sleep(tries)
""",
    "a loop with two conditions": """
def remind(to):
    sent, left = False, 4
    while not sent and left:
        try:
            send_mail("A reminder", "x", None, [to])
            sent = True
        except OSError:
            left -= 1
""",
    "a number of the queue": """
app = App()


@app.task(retry=4)
def remind(to):
    send_mail("A reminder", "x", None, [to])
""",
    "a strategy with attempts": """
app = App()


@app.task(retry=RetryStrategy(max_attempts=4, wait=5))
def remind(to):
    send_mail("A reminder", "x", None, [to])
""",
    "an activity with a limit": """
@activity.defn
def remind(to: str) -> None:
    send_mail("A reminder", "x", None, [to])


@workflow.defn
class Course:
    @workflow.run
    async def run(self, to: str) -> None:
        policy = RetryPolicy(maximum_attempts=4)
        await workflow.execute_activity(remind, to, start_to_close_timeout=timedelta(9), retry_policy=policy)
""",
}
FAULTY = {
    "None": """
@shared_task(bind=True, max_retries=None)  # here
def remind(self, to):
    try:
        send_mail("A reminder", "x", None, [to])  # sent
    except OSError as error:
        raise self.retry(exc=error)
""",
    "None in the call": """
@shared_task(bind=True)
def remind(self, to):
    try:
        send_mail("A reminder", "x", None, [to])  # sent
    except OSError as error:
        raise self.retry(exc=error, max_retries=None)  # here
""",
    "None with automatic retries": """
@shared_task(autoretry_for=(OSError,), retry_kwargs={"max_retries": None})  # here
def remind(to):
    send_mail("A reminder", "x", None, [to])  # sent
""",
    "None in the job's class": """
class Patient(Task):
    autoretry_for = (OSError,)
    max_retries = None


@shared_task(base=Patient)  # here
def remind(to):
    send_mail("A reminder", "x", None, [to])  # sent
""",
    "a bare decorator": """
@retry  # here
def deliver(to):
    send_mail("A reminder", "x", None, [to])  # sent


@shared_task
def remind(to):
    deliver(to)
""",
    "a stop that never comes": """
@retry(stop=stop_never)  # here
def remind(to):
    send_mail("A reminder", "x", None, [to])  # sent
""",
    "backoff with neither number nor time": """
@backoff.on_exception(backoff.expo, OSError)  # here
def remind(to):
    send_mail("A reminder", "x", None, [to])  # sent
""",
    "a loop until it works": """
def remind(to):
    while True:  # here
        try:
            send_mail("A reminder", "x", None, [to])  # sent
            break
        except OSError:
            time.sleep(5)
""",
    "a count without an end": """
def remind(to):
    for attempt in itertools.count():  # here
        try:
            return send_mail("A reminder", "x", None, [to])  # sent
        except OSError:
            time.sleep(attempt)
""",
    "a test that is the attempt": """
def deliver(to):
    try:
        send_mail("A reminder", "x", None, [to])  # sent
    except OSError:
        return False
    return True


def remind(to):
    while not deliver(to):  # here
        time.sleep(5)
""",
    "a strategy without attempts": """
app = App()


@app.task(retry=RetryStrategy(wait=5))  # here
def remind(to):
    send_mail("A reminder", "x", None, [to])  # sent
""",
    "the default of a workflow engine": """
@activity.defn
def remind(to: str) -> None:
    send_mail("A reminder", "x", None, [to])  # sent


@workflow.defn
class Course:
    @workflow.run
    async def run(self, to: str) -> None:
        await workflow.execute_activity(remind, to, start_to_close_timeout=timedelta(seconds=9))  # here
""",
    "a job that always puts itself on the queue again": """
@shared_task
def remind(to):
    try:
        send_mail("A reminder", "x", None, [to])  # sent
    except OSError:
        remind.apply_async(args=(to,), countdown=60)  # here
""",
}


@pytest.mark.parametrize("tasks", SILENT.values(), ids=SILENT)
def test_silent(tasks: str, tmp_path: Path) -> None:
    assert findings({"course/__init__.py": "", "course/tasks.py": HEAD + tasks}, tmp_path, "SO403") == []


@pytest.mark.parametrize("tasks", FAULTY.values(), ids=FAULTY)
def test_stands_where_the_end_is_missing(tasks: str, tmp_path: Path) -> None:
    text = HEAD + tasks
    found = findings({"course/__init__.py": "", "course/tasks.py": text}, tmp_path, "SO401", "SO402", "SO403", "SO301")
    assert [(one.code, one.place.line) for one in found if one.code != "SO301"] == [("SO403", line_of(text, "# here"))]
    assert ("course/tasks.py", line_of(text, "# sent")) in lines(found[-1])


@pytest.mark.parametrize(
    ("cluster", "codes"),
    [
        ('{"orm": "default"}', ["SO403"]),
        ('{"sqs": {"aws_region": "eu-west-1"}}', ["SO403"]),
        ('{"orm": "default", "max_attempts": 0}', ["SO403"]),
        ('{"orm": "default", "max_attempts": 3}', ["SO401"]),
        ('{"orm": "default", "ack_failures": True}', []),
        ('{"redis": {"host": "redis"}}', []),
    ],
)
def test_a_queue_whose_settings_repeat(cluster: str, codes: list[str], tmp_path: Path) -> None:
    views = """
    from django.core.mail import send_mail
    from django_q.tasks import async_task


    def remind(to):
        send_mail("A reminder", "x", None, [to])


    def ask(request):
        async_task(remind, "a@x.example")
    """
    files = {"course/__init__.py": "", "course/views.py": views, "course/settings.py": f"Q_CLUSTER = {cluster}\n"}
    found = findings(files, tmp_path, "SO401", "SO403")
    assert [one.code for one in found] == codes
    assert {one.place.path for one in found} <= {"course/settings.py"}


def test_replaces_what_the_job_alone_would_say(tmp_path: Path) -> None:
    found = findings({"course/__init__.py": "", "course/tasks.py": HEAD + FAULTY["None"]}, tmp_path)
    assert [one.code for one in found] == ["SO403"]


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(unbounded_retry.RULE.doc)
    head = "from celery import shared_task\nfrom django.core.mail import send_mail\n"
    head += "from django.utils.timezone import now\nfrom .models import Order, address, text\n\n"
    models = "from django.db import models\n\nclass Order(models.Model):\n"
    models += "    email = models.EmailField()\n    receipt_sent_at = models.DateTimeField(null=True)\n\n"
    models += "def address(pk):\n    return Order.objects.get(pk=pk).email\n\ndef text(pk):\n    return str(pk)\n"
    for name, wanted in (("Bad", 1), ("Good", 0)):
        files = {"shop/__init__.py": "", "shop/models.py": models, "shop/tasks.py": head + given[name]}
        assert len(findings(files, tmp_path / name, "SO403")) == wanted, name
