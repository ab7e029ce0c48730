"""Unique constraints, wherever they are declared."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from guarding import ALCHEMY, DJANGO, guards, is_guarded

DJANGO_RUN = """
        from .mail import mail
        from .models import Note

        def run(order, kind):
            _, created = Note.objects.get_or_create(order=order, kind=kind, defaults={"text": "x"})
            if created:
                mail()
"""

DJANGO_MODEL = """
        from django.db import models
        from django.db.models.functions import Lower

        class Order(models.Model):
            pass

        class Base(models.Model):
            class Meta:
                abstract = True

        class Note(Base):
            order = {order}
            kind = models.CharField(max_length=9)
            text = models.TextField()

            class Meta:
                {meta}
"""
FOREIGN = "models.ForeignKey(Order, on_delete=models.CASCADE)"

DJANGO_MODELS = {
    "nothing": (FOREIGN, "pass", False),
    "an index is no constraint": (FOREIGN, 'indexes = [models.Index(fields=["order", "kind"])]', False),
    "index_together is none": (FOREIGN, 'index_together = [("order", "kind")]', False),
    "a constraint over a third field as well": (FOREIGN, 'unique_together = [("order", "kind", "text")]', False),
    "a check constraint": (
        FOREIGN,
        'constraints = [models.CheckConstraint(check=models.Q(kind="x"), name="n")]',
        False,
    ),
    "unique_together": (FOREIGN, 'unique_together = [["order", "kind"]]', True),
    "unique_together, flat": (FOREIGN, 'unique_together = ("order", "kind")', True),
    "UniqueConstraint": (FOREIGN, 'constraints = [models.UniqueConstraint(fields=("order", "kind"), name="n")]', True),
    "an expression": (FOREIGN, 'constraints = [models.UniqueConstraint("order", Lower("kind"), name="n")]', True),
    "a constraint over one of the fields": (
        FOREIGN,
        'constraints = [models.UniqueConstraint(fields=["order"], name="n")]',
        True,
    ),
    "a one-to-one field": ("models.OneToOneField(Order, on_delete=models.CASCADE)", "pass", True),
    "a unique field": ("models.ForeignKey(Order, models.CASCADE, unique=True)", "pass", True),
    "a primary key": ("models.ForeignKey(Order, models.CASCADE, primary_key=True)", "pass", True),
}


@pytest.mark.parametrize(("order", "meta", "expected"), DJANGO_MODELS.values(), ids=DJANGO_MODELS)
def test_a_django_model(tmp_path: Path, order: str, meta: str, expected: bool) -> None:
    files = {**DJANGO, "shop/models.py": DJANGO_MODEL.format(order=order, meta=meta)}
    assert is_guarded(tmp_path, DJANGO_RUN, files) is expected


def test_a_partial_constraint_is_less_sure(tmp_path: Path) -> None:
    meta = 'constraints = [models.UniqueConstraint(fields=["order", "kind"], condition=models.Q(kind="x"), name="n")]'
    files = {**DJANGO, "shop/models.py": DJANGO_MODEL.format(order=FOREIGN, meta=meta)}
    (guard,) = guards(tmp_path, DJANGO_RUN, files)
    assert guard is not None
    assert guard.confidence == "medium"
    assert guard.assumes == ("the partial unique constraint on kind, order of Note covers these rows",)


def test_a_constraint_of_an_abstract_base(tmp_path: Path) -> None:
    models = """
        from django.db import models

        class Base(models.Model):
            order = models.IntegerField()
            kind = models.CharField(max_length=9)

            class Meta:
                abstract = True
                unique_together = [("order", "kind")]

        class Note(Base):
            text = models.TextField()

            class Meta(Base.Meta):
                ordering = ["order"]
    """
    assert is_guarded(tmp_path, DJANGO_RUN, {**DJANGO, "shop/models.py": models})


def test_a_model_that_is_not_in_the_tree_is_assumed_to_be_unique(tmp_path: Path) -> None:
    (guard,) = guards(tmp_path, DJANGO_RUN.replace("from .models", "from other.models"), DJANGO)
    assert guard is not None
    assert guard.confidence == "medium"
    assert guard.assumes[0].startswith("kind, order is unique in the database table of")


MIGRATIONS = {
    "AddConstraint": """
        migrations.AddConstraint(
            model_name="note",
            constraint=models.UniqueConstraint(fields=("order", "kind"), name="n"),
        )
    """,
    "AlterUniqueTogether": """
        migrations.AlterUniqueTogether(name="note", unique_together={("order", "kind")})
    """,
    "AlterField": """
        migrations.AlterField("note", "order", models.IntegerField(unique=True))
    """,
    "RunSQL": """
        migrations.RunSQL("CREATE UNIQUE INDEX once ON shop_note (order_id, kind)")
    """,
    "RunSQL, several statements": """
        migrations.RunSQL(["SELECT 1", "ALTER TABLE shop_note ADD CONSTRAINT once UNIQUE (order_id, kind)"])
    """,
}
OTHER_MIGRATIONS = {
    "another model": """
        migrations.AlterUniqueTogether(name="order", unique_together={("order", "kind")})
    """,
    "another table": """
        migrations.RunSQL("CREATE UNIQUE INDEX once ON shop_other (order_id, kind)")
    """,
    "an index that is not unique": """
        migrations.RunSQL("CREATE INDEX once ON shop_note (order_id, kind)")
    """,
}


def _migrated(operation: str) -> Mapping[str, str]:
    migration = f"""
from django.db import migrations, models

class Migration(migrations.Migration):
    operations = [{operation.strip()}]
"""
    model = DJANGO_MODEL.format(order=FOREIGN, meta="pass")
    return {**DJANGO, "shop/models.py": model, "shop/migrations/0002_once.py": migration}


@pytest.mark.parametrize("operation", MIGRATIONS.values(), ids=MIGRATIONS)
def test_a_migration_adds_the_constraint(tmp_path: Path, operation: str) -> None:
    assert is_guarded(tmp_path, DJANGO_RUN, _migrated(operation))


@pytest.mark.parametrize("operation", OTHER_MIGRATIONS.values(), ids=OTHER_MIGRATIONS)
def test_a_migration_of_something_else(tmp_path: Path, operation: str) -> None:
    assert not is_guarded(tmp_path, DJANGO_RUN, _migrated(operation))


ALCHEMY_RUN = """
        from sqlalchemy.dialects.postgresql import insert
        from sqlalchemy.orm import Session
        from .mail import mail
        from .models import Note

        def run(session: Session, order, kind):
            statement = insert(Note).values(order_id=order, kind=kind).on_conflict_do_nothing()
            if session.execute(statement).rowcount:
                mail()
"""
TABLES = {
    "a surrogate key only": ("mapped_column(primary_key=True)", "mapped_column()", "()", False),
    "a plain index": ("mapped_column(primary_key=True)", "mapped_column()", '(Index("i", "order_id", "kind"),)', False),
    "a unique column": ("mapped_column(primary_key=True)", "mapped_column(unique=True)", "()", True),
    "a constraint": (
        "mapped_column(primary_key=True)",
        "mapped_column()",
        '(UniqueConstraint("order_id", "kind"),)',
        True,
    ),
    "a unique index": (
        "mapped_column(primary_key=True)",
        "mapped_column()",
        '(Index("i", "order_id", "kind", unique=True), {"schema": "shop"})',
        True,
    ),
    "a key of two columns": (
        "mapped_column()",
        "mapped_column(primary_key=True)",
        '(PrimaryKeyConstraint("order_id", "kind"),)',
        True,
    ),
}


@pytest.mark.parametrize(("id", "order", "options", "expected"), TABLES.values(), ids=TABLES)
def test_a_declared_table(tmp_path: Path, id: str, order: str, options: str, expected: bool) -> None:
    models = f"""
        from sqlalchemy import Index, PrimaryKeyConstraint, UniqueConstraint
        from sqlalchemy.orm import Mapped, mapped_column
        from .db import Base

        class Note(Base):
            __tablename__ = "note"
            __table_args__ = {options}
            id: Mapped[int] = {id}
            order_id: Mapped[int] = {order}
            kind: Mapped[str]
    """
    assert is_guarded(tmp_path, ALCHEMY_RUN, {**ALCHEMY, "shop/models.py": models}) is expected


def test_a_key_of_two_columns_needs_both(tmp_path: Path) -> None:
    models = """
        from sqlalchemy.orm import Mapped, mapped_column
        from .db import Base

        class Note(Base):
            __tablename__ = "note"
            order_id: Mapped[int] = mapped_column(primary_key=True)
            number: Mapped[int] = mapped_column(primary_key=True)
            kind: Mapped[str]
    """
    assert not is_guarded(tmp_path, ALCHEMY_RUN, {**ALCHEMY, "shop/models.py": models})


def test_a_table_object(tmp_path: Path) -> None:
    models = """
        from sqlalchemy import Column, Integer, MetaData, String, Table, UniqueConstraint

        Note = Table(
            "note",
            MetaData(),
            Column("id", Integer, primary_key=True),
            Column("order_id", Integer),
            Column("kind", String),
            UniqueConstraint("order_id", "kind"),
        )
    """
    assert is_guarded(tmp_path, ALCHEMY_RUN, {**ALCHEMY, "shop/models.py": models})
    assert not is_guarded(
        tmp_path / "plain", ALCHEMY_RUN, {**ALCHEMY, "shop/models.py": models.replace("UniqueConstraint(", "str(")}
    )


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ('op.create_unique_constraint("uq", "note", ["order_id", "kind"])', True),
        ('op.create_index("ix", "note", ["order_id", "kind"], unique=True)', True),
        ('op.create_index("ix", "note", ["order_id", "kind"])', False),
        ('op.create_unique_constraint("uq", "other", ["order_id", "kind"])', False),
        ('op.execute("CREATE UNIQUE INDEX ix ON note (order_id, kind)")', True),
        ('op.create_table("note", sa.Column("id"), sa.UniqueConstraint("order_id", "kind"))', True),
    ],
)
def test_alembic(tmp_path: Path, operation: str, expected: bool) -> None:
    models = """
        from sqlalchemy.orm import Mapped, mapped_column
        from .db import Base

        class Note(Base):
            __tablename__ = "note"
            id: Mapped[int] = mapped_column(primary_key=True)
            order_id: Mapped[int]
            kind: Mapped[str]
    """
    script = f"""
        import sqlalchemy as sa
        from alembic import op

        def upgrade():
            {operation}
    """
    files = {**ALCHEMY, "shop/models.py": models, "migrations/versions/1_once.py": script}
    assert is_guarded(tmp_path, ALCHEMY_RUN, files) is expected


def test_sqlmodel(tmp_path: Path) -> None:
    models = """
        from sqlmodel import Field, SQLModel, UniqueConstraint

        class Note(SQLModel, table=True):
            __table_args__ = (UniqueConstraint("order_id", "kind"),)
            id: int | None = Field(default=None, primary_key=True)
            order_id: int
            kind: str
    """
    assert is_guarded(tmp_path, ALCHEMY_RUN, {**ALCHEMY, "shop/models.py": models})
    plain = models.replace('UniqueConstraint("order_id", "kind"),', "")
    assert not is_guarded(tmp_path / "plain", ALCHEMY_RUN, {**ALCHEMY, "shop/models.py": plain})


def test_flask_sqlalchemy(tmp_path: Path) -> None:
    models = """
        from flask_sqlalchemy import SQLAlchemy

        db = SQLAlchemy()

        class Note(db.Model):
            id = db.Column(db.Integer, primary_key=True)
            order_id = db.Column(db.Integer)
            kind = db.Column(db.String(9))
            __table_args__ = (db.UniqueConstraint("order_id", "kind"),)
    """
    assert is_guarded(tmp_path, ALCHEMY_RUN, {**ALCHEMY, "shop/models.py": models})


@pytest.mark.parametrize(
    ("created", "expected"),
    [
        ("CREATE TABLE note (order_id int, kind text, PRIMARY KEY (order_id, kind))", True),
        ("create table if not exists public.note (order_id int unique, kind text)", True),
        ("CREATE TABLE note (id serial PRIMARY KEY, order_id int, kind text)", False),
        ("CREATE TABLE note (order_id int, kind text)", False),
    ],
)
def test_a_table_of_sql_text(tmp_path: Path, created: str, expected: bool) -> None:
    code = """
        import psycopg
        from .mail import mail

        SCHEMA = "<created>"

        def run(conn: psycopg.Connection, order, kind):
            found = conn.execute(
                "INSERT INTO note (order_id, kind) VALUES (%s, %s) ON CONFLICT DO NOTHING", (order, kind)
            )
            if found.rowcount:
                mail()
    """
    assert is_guarded(tmp_path, code.replace("<created>", created), ALCHEMY) is expected


BESIDE = """
        from typing import Annotated
        from sqlalchemy import ForeignKey, Index, UniqueConstraint
        from sqlalchemy.orm import Mapped, mapped_column
        from .db import Base

        natural = Annotated[int, mapped_column(primary_key=True, autoincrement=False)]
        plainly = Annotated[int, mapped_column(index=True)]
"""
SPELLINGS = {
    "a type that is a key": (
        """
        class Sent(Base):
            __tablename__ = "sent"
            order_id: Mapped[natural]
            kind: Mapped[str]
        """,
        True,
    ),
    "a type that is none": (
        """
        class Sent(Base):
            __tablename__ = "sent"
            id: Mapped[int] = mapped_column(primary_key=True)
            order_id: Mapped[plainly]
            kind: Mapped[str]
        """,
        False,
    ),
    "an annotated column": (
        """
        class Sent(Base):
            __tablename__ = "sent"
            id: Mapped[int] = mapped_column(primary_key=True)
            order_id: Mapped[Annotated[int, mapped_column(unique=True)]]
            kind: Mapped[str]
        """,
        True,
    ),
    "an index behind the class": (
        """
        class Sent(Base):
            __tablename__ = "sent"
            id: Mapped[int] = mapped_column(primary_key=True)
            order_id: Mapped[int]
            kind: Mapped[str]

        Index("once", Sent.order_id, Sent.kind, unique=True)
        """,
        True,
    ),
    "an index of another class": (
        """
        class Sent(Base):
            __tablename__ = "sent"
            id: Mapped[int] = mapped_column(primary_key=True)
            order_id: Mapped[int]
            kind: Mapped[str]

        class Kept(Base):
            __tablename__ = "kept"
            id: Mapped[int] = mapped_column(primary_key=True)
            order_id: Mapped[int]
            kind: Mapped[str]

        Index("once", Kept.order_id, Kept.kind, unique=True)
        """,
        False,
    ),
    "a constraint over the columns themselves": (
        """
        class Sent(Base):
            __tablename__ = "sent"
            id: Mapped[int] = mapped_column(primary_key=True)
            order_id: Mapped[int] = mapped_column(ForeignKey("orders.id"))
            kind: Mapped[str] = mapped_column()
            __table_args__ = (UniqueConstraint(order_id, kind), {"schema": "mail"})
        """,
        True,
    ),
    "a constraint over other columns": (
        """
        class Sent(Base):
            __tablename__ = "sent"
            id: Mapped[int] = mapped_column(primary_key=True)
            order_id: Mapped[int] = mapped_column(ForeignKey("orders.id"))
            kind: Mapped[str] = mapped_column()
            text: Mapped[str] = mapped_column()
            __table_args__ = (UniqueConstraint(order_id, text),)
        """,
        False,
    ),
}
ADDED = """
        from sqlalchemy.exc import IntegrityError
        from sqlalchemy.orm import Session
        from .mail import mail
        from .models import Sent

        def run(session: Session, pk):
            session.add(Sent(order_id=pk, kind="receipt"))
            try:
                session.commit()
            except IntegrityError:
                session.rollback()
                return
            mail()
"""


@pytest.mark.parametrize(("models", "expected"), SPELLINGS.values(), ids=SPELLINGS)
def test_where_a_model_of_sqlalchemy_says_so(tmp_path: Path, models: str, expected: bool) -> None:
    files = {**ALCHEMY, "shop/models.py": BESIDE + models}
    assert is_guarded(tmp_path, ADDED, files) is expected


DOCUMENTS = """
        import pymongo
        from typing import Annotated
        from beanie import Document, Indexed
        from mongoengine import Document as Row, IntField, StringField
        from pymongo import IndexModel
"""
DOCUMENT = {
    "beanie's own type": ("class Sent(Document):\n            order: Indexed(int, unique=True)", True),
    "the same, annotated": ("class Sent(Document):\n            order: Annotated[int, Indexed(unique=True)]", True),
    "an index that is not unique": ("class Sent(Document):\n            order: Indexed(int)", False),
    "the settings": (
        """class Sent(Document):
            order: int

            class Settings:
                indexes = [IndexModel([("order", pymongo.ASCENDING)], unique=True)]
        """,
        True,
    ),
    "the settings, not unique": (
        """class Sent(Document):
            order: int

            class Settings:
                indexes = [IndexModel([("order", pymongo.ASCENDING)])]
        """,
        False,
    ),
}
DICTS = {
    "unique": ('{"indexes": [{"fields": ["order", "kind"], "unique": True}, "kind"]}', True),
    "another field": ('{"indexes": [{"fields": ["order", "kind", "text"], "unique": True}]}', False),
    "not unique": ('{"indexes": [{"fields": ["order", "kind"]}]}', False),
}


@pytest.mark.parametrize(("document", "expected"), DOCUMENT.values(), ids=DOCUMENT)
def test_a_document_of_beanie(tmp_path: Path, document: str, expected: bool) -> None:
    code = """
        from pymongo.errors import DuplicateKeyError
        from .mail import mail
        from .models import Sent

        async def run(pk):
            try:
                await Sent(order=pk).insert()
            except DuplicateKeyError:
                return
            mail()
    """
    files = {**ALCHEMY, "shop/models.py": f"{DOCUMENTS}\n        {document}\n"}
    assert is_guarded(tmp_path, code, files) is expected


@pytest.mark.parametrize(("meta", "expected"), DICTS.values(), ids=DICTS)
def test_a_document_of_mongoengine(tmp_path: Path, meta: str, expected: bool) -> None:
    model = f"""
        class Sent(Row):
            order = IntField()
            kind = StringField()
            text = StringField()
            meta = {meta}
    """
    code = """
        from mongoengine import NotUniqueError
        from .mail import mail
        from .models import Sent

        def run(pk):
            try:
                Sent(order=pk, kind="receipt").save()
            except NotUniqueError:
                return
            mail()
    """
    assert is_guarded(tmp_path, code, {**ALCHEMY, "shop/models.py": DOCUMENTS + model}) is expected


GIVEN = """
        from datetime import datetime
        from sqlalchemy import Column, Integer, String
        from .db import Base

        class Sent(Base):
            __tablename__ = "sent"
            id = Column(Integer, primary_key=True)
            key = Column(String, {0})
            text = Column(String)
"""
COLUMNS = {
    "unique": ("unique=True", True),
    "unique and never null": ("unique=True, nullable=False", True),
    "unique, but with a default": ('unique=True, default="x"', False),
    "unique, but it may be left out": ("unique=True, nullable=True", False),
    "not unique": ("index=True", False),
}


@pytest.mark.parametrize(("column", "expected"), COLUMNS.values(), ids=COLUMNS)
def test_a_unique_column_without_default_is_among_fields_from_outside(
    tmp_path: Path, column: str, expected: bool
) -> None:
    code = """
        from sqlalchemy.orm import Session
        from .mail import mail
        from .models import Sent

        def run(session: Session, data):
            session.add(Sent(**data.dict(), text="x"))
            session.commit()
            mail()
    """
    files = {**ALCHEMY, "shop/models.py": GIVEN.replace("{0}", column)}
    assert is_guarded(tmp_path, code, files) is expected


def test_a_row_that_is_validated_from_another_object(tmp_path: Path) -> None:
    models = """
        from sqlmodel import Field, SQLModel

        class User(SQLModel, table=True):
            id: int | None = Field(default=None, primary_key=True)
            email: str = Field(unique=True)
            password: str
    """
    code = """
        from sqlmodel import Session
        from .mail import mail
        from .models import User

        def run(session: Session, data):
            user = User.model_validate(data, update={"password": "x"})
            session.add(user)
            session.commit()
            mail()
    """
    (guard,) = guards(tmp_path, code, {**ALCHEMY, "shop/models.py": models})
    assert guard is not None
    assert guard.confidence == "medium"


def test_a_dict_of_fields_that_is_changed_on_some_branch(tmp_path: Path) -> None:
    models = """
        from sqlalchemy import Column, Integer, String
        from .db import Base, Session

        class Sent(Base):
            __tablename__ = "sent"
            id = Column(Integer, primary_key=True)
            key = Column(String, unique=True)

            @classmethod
            def make(cls, **fields):
                if "key" in fields:
                    fields["key"] = fields["key"].lower()
                return cls.insert(**fields)

            @classmethod
            def insert(cls, **fields):
                commit = fields.pop("commit", False)
                row = cls(**fields)
                session = Session()
                session.add(row)
                if commit:
                    session.commit()
                return row
    """
    code = """
        from .mail import mail
        from .models import Sent

        def run(pk):
            Sent.make(key=f"receipt {pk}", commit={0})
            mail()
    """
    files = {**ALCHEMY, "shop/models.py": models}
    assert is_guarded(tmp_path / "a", code.replace("{0}", "True"), files)
    assert not is_guarded(tmp_path / "b", code.replace("{0}", "False"), files)


def test_a_token_that_is_drawn_behind_a_dict_of_fields(tmp_path: Path) -> None:
    code = """
        import secrets
        from dataclasses import asdict, dataclass
        from sqlalchemy.orm import Session
        from .mail import mail
        from .models import Sent

        @dataclass
        class Given:
            key: str

        def save(session, data):
            session.add(Sent(**asdict(data)))
            session.commit()

        def run(session: Session, pk):
            save(session, Given(key={0}))
            mail()
    """
    files = {**ALCHEMY, "shop/models.py": GIVEN.replace("{0}", "unique=True")}
    assert is_guarded(tmp_path / "a", code.replace("{0}", 'f"receipt {pk}"'), files)
    assert not is_guarded(tmp_path / "b", code.replace("{0}", "secrets.token_urlsafe()"), files)
