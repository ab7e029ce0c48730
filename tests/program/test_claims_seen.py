"""Reservations, and what only looks like one, as applications spell them."""

from __future__ import annotations

from pathlib import Path

import pytest

from guarding import ALCHEMY, DJANGO, guards, is_guarded

HEAD = """
        from datetime import timedelta
        from django.contrib.auth import get_user_model
        from django.contrib.auth.models import AbstractBaseUser, AbstractUser, BaseUserManager, User
        from django.db import connection, models, transaction
        from django.db.models import F, Q
        from django.db.models.signals import post_save, pre_save
        from django.dispatch import receiver
        from django.utils import timezone
        from .mail import mail
        from .models import Event, Log, Order, Sent
"""

OPEN = {
    "a row of a row made here": """
        def run(number):
            order = Order.objects.create(number=number)
            Sent.objects.create(order=order, kind="x")
            mail()
    """,
    "a counter that goes down": """
        def run(pk):
            if Order.objects.filter(pk=pk, version__gt=0).update(version=F("version") - 1):
                mail()
    """,
    "a lease that another may take over": """
        def run(pk):
            free = Q(state="ready") | Q(state="taken", mailed_at__lt=timezone.now() - timedelta(minutes=5))
            if Order.objects.filter(free, pk=pk).update(state="taken", mailed_at=timezone.now()):
                mail()
    """,
    "a lease beside the real mark": """
        def run(pk):
            old = Q(mailed_at=None) | Q(mailed_at__lt=timezone.now() - timedelta(minutes=5))
            if Order.objects.filter(old, pk=pk, mailed=False).update(mailed_at=timezone.now()):
                mail()
                Order.objects.filter(pk=pk).update(mailed=True)
    """,
    "a lease in SQL": """
        def run(pk):
            with connection.cursor() as cursor:
                cursor.execute(
                    "UPDATE shop_order SET state = %(taken)s, mailed_at = %(now)s WHERE id = %(pk)s"
                    " AND (state = %(ready)s OR (state = %(taken)s AND mailed_at < %(old)s))",
                    {"pk": pk},
                )
                if cursor.rowcount:
                    mail()
    """,
    "a list that may be empty": """
        def run(kinds):
            Event.objects.bulk_create([Event(event_id=kind) for kind in kinds])
            mail()
    """,
    "a row that replaces an older one": """
        def run(pk):
            old = Event.objects.filter(event_id=pk).first()
            if old:
                Event.objects.filter(event_id=pk).delete()
            Event.objects.create(event_id=pk)
            mail()
    """,
    "a lock that its helper gives up": """
        def take(pk):
            with transaction.atomic():
                return Order.objects.select_for_update().filter(pk=pk, mailed=False).first()

        def run(pk):
            order = take(pk)
            if order is None:
                return
            mail()
            order.mailed = True
            order.save()
    """,
    "what was read before the lock": """
        def run(pk):
            order = Order.objects.get(pk=pk)
            with transaction.atomic():
                Order.objects.select_for_update().get(pk=pk)
                if order.mailed:
                    return
                order.mailed = True
                order.save()
            mail()
    """,
    "a receiver before the row is stored": """
        class Ticket(models.Model):
            number = models.IntegerField(unique=True)

        @receiver(pre_save, sender=Ticket)
        def greet(sender, instance, **kwargs):
            mail()

        def run(number):
            Ticket.objects.get_or_create(number=number)
    """,
}

GUARDED = {
    "get_or_create of the query set's own": """
        class TicketQuerySet(models.QuerySet):
            def open(self, **fields):
                ticket, created = self.get_or_create(**fields)
                return ticket if created else None

        class Ticket(models.Model):
            number = models.IntegerField(unique=True)
            objects = TicketQuerySet.as_manager()

        def run(number):
            if Ticket.objects.open(number=number) is not None:
                mail()
    """,
    "a receiver of a new unique row": """
        class Ticket(models.Model):
            number = models.IntegerField(unique=True)

        @receiver(post_save, sender=Ticket)
        def greet(sender, instance, created, **kwargs):
            if created:
                mail()

        def run(number):
            Ticket.objects.get_or_create(number=number)
    """,
    "a user's name": """
        def run(name):
            User.objects.create_user(name, "a@x.example", "x")
            mail()
    """,
    "a member's name": """
        class Member(AbstractUser):
            pass

        def run(name):
            Member.objects.create_user(username=name)
            mail()
    """,
    "a manager's own create_user": """
        class PersonManager(BaseUserManager):
            def create_user(self, email, **extra):
                person = self.model(email=self.normalize_email(email), **extra)
                person.save(using=self._db)
                return person

        class Person(AbstractBaseUser):
            email = models.EmailField(unique=True)
            objects = PersonManager()

        def run(email):
            Person.objects.create_user(email)
            mail()
    """,
    "claimed ids": """
        @transaction.atomic
        def claim():
            ids = list(
                Order.objects.select_for_update(skip_locked=True).filter(state="new").values_list("pk", flat=True)
            )
            Order.objects.filter(pk__in=ids).update(state="taken")
            return ids

        def run():
            for pk in claim():
                mail()
    """,
    "a claimed set": """
        def claim():
            mine = set()
            with transaction.atomic():
                for order in Order.objects.select_for_update().filter(state="new"):
                    order.state = "taken"
                    order.save()
                    mine.add(order.pk)
            return mine

        def run():
            mine = claim()
            for order in Order.objects.filter(pk__in=mine):
                mail(order.number)
    """,
    "read again under the lock": """
        def run(pk):
            order = Order.objects.get(pk=pk)
            with transaction.atomic():
                Order.objects.select_for_update().get(pk=pk)
                order.refresh_from_db()
                if order.mailed:
                    return
                order.mailed = True
                order.save()
            mail()
    """,
    "the date that was read is moved on": """
        def run():
            order = Order.objects.filter(mailed_at__lt=timezone.now()).first()
            due = Order.objects.filter(id=order.id, mailed_at=order.mailed_at)
            if due.update(mailed_at=timezone.now() + timedelta(days=1)) != 1:
                return
            mail()
    """,
    "once a week": """
        def run(pk):
            old = timezone.now() - timedelta(days=7)
            if Order.objects.filter(pk=pk, mailed_at__lt=old).update(mailed_at=timezone.now()):
                mail()
    """,
    "a counter that leaves its start": """
        def run(pk):
            if Order.objects.filter(pk=pk, version=0).update(version=F("version") + 1):
                mail()
    """,
}

MIXIN = """
        import uuid
        from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, scoped_session
        from .db import Base, Session as Maker
        from .mail import mail

        Session = scoped_session(Maker)

        class Crud:
            @classmethod
            def create(cls, commit=False, **fields):
                row = cls(**fields)
                Session.add(row)
                if commit:
                    Session.commit()
                return row

            @classmethod
            def make(cls, **fields):
                commit = fields.pop("commit", False)
                row = cls(**fields)
                Session.add(row)
                if commit:
                    Session.commit()
                return row

        class Account(Base, Crud):
            __tablename__ = "account"
            id: Mapped[int] = mapped_column(primary_key=True)
            email: Mapped[str] = mapped_column(unique=True)
            token: Mapped[str] = mapped_column(unique=True)

        class Visit(Base, Crud):
            __tablename__ = "visit"
            id: Mapped[int] = mapped_column(primary_key=True)
            token: Mapped[str] = mapped_column(unique=True)

        def run(email):
            {create}
            mail()
"""
CREATED = {
    "Account.create(email=email, token=uuid.uuid4().hex, commit=True)": True,
    "Account.make(email=email, token=uuid.uuid4().hex, commit=True)": True,
    "Account.create(email=email, token=uuid.uuid4().hex)": False,
    "Account.make(email=email, token=uuid.uuid4().hex)": False,
    "Visit.create(token=uuid.uuid4().hex, commit=True)": False,
}


@pytest.mark.parametrize("code", OPEN.values(), ids=OPEN)
def test_is_no_reservation(tmp_path: Path, code: str) -> None:
    assert not is_guarded(tmp_path, HEAD + code, DJANGO)


@pytest.mark.parametrize("code", GUARDED.values(), ids=GUARDED)
def test_is_a_reservation(tmp_path: Path, code: str) -> None:
    assert is_guarded(tmp_path, HEAD + code, DJANGO)


@pytest.mark.parametrize(("create", "guarded"), CREATED.items(), ids=CREATED)
def test_rows_of_a_mixin(tmp_path: Path, create: str, guarded: bool) -> None:
    assert is_guarded(tmp_path, MIXIN.replace("{create}", create), ALCHEMY) is guarded


def test_the_key_is_the_column_that_another_run_gives_too(tmp_path: Path) -> None:
    code = MIXIN.replace("{create}", "Account.create(email=email, token=uuid.uuid4().hex, commit=True)")
    assert {guard.note for guard in guards(tmp_path, code, ALCHEMY) if guard} == {"unique insert into Account (email)"}
