"""The same reservations in other spellings."""

from __future__ import annotations

from pathlib import Path

import pytest

from guarding import ALCHEMY, DJANGO, is_guarded

HEAD = """
        import asyncio
        import functools
        import uuid
        from contextlib import asynccontextmanager, contextmanager
        from dataclasses import dataclass
        from django.core.cache import cache
        from django.db import IntegrityError, transaction
        from django.db import connection, models
        from django.db.models import F
        from django.utils import timezone
        import enum
        import time
        from .mail import mail
        from .models import Event, Log, Order, Sent
"""

OPEN = {
    "new or asked for": """
        def run(pk, resend=False):
            _, created = Sent.objects.get_or_create(order_id=pk, kind="x")
            if created or resend:
                mail()
    """,
    "the wrong member of an enum": """
        class Outcome(enum.Enum):
            NEW = 1
            SEEN = 2

        def claim(pk):
            if cache.add(f"{pk}", 1):
                return Outcome.NEW
            return Outcome.SEEN

        def run(pk):
            if claim(pk) is not Outcome.NEW:
                mail()
    """,
    "a handler that leaves only sometimes": """
        def run(pk):
            try:
                Sent.objects.create(order_id=pk, kind="x")
            except IntegrityError as error:
                if "unique" in str(error):
                    return
            mail()
    """,
    "an error answers None, and only False is tested": """
        def claim(pk):
            try:
                return cache.add(f"m:{pk}", 1)
            except Exception:
                return None

        def run(pk):
            if claim(pk) is False:
                return
            mail()
    """,
    "an error counts as new": """
        def run(pk):
            try:
                _, created = Sent.objects.get_or_create(order_id=pk, kind="x")
            except Exception:
                created = True
            if created:
                mail()
    """,
    "another key on each attempt": """
        def run(pk):
            for number in range(9):
                if cache.add(f"{pk}:{time.time()}", 1):
                    mail()
    """,
    "waits until it may, and gives the claim back": """
        def run(pk):
            while not cache.add(f"lock:{pk}", 1):
                time.sleep(1)
            mail()
            cache.delete(f"lock:{pk}")
    """,
    "a set of this process": """
        SEEN = set()

        def run(pk):
            if pk in SEEN:
                return
            SEEN.add(pk)
            mail()
    """,
    "a dict of this process": """
        SEEN = {}

        def run(pk):
            if SEEN.setdefault(pk, True):
                mail()
    """,
    "get_or_create without a constraint, by index": """
        def run(pk):
            if Log.objects.get_or_create(order_id=pk)[1]:
                mail()
    """,
}

GUARDED = {
    "a method of a manager": """
        class OrderManager(models.Manager):
            def claim(self, pk):
                return self.filter(pk=pk, mailed=False).update(mailed=True)

        class Parcel(models.Model):
            mailed = models.BooleanField()
            objects = OrderManager()

        def run(pk):
            if Parcel.objects.claim(pk):
                mail()
    """,
    "a method of a query set": """
        class ParcelQuerySet(models.QuerySet):
            def claim(self):
                return self.filter(mailed=False).update(mailed=True) == 1

        class Parcel(models.Model):
            mailed = models.BooleanField()
            objects = ParcelQuerySet.as_manager()

        def run(pk):
            if not Parcel.objects.filter(pk=pk).claim():
                return
            mail()
    """,
    "a method of the model, by type(self)": """
        class Parcel(models.Model):
            mailed = models.BooleanField()
            def claim(self):
                return bool(type(self).objects.filter(pk=self.pk, mailed=False).update(mailed=True))

        def run(pk):
            parcel = Parcel.objects.get(pk=pk)
            if parcel.claim():
                mail()
    """,
    "a method of the model, by its default manager": """
        class Parcel(models.Model):
            mailed = models.BooleanField()
            def claim(self):
                return self.__class__._default_manager.filter(pk=self.pk, mailed=False).update(mailed=True)

        def run(pk):
            parcel = Parcel.objects.get(pk=pk)
            if not parcel.claim():
                return
            mail()
    """,
    "a class method": """
        class Note(models.Model):
            key = models.CharField(max_length=9, unique=True)
            @classmethod
            def claim(cls, key):
                _, created = cls.objects.get_or_create(key=key)
                return created

        def run(pk):
            if Note.claim(f"x{pk}"):
                mail()
    """,
    "another database": """
        def run(pk):
            _, created = Sent.objects.using("other").get_or_create(order_id=pk, kind="x")
            if created is False:
                return
            mail()
    """,
    "a class that decorates": """
        class once:
            def __init__(self, kind):
                self.kind = kind
            def __call__(self, function):
                def wrapper(pk):
                    if cache.add(f"{self.kind}:{pk}", 1):
                        function(pk)
                return wrapper
        @once("receipt")
        def send(pk):
            mail()

        def run(pk):
            send(pk)
    """,
    "a decorator of a method": """
        def once(function):
            @functools.wraps(function)
            def wrapper(self, *args, **kwargs):
                if not cache.add(f"{self.pk}", 1):
                    return
                return function(self, *args, **kwargs)
            return wrapper

        class Letter:
            def __init__(self, pk):
                self.pk = pk
            @once
            def send(self):
                mail()

        def run(pk):
            Letter(pk).send()
    """,
    "a decorator of a coroutine": """
        def once(function):
            @functools.wraps(function)
            async def wrapper(pk):
                if await cache.aadd(f"{pk}", 1):
                    await function(pk)
            return wrapper
        @once
        async def send(pk):
            mail()

        async def run(pk):
            await send(pk)
    """,
    "attempts until one has inserted": """
        def run(pk):
            for attempt in range(3):
                try:
                    Sent.objects.create(order_id=pk, kind="x")
                    break
                except IntegrityError:
                    return
            else:
                return
            mail()
    """,
    "a flag for the conflict": """
        def run(pk):
            duplicate = False
            try:
                Sent.objects.create(order_id=pk, kind="x")
            except IntegrityError:
                duplicate = True
            if duplicate:
                return
            mail()
    """,
    "the mail is skipped with the conflict": """
        from contextlib import suppress

        def run(pk):
            with suppress(IntegrityError):
                Sent.objects.create(order_id=pk, kind="x")
                mail()
    """,
    "a helper that answers with an enum": """
        class Outcome(enum.Enum):
            NEW = 1
            SEEN = 2

        def claim(pk):
            if cache.add(f"{pk}", 1):
                return Outcome.NEW
            return Outcome.SEEN

        def run(pk):
            if claim(pk) is Outcome.NEW:
                mail()
    """,
    "a helper that answers in words": """
        def claim(pk):
            return "new" if cache.add(f"{pk}", 1) else "seen"

        def run(pk):
            if claim(pk) != "new":
                return
            mail()
    """,
    "a helper that gives a dict": """
        def claim(pk):
            row, created = Sent.objects.get_or_create(order_id=pk, kind="x")
            return {"row": row, "created": created}

        def run(pk):
            result = claim(pk)
            if result["created"]:
                mail()
    """,
    "a helper that calls what it is given": """
        def once(key, function, *args):
            if cache.add(key, 1):
                function(*args)

        def run(pk):
            once(f"m:{pk}", mail, "a@example.org")
    """,
    "a helper that calls a lambda": """
        def once(key, function):
            if not cache.add(key, 1):
                return None
            return function()

        def run(pk):
            once(f"m:{pk}", lambda: mail())
    """,
    "an object that runs what it is given": """
        class Once:
            def __init__(self, key):
                self.key = key
            def run(self, function):
                if not cache.add(self.key, 1):
                    return
                function()

        def run(pk):
            Once(f"m:{pk}").run(mail)
    """,
    "a helper that is given the model": """
        def claim(model, **fields):
            _, created = model.objects.get_or_create(**fields)
            return created

        def run(pk):
            if claim(Sent, order_id=pk, kind="x"):
                mail()
    """,
    "a mixin of models": """
        class Claimed(models.Model):
            notified_at = models.DateTimeField(null=True)
            class Meta:
                abstract = True
            def claim(self):
                waiting = type(self)._base_manager.filter(pk=self.pk, notified_at=None)
                return waiting.update(notified_at=timezone.now()) == 1

        class Parcel(Claimed):
            pass

        def run(pk):
            parcel = Parcel.objects.get(pk=pk)
            if parcel.claim():
                mail()
    """,
    "an advisory lock that ends with the transaction": """
        def run(pk):
            with transaction.atomic():
                with connection.cursor() as cursor:
                    cursor.execute("SELECT pg_advisory_xact_lock(%s)", [pk])
                if Log.objects.filter(order_id=pk, kind="x").exists():
                    return
                mail()
                Log.objects.create(order_id=pk, kind="x")
    """,
    "a row that is locked first and read again": """
        def run(order):
            order = Order.objects.get(pk=order)
            with transaction.atomic():
                Order.objects.select_for_update().get(pk=order.pk)
                order.refresh_from_db()
                if order.mailed:
                    return
                mail()
                order.mailed = True
                order.save()
    """,
    "a nested function": """
        def run(pk):
            def first():
                return cache.add(f"m:{pk}", 1)
            if first():
                mail()
    """,
    "a conditional expression as a statement": """
        def run(pk):
            ready = pk and cache.add(f"m:{pk}", 1)
            mail() if ready else None
    """,
    "`and` as a statement": """
        def run(pk):
            cache.add(f"m:{pk}", 1) and mail()
    """,
    "the mail leaves on commit": """
        def run(pk):
            with transaction.atomic():
                _, created = Sent.objects.get_or_create(order_id=pk, kind="x")
                if created:
                    transaction.on_commit(lambda: mail())
    """,
    "a helper with several exits": """
        def claim(pk):
            if not pk:
                return False
            try:
                with transaction.atomic():
                    Sent.objects.create(order_id=pk, kind="x")
            except IntegrityError:
                print("again")
                return False
            else:
                return True

        def run(pk):
            if not claim(pk):
                return
            mail()
    """,
    "the count as an int": """
        def run(pk):
            n = int(Order.objects.filter(pk=pk, mailed=False).update(mailed=True))
            if n:
                mail()
    """,
    "the answer is kept in an attribute": """
        class Job:
            def __init__(self, pk):
                self.first = cache.add(f"m:{pk}", 1)
            def go(self):
                if self.first:
                    mail()

        def run(pk):
            Job(pk).go()
    """,
    "a template method": """
        class Base:
            def deliver(self, pk):
                if not self.reserve(pk):
                    return
                self.send(pk)
            def reserve(self, pk):
                return cache.add(f"m:{pk}", 1)

        class Receipt(Base):
            def send(self, pk):
                mail()

        def run(pk):
            Receipt().deliver(pk)
    """,
    "an override that claims before it calls super": """
        class Base:
            def send(self, pk):
                mail()

        class Once(Base):
            def send(self, pk):
                if cache.add(f"m:{pk}", 1):
                    super().send(pk)

        def run(pk):
            Once().send(pk)
    """,
    "errors leave as well": """
        def run(pk):
            try:
                _, created = Sent.objects.get_or_create(order_id=pk, kind="x")
            except Exception:
                return
            if not created:
                return
            mail()
    """,
    "the count of a delete by index": """
        def run(pk):
            if Log.objects.filter(pk=pk).delete()[0] == 1:
                mail()
    """,
    "a counter that leaves zero": """
        def run(pk):
            if Order.objects.filter(pk=pk, version=0).update(version=F("version") + 1):
                mail()
    """,
}

ALCHEMY_HEAD = """
        from datetime import datetime
        from sqlalchemy import delete, insert, select, text, update
        from sqlalchemy.dialects.postgresql import insert as pg_insert
        from sqlalchemy.exc import IntegrityError
        from sqlalchemy.orm import Session as Work
        from .db import Session
        from .mail import mail
        from .models import Log, Order, Sent
"""

ALCHEMY_OPEN = {
    "a row that was only added": """
        def run(session: Work, pk):
            session.add(Sent(order_id=pk, kind="x"))
            mail()
    """,
    "the conflict comes after the mail": """
        def run(session: Work, pk):
            try:
                session.add(Sent(order_id=pk, kind="x"))
            except IntegrityError:
                return
            mail()
            session.commit()
    """,
}

ALCHEMY_GUARDED = {
    "Flask-SQLAlchemy": """
        from flask_sqlalchemy import SQLAlchemy
        db = SQLAlchemy()

        class Note(db.Model):
            id = db.Column(db.Integer, primary_key=True)
            key = db.Column(db.String(80), unique=True)

        def run(pk):
            db.session.add(Note(key=pk))
            try:
                db.session.commit()
            except IntegrityError:
                db.session.rollback()
                return
            mail()
    """,
    "a refresh that locks": """
        def run(session: Work, pk):
            order = session.get(Order, pk)
            session.refresh(order, with_for_update=True)
            if order.mailed:
                return
            mail()
            order.mailed = True
            session.commit()
    """,
    "a repository": """
        class Repo:
            def __init__(self, session: Work):
                self.session = session
            def claim(self, pk) -> bool:
                done = self.session.execute(pg_insert(Sent).values(order_id=pk, kind="x").on_conflict_do_nothing())
                self.session.commit()
                return done.rowcount > 0

        def run(session: Work, pk):
            repo = Repo(session)
            if repo.claim(pk):
                mail()
    """,
    "a connection's block": """
        from .db import engine

        def run(pk):
            with engine.begin() as conn:
                won = conn.execute(pg_insert(Sent).values(order_id=pk, kind="x").on_conflict_do_nothing()).rowcount
            if won:
                mail()
    """,
    "the first scalar": """
        def run(session: Work, pk):
            stmt = update(Order).where(Order.id == pk, Order.mailed.is_(False)).values(mailed=True).returning(Order)
            order = session.execute(stmt).scalars().first()
            session.commit()
            if order is None:
                return
            mail()
    """,
    "one row or none": """
        def run(session: Work, pk):
            statement = update(Order).where(Order.id == pk, Order.state == "new").values(state="done")
            row = session.execute(statement.returning(Order.id)).one_or_none()
            if not row:
                return
            mail()
    """,
    "a helper with a session of which nothing is known": """
        async def claim(session, pk):
            session.add(Sent(order_id=pk, kind="x"))
            try:
                await session.commit()
            except IntegrityError:
                await session.rollback()
                return False
            return True

        async def run(session, pk):
            if await claim(session, pk):
                mail()
    """,
    "the end of asyncpg's answer": """
        import asyncpg

        async def run(conn: asyncpg.Connection, pk):
            status = await conn.execute("UPDATE orders SET mailed = true WHERE id = $1 AND NOT mailed", pk)
            if status.endswith("1"):
                mail()
    """,
    "the count in asyncpg's answer": """
        import asyncpg

        async def run(conn: asyncpg.Connection, pk):
            status = await conn.execute("INSERT INTO mails (id) VALUES ($1) ON CONFLICT (id) DO NOTHING", pk)
            if int(status.split()[-1]) == 0:
                return
            mail()
    """,
    "a query's update by in_()": """
        def run(session: Work, pk):
            waiting = session.query(Order).filter(Order.id == pk, Order.state.in_(["new", "open"]))
            changed = waiting.update({"state": "done"}, synchronize_session=False)
            if changed == 1:
                mail()
    """,
    "SQLModel's exec": """
        import sqlmodel

        def run(session: sqlmodel.Session, pk):
            result = session.exec(update(Order).where(Order.id == pk, Order.mailed == False).values(mailed=True))
            if result.rowcount == 1:
                mail()
    """,
    "an insert into a table object": """
        from sqlalchemy import Table, Column, Integer, String, MetaData
        sent = Table("claims", MetaData(), Column("key", String, primary_key=True))

        def run(session: Work, pk):
            try:
                session.execute(sent.insert().values(key=pk))
                session.commit()
            except IntegrityError:
                session.rollback()
                return
            mail()
    """,
}


@pytest.mark.parametrize("code", OPEN.values(), ids=OPEN)
def test_is_no_reservation(tmp_path: Path, code: str) -> None:
    assert not is_guarded(tmp_path, HEAD + code, DJANGO)


@pytest.mark.parametrize("code", GUARDED.values(), ids=GUARDED)
def test_is_a_reservation(tmp_path: Path, code: str) -> None:
    assert is_guarded(tmp_path, HEAD + code, DJANGO)


@pytest.mark.parametrize("code", ALCHEMY_OPEN.values(), ids=ALCHEMY_OPEN)
def test_is_no_reservation_in_sqlalchemy(tmp_path: Path, code: str) -> None:
    assert not is_guarded(tmp_path, ALCHEMY_HEAD + code, ALCHEMY)


@pytest.mark.parametrize("code", ALCHEMY_GUARDED.values(), ids=ALCHEMY_GUARDED)
def test_is_a_reservation_in_sqlalchemy(tmp_path: Path, code: str) -> None:
    assert is_guarded(tmp_path, ALCHEMY_HEAD + code, ALCHEMY)
