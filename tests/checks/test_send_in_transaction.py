"""SO202: a mail is handed to the provider while a transaction is open."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of, lines
from sendonce.checks import send_in_transaction

HEAD = """
import smtplib
import psycopg2
from celery import shared_task
from django.core.mail import send_mail
from django.db import models, transaction
from post_office import mail
from sqlalchemy import create_engine
from sqlalchemy.orm import sessionmaker

Session = sessionmaker(create_engine("sqlite://"))


class Loan(models.Model):
    email = models.EmailField()
    told = models.BooleanField(default=False)

    def tell(self):
        send_mail("Loan", "x", None, [self.email])


"""
SILENT = {
    "after the block": """
def lend(pk):
    with transaction.atomic():
        loan = Loan.objects.select_for_update().get(pk=pk)
        loan.save()
    loan.tell()
""",
    "deferred": """
@transaction.atomic
def lend(pk):
    loan = Loan.objects.get(pk=pk)
    transaction.on_commit(loan.tell)
""",
    "stored in the same database": """
@transaction.atomic
def lend(pk):
    mail.send("a@example.org", "b@example.org", template="loan")
""",
    "a session that is only opened": """
def lend(pk):
    with Session() as session:
        smtplib.SMTP("localhost").sendmail("a@example.org", "b@example.org", "Loan")
""",
}
FAULTY = {
    "block": """
def lend(pk):
    with transaction.atomic():  # opens
        loan = Loan.objects.get(pk=pk)
        loan.tell()  # here
""",
    "of another library": """
def lend(pk):
    with Session.begin() as session:  # opens
        smtplib.SMTP("localhost").sendmail("a@example.org", "b@example.org", "Loan")  # here
""",
    "a connection as context": """
def lend(pk):
    with psycopg2.connect("dbname=x") as connection:  # opens
        connection.cursor().execute("UPDATE loan SET told = true")
        Loan.objects.get(pk=pk).tell()  # here
""",
    "in a job that a view enqueues": """
@shared_task
def lend(pk):
    with transaction.atomic():  # opens
        loan = Loan.objects.get(pk=pk)
        loan.tell()  # here
        loan.save()


def view(request):
    lend.delay(1)
""",
    "sent at once past the queue": """
@transaction.atomic  # opens
def lend(pk):
    mail.send("a@example.org", "b@example.org", template="loan", priority="now")  # here
""",
}


def _project(code: str) -> dict[str, str]:
    return {"library/__init__.py": "", "library/loans.py": HEAD + code}


@pytest.mark.parametrize("code", SILENT.values(), ids=SILENT.keys())
def test_silent(code: str, tmp_path: Path) -> None:
    assert findings(_project(code), tmp_path, "SO202") == []


@pytest.mark.parametrize("code", FAULTY.values(), ids=FAULTY.keys())
def test_faulty(code: str, tmp_path: Path) -> None:
    found = findings(_project(code), tmp_path, "SO202")
    assert [one.place.line for one in found] == [line_of(HEAD + code, "# here")]
    assert ("library/loans.py", line_of(HEAD + code, "# opens")) in lines(found[0])
    assert found[0].severity == "warning"


def test_claim_held_by_the_transaction_is_a_note(tmp_path: Path) -> None:
    code = """
@shared_task
def lend(pk):
    with transaction.atomic():
        loan = Loan.objects.select_for_update().get(pk=pk)
        if loan.told:
            return
        loan.tell()  # here
        loan.told = True
        loan.save()
"""
    found = findings(_project(code), tmp_path, "SO202")
    assert [(one.place.line, one.severity) for one in found] == [(line_of(HEAD + code, "# here"), "note")]


def test_dispatch_of_a_mixin_is_a_whole_request(tmp_path: Path) -> None:
    code = """
from django.urls import path
from django.views import View


class Atomic:
    @transaction.atomic
    def dispatch(self, *args, **kwargs):
        return super().dispatch(*args, **kwargs)  # opens


class Lend(Atomic, View):
    def post(self, request, pk):
        self.tell(pk)  # here

    def tell(self, pk):
        Loan.objects.get(pk=pk).tell()


urlpatterns = [path("lend/<int:pk>", Lend.as_view())]
"""
    found = findings(_project(code), tmp_path, "SO202")
    assert [one.place.line for one in found] == [line_of(HEAD + code, "# here")]
    assert ("library/loans.py", line_of(HEAD + code, "# opens")) in lines(found[0])


def test_examples(tmp_path: Path) -> None:
    code = examples(send_in_transaction.__doc__ or "")
    head = "from django.core.mail import send_mail\nfrom django.db import transaction\n\n\n"
    head += "def pay(order, text, ledger):\n"
    for title, wanted in (("Bad", 1), ("Good", 0)):
        body = "".join(f"    {line}\n" for line in code[title].splitlines())
        files = {"shop/__init__.py": "", "shop/pay.py": head + body}
        assert len(findings(files, tmp_path / title, "SO202")) == wanted, title
