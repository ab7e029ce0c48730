"""SO401: a retry around a provider send that may have been accepted."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of, lines
from sendonce.checks import retry_around_send

MODELS = """
from django.db import models


class Bill(models.Model):
    email = models.EmailField()
    mailed_at = models.DateTimeField(null=True)
"""
HEAD = """
import contextlib
import smtplib
import time
import requests
from celery import shared_task
from django.core.mail import send_mail
from django.db import OperationalError
from django.utils import timezone
from sendgrid import SendGridAPIClient, SendGridException
from sendgrid.helpers.mail import Mail
from tenacity import retry, retry_if_exception_type, retry_if_not_exception_type, stop_after_attempt
from .models import Bill

"""

SILENT = {
    "claimed inside the repeated part": """
@shared_task(autoretry_for=(OSError,), max_retries=3)
def bill(pk):
    if not Bill.objects.filter(pk=pk, mailed_at=None).update(mailed_at=timezone.now()):
        return
    send_mail("Your bill", "x", None, [Bill.objects.get(pk=pk).email])
""",
    "the error is swallowed": """
@shared_task(autoretry_for=(OSError,), max_retries=3)
def bill(pk):
    try:
        send_mail("Your bill", "x", None, ["a@x.example"])
    except OSError:
        print("lost")
""",
    "only the work before is repeated": """
@retry(stop=stop_after_attempt(3))
def load(pk):
    return Bill.objects.get(pk=pk)


@shared_task
def bill(pk):
    send_mail("Your bill", "x", None, [load(pk).email])
""",
    "only a missing row is waited for": """
@shared_task(autoretry_for=(Bill.DoesNotExist,), max_retries=3)
def bill(pk):
    send_mail("Your bill", "x", None, [Bill.objects.get(pk=pk).email])
""",
    "only a refused connection": """
@retry(stop=stop_after_attempt(3), retry=retry_if_exception_type(ConnectionRefusedError))
def bill(pk):
    send_mail("Your bill", "x", None, ["a@x.example"])
""",
    "the error that is waited for comes from a fetch before the mail": """
@shared_task(autoretry_for=(requests.Timeout,), max_retries=3)
def bill(pk):
    rate = requests.get("https://rates.x.example").json()
    send_mail(f"Your bill at {rate}", "x", None, ["a@x.example"])
""",
    "an error of the project that is raised before the mail alone": """
class NoRate(Exception):
    pass


def rate():
    if not requests.get("https://rates.x.example").ok:
        raise NoRate
    return 1


@shared_task(autoretry_for=(NoRate,), max_retries=3)
def bill(pk):
    known = rate()
    send_mail(f"Your bill at {known}", "x", None, ["a@x.example"])
""",
    "an error of the project that nothing raises": """
class Lost(Exception):
    pass


@shared_task(autoretry_for=(Lost,), max_retries=3)
def bill(pk):
    send_mail("Your bill", "x", None, ["a@x.example"])
    Bill.objects.filter(pk=pk).update(mailed_at=timezone.now())
""",
    "an error that is made of a refused connection alone": """
class Busy(Exception):
    pass


def deliver(to):
    try:
        send_mail("Your bill", "x", None, [to])
    except ConnectionRefusedError as error:
        raise Busy from error


@shared_task(autoretry_for=(Busy,), max_retries=3)
def bill(pk):
    deliver("a@x.example")
""",
    "a client-side refusal": """
@shared_task(autoretry_for=(SendGridException,), max_retries=3)
def bill(pk):
    SendGridAPIClient("key").send(Mail(from_email="b@x.example", to_emails="a@x.example", subject="Your bill"))
""",
    "the error of the project's own is swallowed further out": """
class Lost(Exception):
    pass


def deliver(to):
    try:
        send_mail("Your bill", "x", None, [to])
    except OSError as error:
        raise Lost from error


@shared_task(autoretry_for=(Exception,), max_retries=3)
def bill(pk):
    try:
        deliver("a@x.example")
    except Lost:
        print("lost")
""",
    "only what the server has refused": """
@shared_task(bind=True, max_retries=3)
def bill(self, pk):
    try:
        send_mail("Your bill", "x", None, ["a@x.example"])
    except smtplib.SMTPRecipientsRefused as error:
        raise self.retry(exc=error)
""",
    "only where too much was asked of the provider": """
@shared_task(bind=True, max_retries=3)
def bill(self, pk):
    answer = requests.post("https://api.postmarkapp.com/email", json={"To": "a@x.example", "Subject": "Your bill"})
    if answer.status_code == 429:
        raise self.retry(countdown=60)
""",
    "the send keeps its errors to itself": """
@shared_task(autoretry_for=(Exception,), max_retries=3)
def bill(pk):
    send_mail("Your bill", "x", None, ["a@x.example"], fail_silently=True)
""",
    "the errors of the send are suppressed": """
@shared_task(autoretry_for=(Exception,), max_retries=3)
def bill(pk):
    with contextlib.suppress(OSError):
        send_mail("Your bill", "x", None, ["a@x.example"])
""",
    "the errors of the send are left out": """
@shared_task(autoretry_for=(Exception,), dont_autoretry_for=(OSError,), max_retries=3)
def bill(pk):
    send_mail("Your bill", "x", None, ["a@x.example"])
""",
    "the errors of the send are left out by a decorator": """
@retry(stop=stop_after_attempt(3), retry=retry_if_not_exception_type(OSError))
def bill(pk):
    send_mail("Your bill", "x", None, ["a@x.example"])
""",
    "a loop that waits until less is asked of the provider": """
def bill(to):
    for attempt in range(5):
        answer = requests.post("https://api.postmarkapp.com/email", json={"To": to, "Subject": "Your bill"})
        if answer.status_code != 429:
            break
        time.sleep(attempt)
""",
    "the job that is repeated ends with the enqueue": """
@shared_task
def bill(pk):
    send_mail("Your bill", "x", None, ["a@x.example"])


@shared_task(autoretry_for=(Exception,), max_retries=3)
def close_month(pk):
    Bill.objects.get(pk=pk)
    bill.delay(pk)
""",
    "a decorator around an enqueue": """
@shared_task
def bill(pk):
    send_mail("Your bill", "x", None, ["a@x.example"])


@retry(stop=stop_after_attempt(3))
def publish(pk):
    bill.delay(pk)
""",
    "a loop over different people": """
def bill(people):
    for person in people:
        try:
            send_mail("Your bill", "x", None, [person])
        except OSError:
            continue
""",
    "a loop that goes on after a success": """
def bill(queue):
    while True:
        try:
            send_mail("Your bill", "x", None, [queue.get()])
        except OSError:
            time.sleep(1)
""",
    "a loop of connecting alone": """
def connected():
    for attempt in range(3):
        try:
            return smtplib.SMTP("localhost")
        except OSError:
            time.sleep(attempt)


def bill(to):
    connected().sendmail("a@x.example", to, "Subject: Your bill")
""",
}
FAULTY = {
    "option of the queue": """
@shared_task(autoretry_for=(OSError,), max_retries=3)  # here
def bill(pk):
    send_mail("Your bill", "x", None, [Bill.objects.get(pk=pk).email])  # sent
""",
    "the job asks for it": """
@shared_task(bind=True, max_retries=3)
def bill(self, pk):
    try:
        send_mail("Your bill", "x", None, ["a@x.example"])  # sent
    except OSError as error:
        raise self.retry(exc=error)  # here
""",
    "the claim is made by who enqueues": """
@shared_task(autoretry_for=(OSError,), max_retries=3)  # here
def bill(pk):
    send_mail("Your bill", "x", None, ["a@x.example"])  # sent


def due(pk):
    if Bill.objects.filter(pk=pk, mailed_at=None).update(mailed_at=timezone.now()):
        bill.delay(pk)
""",
    "an error of the project that is raised after the mail": """
class NotFiled(Exception):
    pass


def file_away(pk):
    if not Bill.objects.filter(pk=pk).exists():
        raise NotFiled(pk)


@shared_task(autoretry_for=(NotFiled,), max_retries=3)  # here
def bill(pk):
    send_mail("Your bill", "x", None, ["a@x.example"])  # sent
    file_away(pk)
""",
    "an error of the project that is made of the send's": """
class Lost(Exception):
    pass


def deliver(to):
    try:
        send_mail("Your bill", "x", None, [to])  # sent
    except OSError as error:
        raise Lost from error


@shared_task(autoretry_for=(Lost,), max_retries=3)  # here
def bill(pk):
    deliver("a@x.example")
""",
    "an error of the database after the mail": """
@shared_task(autoretry_for=(OperationalError,), max_retries=3)  # here
def bill(pk):
    send_mail("Your bill", "x", None, ["a@x.example"])  # sent
    Bill.objects.filter(pk=pk).update(mailed_at=timezone.now())
""",
    "an error of another library after the mail": """
@shared_task(autoretry_for=(requests.Timeout,), max_retries=3)  # here
def bill(pk):
    send_mail("Your bill", "x", None, ["a@x.example"])  # sent
    requests.put("https://books.x.example", json={"bill": pk})
""",
    "what stands after an enqueue may fail": """
@shared_task
def bill(pk):
    send_mail("Your bill", "x", None, ["a@x.example"])  # sent


@shared_task(autoretry_for=(Exception,), max_retries=3)  # here
def close_month(pk):
    bill.delay(pk)
    Bill.objects.filter(pk=pk).update(mailed_at=timezone.now())
""",
    "one server after another": """
def bill(to):
    for host in ("one.x.example", "two.x.example"):  # here
        try:
            smtplib.SMTP(host).sendmail("b@x.example", to, "Subject: Your bill")  # sent
            return
        except smtplib.SMTPException:
            continue
""",
    "a loop until the answer is good": """
def bill(to):
    for attempt in range(5):  # here
        answer = requests.post("https://api.postmarkapp.com/email", json={"To": to, "Subject": "Your bill"})  # sent
        if answer.ok:
            break
        time.sleep(attempt)
""",
    "a loop until a helper says that it worked": """
def deliver(to):
    try:
        send_mail("Your bill", "x", None, [to])  # sent
    except OSError:
        return False
    return True


def bill(to):
    for attempt in range(5):  # here
        if deliver(to):
            return
        time.sleep(attempt)
""",
    "a function that calls itself": """
def bill(to, left=3):
    try:
        send_mail("Your bill", "x", None, [to])  # sent
    except OSError:
        if left:
            bill(to, left - 1)  # here
""",
    "the job puts itself on the queue again": """
@shared_task
def bill(pk, attempt=0):
    try:
        send_mail("Your bill", "x", None, ["a@x.example"])  # sent
    except OSError:
        if attempt < 5:
            bill.apply_async(args=(pk, attempt + 1), countdown=60)  # here
""",
    "decorator on a helper": """
@retry(stop=stop_after_attempt(3))  # here
def deliver(subject, to):
    send_mail(subject, "x", None, [to])


def bill(to):
    deliver("Your bill", to)  # sent
""",
    "loop that a success leaves": """
def bill(to):
    for attempt in range(3):  # here
        try:
            send_mail("Your bill", "x", None, [to])  # sent
            break
        except OSError:
            time.sleep(1)
""",
    "loop until a flag is set": """
def bill(to):
    sent = False
    while not sent:  # here
        try:
            send_mail("Your bill", "x", None, [to])  # sent
            sent = True
        except OSError:
            time.sleep(1)
""",
    "loop in an own decorator": """
def again(function):
    def inner(*args):
        for _ in range(3):  # here
            try:
                return function(*args)
            except Exception:
                time.sleep(1)

    return inner


@again
def deliver(to):
    send_mail("Your bill", "x", None, [to])  # sent


def bill(to):
    deliver(to)
""",
}


def project(tasks: str) -> dict[str, str]:
    return {"desk/__init__.py": "", "desk/models.py": MODELS, "desk/tasks.py": HEAD + tasks}


@pytest.mark.parametrize("tasks", SILENT.values(), ids=SILENT)
def test_silent(tasks: str, tmp_path: Path) -> None:
    assert findings(project(tasks), tmp_path, "SO401") == []


@pytest.mark.parametrize("tasks", FAULTY.values(), ids=FAULTY)
def test_stands_at_the_retry(tasks: str, tmp_path: Path) -> None:
    found = findings(project(tasks), tmp_path, "SO401", "SO403")
    text = HEAD + tasks
    assert [(one.place.path, one.place.line) for one in found] == [("desk/tasks.py", line_of(text, "# here"))]
    assert ("desk/tasks.py", line_of(text, "# sent")) in lines(found[0])
    assert found[0].severity == "error"


@pytest.mark.parametrize(("methods", "count"), [("None", 1), ('["GET", "POST"]', 1), ('["GET"]', 0)])
def test_a_session_that_repeats_posts(methods: str, count: int, tmp_path: Path) -> None:
    app = f"""
    import requests
    from flask import Flask
    from requests.adapters import HTTPAdapter
    from urllib3.util.retry import Retry

    app = Flask(__name__)
    session = requests.Session()
    session.mount("https://", HTTPAdapter(max_retries=Retry(total=4, allowed_methods={methods})))


    @app.post("/mail")
    def mail():
        session.post("https://api.postmarkapp.com/email", json={{"To": "a", "Subject": "Hello there"}})
        return ""
    """
    found = findings({"app.py": app}, tmp_path, "SO401")
    assert [one.place.line for one in found] == [line_of(app, "session.mount")] * count


def test_one_fault_of_a_helper_is_told_once(tmp_path: Path) -> None:
    tasks = """
@retry(stop=stop_after_attempt(3))
def deliver(subject, to):
    send_mail(subject, "x", None, [to])


def bill(to):
    deliver("Your bill", to)


def refund(to):
    deliver("Your refund", to)
"""
    found = findings(project(tasks), tmp_path, "SO401")
    assert len(found) == 1
    text = HEAD + tasks
    wanted = {("desk/tasks.py", line_of(text, part)) for part in ('"Your bill"', '"Your refund"')}
    assert wanted <= lines(found[0])


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(retry_around_send.RULE.doc)
    head = "from celery import shared_task\nfrom django.core.mail import send_mail\n"
    head += "from django.utils.timezone import now\nfrom .models import Order\n\n"
    head += "def text(order):\n    return 'x'\n\ndef archive(order):\n    order.delete()\n\n"
    models = "from django.db import models\n\nclass Order(models.Model):\n"
    models += "    email = models.EmailField()\n    receipt_sent_at = models.DateTimeField(null=True)\n"
    for name, wanted in (("Bad", 1), ("Good", 0)):
        files = {"shop/__init__.py": "", "shop/models.py": models, "shop/tasks.py": head + given[name]}
        assert len(findings(files, tmp_path / name, "SO401")) == wanted, name
