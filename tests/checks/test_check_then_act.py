"""SO303: a mail that only a read guards, the mark being a later write."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of, lines
from sendonce.checks import check_then_act

MODELS = """
from django.db import models
from django.utils import timezone


class Order(models.Model):
    email = models.EmailField()
    wants_mail = models.BooleanField(default=True)
    state = models.CharField(max_length=9, default="new")
    told_at = models.DateTimeField(null=True)

    @property
    def is_told(self):
        return self.told_at is not None

    def mark_told(self):
        self.told_at = timezone.now()
        self.save()


class Note(models.Model):
    order = models.ForeignKey(Order, on_delete=models.CASCADE)
    kind = models.CharField(max_length=9)

    class Meta:
        unique_together = ("order", "kind")
"""
HEAD = """
from celery import shared_task
from django.core.cache import cache
from django.core.mail import send_mail
from django.db import IntegrityError, transaction
from django.db.models import TextChoices
from django.shortcuts import get_object_or_404
from django.utils import timezone
from .helpers import *
from .models import Note, Order

class State(TextChoices):
    TOLD = "told"
    VOID = "void"


TOLD = {}
NAMES = {"a@x.example"}


def tell(order):
    send_mail("Hello", "text", None, [order.email])


"""
HELPERS = """
from contextlib import contextmanager
from functools import wraps
from django.utils import timezone
from .models import Note


class AlreadyTold(Exception):
    pass


def was_told(order):
    if order.state == "void":
        return True
    return Note.objects.filter(order=order, kind="told").exists()


def ensure_not_told(order):
    if order.is_told:
        raise AlreadyTold()


def remember(order):
    Note.objects.create(order=order, kind="told")


def take(order):
    passed = (timezone.now() - order.told_at).total_seconds()
    order.tokens = min(1, order.tokens + passed / 3600)
    order.tokens -= 0.1
    if order.tokens < 0:
        return False
    order.told_at = timezone.now()
    order.save()
    return True


@contextmanager
def marking(order):
    yield
    order.told_at = timezone.now()
    order.save()


def once(job):
    @wraps(job)
    def inner(order):
        if order.told_at:
            return None
        job(order)
        order.told_at = timezone.now()
        order.save(update_fields=["told_at"])
    return inner
"""
START = "@shared_task\ndef job(pk):\n    order = Order.objects.get(pk=pk)\n"
SILENT = {
    "a rate": """
    elapsed = (timezone.now() - order.told_at).total_seconds()
    order.tokens = min(1, order.tokens + elapsed / 3600) - 0.1
    if order.tokens < 0:
        return
    order.told_at = timezone.now()
    order.save()
    tell(order)
""",
    "a bucket that a helper empties and fills": """
    if not take(order):
        return
    tell(order)
""",
    "a number of rows in a while": """
    if Note.objects.filter(order=order, kind="told").count() >= 5:
        return
    Note.objects.create(order=order, kind="told")
    tell(order)
""",
    "a write on the way that does not mail": """
    if order.state == "told":
        order.told_at = timezone.now()
        order.state = "told"
        order.save()
        return
    tell(order)
""",
    "a preference": "    if not order.wants_mail:\n        return\n    tell(order)\n",
    "a preference beside an unread mark": """
    if order.wants_mail:
        tell(order)
        order.told_at = timezone.now()
        order.save()
""",
    "a set of names that nothing grows": "    if order.email in NAMES:\n        return\n    tell(order)\n",
    "a conditional update": """
    if Order.objects.filter(pk=pk, told_at=None).update(told_at=timezone.now()):
        tell(order)
""",
    "a look before an atomic claim": """
    if order.is_told or not Order.objects.filter(pk=pk, told_at=None).update(told_at=timezone.now()):
        return
    tell(order)
""",
    "a look before a unique insert": """
    if was_told(order):
        return
    try:
        Note.objects.create(order=order, kind="told")
    except IntegrityError:
        return
    tell(order)
""",
    "a lock around all three": """
    with transaction.atomic():
        order = Order.objects.select_for_update().get(pk=pk)
        if order.is_told:
            return
        tell(order)
        order.mark_told()
""",
    "a write that leaves the test as it was": """
    if order.state != "void":
        tell(order)
        order.state = "open"
        order.save()
""",
    "a write in the branch that does not mail": """
    if order.told_at is None:
        tell(order)
    else:
        order.told_at = timezone.now()
        order.save()
""",
    "a write where the mail failed": """
    if order.told_at is None:
        try:
            tell(order)
        except OSError:
            order.told_at = timezone.now()
            order.save()
""",
    "a write before the test": """
    order.state = "open"
    order.save()
    if order.state == "open":
        tell(order)
""",
    "the same field of another model": """
    if order.told_at is None:
        tell(order)
        note = Note.objects.get(order=order)
        note.told_at = timezone.now()
        note.save()
""",
    "addresses seen in this run": """
    seen = set()
    for address in (order.email, "b@x.example"):
        if address in seen:
            continue
        seen.add(address)
        send_mail("Hello", "text", None, [address])
""",
}
FAULTY = {
    "a flag": ("    if order.told_at is None:", "\n        tell(order)\n        order.mark_told()\n"),
    "a property": ("    if order.is_told:", "\n        return\n    tell(order)\n    order.mark_told()\n"),
    "an update without a condition": (
        "    if not order.told_at:",
        "\n        tell(order)\n        Order.objects.filter(pk=pk).update(told_at=timezone.now())\n",
    ),
    "a mark before the mail": (
        "    if order.told_at:",
        "\n        return\n    order.told_at = timezone.now()\n    order.save()\n    tell(order)\n",
    ),
    "a state": (
        '    if order.state in ("new", "late"):',
        '\n        tell(order)\n        order.state = "done"\n        order.save()\n',
    ),
    "a state that is looked up": (
        "    if order.state != State.TOLD:",
        "\n        order.state = State[order.kind.upper()]\n        order.save()\n        tell(order)\n",
    ),
    "one state or another": (
        "    if order.state != State.TOLD:",
        "\n        order.state = State.TOLD if order.kind else State.VOID\n        order.save()\n        tell(order)\n",
    ),
    "a clock": (
        "    if order.told_at and timezone.now() - order.told_at < LIMIT:",
        "\n        return\n    tell(order)\n    order.mark_told()\n",
    ),
    "setattr": (
        "    if order.told_at is None:",
        '\n        tell(order)\n        setattr(order, "told_at", timezone.now())\n        order.save()\n',
    ),
    "a row": ("    if was_told(order):", "\n        return\n    tell(order)\n    remember(order)\n"),
    "a count": (
        "    if Note.objects.filter(order=order).count() == 0:",
        "\n        tell(order)\n        Note(order=order, kind='told').save()\n",
    ),
    "a row that is not there": (
        "        Note.objects.get(order=order)",
        "\n        return\n    except Note.DoesNotExist:\n        pass\n    tell(order)\n    remember(order)\n",
    ),
    "a helper that raises": ("    ensure_not_told(order)", "\n    tell(order)\n    order.mark_told()\n"),
    "a query that finds nothing": (
        "    order = get_object_or_404(Order, pk=pk, state='new')",
        "\n    tell(order)\n    order.state = 'done'\n    order.save()\n",
    ),
    "a context manager": (
        "    if not order.is_told:",
        "\n        with marking(order):\n            tell(order)\n",
    ),
    "a cache": (
        '    if cache.get(f"told:{pk}"):',
        '\n        return\n    tell(order)\n    cache.set(f"told:{pk}", 1, 600)\n',
    ),
    "a dict in memory": ("    if pk in TOLD:", "\n        return\n    TOLD[pk] = True\n    tell(order)\n"),
    "a row that goes": (
        '    if Note.objects.filter(order=order, kind="wanted").exists():',
        '\n        tell(order)\n        Note.objects.filter(order=order, kind="wanted").delete()\n',
    ),
}


def project(body: str) -> dict[str, str]:
    return {"shop/__init__.py": "", "shop/models.py": MODELS, "shop/helpers.py": HELPERS, "shop/tasks.py": body}


def jobs(body: str) -> str:
    return HEAD + START + body.removeprefix("\n")


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
def test_silent(body: str, tmp_path: Path) -> None:
    assert findings(project(jobs(body)), tmp_path, "SO303") == []


@pytest.mark.parametrize(("test", "rest"), FAULTY.values(), ids=FAULTY)
def test_stands_at_the_test(test: str, rest: str, tmp_path: Path) -> None:
    head = "    try:\n" if test.startswith("        ") else ""
    text = jobs(head + test + rest)
    found = findings(project(text), tmp_path, "SO301", "SO302", "SO303")
    assert [one.code for one in found] == ["SO303"]
    assert ("shop/tasks.py", line_of(text, test.strip())) in lines(found[0])


def test_a_decorator_that_asks_and_marks(tmp_path: Path) -> None:
    text = HEAD + "@shared_task\n@once\ndef job(order):\n    tell(order)\n"
    found = findings(project(text), tmp_path, "SO301", "SO302", "SO303")
    assert [(one.code, one.place.line) for one in found] == [("SO303", line_of(HELPERS, "if order.told_at:"))]


def test_check_and_mark_in_the_code_around_the_helper_that_mails(tmp_path: Path) -> None:
    text = HEAD + (
        "def deliver(order):\n    if order.wants_mail:\n        tell(order)\n\n\n"
        "@shared_task\ndef job(pk):\n    order = Order.objects.get(pk=pk)\n"
        "    if order.told_at is None:\n        deliver(order)\n        order.mark_told()\n"
    )
    found = findings(project(text), tmp_path, "SO301", "SO302", "SO303")
    assert [(one.code, one.place.line) for one in found] == [("SO303", line_of(text, "if order.told_at is None"))]
    assert ("shop/models.py", line_of(MODELS, "self.told_at = ")) in lines(found[0])


FORMS = {
    "the clean of a form": """
from django import forms
from django.core.mail import send_mail
from django.urls import path
from .models import Note


class NoteForm(forms.Form):
    kind = forms.CharField()

    def __init__(self, *args, order, **kwargs):
        super().__init__(*args, **kwargs)
        self.order = order

    def save(self):
        note = Note.objects.create(order=self.order, kind=self.cleaned_data["kind"])
        send_mail("Noted", "text", None, [note.order.email])

    def clean_kind(self):
        if Note.objects.filter(order=self.order, kind=self.cleaned_data["kind"]).exists():  # test
            raise forms.ValidationError("again")
        return self.cleaned_data["kind"]


def note(request):
    form = NoteForm(request.POST, order=request.order)
    if form.is_valid():
        form.save()


urlpatterns = [path("note/", note)]
""",
    "a form that adds an error": """
from django import forms
from django.core.mail import send_mail
from django.urls import path
from .models import Note


class NoteForm(forms.Form):
    kind = forms.CharField()

    def __init__(self, *args, order, **kwargs):
        super().__init__(*args, **kwargs)
        self.order = order

    def clean(self):
        kind = self.cleaned_data.get("kind")
        if kind is not None:
            noted = Note.objects.filter(order=self.order, kind=kind)
            if noted.exists():  # test
                self.add_error("kind", "again")

    def save(self):
        note = Note.objects.create(order=self.order, kind=self.cleaned_data["kind"])
        send_mail("Noted", "text", None, [note.order.email])


def note(request):
    form = NoteForm(request.POST, order=request.order)
    if form.is_valid():
        form.save()


urlpatterns = [path("note/", note)]
""",
    "a validator that looks at one item after another": """
from django.core.mail import send_mail
from django.urls import path
from rest_framework import generics, serializers
from .models import Note


class NotesSerializer(serializers.Serializer):
    def validate_kinds(self, value):
        for kind in value:
            self.refuse_again(kind)  # test
        return value

    def refuse_again(self, kind):
        if Note.objects.filter(kind=kind).exists():
            raise serializers.ValidationError("again")

    def create(self, validated_data):
        for kind in validated_data["kinds"]:
            note = Note.objects.create(order=validated_data["order"], kind=kind)
            send_mail("Noted", "text", None, [note.order.email])
        return note


class Notes(generics.CreateAPIView):
    serializer_class = NotesSerializer


urlpatterns = [path("note/", Notes.as_view())]
""",
    "the validation of a serializer": """
from django.core.mail import send_mail
from django.urls import path
from rest_framework import generics, serializers
from .models import Note


class NoteSerializer(serializers.ModelSerializer):
    def validate(self, attrs):
        if Note.objects.filter(order=attrs["order"]).exists():  # test
            raise serializers.ValidationError("again")
        return attrs

    def create(self, validated_data):
        note = Note.objects.create(**validated_data)
        send_mail("Noted", "text", None, [note.order.email])
        return note


class Notes(generics.CreateAPIView):
    serializer_class = NoteSerializer


urlpatterns = [path("note/", Notes.as_view())]
""",
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_what_a_validator_asks(text: str, tmp_path: Path) -> None:
    models = MODELS.replace('unique_together = ("order", "kind")', "pass")
    files = {"shop/__init__.py": "", "shop/models.py": models, "shop/views.py": text}
    found = findings(files, tmp_path, "SO301", "SO302", "SO303")
    assert [(one.code, one.place.line) for one in found] == [("SO303", line_of(text, "# test"))]


def test_a_method_that_only_looks_like_a_validator(tmp_path: Path) -> None:
    text = FORMS["the validation of a serializer"].replace(
        "def validate(self, attrs):", "def validate_order(self, attrs):"
    )
    text = text.replace(
        "    def create(", "    def update(self, row, data):\n        self.validate_order(data)\n\n    def create("
    )
    models = MODELS.replace('unique_together = ("order", "kind")', "pass")
    files = {"shop/__init__.py": "", "shop/models.py": models, "shop/views.py": text}
    assert [one.code for one in findings(files, tmp_path, "SO301", "SO303")] == ["SO301"]


SESSION_KEYS = """
import secrets
from django.core.mail import send_mail
from django.core.signing import TimestampSigner
from django.urls import path


def kept(request, key):
    if key not in request.session:
        return None
    return TimestampSigner().unsign(request.session[key])


def code(request):
    if not kept(request, "code"):  # test
        request.session["code"] = TimestampSigner().sign(secrets.token_hex())
        send_mail("Your code", "text", None, [request.user.email])


urlpatterns = [path("code/", code)]
"""


def test_a_value_of_the_session_that_a_library_opens(tmp_path: Path) -> None:
    found = findings({"shop/__init__.py": "", "shop/views.py": SESSION_KEYS}, tmp_path, "SO301", "SO303")
    assert [(one.code, one.place.line) for one in found] == [("SO303", line_of(SESSION_KEYS, "# test"))]


SESSIONS = """
import smtplib
from flask import Flask
from sqlalchemy import create_engine, select, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, sessionmaker

app = Flask(__name__)
engine = create_engine("postgresql://db/x")
Session = sessionmaker(engine)


class Base(DeclarativeBase):
    pass


class Visit(Base):
    __tablename__ = "visits"
    id: Mapped[int] = mapped_column(primary_key=True)
    told: Mapped[bool] = mapped_column(default=False)


class Sent(Base):
    __tablename__ = "sent"
    id: Mapped[int] = mapped_column(primary_key=True)
    visit: Mapped[int]


def mail():
    smtplib.SMTP("localhost").sendmail("a@x.example", "b@x.example", "Subject: Hello")


def get_or_create(session, **key):
    row = session.query(Sent).filter_by(**key).one_or_none()
    if row is not None:
        return row, False
    row = Sent(**key)
    session.add(row)
    return row, True


@app.post("/<int:id>")
def tell(id):
"""
SPELLINGS = {
    "get-or-create by hand, with nothing unique": """
    with Session() as session:
        row, created = get_or_create(session, visit=id)
        session.commit()
    if created:
        mail()
""",
    "a query of a session": """
    with Session() as session:
        row = session.scalars(select(Sent).where(Sent.visit == id)).first()
        if row is None:
            mail()
            session.add(Sent(visit=id))
            session.commit()
""",
    "a flag of a loaded row": """
    with Session() as session:
        row = session.get(Visit, id)
        if row.told:
            return ""
        mail()
        row.told = True
        session.commit()
""",
    "SQL text": """
    with engine.begin() as connection:
        told = connection.execute(text("SELECT told FROM visits WHERE id = :id"), {"id": id}).scalar()
    if not told:
        mail()
        with engine.begin() as connection:
            connection.execute(text("UPDATE visits SET told = true WHERE id = :id"), {"id": id})
""",
}


CONSUMED = """
import smtplib
from pyramid.view import view_config
from sqlalchemy.exc import NoResultFound
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    pass


class Invite(Base):
    __tablename__ = "invites"
    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str]


class Invites:
    def __init__(self, db):
        self.db = db

    def waiting(self, email):
        try:
            invite = self.db.query(Invite).filter(Invite.email == email).one()
        except NoResultFound:
            return None
        return invite

    def forget(self, id):
        invite = self.db.get(Invite, id)
        self.db.delete(invite)


@view_config(route_name="invites")
def decline(request):
    invites = Invites(request.db)
    invite = invites.waiting(request.params["email"])
    if not invite:
        return {}
    {0}
    smtplib.SMTP("localhost").sendmail("a@x.example", invite.email, "Subject: Declined")
    return {}
"""


@pytest.mark.parametrize(("step", "wanted"), [("invites.forget(invite.id)", 1), ("print(invite.id)", 0)])
def test_a_row_that_the_run_takes_away(step: str, wanted: int, tmp_path: Path) -> None:
    text = CONSUMED.replace("{0}", step)
    found = findings({"app.py": text}, tmp_path, "SO303")
    assert [one.place.line for one in found] == [line_of(text, "if not invite")] * wanted


NO_CHECKS = {
    "a list that the run fills itself": """
    told = []
    with Session() as session:
        for row in session.scalars(select(Sent)):
            if row.visit in told:
                continue
            told.append(row.visit)
            mail()
            row.visit = 0
        session.commit()
""",
    "a time that is over, or was never set": """
    with Session() as session:
        row = session.get(Visit, id)
        if row.ends is not None and row.ends < datetime.now():
            return ""
        mail()
        row.ends = None
        session.commit()
""",
    "a session that a service keeps": """
    service = Service()
    row = service.get(id)
    if row is None:
        return ""
    service.put()
    mail()
""",
}
SERVICE = """

@implementer(IService)
class Service:
    def __init__(self):
        self.db = Session()

    def get(self, id):
        return self.db.get(Visit, id)

    def put(self):
        self.db.add(Sent(visit=1))
"""


@pytest.mark.parametrize("body", NO_CHECKS.values(), ids=NO_CHECKS)
def test_tests_that_are_no_checks(body: str, tmp_path: Path) -> None:
    head = "from datetime import datetime\nfrom zope.interface import implementer\nfrom other import IService\n"
    models = SESSIONS.replace("    told: Mapped", "    ends: Mapped[datetime | None]\n    told: Mapped")
    text = head + models + body.removeprefix("\n") + SERVICE
    assert findings({"app.py": text}, tmp_path, "SO303") == []


@pytest.mark.parametrize("body", SPELLINGS.values(), ids=SPELLINGS)
def test_sessions_and_sql(body: str, tmp_path: Path) -> None:
    found = findings({"app.py": SESSIONS + body.removeprefix("\n")}, tmp_path, "SO301", "SO302", "SO303")
    assert [one.code for one in found] == ["SO303"]
    assert found[0].severity == "warning"


COLLECTIONS = """
import smtplib
from flask import Flask
from pymongo import MongoClient

app = Flask(__name__)
db = MongoClient().shop
log = db["log"]


def mail():
    smtplib.SMTP("localhost").sendmail("a@x.example", "b@x.example", "Subject: Hello")


@app.post("/<int:id>")
def tell(id):
    if {0}:
        return ""
    mail()
    {1}
    return ""
"""
ASKED = {
    "the same collection": ('db.sent.find_one({"visit": id})', 'db.sent.insert_one({"visit": id})', 1),
    "by an item": ('db["sent"].count_documents({"visit": id})', 'db["sent"].insert_one({"visit": id})', 1),
    "held in a variable": ('log.find_one({"visit": id})', 'db.log.insert_one({"visit": id})', 1),
    "another collection": ('db.blocked.find_one({"visit": id})', 'db.sent.insert_one({"visit": id})', 0),
}


@pytest.mark.parametrize(("asked", "written", "wanted"), ASKED.values(), ids=ASKED)
def test_collections_by_their_names(asked: str, written: str, wanted: int, tmp_path: Path) -> None:
    text = COLLECTIONS.replace("{0}", asked).replace("{1}", written)
    assert len(findings({"app.py": text}, tmp_path, "SO303")) == wanted


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(check_then_act.RULE.doc)
    head = "from celery import shared_task\nfrom django.core.mail import send_mail\n"
    head += "from django.utils.timezone import now\nfrom .models import Order\n\ndef text(order):\n    return 'x'\n\n"
    models = "from django.db import models\n\nclass Order(models.Model):\n    email = models.EmailField()\n"
    models += "    receipt_sent_at = models.DateTimeField(null=True)\n"
    for name, wanted in (("Bad", 1), ("Good", 0)):
        files = {"shop/__init__.py": "", "shop/models.py": models, "shop/tasks.py": head + given[name]}
        assert len(findings(files, tmp_path / name, "SO303")) == wanted, name
