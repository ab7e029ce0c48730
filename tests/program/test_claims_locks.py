"""Row locks and run locks: they count with a check and a mark that stand under them."""

from __future__ import annotations

from pathlib import Path

import pytest

from guarding import ALCHEMY, DJANGO, guards, is_guarded

HEAD = """
        from django.db import connection, transaction
        from django.shortcuts import get_object_or_404
        from django.utils import timezone
        from .mail import mail
        from .models import Log, Order, Sent
"""

OPEN = {
    "a row lock alone": """
        def run(pk):
            with transaction.atomic():
                order = Order.objects.select_for_update().get(pk=pk)
                mail(order.number)
    """,
    "a check without a mark": """
        def run(pk):
            with transaction.atomic():
                order = Order.objects.select_for_update().get(pk=pk)
                if order.mailed:
                    return
                mail(order.number)
    """,
    "a mark without a check": """
        def run(pk):
            with transaction.atomic():
                order = Order.objects.select_for_update().get(pk=pk)
                order.mailed = True
                order.save()
                mail(order.number)
    """,
    "another field is marked": """
        def run(pk):
            with transaction.atomic():
                order = Order.objects.select_for_update().get(pk=pk)
                if order.mailed:
                    return
                order.state = "done"
                order.save()
                mail(order.number)
    """,
    "the lock ends before mail and mark": """
        def run(pk):
            with transaction.atomic():
                order = Order.objects.select_for_update().get(pk=pk)
                if order.mailed:
                    return
            mail(order.number)
            order.mailed = True
            order.save()
    """,
    "the check stands before the lock": """
        def run(pk):
            order = Order.objects.get(pk=pk)
            if order.mailed:
                return
            with transaction.atomic():
                order = Order.objects.select_for_update().get(pk=pk)
                mail(order.number)
                order.mailed = True
                order.save()
    """,
    "no lock at all": """
        def run(pk):
            with transaction.atomic():
                order = Order.objects.get(pk=pk)
                if order.mailed:
                    return
                mail(order.number)
                order.mailed = True
                order.save()
    """,
    "the mark only after an error": """
        def run(pk):
            with transaction.atomic():
                order = Order.objects.select_for_update().get(pk=pk)
                if order.mailed:
                    return
                try:
                    mail(order.number)
                except OSError:
                    order.mailed = True
                    order.save()
    """,
    "another row of the locked table is made": """
        def run(pk):
            with transaction.atomic():
                order = Order.objects.select_for_update().get(pk=pk)
                if order is None:
                    return
                mail(order.number)
                Order.objects.create(number=pk)
    """,
    "locked rows that nobody marks": """
        def run():
            with transaction.atomic():
                rows = list(Order.objects.select_for_update(skip_locked=True).filter(state="due"))
            for order in rows:
                mail(order.number)
    """,
}

GUARDED = {
    "check, mail, mark": """
        def run(pk):
            with transaction.atomic():
                order = Order.objects.select_for_update().get(pk=pk)
                if order.mailed:
                    return
                mail(order.number)
                order.mailed = True
                order.save(update_fields=["mailed"])
    """,
    "check, mark, mail": """
        def run(pk):
            with transaction.atomic():
                order = get_object_or_404(Order.objects.select_for_update(), pk=pk)
                if order.mailed_at is None:
                    order.mailed_at = timezone.now()
                    order.save()
                    mail(order.number)
    """,
    "check and mark, then mail": """
        def run(pk):
            with transaction.atomic():
                order = Order.objects.select_for_update().get(pk=pk)
                if order.mailed:
                    return
                order.mailed = True
                order.save()
            mail(order.number)
    """,
    "the check is a property": """
        def run(pk):
            with transaction.atomic():
                order = Order.objects.select_for_update().get(pk=pk)
                if order.is_mailed:
                    return
                mail(order.number)
                order.mailed_at = timezone.now()
                order.save()
    """,
    "the check is in the locked query": """
        def run(pk):
            with transaction.atomic():
                order = Order.objects.select_for_update().filter(pk=pk, state="due").first()
                if order is None:
                    return
                Order.objects.filter(pk=pk).update(state="mailed")
            mail(order.number)
    """,
    "check and mark are rows of another table": """
        def run(pk):
            with transaction.atomic():
                order = Order.objects.select_for_update().get(pk=pk)
                if Log.objects.filter(order=order, kind="receipt").exists():
                    return
                mail(order.number)
                Log.objects.create(order=order, kind="receipt")
    """,
    "a helper locks": """
        def locked(pk):
            return Order.objects.select_for_update().get(pk=pk)

        def run(pk):
            with transaction.atomic():
                order = locked(pk)
                if order.mailed:
                    return
                mail(order.number)
                order.mailed = True
                order.save()
    """,
    "a helper marks": """
        def remember(order):
            order.mailed = True
            order.save(update_fields=["mailed"])

        def run(pk):
            with transaction.atomic():
                order = Order.objects.select_for_update().get(pk=pk)
                if not order.mailed:
                    mail(order.number)
                    remember(order)
    """,
    "a helper takes one": """
        def take(pk):
            with transaction.atomic():
                order = Order.objects.select_for_update().get(pk=pk)
                if order.mailed:
                    return None
                order.mailed = True
                order.save()
            return order

        def run(pk):
            order = take(pk)
            if order is None:
                return
            mail(order.number)
    """,
    "a helper takes a batch": """
        def take(size=50):
            with transaction.atomic():
                rows = list(Order.objects.select_for_update(skip_locked=True).filter(state="due")[:size])
                Order.objects.filter(pk__in=[row.pk for row in rows]).update(state="mailed")
            return rows

        def run():
            for order in take():
                mail(order.number)
    """,
    "a batch, marked row by row": """
        def run():
            with transaction.atomic():
                rows = Order.objects.select_for_update(skip_locked=True).filter(state="due")
                for row in rows:
                    row.state = "mailed"
                    row.save()
            for row in rows:
                mail(row.number)
    """,
    "the locked row is deleted": """
        def run(pk):
            with transaction.atomic():
                log = Log.objects.select_for_update().filter(pk=pk).first()
                if log is None:
                    return
                mail(log.kind)
                log.delete()
    """,
    "a decorated function": """
        @transaction.atomic
        def run(pk):
            order = Order.objects.select_for_update().get(pk=pk)
            if order.mailed:
                return
            mail(order.number)
            order.mailed = True
            order.save()
    """,
    "SQL text locks": """
        def run(pk):
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SELECT mailed FROM shop_order WHERE id = %s AND NOT mailed FOR UPDATE", [pk])
                if cursor.fetchone() is None:
                    return
                mail()
                cursor.execute("UPDATE shop_order SET mailed = true WHERE id = %s", [pk])
    """,
    "an advisory lock around check, mail and mark": """
        from django_pglocks import advisory_lock

        def run(pk):
            with advisory_lock("mail"):
                order = Order.objects.get(pk=pk)
                if order.mailed:
                    return
                mail(order.number)
                order.mailed = True
                order.save()
    """,
}

ALCHEMY_HEAD = """
        from sqlalchemy import select
        from sqlalchemy.orm import Session as Work
        from .db import Session
        from .mail import mail
        from .models import Order
"""

ALCHEMY_OPEN = {
    "the commit frees the row before the mark": """
        def run(session: Work, pk):
            order = session.get(Order, pk, with_for_update=True)
            if order.mailed:
                return
            session.commit()
            mail()
            order.mailed = True
            session.commit()
    """,
    "get() without a lock": """
        def run(session: Work, pk):
            order = session.get(Order, pk)
            if order.mailed:
                return
            mail()
            order.mailed = True
            session.commit()
    """,
}

ALCHEMY_GUARDED = {
    "get() with a lock, mark, commit": """
        def run(session: Work, pk):
            order = session.get(Order, pk, with_for_update=True)
            if not order.mailed:
                mail()
                order.mailed = True
            session.commit()
    """,
    "a locked select, mark, commit, mail": """
        def run(session: Work, pk):
            order = session.scalars(select(Order).where(Order.id == pk).with_for_update()).one()
            if order.mailed:
                return
            order.mailed = True
            session.commit()
            mail()
    """,
    "a locked select in a block": """
        def run(pk):
            with Session.begin() as session:
                order = session.scalar(
                    select(Order).where(Order.id == pk, Order.mailed.is_(False)).with_for_update(skip_locked=True)
                )
                if order is None:
                    return
                order.mailed = True
            mail()
    """,
    "a locked query": """
        def run(session: Work, pk):
            order = session.query(Order).filter_by(id=pk).with_for_update().one()
            if order.mailed:
                return
            mail()
            order.mailed = True
            session.commit()
    """,
    "a locked batch": """
        def run(session: Work):
            rows = session.scalars(select(Order).where(Order.state == "due").with_for_update(skip_locked=True)).all()
            for row in rows:
                row.state = "mailed"
            session.commit()
            for row in rows:
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


@pytest.mark.parametrize(("title", "held"), [("check, mail, mark", True), ("check and mark, then mail", False)])
def test_tells_whether_the_lock_is_still_held(tmp_path: Path, title: str, held: bool) -> None:
    (guard,) = guards(tmp_path, HEAD + GUARDED[title], DJANGO)
    assert guard is not None
    assert guard.held_in_transaction is held
    assert guard.note == "lock around the check and the mark of Order.mailed"


TEXT = """
        import psycopg
        from .mail import mail

        def run(pk):
            with psycopg.connect("dbname=shop") as connection:
                {0}
                if sent:
                    return
                mail()
                connection.execute("UPDATE orders SET sent = true WHERE id = %s", (pk,))
"""
ROWS = {
    "the column that is marked": (
        'email, sent = connection.execute("SELECT email, sent FROM orders WHERE id = %s FOR UPDATE", (pk,)).fetchone()',
        True,
    ),
    "the only column": (
        'sent = connection.execute("SELECT sent FROM orders WHERE id = %s FOR UPDATE", (pk,)).fetchone()[0]',
        True,
    ),
    "another column": (
        'sent, to = connection.execute("SELECT mail, state FROM orders WHERE id = %s FOR UPDATE", (pk,)).fetchone()',
        False,
    ),
    "no lock": (
        'email, sent = connection.execute("SELECT email, sent FROM orders WHERE id = %s", (pk,)).fetchone()',
        False,
    ),
}


@pytest.mark.parametrize(("read", "expected"), ROWS.values(), ids=ROWS)
def test_columns_of_sql_text_by_their_places(tmp_path: Path, read: str, expected: bool) -> None:
    assert is_guarded(tmp_path, TEXT.replace("{0}", read), ALCHEMY) is expected
