"""Reservations in Django's own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from guarding import DJANGO, guards, is_guarded

HEAD = """
        from django.core.cache import cache
        from django.db import IntegrityError, transaction
        from django.db.models import F, Q
        from django.shortcuts import get_object_or_404
        from django.utils import timezone
        import uuid
        from .mail import mail
        from .models import Event, Log, Order, Sent
"""

OPEN = {
    "nothing at all": """
        def run(pk):
            mail()
    """,
    "a read before the mail": """
        def run(pk):
            if Sent.objects.filter(order_id=pk, kind="receipt").exists():
                return
            mail()
            Sent.objects.create(order_id=pk, kind="receipt")
    """,
    "a flag that is tested and set": """
        def run(pk):
            order = Order.objects.get(pk=pk)
            if order.mailed:
                return
            order.mailed = True
            order.save()
            mail()
    """,
    "get_or_create whose answer is not looked at": """
        def run(pk):
            Sent.objects.get_or_create(order_id=pk, kind="receipt")
            mail()
    """,
    "the row of get_or_create is tested, not whether it is new": """
        def run(pk):
            sent, created = Sent.objects.get_or_create(order_id=pk, kind="receipt")
            if sent:
                mail()
    """,
    "the mail goes out where the row is old": """
        def run(pk):
            _, created = Sent.objects.get_or_create(order_id=pk, kind="receipt")
            if not created:
                mail()
    """,
    "get_or_create without a constraint": """
        def run(pk):
            _, created = Log.objects.get_or_create(order_id=pk, kind="receipt")
            if created:
                mail()
    """,
    "get_or_create by a part of the constraint": """
        def run(pk):
            _, created = Sent.objects.get_or_create(order_id=pk, defaults={"kind": "receipt"})
            if created:
                mail()
    """,
    "the field of the constraint stands among the defaults": """
        def run(pk):
            _, created = Event.objects.get_or_create(source="shop", defaults={"event_id": pk})
            if created:
                mail()
    """,
    "a conflict that is swallowed": """
        def run(pk):
            try:
                Sent.objects.create(order_id=pk, kind="receipt")
            except IntegrityError:
                pass
            mail()
    """,
    "a conflict that is swallowed by suppress": """
        from contextlib import suppress

        def run(pk):
            with suppress(IntegrityError):
                Sent.objects.create(order_id=pk, kind="receipt")
            mail()
    """,
    "the mail stands before the insert": """
        def run(pk):
            mail()
            Sent.objects.create(order_id=pk, kind="receipt")
    """,
    "the mail stands in the handler": """
        def run(pk):
            try:
                Sent.objects.create(order_id=pk, kind="receipt")
            except IntegrityError:
                mail()
    """,
    "an insert under a random key": """
        def run(pk):
            Event.objects.create(event_id=str(uuid.uuid4()), source="shop")
            mail()
    """,
    "an insert under a key with the time of day": """
        def run(pk):
            Event.objects.create(event_id=f"{pk}:{timezone.now():%Y%m%d%H%M}", source="shop")
            mail()
    """,
    "an insert without any unique field": """
        def run(pk):
            Order.objects.create(number=pk)
            mail()
    """,
    "bulk_create that ignores conflicts": """
        def run(pk):
            made = Sent.objects.bulk_create([Sent(order_id=pk, kind="receipt")], ignore_conflicts=True)
            if made:
                mail()
    """,
    "an update without a condition": """
        def run(pk):
            if Order.objects.filter(pk=pk).update(mailed=True):
                mail()
    """,
    "an update whose count is not tested": """
        def run(pk):
            Order.objects.filter(pk=pk, mailed=False).update(mailed=True)
            mail()
    """,
    "an update that leaves its condition true": """
        def run(pk):
            if Order.objects.filter(pk=pk, state="paid").update(state="paid"):
                mail()
    """,
    "an update that leaves its exclusion true": """
        def run(pk):
            if Order.objects.filter(pk=pk).exclude(state="cancelled").update(state="paid"):
                mail()
    """,
    "an update that sets another field than it tests": """
        def run(pk):
            if Order.objects.filter(pk=pk, state="paid").update(mailed=True):
                mail()
    """,
    "a version that each run reads anew": """
        def run(pk):
            order = Order.objects.get(pk=pk)
            if Order.objects.filter(pk=pk, version=order.version).update(version=F("version") + 1):
                mail()
    """,
    "the mail goes out where nothing was updated": """
        def run(pk):
            taken = Order.objects.filter(pk=pk, mailed=False).update(mailed=True)
            if taken == 0:
                mail()
    """,
    "a count that may be nothing": """
        def run(pk):
            taken = Order.objects.filter(pk=pk, mailed=False).update(mailed=True)
            if taken >= 0:
                mail()
    """,
    "a claim or a switch": """
        def run(pk, force):
            if force or Order.objects.filter(pk=pk, mailed=False).update(mailed=True):
                mail()
    """,
    "a claim on one branch only": """
        def run(pk, fast):
            if not fast:
                if not Order.objects.filter(pk=pk, mailed=False).update(mailed=True):
                    return
            mail()
    """,
    "a claim in a loop that ended": """
        def run(pks):
            for pk in pks:
                if Order.objects.filter(pk=pk, mailed=False).update(mailed=True):
                    continue
            mail()
    """,
    "a read of the cache": """
        def run(pk):
            if cache.get(f"mailed:{pk}"):
                return
            cache.set(f"mailed:{pk}", 1)
            mail()
    """,
    "get_or_set tells no winner": """
        def run(pk):
            if cache.get_or_set(f"mailed:{pk}", 1):
                mail()
    """,
    "cache.add is never None": """
        def run(pk):
            if cache.add(f"mailed:{pk}", 1) is not None:
                mail()
    """,
    "save() of a loaded row": """
        def run(pk):
            event = Event.objects.get(event_id=pk)
            event.source = "shop"
            event.save()
            mail()
    """,
    "a loaded row that is saved and then tested": """
        def run(pk):
            order = get_object_or_404(Order, pk=pk)
            order.state = "paid"
            order.save()
            if order.number == "1":
                mail()
    """,
    "fields that come from outside, none of them unique": """
        def run(data):
            Log.objects.create(**data)
            mail()
    """,
    "an insert into a table that is not in the tree": """
        from django.contrib.admin.models import LogEntry

        def run(pk):
            LogEntry.objects.create(object_id=pk)
            mail()
    """,
    "an insert beside a row made just now": """
        def run(number):
            order = Order.objects.create(number=number)
            Sent.objects.create(order=order, kind="receipt")
            mail()
    """,
    "the earlier row is deleted first": """
        def run(pk):
            Sent.objects.filter(order_id=pk).delete()
            Sent.objects.create(order_id=pk, kind="receipt")
            mail()
    """,
    "validation reads first": """
        def run(pk):
            event = Event(event_id=pk)
            event.full_clean()
            mail()
            event.save()
    """,
}

GUARDED = {
    "fields that come from outside, with the unique ones among them: a row has no default for these": """
        def run(data):
            Sent.objects.create(**data)
            mail()
    """,
    "created of get_or_create": """
        def run(pk):
            _, created = Sent.objects.get_or_create(order_id=pk, kind="receipt")
            if created:
                mail()
    """,
    "created by index, early return": """
        def run(pk):
            if not Sent.objects.get_or_create(order_id=pk, kind="receipt")[1]:
                return
            mail()
    """,
    "more fields than the constraint has": """
        def run(pk, text):
            _, created = Sent.objects.get_or_create(order_id=pk, kind="receipt", text=text)
            if created:
                mail()
    """,
    "update_or_create": """
        def run(pk):
            _, new = Sent.objects.update_or_create(order_id=pk, kind="receipt", defaults={"text": "x"})
            if new:
                mail()
    """,
    "a related manager gives the foreign key": """
        def run(pk):
            order = Order.objects.get(pk=pk)
            _, created = order.sent.get_or_create(kind="receipt")
            if created:
                mail()
    """,
    "the fields come in a dict": """
        def run(pk):
            key = {"order_id": pk, "kind": "receipt"}
            _, created = Sent.objects.get_or_create(**key, defaults={"text": "x"})
            if created:
                mail()
    """,
    "get_or_create by the primary key": """
        def run(pk):
            _, created = Log.objects.get_or_create(pk=pk, defaults={"kind": "receipt"})
            if created:
                mail()
    """,
    "an insert whose conflict nobody catches": """
        def run(pk):
            Sent.objects.create(order_id=pk, kind="receipt")
            mail()
    """,
    "an insert whose conflict leaves": """
        def run(pk):
            try:
                with transaction.atomic():
                    Sent.objects.create(order_id=pk, kind="receipt")
            except IntegrityError:
                return
            mail()
    """,
    "the mail stands in the else of the try": """
        def run(pk):
            try:
                Sent.objects.create(order_id=pk, kind="receipt")
            except IntegrityError:
                print("again")
            else:
                mail()
    """,
    "the mail stands in the try itself": """
        def run(pk):
            try:
                Sent.objects.create(order_id=pk, kind="receipt")
                mail()
            except IntegrityError:
                print("again")
    """,
    "a flag is set by both ends of the try": """
        def run(pk):
            try:
                Sent.objects.create(order_id=pk, kind="receipt")
                first = True
            except IntegrityError:
                first = False
            if first:
                mail()
    """,
    "the row stays None after a conflict": """
        def run(pk):
            sent = None
            try:
                sent = Sent.objects.create(order_id=pk, kind="receipt")
            except IntegrityError:
                pass
            if sent is None:
                return
            mail()
    """,
    "the row is built first and saved later": """
        def run(pk):
            sent = Sent(kind="receipt")
            sent.order_id = pk
            sent.save()
            mail()
    """,
    "the row comes from objects.model": """
        def run(event):
            row = Event(event_id=event["id"], source="shop")
            try:
                row.save(force_insert=True)
            except IntegrityError:
                return
            mail()
    """,
    "a conditional update": """
        def run(pk):
            if Order.objects.filter(pk=pk, mailed_at__isnull=True).update(mailed_at=timezone.now()):
                mail()
    """,
    "a conditional update, compared with one": """
        def run(pk):
            taken = Order.objects.filter(pk=pk, mailed=False).update(mailed=True)
            if taken != 1:
                return
            mail()
    """,
    "a conditional update by exclude": """
        def run(pk):
            rows = Order.objects.filter(pk=pk).exclude(state="paid").update(state="paid")
            if rows > 0:
                mail()
    """,
    "a conditional update by Q": """
        def run(pk):
            rows = Order.objects.filter(Q(pk=pk) & ~Q(mailed=True)).update(mailed=True)
            if rows == 0:
                return
            mail()
    """,
    "a query that grows in steps": """
        def run(pk):
            waiting = Order.objects.filter(pk=pk)
            waiting = waiting.filter(state__in=["new", "open"])
            changed = bool(waiting.update(state="done"))
            if changed and pk:
                mail()
    """,
    "the count is kept as a flag": """
        def run(pk):
            won = False
            if pk:
                won = Order.objects.filter(pk=pk, mailed=False).update(mailed=True) == 1
            if won:
                mail()
    """,
    "True if … else False": """
        def run(pk):
            won = True if Order.objects.filter(pk=pk, mailed=False).update(mailed=True) else False
            if not won:
                return
            mail()
    """,
    "a walrus": """
        def run(pk):
            if (count := Order.objects.filter(pk=pk, mailed=False).update(mailed=True)) and count:
                mail()
    """,
    "an assertion": """
        def run(pk):
            assert Order.objects.filter(pk=pk, mailed=False).update(mailed=True) == 1
            mail()
    """,
    "the loser raises": """
        def run(pk):
            if not Order.objects.filter(pk=pk, mailed=False).update(mailed=True):
                raise ValueError(pk)
            mail()
    """,
    "match on the count": """
        def run(pk):
            match Order.objects.filter(pk=pk, mailed=False).update(mailed=True):
                case 1:
                    mail()
                case _:
                    pass
    """,
    "each branch has its own claim": """
        def run(pk, fast):
            if fast:
                if not cache.add(f"mailed:{pk}", 1):
                    return
            else:
                Sent.objects.create(order_id=pk, kind="receipt")
            mail()
    """,
    "the run that deletes the row": """
        def run(pk):
            deleted, _ = Log.objects.filter(pk=pk).delete()
            if deleted:
                mail()
    """,
    "cache.add in a shared cache": """
        def run(pk):
            if not cache.add(f"mailed:{pk}", 1, timeout=None):
                return
            mail()
    """,
    "a claim for each row of a loop": """
        def run():
            for order in Order.objects.filter(mailed=False):
                if not Order.objects.filter(pk=order.pk, mailed=False).update(mailed=True):
                    continue
                mail()
    """,
    "the claim is in the filter of a comprehension": """
        def run(pks):
            [mail() for pk in pks if cache.add(f"mailed:{pk}", 1)]
    """,
    "a day in the key": """
        def run(pk):
            _, created = Event.objects.get_or_create(event_id=f"{pk}:{timezone.now():%Y-%m-%d}")
            if created:
                mail()
    """,
    "an insert into a table that is not in the tree, whose conflict is expected": """
        from deliveries.models import Delivery

        def run(pk):
            try:
                Delivery.objects.create(key=pk)
            except IntegrityError:
                return
            mail()
    """,
    "a token that was stored with the row": """
        def run(pk):
            order = Order.objects.get(pk=pk)
            if cache.add(f"mailed:{order.number}", uuid.uuid4().hex):
                mail()
    """,
}


@pytest.mark.parametrize("code", OPEN.values(), ids=OPEN)
def test_is_no_reservation(tmp_path: Path, code: str) -> None:
    assert not is_guarded(tmp_path, HEAD + code, DJANGO)


@pytest.mark.parametrize("code", GUARDED.values(), ids=GUARDED)
def test_is_a_reservation(tmp_path: Path, code: str) -> None:
    assert is_guarded(tmp_path, HEAD + code, DJANGO)


def test_tells_what_is_claimed_and_where(tmp_path: Path) -> None:
    (guard,) = guards(tmp_path, HEAD + GUARDED["a conditional update"], DJANGO)
    assert guard is not None
    assert (guard.path, guard.line) == ("shop/run.py", 12)
    assert guard.note == "conditional update of Order.mailed_at"
    assert guard.key == "shop.models.Order.mailed_at()"


def test_an_insert_in_an_open_transaction_says_so(tmp_path: Path) -> None:
    code = """
        def run(pk):
            with transaction.atomic():
                Sent.objects.create(order_id=pk, kind="receipt")
                mail()
    """
    (guard,) = guards(tmp_path, HEAD + code, DJANGO)
    assert guard is not None
    assert guard.held_in_transaction
    (guard,) = guards(tmp_path / "committed", HEAD + code.replace("        mail()", "    mail()"), DJANGO)
    assert guard is not None
    assert not guard.held_in_transaction
