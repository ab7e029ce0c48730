"""SO106: loops of sends in which one person can come twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.project import examples, findings, line_of, lines
from sendonce.checks import duplicate_recipients

MODELS = """
from django.db import models


class Singer(models.Model):
    email = models.EmailField()


class Choir(models.Model):
    name = models.CharField(max_length=20, unique=True)
    singers = models.ManyToManyField(Singer, related_name="choirs")
    leader = models.ForeignKey(Singer, models.CASCADE, related_name="leads")
    deputy = models.ForeignKey(Singer, models.CASCADE, related_name="+")


class Concert(models.Model):
    choir = models.ForeignKey(Choir, models.CASCADE)
    town = models.CharField(max_length=20)
"""
HEAD = """
from itertools import chain
from django.core.mail import send_mail
from django.db.models import Count, Q
from .models import Choir, Concert, Singer


def tell(address):
    send_mail("Concert", "x", None, [address])

"""
SILENT = {
    "distinct": """
def call(request):
    for singer in Singer.objects.filter(choirs__concert__town="Ulm").distinct():
        tell(singer.email)
""",
    "one choir": """
def call(request):
    for singer in Singer.objects.filter(choirs=request.POST["choir"]):
        tell(singer.email)
""",
    "one choir by its unique name": """
def call(request):
    for singer in Singer.objects.filter(choirs__name="low"):
        tell(singer.email)
""",
    "without any choir": """
def call(request):
    for singer in Singer.objects.filter(choirs__isnull=True):
        tell(singer.email)
""",
    "a relation to one": """
def call(request):
    for concert in Concert.objects.filter(choir__name__startswith="a"):
        tell(concert.town)
""",
    "grouped by the row": """
def call(request):
    for singer in Singer.objects.filter(choirs__concert__town="Ulm").annotate(n=Count("choirs")):
        tell(singer.email)
""",
    "a set": """
def call(request):
    for address in set(Singer.objects.filter(choirs__concert__town="Ulm").values_list("email", flat=True)):
        tell(address)
""",
    "a dict by address": """
def call(request):
    people = {one.email: one for one in Singer.objects.filter(choirs__concert__town="Ulm")}
    for address in people:
        tell(address)
""",
    "addresses that are merely not unique": """
def call(request):
    for address in Singer.objects.values_list("email", flat=True):
        tell(address)
""",
    "those who were told are passed over": """
def call(request):
    told = set()
    for singer in Singer.objects.filter(choirs__concert__town="Ulm"):
        if singer.email in told:
            continue
        told.add(singer.email)
        tell(singer.email)
""",
    "an address of the house beside one's own": """
def call(request):
    choir = Choir.objects.get(pk=1)
    for address in [choir.leader.email, "office@choir.example"]:
        tell(address)
""",
    "one mail to all": """
def call(request):
    people = Singer.objects.filter(choirs__concert__town="Ulm")
    send_mail("Concert", "x", None, [one.email for one in people])
""",
}
FAULTY = {
    "a many-to-many relation": """
def call(request):
    for singer in Singer.objects.filter(choirs__concert__town="Ulm"):
        tell(singer.email)  # here
""",
    "a condition in an object": """
def call(request):
    people = Singer.objects.filter(Q(choirs__concert__town="Ulm") | Q(pk=1)).order_by("email")
    for singer in people:
        tell(singer.email)  # here
""",
    "several choirs": """
def call(request):
    for singer in Singer.objects.filter(choirs__in=request.POST.getlist("choirs")):
        tell(singer.email)  # here
""",
    "a column of the query": """
def call(request):
    for address in Singer.objects.filter(choirs__concert__town="Ulm").values_list("email", flat=True):
        tell(address)  # here
""",
    "a list made from the query": """
def call(request):
    addresses = [one.email for one in Singer.objects.filter(choirs__concert__town="Ulm")]
    for address in sorted(addresses):
        tell(address)  # here
""",
    "the people of all choirs": """
def call(request):
    for address in Choir.objects.filter(concert__town="Ulm").values_list("singers__email", flat=True):
        tell(address)  # here
""",
    "two roles": """
def call(request):
    choir = Choir.objects.get(pk=1)
    for person in (choir.leader, choir.deputy):
        tell(person.email)
    for address in (choir.leader.email, choir.deputy.email):
        tell(address)  # here
""",
    "lists of the same people": """
def call(request):
    choir = Choir.objects.get(pk=1)
    to = [one.email for one in choir.singers.all()]
    cc = [one.email for one in choir.singers.filter(pk__lt=9)]
    for address in chain(to, cc):
        tell(address)  # here
""",
}
URLS = "from django.urls import path\nfrom .views import call\n\nurlpatterns = [path('call', call)]\n"


def project(views: str) -> dict[str, str]:
    return {"song/__init__.py": "", "song/models.py": MODELS, "song/urls.py": URLS, "song/views.py": HEAD + views}


@pytest.mark.parametrize("views", SILENT.values(), ids=SILENT)
def test_silent(views: str, tmp_path: Path) -> None:
    assert findings(project(views), tmp_path, "SO106") == []


@pytest.mark.parametrize("views", FAULTY.values(), ids=FAULTY)
def test_found(views: str, tmp_path: Path) -> None:
    found = findings(project(views), tmp_path, "SO106")
    line = line_of(HEAD + views, "# here")
    assert line in [one.place.line for one in found]
    assert any(("song/views.py", number) in lines(one) for one in found for number in (line - 1, line - 2))


ALCHEMY = """
from sqlalchemy import Column, ForeignKey, Table, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship, scoped_session, sessionmaker
from django.core.mail import send_mail


class Base(DeclarativeBase):
    pass


SCOPED = scoped_session(sessionmaker(create_engine("sqlite://")))
COLUMNS = Column("singer", ForeignKey("singer.id")), Column("choir", ForeignKey("choir.id"))
members = Table("members", Base.metadata, *COLUMNS)


class Singer(Base):
    __tablename__ = "singer"
    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str]
    entries: Mapped[list["Entry"]] = relationship()
    choirs = relationship("Choir", secondary=members)


class Choir(Base):
    __tablename__ = "choir"
    id: Mapped[int] = mapped_column(primary_key=True)


class Entry(Base):
    __tablename__ = "entry"
    id: Mapped[int] = mapped_column(primary_key=True)
    singer_id: Mapped[int] = mapped_column(ForeignKey("singer.id"))
    singer: Mapped[Singer] = relationship()


def call(session: Session):
    for one in {query}:
        send_mail("Concert", "x", None, [one.email])
"""
QUERIES = {
    "a join": ("session.scalars(select(Singer).join(Entry).where(Entry.id > 3))", 1),
    "a join over the relation": ("session.scalars(select(Singer).join(Singer.entries))", 1),
    "a distinct join": ("session.scalars(select(Singer).join(Entry).distinct())", 0),
    "a unique result": ("session.scalars(select(Singer).join(Entry)).unique()", 0),
    "a join to one": ("session.scalars(select(Entry).join(Singer))", 0),
    "an old query": ("session.query(Singer).join(Entry).all()", 0),
    "a join over a table between": ("session.scalars(select(Singer).join(Singer.choirs))", 1),
    "a column behind a join": ("SCOPED.scalars(select(Singer).join(Entry).where(Entry.id > 3)).all()", 1),
    "a distinct column behind a join": ("SCOPED.scalars(select(Singer).join(Entry).distinct()).all()", 0),
}


@pytest.mark.parametrize(("query", "wanted"), QUERIES.values(), ids=QUERIES)
def test_joins_of_sqlalchemy(query: str, wanted: int, tmp_path: Path) -> None:
    files = {"song/__init__.py": "", "song/calls.py": ALCHEMY.replace("{query}", query)}
    assert len(findings(files, tmp_path, "SO106")) == wanted


CLAIMS = """
from django.core.cache import cache
from django.core.mail import send_mail
from .models import Singer


def call(request):
    {before}for singer in Singer.objects.filter(choirs__concert__town="Ulm"):
        {inside}send_mail("Concert", "x", None, [singer.email])
"""
GUARDED = {
    "each item claims": ("", 'if cache.add(f"concert:{singer.email}", 1):\n            ', 0),
    "the run claims": ('if not cache.add("concert", 1):\n        return\n    ', "", 1),
}


@pytest.mark.parametrize(("before", "inside", "wanted"), GUARDED.values(), ids=GUARDED)
def test_a_claim_of_the_run_keeps_no_items_apart(before: str, inside: str, wanted: int, tmp_path: Path) -> None:
    settings = 'CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache"}}\n'
    view = CLAIMS.replace("{before}", before).replace("{inside}", inside)
    files = {"song/__init__.py": "", "song/settings.py": settings, "song/models.py": MODELS, "song/views.py": view}
    assert len(findings(files, tmp_path, "SO106")) == wanted


def test_the_examples_of_the_documentation(tmp_path: Path) -> None:
    given = examples(duplicate_recipients.RULE.doc)
    models = "from django.db import models\n\nclass User(models.Model):\n    email = models.EmailField()\n\n"
    models += "class Project(models.Model):\n    pass\n\nclass Team(models.Model):\n"
    models += "    project = models.ForeignKey(Project, models.CASCADE)\n"
    models += '    members = models.ManyToManyField(User, related_name="teams")\n'
    head = "from django.core.mail import send_mail\nfrom .models import User\n\n"
    for name, wanted in (("Bad", 1), ("Good", 0)):
        files = {"shop/__init__.py": "", "shop/models.py": models, "shop/news.py": head + given[name]}
        assert len(findings(files, tmp_path / name, "SO106")) == wanted, name
