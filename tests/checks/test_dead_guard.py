"""SO312: guards that cannot work."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of
from checks.shop import ONE, single
from sendonce.checks import dead_guard

SILENT = {
    "a column that is stored": """
    if letter.told_at is None:
        letter.told_at = timezone.now()
        letter.save()
        tell(letter)
""",
    "a helper stores it": """
    if letter.told_at is None:
        letter.told_at = timezone.now()
        store(letter)
        tell(letter)
""",
    "an attribute that other code reads": """
    if letter.told_at is None:
        letter.is_fresh = True
        letter.mark_told()
        tell(letter)
        log.info("%s", letter.is_fresh)
""",
    "dates with dates": """
    if letter.told_on == timezone.localdate():
        return
    letter.told_on = timezone.localdate()
    letter.save()
    tell(letter)
""",
    "the day of a time": """
    if letter.told_at.date() == timezone.localdate():
        return
    letter.mark_told()
    tell(letter)
""",
    "a test that only then mails": "    if letter.due_at == timezone.localdate():\n        tell(letter)\n",
}
FAULTY = {
    "no column": """
    if letter.told_at is not None:
        return
    letter.told_when = timezone.now()  # here
    letter.save()
    tell(letter)
""",
    "no column behind the mail": """
    if letter.told:
        return
    tell(letter)
    letter.was_told = True  # here
    letter.save()
""",
    "never saved": """
    if letter.told:
        return
    letter.told = True  # here
    tell(letter)
""",
    "a time with a date": """
    if letter.told_at == timezone.localdate():  # here
        return
    letter.mark_told()
    tell(letter)
""",
    "a date with a time": """
    if letter.told_on != timezone.now():  # here
        letter.told_on = timezone.localdate()
        letter.save()
        tell(letter)
""",
}
STORE = "\n\ndef store(row):\n    row.save()\n"


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_silent(body: str, tmp_path: Path) -> None:
    assert findings(single(ONE + body.removeprefix("\n") + STORE), tmp_path, "SO312") == []


@pytest.mark.parametrize("body", FAULTY.values(), ids=FAULTY)
def test_stands_at_what_does_not_work(body: str, tmp_path: Path) -> None:
    text = ONE + body.removeprefix("\n")
    found = findings(single(text), tmp_path, "SO301", "SO302", "SO303", "SO312")
    assert [(one.code, one.place.line) for one in found] == [("SO312", line_of(text, "# here"))]


SESSIONS = """
import smtplib
from flask import Flask
from sqlalchemy import create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, sessionmaker

app = Flask(__name__)
Session = sessionmaker(create_engine("postgresql://db/x"))


class Base(DeclarativeBase):
    pass


class Visit(Base):
    __tablename__ = "visits"
    id: Mapped[int] = mapped_column(primary_key=True)
    told: Mapped[bool] = mapped_column(default=False)


def mail():
    smtplib.SMTP("localhost").sendmail("a@x.example", "b@x.example", "Subject: Hello")


@app.post("/<int:id>")
def tell(id):
    with {0} as session:
        visit = session.get(Visit, id)
        if visit.told:
            return ""
        visit.told = True
        {1}
        mail()
    return ""
"""
ENDS = {
    "closed": ("Session()", "pass", 1),
    "committed": ("Session()", "session.commit()", 0),
    "a block that commits": ("Session.begin()", "pass", 0),
}


@pytest.mark.parametrize(("opened", "step", "wanted"), ENDS.values(), ids=ENDS)
def test_a_session_stores_what_is_committed(opened: str, step: str, wanted: int, tmp_path: Path) -> None:
    text = SESSIONS.replace("{0}", opened).replace("{1}", step)
    assert len(findings({"app.py": text}, tmp_path, "SO312")) == wanted


CLAIM = """    with Session() as session:
        session.add(Visit(id=id))
        session.flush()  # here
        {1}
    mail()
    return ""
"""


@pytest.mark.parametrize(("step", "wanted"), [("pass", 1), ("session.commit()", 0)])
def test_a_claim_that_nothing_commits_is_rolled_back(step: str, wanted: int, tmp_path: Path) -> None:
    head, _, _ = SESSIONS.partition("    with {0}")
    text = head + CLAIM.replace("{1}", step)
    found = findings({"app.py": text}, tmp_path, "SO301", "SO302", "SO303", "SO312")
    assert [(one.code, one.place.line) for one in found] == [("SO312", line_of(text, "# here"))] * wanted


LENT = """
import smtplib

from fastapi import Depends, FastAPI
from sqlalchemy import create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, sessionmaker

app = FastAPI()
Session = sessionmaker(create_engine("postgresql://"))


class Base(DeclarativeBase):
    pass


class Visit(Base):
    __tablename__ = "visit"
    id: Mapped[int] = mapped_column(primary_key=True)
    told: Mapped[bool] = mapped_column(default=False)


def loan():
{0}


def find(session, id):
    return session.get(Visit, id)


@app.post("/{id}")
def tell(id: int, session=Depends(loan)):
    visit = find(session, id)
    if visit.told:
        return ""
    visit.told = True
    {1}smtplib.SMTP("localhost").sendmail("a@x.example", "b@x.example", "Subject: Hello")
    return ""
"""
CLOSES = "    with Session() as session:\n        yield session"
LOANS = {
    "commits on exit": (f"{CLOSES}\n        session.commit()", "", 0),
    "a block that commits": ("    with Session.begin() as session:\n        yield session", "", 0),
    "the handler commits": (CLOSES, "session.commit()\n    ", 0),
    "a session of the application": ("    return app.state.session", "", 0),
    "only closes": (CLOSES, "", 1),
    "only closes, by hand": (
        "    session = Session()\n    try:\n        yield session\n    finally:\n        session.close()",
        "",
        1,
    ),
}


@pytest.mark.parametrize(("loan", "step", "wanted"), LOANS.values(), ids=LOANS)
def test_a_session_that_a_dependency_lends(loan: str, step: str, wanted: int, tmp_path: Path) -> None:
    text = LENT.replace("{0}", loan).replace("{1}", step)
    assert len(findings({"app.py": text}, tmp_path, "SO312")) == wanted


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(dead_guard.RULE.doc)
    head = "from celery import shared_task\nfrom django.core.mail import send_mail\n"
    head += "from django.utils.timezone import now\nfrom .models import Trip\n\ndef text(trip):\n    return 'x'\n\n"
    models = "from django.db import models\n\nclass Trip(models.Model):\n    email = models.EmailField()\n"
    models += "    receipt_at = models.DateTimeField(null=True)\n"
    for name, wanted in (("Bad", 1), ("Good", 0)):
        files = {"shop/__init__.py": "", "shop/models.py": models, "shop/tasks.py": head + given[name]}
        assert len(findings(files, tmp_path / name, "SO312")) == wanted, name
