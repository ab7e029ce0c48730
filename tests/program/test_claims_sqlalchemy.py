"""Reservations in SQLAlchemy's words, and in SQL text."""

from __future__ import annotations

from pathlib import Path

import pytest

from guarding import ALCHEMY, is_guarded

HEAD = """
        from datetime import datetime
        from sqlalchemy import delete, insert, select, text, update
        from sqlalchemy.dialects.postgresql import insert as pg_insert
        from sqlalchemy.exc import IntegrityError
        from sqlalchemy.orm import Session as Work
        from .db import Session
        from .mail import mail
        from .models import Log, Order, Sent
"""

OPEN = {
    "add alone inserts nothing yet": """
        def run(session: Work, pk):
            session.add(Sent(order_id=pk, kind="receipt"))
            mail()
            session.commit()
    """,
    "an insert into a table with nothing unique": """
        def run(session: Work, pk):
            try:
                session.execute(insert(Log).values(order_id=pk, kind="receipt"))
                session.commit()
            except IntegrityError:
                session.rollback()
                return
            mail()
    """,
    "a commit of other rows": """
        def run(session: Work, pk):
            session.add(Log(order_id=pk, kind="receipt"))
            session.commit()
            mail()
    """,
    "a conflict that is rolled back and forgotten": """
        def run(session: Work, pk):
            session.add(Sent(order_id=pk, kind="receipt"))
            try:
                session.commit()
            except IntegrityError:
                session.rollback()
            mail()
    """,
    "merge reads first": """
        def run(session: Work, pk):
            session.merge(Sent(order_id=pk, kind="receipt"))
            session.commit()
            mail()
    """,
    "an upsert counts one row either way": """
        def run(session: Work, pk):
            statement = pg_insert(Sent).values(order_id=pk, kind="receipt")
            statement = statement.on_conflict_do_update(index_elements=["order_id"], set_={"kind": "receipt"})
            if session.execute(statement).rowcount:
                mail()
    """,
    "do nothing, and nobody looks": """
        def run(session: Work, pk):
            session.execute(pg_insert(Sent).values(order_id=pk, kind="receipt").on_conflict_do_nothing())
            session.commit()
            mail()
    """,
    "the result itself is always true": """
        def run(session: Work, pk):
            result = session.execute(pg_insert(Sent).values(order_id=pk, kind="receipt").on_conflict_do_nothing())
            if result:
                mail()
    """,
    "do nothing without any constraint": """
        def run(session: Work, pk):
            result = session.execute(pg_insert(Log).values(order_id=pk, kind="receipt").on_conflict_do_nothing())
            if result.rowcount:
                mail()
    """,
    "an update that does not test what it sets": """
        def run(session: Work, pk):
            result = session.execute(update(Order).where(Order.id == pk).values(mailed=True))
            if result.rowcount == 1:
                mail()
    """,
    "an update that can match again": """
        def run(session: Work, pk):
            statement = update(Order).where(Order.id == pk, Order.state != "cancelled").values(state="paid")
            if session.execute(statement).rowcount:
                mail()
    """,
    "a select is no claim": """
        def run(session: Work, pk):
            if session.scalar(select(Sent).where(Sent.order_id == pk)) is not None:
                return
            mail()
            session.add(Sent(order_id=pk, kind="receipt"))
            session.commit()
    """,
    "an attribute that was set and committed": """
        def run(session: Work, pk):
            order = session.get(Order, pk)
            if order.mailed:
                return
            order.mailed = True
            session.commit()
            mail()
    """,
    "SQL text: an upsert": """
        def run(session: Work, pk):
            found = session.execute(
                text("INSERT INTO sent (order_id) VALUES (:o) ON CONFLICT (order_id) DO UPDATE SET kind = 'x'"),
                {"o": pk},
            )
            if found.rowcount:
                mail()
    """,
    "SQL text: the update leaves its condition true": """
        def run(session: Work, pk):
            found = session.execute(text("UPDATE orders SET state = 'paid' WHERE id = :o AND state = 'paid'"))
            if found.rowcount:
                mail()
    """,
    "SQLite guards one host": """
        import sqlite3

        db = sqlite3.connect("sent.db")
        db.execute("CREATE TABLE mails (id TEXT PRIMARY KEY)")

        def run(pk):
            if db.execute("INSERT OR IGNORE INTO mails VALUES (?)", (pk,)).rowcount:
                mail()
    """,
}

GUARDED = {
    "add, commit, conflict leaves": """
        def run(session: Work, pk):
            session.add(Sent(order_id=pk, kind="receipt"))
            try:
                session.commit()
            except IntegrityError:
                session.rollback()
                return
            mail()
    """,
    "add and flush": """
        def run(session: Work, pk):
            sent = Sent(kind="receipt")
            sent.order_id = pk
            session.add(sent)
            session.flush()
            mail()
    """,
    "add_all": """
        def run(session: Work, pk):
            session.add_all([Log(order_id=pk, kind="x"), Sent(order_id=pk, kind="receipt")])
            session.commit()
            mail()
    """,
    "the block commits at its end": """
        def run(pk):
            with Session.begin() as session:
                session.add(Sent(order_id=pk, kind="receipt"))
            mail()
    """,
    "the block's conflict leaves": """
        def run(pk):
            try:
                with Session.begin() as session:
                    session.add(Sent(order_id=pk, kind="receipt"))
            except IntegrityError:
                return
            mail()
    """,
    "a helper adds": """
        def record(session, pk):
            session.add(Sent(order_id=pk, kind="receipt"))

        def run(session: Work, pk):
            record(session, pk)
            session.commit()
            mail()
    """,
    "a plain insert": """
        def run(session: Work, pk):
            session.execute(insert(Sent), {"order_id": pk, "kind": "receipt"})
            session.commit()
            mail()
    """,
    "do nothing, rowcount": """
        def run(session: Work, pk):
            result = session.execute(pg_insert(Sent).values(order_id=pk, kind="receipt").on_conflict_do_nothing())
            session.commit()
            if result.rowcount == 0:
                return
            mail()
    """,
    "do nothing, returning": """
        def run(session: Work, pk):
            statement = pg_insert(Sent).values({"order_id": pk, "kind": "receipt"})
            statement = statement.on_conflict_do_nothing().returning(Sent.id)
            row = session.execute(statement).scalar_one_or_none()
            if row is not None:
                mail()
    """,
    "do nothing, scalar": """
        def run(session: Work, pk):
            found = session.scalar(
                pg_insert(Sent).values(order_id=pk, kind="receipt").on_conflict_do_nothing().returning(Sent.id)
            )
            if found:
                mail()
    """,
    "the database checks the columns of ON CONFLICT": """
        def run(session: Work, pk):
            statement = pg_insert(Log).values(order_id=pk).on_conflict_do_nothing(index_elements=[Log.order_id])
            if session.execute(statement).rowcount:
                mail()
    """,
    "a conditional update": """
        def run(session: Work, pk):
            result = session.execute(
                update(Order).where(Order.id == pk).where(Order.mailed_at.is_(None)).values(mailed_at=datetime.now())
            )
            session.commit()
            if not result.rowcount:
                return
            mail()
    """,
    "a conditional update of a flag": """
        def run(session: Work, pk):
            statement = update(Order).where(Order.id == pk, ~Order.mailed).values({"mailed": True})
            if session.execute(statement).rowcount == 1:
                mail()
    """,
    "update, returning, loop": """
        def run(session: Work):
            rows = session.scalars(
                update(Order).where(Order.state == "due").values(state="taken").returning(Order.id)
            ).all()
            session.commit()
            for row in rows:
                mail(row)
    """,
    "update, returning, a list of addresses": """
        def run(session: Work):
            taken = session.execute(
                update(Order).where(Order.state == "due").values(state="taken").returning(Order.id)
            )
            addresses = [row.id for row in taken.all()]
            session.commit()
            for address in addresses:
                mail(address)
    """,
    "a query's update": """
        def run(session: Work, pk):
            count = session.query(Order).filter(Order.id == pk, Order.mailed == False).update({Order.mailed: True})
            session.commit()
            if count:
                mail()
    """,
    "a query's update by filter_by": """
        def run(session: Work, pk):
            if session.query(Order).filter_by(id=pk, mailed=False).update({"mailed": True}) == 1:
                mail()
    """,
    "the run that deletes the row": """
        def run(session: Work, pk):
            if session.execute(delete(Log).where(Log.id == pk)).rowcount:
                mail()
    """,
    "async": """
        async def run(session, pk):
            result = await session.execute(
                pg_insert(Sent).values(order_id=pk, kind="receipt").on_conflict_do_nothing()
            )
            await session.commit()
            if result.rowcount:
                mail()
    """,
    "SQL text: do nothing": """
        def run(session: Work, pk):
            found = session.execute(
                text("INSERT INTO sent (order_id, kind) VALUES (:order_id, :kind) ON CONFLICT DO NOTHING"),
                {"order_id": pk, "kind": "receipt"},
            )
            if found.rowcount:
                mail()
    """,
    "SQL text: a conditional update": """
        TAKE = "UPDATE orders SET mailed = true WHERE id = :pk AND mailed = false RETURNING id"

        def run(session: Work, pk):
            if session.execute(text(TAKE), {"pk": pk}).fetchone() is None:
                return
            mail()
    """,
    "psycopg": """
        import psycopg

        def run(conn: psycopg.Connection, pk):
            conn.execute("CREATE TABLE IF NOT EXISTS mails (id text PRIMARY KEY)")
            with conn.cursor() as cursor:
                cursor.execute("INSERT INTO mails (id) VALUES (%s) ON CONFLICT DO NOTHING", (pk,))
                if cursor.rowcount == 1:
                    mail()
    """,
    "psycopg, the row that came back": """
        import psycopg

        def run(conn: psycopg.Connection, pk):
            cursor = conn.cursor()
            cursor.execute("UPDATE orders SET state = 'sent' WHERE id = %s AND state = 'due' RETURNING id", (pk,))
            row = cursor.fetchone()
            conn.commit()
            if not row:
                return
            mail()
    """,
    "a conflict of psycopg": """
        import psycopg

        def run(conn: psycopg.Connection, pk):
            conn.execute("CREATE TABLE mails (id text, kind text, UNIQUE (id, kind))")
            try:
                conn.execute("INSERT INTO mails (id, kind) VALUES (%s, 'receipt')", (pk,))
            except psycopg.errors.UniqueViolation:
                return
            mail()
    """,
    "asyncpg answers with a text": """
        import asyncpg

        async def run(conn: asyncpg.Connection, pk):
            status = await conn.execute("INSERT INTO mails (id) VALUES ($1) ON CONFLICT (id) DO NOTHING", pk)
            if status == "INSERT 0 1":
                mail()
    """,
    "asyncpg gives the row": """
        import asyncpg

        async def run(pool: asyncpg.Pool, pk):
            row = await pool.fetchrow(
                "INSERT INTO mails (id) VALUES ($1) ON CONFLICT (id) DO NOTHING RETURNING id", pk
            )
            if row is None:
                return
            mail()
    """,
}


@pytest.mark.parametrize("code", OPEN.values(), ids=OPEN)
def test_is_no_reservation(tmp_path: Path, code: str) -> None:
    assert not is_guarded(tmp_path, HEAD + code, ALCHEMY)


@pytest.mark.parametrize("code", GUARDED.values(), ids=GUARDED)
def test_is_a_reservation(tmp_path: Path, code: str) -> None:
    assert is_guarded(tmp_path, HEAD + code, ALCHEMY)
