"""SO203: written, enqueued or sent, and only then committed."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of, lines
from sendonce.checks import enqueue_before_commit

HEAD = """
from contextlib import contextmanager
from celery import shared_task
from fastapi import Depends
from flask_mail import Mail, Message
from sqlalchemy import create_engine, insert, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, sessionmaker

make = sessionmaker(create_engine("sqlite://"))
mail = Mail()


class Base(DeclarativeBase):
    pass


class Seat(Base):
    __tablename__ = "seat"
    id: Mapped[int] = mapped_column(primary_key=True)
    taken: Mapped[bool]


@shared_task
def tell(pk):
    mail.send(Message("Seat", recipients=["a@example.org"]))


def add(session, seat, commit=True):
    session.add(seat)
    if commit:
        session.commit()  # in add


@contextmanager
def scope():
    session = make()
    yield session
    session.commit()  # in scope


def request_session():
    with make() as session:
        yield session
        session.commit()  # in dependency


"""
SILENT = {
    "commit first": """
def take(session: Session):
    seat = Seat()
    session.add(seat)
    session.commit()
    tell.delay(seat.id)
""",
    "only read": """
def take(session: Session):
    seat = session.scalars(select(Seat)).first()
    tell.delay(seat.id)
    session.commit()
""",
    "a helper that commits": """
def take(session: Session):
    add(session, Seat())
    tell.delay(1)
    session.commit()
""",
    "rolled back": """
def take(session: Session):
    session.add(Seat())
    session.rollback()
    tell.delay(1)
    session.commit()
""",
    "written in a block that has ended": """
def take(session: Session):
    with scope() as inner:
        inner.add(Seat())
    tell.delay(1)
    session.commit()
""",
    "committed further in, right before": """
def finish(session: Session):
    session.commit()
    tell.delay(1)


def take(session: Session):
    session.add(Seat())
    finish(session)
    session.commit()
""",
    "never committed": """
def take(session: Session):
    session.add(Seat())
    tell.delay(1)
    session.rollback()
""",
}
FAULTY = {
    "add": """
def take(session: Session):
    seat = Seat()
    session.add(seat)
    session.flush()
    tell.delay(seat.id)  # here
    session.commit()  # commit
""",
    "a loaded row": """
def take(session: Session):
    seat = session.get(Seat, 1)
    seat.taken = True
    tell.delay(seat.id)  # here
    session.commit()  # commit
""",
    "a statement": """
def take(session: Session):
    session.execute(insert(Seat).values(taken=True))
    tell.delay(1)  # here
    session.commit()  # commit
""",
    "a helper told not to commit": """
def take(session: Session):
    add(session, Seat(), commit=False)
    tell.delay(1)  # here
    session.commit()  # commit
""",
    "commit in finally": """
def take(session: Session):
    session.add(Seat())
    try:
        tell.delay(1)  # here
    finally:
        session.commit()  # commit
""",
    "a block that commits": """
def take():
    with scope() as session:
        session.add(Seat())
        tell.delay(1)  # here
""",
    "a dependency that commits": """
def take(session: Session = Depends(request_session)):
    session.add(Seat())
    tell.delay(1)  # here
""",
    "an object that keeps the session": """
class Seats:
    def __init__(self, session):
        self.session = session

    def take(self):
        self.session.add(Seat())
        tell.delay(1)  # here
        self.session.commit()  # commit


def run():
    with make() as session:
        Seats(session).take()
""",
    "another session's commit": """
def take(session: Session):
    session.add(Seat())
    other = make()
    other.add(Seat())
    other.commit()
    tell.delay(1)  # here
    session.commit()  # commit
""",
    "a send in place": """
def take(session: Session):
    session.add(Seat())
    tell(1)  # here
    session.commit()  # commit
""",
    "the commit in a helper after the mail": """
def finish(session: Session):
    tell.delay(1)  # here
    session.commit()  # commit


def take(session: Session):
    session.add(Seat())
    finish(session)
""",
}
COMMITS = {"a block that commits": "# in scope", "a dependency that commits": "# in dependency"}


def _project(code: str) -> dict[str, str]:
    return {"hall/__init__.py": "", "hall/seats.py": HEAD + code}


@pytest.mark.parametrize("code", SILENT.values(), ids=SILENT.keys())
def test_silent(code: str, tmp_path: Path) -> None:
    assert findings(_project(code), tmp_path, "SO203") == []


@pytest.mark.parametrize(("name", "code"), FAULTY.items(), ids=FAULTY.keys())
def test_faulty(name: str, code: str, tmp_path: Path) -> None:
    found = findings(_project(code), tmp_path, "SO203")
    assert [one.place.line for one in found] == [line_of(HEAD + code, "# here")]
    assert ("hall/seats.py", line_of(HEAD + code, COMMITS.get(name, "# commit"))) in lines(found[0])


def test_examples(tmp_path: Path) -> None:
    code = examples(enqueue_before_commit.__doc__ or "")
    head = """from redis import Redis
from rq import Queue
from sqlalchemy.orm import Session
from .jobs import mail_invoice

queue = Queue(connection=Redis())


def bill(session: Session, invoice):
"""
    jobs = """
import smtplib


def mail_invoice(pk):
    smtplib.SMTP("localhost").sendmail("a@example.org", "b@example.org", "Invoice")
"""
    for title, wanted in (("Bad", 1), ("Good", 0)):
        body = "".join(f"    {line}\n" for line in code[title].splitlines())
        files = {"shop/__init__.py": "", "shop/jobs.py": jobs, "shop/bill.py": head + body}
        assert len(findings(files, tmp_path / title, "SO203")) == wanted, title
