"""SO306: a claim on fields that nothing makes unique."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of, lines
from sendonce.checks import reservation_not_unique

VIEWS = """
from django.core.mail import send_mail
from django.db import IntegrityError
from django.http import HttpResponse
from .models import Guest, Seat, Team

def invite(request, pk):
    address = request.POST["email"]
"""
URLS = 'from django.urls import path\nfrom . import views\nurlpatterns = [path("<int:pk>/", views.invite)]\n'
MODELS = """
import uuid
from django.contrib.auth.models import AbstractUser
from django.db import models

class Guest(AbstractUser):
    phone = models.CharField(max_length=9)

class Team(models.Model):
    name = models.CharField(max_length=9)

class Seat(models.Model):
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="seats")
    email = models.EmailField()
    {unique}
"""
NONE = 'class Meta:\n        indexes = [models.Index(fields=["team", "email"])]'
UNIQUE = 'class Meta:\n        unique_together = [("team", "email")]'
CREATED = """
    _, created = Seat.objects.get_or_create(team_id=pk, email=address)  # claim
    if created:
        send_mail("Join us", "x", None, [address])
    return HttpResponse()
"""
RELATED = """
    team = Team.objects.get(pk=pk)
    seat, new = team.seats.get_or_create(email=address)  # claim
    if not new:
        return HttpResponse(status=409)
    send_mail("Join us", "x", None, [address])
    return HttpResponse()
"""
CAUGHT = """
    try:
        Seat.objects.create(team_id=pk, email=address)  # claim
    except IntegrityError:
        return HttpResponse(status=409)
    send_mail("Join us", "x", None, [address])
    return HttpResponse()
"""
SILENT = {
    "fields of a dict, constraint": (
        UNIQUE,
        """
    fields = {"team_id": pk}
    fields["email"] = address
    _, created = Seat.objects.get_or_create(**fields)
    if created:
        send_mail("Join us", "x", None, [address])
    return HttpResponse()
""",
    ),
    "fields of a dict that branches fill": (
        UNIQUE,
        """
    fields = {"team_id": pk}
    if address:
        fields["email"] = address
    else:
        fields["phone"] = request.POST["phone"]
    _, created = Seat.objects.get_or_create(**fields)
    if created:
        send_mail("Join us", "x", None, [address])
    return HttpResponse()
""",
    ),
    "created, constraint": (UNIQUE, CREATED),
    "related manager, constraint": (UNIQUE, RELATED),
    "caught, constraint": (UNIQUE, CAUGHT),
    "not caught, so no claim was meant": (
        NONE,
        """
    Seat.objects.create(team_id=pk, email=address)
    send_mail("Join us", "x", None, [address])
    return HttpResponse()
""",
    ),
    "the conflict may be another column's": (
        "code = models.UUIDField(unique=True, default=uuid.uuid4)",
        CAUGHT,
    ),
    "created decides something else": (
        NONE,
        """
    seat, created = Seat.objects.get_or_create(team_id=pk, email=address)
    if created:
        seat.save()
    send_mail("Join us", "x", None, [address])
    return HttpResponse()
""",
    ),
    "a field of a library's own model": (
        NONE,
        """
    guest, created = Guest.objects.get_or_create(username=address)
    if created:
        send_mail("Join us", "x", None, [address])
    return HttpResponse()
""",
    ),
    "no mail": (NONE, "\n    Seat.objects.get_or_create(team_id=pk, email=address)\n    return HttpResponse()\n"),
}


def project(unique: str, body: str) -> dict[str, str]:
    models = MODELS.replace("{unique}", unique)
    return {"t/__init__.py": "", "t/models.py": models, "t/views.py": VIEWS + body.lstrip("\n"), "t/urls.py": URLS}


@pytest.mark.parametrize(("unique", "body"), SILENT.values(), ids=SILENT)
def test_silent(unique: str, body: str, tmp_path: Path) -> None:
    assert findings(project(unique, body), tmp_path, "SO306") == []


@pytest.mark.parametrize("body", [CREATED, RELATED, CAUGHT], ids=["created", "related manager", "caught"])
def test_stands_at_the_claim_and_replaces_no_reservation(body: str, tmp_path: Path) -> None:
    files = project(NONE, body)
    found = findings(files, tmp_path, "SO306", "SO301")
    assert [(one.code, one.place.line, one.severity) for one in found] == [
        ("SO306", line_of(files["t/views.py"], "# claim"), "warning")
    ]
    assert ("t/models.py", line_of(files["t/models.py"], "class Seat")) in lines(found[0])


LEDGER = """
import smtplib
from flask import Flask
from sqlalchemy import create_engine
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, sessionmaker

app = Flask(__name__)
Session = sessionmaker(create_engine("postgresql://db/l"))

class Base(DeclarativeBase):
    pass

class Entry(Base):
    __tablename__ = "entry"
    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column({options})

def enter(key):
    with Session() as session:
        row = Entry(key=key)
        session.add(row)
        try:
            session.commit()  # claim
        except IntegrityError:
            return False
    return True

@app.post("/<key>")
def pay(key):
    if enter(key):
        smtplib.SMTP("relay").sendmail("a@x.example", ["b@x.example"], "Subject: paid")
    return ""
"""


@pytest.mark.parametrize(("options", "wanted"), [("index=True", ["SO306"]), ("unique=True", [])])
def test_a_row_whose_conflict_never_comes(options: str, wanted: list[str], tmp_path: Path) -> None:
    text = LEDGER.replace("{options}", options)
    found = findings({"ledger.py": text}, tmp_path, "SO306", "SO301")
    assert [one.code for one in found] == wanted
    for one in found:
        assert {("ledger.py", line_of(text, "# claim")), ("ledger.py", line_of(text, "row = Entry"))} <= lines(one)


def test_the_example_of_the_documentation(tmp_path: Path) -> None:
    head = "from django.core.mail import send_mail\nfrom django.db import models\n\nclass Order(models.Model):\n"
    head += "    email = models.EmailField()\n\ndef text(order):\n    return 'x'\n\n"
    for name, wanted in (("Bad", 1), ("Good", 0)):
        code = examples(reservation_not_unique.RULE.doc)[name]
        found = findings({"shop/__init__.py": "", "shop/models.py": head + code}, tmp_path / name, "SO306")
        assert len(found) == wanted, name
