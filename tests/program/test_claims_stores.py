"""Reservations in other stores: peewee, Tortoise, MongoDB, DynamoDB, savepoints of SQLAlchemy."""

from __future__ import annotations

from pathlib import Path

import pytest

from guarding import ALCHEMY, is_guarded

MAIL = {name: ALCHEMY[name] for name in ("shop/__init__.py", "shop/mail.py", "shop/db.py", "shop/models.py")}

PEEWEE = """
        import peewee
        from .mail import mail

        db = peewee.PostgresqlDatabase("shop")

        class Order(peewee.Model):
            mailed = peewee.BooleanField(default=False)
            mailed_at = peewee.DateTimeField(null=True)

        class Sent(peewee.Model):
            key = peewee.CharField(unique=True)
            text = peewee.CharField()
"""
TORTOISE = """
        from tortoise import fields, models
        from tortoise.exceptions import IntegrityError
        from .mail import mail

        class Order(models.Model):
            mailed = fields.BooleanField(default=False)

        class Sent(models.Model):
            key = fields.CharField(80, unique=True)
            text = fields.CharField(80)
"""
MONGO = """
        from datetime import datetime
        from pymongo import MongoClient
        from pymongo.errors import DuplicateKeyError
        from .mail import mail

        db = MongoClient().get_database("shop")
        orders = db.get_collection("orders")
        sent = db.get_collection("sent")
"""
DYNAMO = """
        import boto3
        from botocore.exceptions import ClientError
        from .mail import mail

        table = boto3.resource("dynamodb").Table("sent")
"""
SAVEPOINT = """
        from sqlalchemy.exc import IntegrityError
        from sqlalchemy.orm import Session
        from .mail import mail
        from .models import Log, Sent
"""

OPEN = {
    "peewee: the condition stays true": (
        PEEWEE,
        """
        def run(pk):
            if Order.update(mailed=True).where(Order.id == pk).execute():
                mail()
    """,
    ),
    "peewee: nothing unique": (
        PEEWEE,
        """
        def run(pk):
            _, created = Sent.get_or_create(text=pk)
            if created:
                mail()
    """,
    ),
    "tortoise: the count is not tested": (
        TORTOISE,
        """
        async def run(pk):
            await Order.filter(id=pk, mailed=False).update(mailed=True)
            mail()
    """,
    ),
    "mongo: a read before the write": (
        MONGO,
        """
        def run(pk):
            if orders.find_one({"_id": pk, "mailed": True}):
                return
            mail()
            orders.update_one({"_id": pk}, {"$set": {"mailed": True}})
    """,
    ),
    "mongo: the filter stays true": (
        MONGO,
        """
        def run(pk):
            if orders.update_one({"_id": pk}, {"$set": {"mailed": True}}).modified_count:
                mail()
    """,
    ),
    "mongo: the conflict is swallowed": (
        MONGO,
        """
        def run(pk):
            try:
                sent.insert_one({"_id": pk})
            except DuplicateKeyError:
                pass
            mail()
    """,
    ),
    "dynamo: no condition": (
        DYNAMO,
        """
        def run(pk):
            table.put_item(Item={"pk": pk})
            mail()
    """,
    ),
    "a savepoint with nothing unique": (
        SAVEPOINT,
        """
        def run(session: Session, pk):
            try:
                with session.begin_nested():
                    session.add(Log(order_id=pk, kind="receipt"))
            except IntegrityError:
                return
            mail()
    """,
    ),
}
GUARDED = {
    "peewee: a conditional update": (
        PEEWEE,
        """
        def run(pk):
            query = Order.update(mailed=True).where(Order.id == pk, Order.mailed == False)
            if query.execute() == 1:
                mail()
    """,
    ),
    "peewee: a time that is not set yet": (
        PEEWEE,
        """
        def run(pk, now):
            if not Order.update(mailed_at=now).where((Order.id == pk) & Order.mailed_at.is_null()).execute():
                return
            mail()
    """,
    ),
    "peewee: created": (
        PEEWEE,
        """
        def run(pk):
            _, created = Sent.get_or_create(key=pk, defaults={"text": "x"})
            if created:
                mail()
    """,
    ),
    "peewee: the conflict leaves": (
        PEEWEE,
        """
        def run(pk):
            try:
                with db.atomic():
                    Sent.create(key=pk)
            except peewee.IntegrityError:
                return
            mail()
    """,
    ),
    "tortoise: a conditional update": (
        TORTOISE,
        """
        async def run(pk):
            if await Order.filter(id=pk, mailed=False).update(mailed=True):
                mail()
    """,
    ),
    "tortoise: the conflict leaves": (
        TORTOISE,
        """
        async def run(pk):
            try:
                await Sent.create(key=pk, text="x")
            except IntegrityError:
                return
            mail()
    """,
    ),
    "mongo: an insert under the document's key": (
        MONGO,
        """
        def run(pk):
            try:
                sent.insert_one({"_id": f"receipt:{pk}", "at": datetime.now()})
            except DuplicateKeyError:
                return
            mail()
    """,
    ),
    "mongo: a conditional update": (
        MONGO,
        """
        def run(pk):
            result = orders.update_one({"_id": pk, "mailed": {"$ne": True}}, {"$set": {"mailed": True}})
            if result.modified_count == 0:
                return
            mail()
    """,
    ),
    "mongo: a document that one run takes": (
        MONGO,
        """
        def run():
            order = orders.find_one_and_update({"state": "due"}, {"$set": {"state": "mailed"}})
            if order is None:
                return
            mail(order["address"])
    """,
    ),
    "dynamo: a conditional put": (
        DYNAMO,
        """
        def run(pk):
            try:
                table.put_item(Item={"pk": pk}, ConditionExpression="attribute_not_exists(pk)")
            except ClientError:
                return
            mail()
    """,
    ),
    "a savepoint flushes": (
        SAVEPOINT,
        """
        def run(session: Session, pk):
            try:
                with session.begin_nested():
                    session.add(Sent(order_id=pk, kind="receipt"))
            except IntegrityError:
                return
            mail()
    """,
    ),
}


@pytest.mark.parametrize(("head", "code"), OPEN.values(), ids=OPEN)
def test_is_no_reservation(tmp_path: Path, head: str, code: str) -> None:
    assert not is_guarded(tmp_path, head + code, MAIL)


@pytest.mark.parametrize(("head", "code"), GUARDED.values(), ids=GUARDED)
def test_is_a_reservation(tmp_path: Path, head: str, code: str) -> None:
    assert is_guarded(tmp_path, head + code, MAIL)
