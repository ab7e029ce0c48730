"""Reservations that are committed, and those that their transaction takes back."""

from __future__ import annotations

from pathlib import Path

import pytest

from guarding import ALCHEMY, DJANGO, is_guarded

HEAD = """
        from sqlalchemy import create_engine, insert, select, text, update
        from sqlalchemy.exc import IntegrityError
        from sqlalchemy.orm import Session as Work
        from .db import Session, engine
        from .mail import mail
        from .models import Order, Sent

        def claim(session, pk):
            session.add(Sent(order_id=pk, kind="receipt"))
            session.flush()

        def store(session):
            session.commit()
"""

KEPT = {
    "a commit inside the block": """
        def run(pk):
            with Session() as session:
                claim(session, pk)
                session.commit()
            mail()
    """,
    "a commit behind the mail": """
        def run(pk):
            session = Session()
            claim(session, pk)
            mail()
            session.commit()
    """,
    "a rollback only where the mail failed": """
        def run(pk):
            session = Session()
            try:
                claim(session, pk)
                mail()
                session.commit()
            except OSError:
                session.rollback()
                raise
            finally:
                session.close()
    """,
    "a helper commits": """
        def run(pk):
            with Session() as session:
                claim(session, pk)
                store(session)
            mail()
    """,
    "a block that commits when it ends": """
        def run(pk):
            with Session() as session:
                with session.begin():
                    claim(session, pk)
            mail()
    """,
    "a block of the factory": """
        def run(pk):
            with Session.begin() as session:
                claim(session, pk)
            mail()
    """,
    "a session that somebody else has": """
        def run(session, pk):
            claim(session, pk)
            mail()
    """,
    "a session that is kept": """
        class Run:
            def __call__(self, pk):
                self.session = Session()
                claim(self.session, pk)
                mail()
    """,
    "a session that something unknown is given": """
        def run(pk, callbacks):
            session = Session()
            claim(session, pk)
            mail()
            callbacks.done(session)
    """,
    "every statement commits by itself": """
        def run(pk):
            with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.execute(insert(Sent).values(order_id=pk, kind="receipt"))
            mail()
    """,
    "a rollback of another session": """
        def run(pk):
            other = Session()
            with Session() as session:
                claim(session, pk)
                other.rollback()
                session.commit()
            mail()
    """,
    "closed after the commit": """
        def run(pk):
            session = Session()
            claim(session, pk)
            session.commit()
            session.close()
            mail()
    """,
    "a row lock whose mark is committed": """
        def run(pk):
            with Session() as session:
                order = session.get(Order, pk, with_for_update=True)
                if order.mailed:
                    return
                order.mailed = True
                mail()
                session.commit()
    """,
    "a count that is committed before it is tested": """
        def run(pk):
            with Session() as session:
                done = session.execute(update(Order).where(Order.id == pk, Order.mailed.is_(False)).values(mailed=True))
                session.commit()
                if done.rowcount:
                    mail()
    """,
    "DB-API, committed": """
        import psycopg2

        def run(pk):
            connection = psycopg2.connect("dbname=shop")
            cursor = connection.cursor()
            cursor.execute("INSERT INTO sent (order_id, kind) VALUES (%s, 'receipt') ON CONFLICT DO NOTHING", (pk,))
            if cursor.rowcount:
                connection.commit()
                mail()
    """,
    "DB-API, in a block of the connection": """
        import psycopg2

        def run(pk):
            with psycopg2.connect("dbname=shop") as connection, connection.cursor() as cursor:
                cursor.execute("INSERT INTO sent (order_id, kind) VALUES (%s, 'receipt') ON CONFLICT DO NOTHING", (pk,))
                if not cursor.rowcount:
                    return
            mail()
    """,
    "DB-API, without transactions": """
        import psycopg2

        def run(pk):
            connection = psycopg2.connect("dbname=shop")
            connection.autocommit = True
            cursor = connection.cursor()
            cursor.execute("INSERT INTO sent (order_id, kind) VALUES (%s, 'receipt') ON CONFLICT DO NOTHING", (pk,))
            if cursor.rowcount:
                mail()
    """,
    "DB-API, without transactions from the start": """
        import psycopg

        def run(pk):
            connection = psycopg.connect("dbname=shop", autocommit=True)
            sql = "INSERT INTO sent (order_id, kind) VALUES (%s, 'receipt') ON CONFLICT DO NOTHING"
            if connection.execute(sql, (pk,)).rowcount:
                mail()
    """,
}

LOST = {
    "no commit in the block": """
        def run(pk):
            with Session() as session:
                claim(session, pk)
            mail()
    """,
    "no commit at all": """
        def run(pk):
            session = Session()
            claim(session, pk)
            mail()
            session.close()
    """,
    "rolled back on every way": """
        def run(pk):
            session = Session()
            try:
                claim(session, pk)
                mail()
            finally:
                session.rollback()
    """,
    "rolled back before the mail": """
        def run(session: Work, pk):
            claim(session, pk)
            session.rollback()
            mail()
    """,
    "a helper of its own session": """
        def once(pk):
            with Session() as session:
                try:
                    claim(session, pk)
                except IntegrityError:
                    return False
                return True

        def run(pk):
            if once(pk):
                mail()
    """,
    "a commit only where it was lost": """
        def run(pk):
            with Session() as session:
                try:
                    claim(session, pk)
                except IntegrityError:
                    session.rollback()
                    session.commit()
                    return
                mail()
    """,
    "a conditional update that nobody commits": """
        def run(pk):
            with Session() as session:
                done = session.execute(update(Order).where(Order.id == pk, Order.mailed.is_(False)).values(mailed=True))
                if done.rowcount:
                    mail()
    """,
    "a row lock whose mark is never committed": """
        def run(pk):
            with Session() as session:
                order = session.get(Order, pk, with_for_update=True)
                if order.mailed:
                    return
                order.mailed = True
                mail()
    """,
    "another session is committed": """
        def run(pk):
            other = Session()
            session = Session()
            claim(session, pk)
            mail()
            other.commit()
    """,
    "DB-API, never committed": """
        import psycopg2

        def run(pk):
            connection = psycopg2.connect("dbname=shop")
            cursor = connection.cursor()
            cursor.execute("INSERT INTO sent (order_id, kind) VALUES (%s, 'receipt') ON CONFLICT DO NOTHING", (pk,))
            if cursor.rowcount:
                mail()
            connection.close()
    """,
}

DJANGO_HEAD = """
        from django.db import IntegrityError, transaction
        from .mail import mail
        from .models import Order, Sent
"""

DJANGO_KEPT = {
    "a block that ends": """
        def run(pk):
            with transaction.atomic():
                Sent.objects.create(order_id=pk, kind="receipt")
            mail()
    """,
    "rolled back where it was lost": """
        def run(pk):
            point = transaction.savepoint()
            try:
                Sent.objects.create(order_id=pk, kind="receipt")
            except IntegrityError:
                transaction.savepoint_rollback(point)
                return
            mail()
    """,
}

DJANGO_LOST = {
    "the block is marked": """
        def run(pk):
            with transaction.atomic():
                Sent.objects.create(order_id=pk, kind="receipt")
                transaction.set_rollback(True)
            mail()
    """,
    "an error leaves the block": """
        def run(pk):
            try:
                with transaction.atomic():
                    Sent.objects.create(order_id=pk, kind="receipt")
                    raise ValueError
            except ValueError:
                mail()
    """,
    "back to the savepoint": """
        def run(pk):
            point = transaction.savepoint()
            Sent.objects.create(order_id=pk, kind="receipt")
            transaction.savepoint_rollback(point)
            mail()
    """,
}


@pytest.mark.parametrize("code", KEPT.values(), ids=KEPT)
def test_is_kept(tmp_path: Path, code: str) -> None:
    assert is_guarded(tmp_path, HEAD + code, ALCHEMY)


@pytest.mark.parametrize("code", LOST.values(), ids=LOST)
def test_is_lost(tmp_path: Path, code: str) -> None:
    assert not is_guarded(tmp_path, HEAD + code, ALCHEMY)


@pytest.mark.parametrize("code", DJANGO_KEPT.values(), ids=DJANGO_KEPT)
def test_is_kept_in_django(tmp_path: Path, code: str) -> None:
    assert is_guarded(tmp_path, DJANGO_HEAD + code, DJANGO)


@pytest.mark.parametrize("code", DJANGO_LOST.values(), ids=DJANGO_LOST)
def test_is_lost_in_django(tmp_path: Path, code: str) -> None:
    assert not is_guarded(tmp_path, DJANGO_HEAD + code, DJANGO)
