"""Claims that stand in helpers, decorators, context managers and classes of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from guarding import DJANGO, guards, is_guarded

HEAD = """
        import asyncio
        import functools
        import uuid
        from contextlib import asynccontextmanager, contextmanager
        from dataclasses import dataclass
        from django.core.cache import cache
        from django.db import IntegrityError, transaction
        from .mail import mail
        from .models import Event, Log, Order, Sent
"""

OPEN = {
    "a helper that always answers yes": """
        def claim(pk):
            Order.objects.filter(pk=pk, mailed=False).update(mailed=True)
            return True

        def run(pk):
            if claim(pk):
                mail()
    """,
    "a helper that fails towards sending": """
        def claim(pk):
            try:
                return cache.add(f"mailed:{pk}", 1)
            except ConnectionError:
                return True

        def run(pk):
            if claim(pk):
                mail()
    """,
    "a helper that swallows the conflict": """
        def record(pk):
            try:
                Sent.objects.create(order_id=pk, kind="receipt")
            except IntegrityError:
                print("again")

        def run(pk):
            record(pk)
            mail()
    """,
    "a helper whose answer is not looked at": """
        def claim(pk):
            return cache.add(f"mailed:{pk}", 1)

        def run(pk):
            claim(pk)
            mail()
    """,
    "a helper that is asked the wrong way round": """
        def claim(pk):
            return cache.add(f"mailed:{pk}", 1)

        def run(pk):
            if not claim(pk):
                mail()
    """,
    "a helper that gives the row, old or new": """
        def delivery(pk):
            row, _ = Sent.objects.get_or_create(order_id=pk, kind="receipt")
            return row

        def run(pk):
            if delivery(pk) is not None:
                mail()
    """,
    "a helper that is told not to claim": """
        def claim(pk, force):
            if force:
                return True
            return cache.add(f"mailed:{pk}", 1)

        def run(pk):
            if claim(pk, force=True):
                mail()
    """,
    "a helper that is given another key each time": """
        def claim(key):
            return cache.add(key, 1)

        def run(pk):
            if claim(f"{pk}:{uuid.uuid4()}"):
                mail()
    """,
    "a sending helper that is given another key each time": """
        def mail_once(key):
            if cache.add(key, 1):
                mail()

        def run(pk):
            mail_once(uuid.uuid4().hex)
    """,
    "a context manager that lets everybody in": """
        @contextmanager
        def once(pk):
            yield cache.add(f"mailed:{pk}", 1)

        def run(pk):
            with once(pk):
                mail()
    """,
    "a decorator that only looks": """
        def once(function):
            @functools.wraps(function)
            def wrapper(pk):
                if cache.get(f"mailed:{pk}"):
                    return None
                return function(pk)
            return wrapper

        @once
        def send(pk):
            mail()

        def run(pk):
            send(pk)
    """,
    "a helper that is told what somebody read": """
        def notify(first):
            if first:
                mail()

        def run(pk):
            notify(not Sent.objects.filter(order_id=pk).exists())
    """,
    "one of two implementations claims nothing": """
        class Shared:
            def claim(self, pk):
                return cache.add(f"mailed:{pk}", 1)

        class Plain(Shared):
            def claim(self, pk):
                return True

        def run(claims: Shared, pk):
            if claims.claim(pk):
                mail()
    """,
    "a helper that is given an object that always agrees": """
        class Claims:
            def take(self, pk):
                return True

        def mail_once(claims, pk):
            if not claims.take(pk):
                return
            mail()

        def run(pk):
            mail_once(Claims(), pk)
    """,
    "a helper that calls itself": """
        def claim(pk):
            return claim(pk)

        def run(pk):
            if claim(pk):
                mail()
    """,
}

GUARDED = {
    "a helper that answers": """
        def claim(pk):
            return cache.add(f"mailed:{pk}", 1)

        def run(pk):
            if claim(pk):
                mail()
    """,
    "a helper that answers in two ways": """
        def claim(pk):
            try:
                Sent.objects.create(order_id=pk, kind="receipt")
            except IntegrityError:
                return False
            return True

        def run(pk):
            if not claim(pk):
                return
            mail()
    """,
    "a helper that says whether it was sent before": """
        def seen(pk):
            _, created = Event.objects.get_or_create(event_id=pk)
            return not created

        def run(pk):
            if seen(pk):
                return
            mail()
    """,
    "a helper in a helper, by another name": """
        def claim(key):
            return bool(cache.add(key, 1))

        def may_mail(pk):
            return claim(f"mailed:{pk}") and pk > 0

        def run(pk):
            allowed = may_mail(pk)
            if allowed:
                mail()
    """,
    "a helper that gives the new row or None": """
        def reserve(pk):
            try:
                return Sent.objects.create(order_id=pk, kind="receipt")
            except IntegrityError:
                return None

        def run(pk):
            if (sent := reserve(pk)) is None:
                return
            mail(sent.text)
    """,
    "a helper that gives a pair": """
        def delivery(pk):
            row, created = Sent.objects.get_or_create(order_id=pk, kind="receipt")
            return row, created

        def run(pk):
            row, is_new = delivery(pk)
            if is_new:
                mail(row.text)
    """,
    "a helper that gives the pair of get_or_create": """
        def delivery(pk):
            return Sent.objects.get_or_create(order_id=pk, kind="receipt")

        def run(pk):
            _, is_new = delivery(pk)
            if is_new:
                mail()
    """,
    "a helper that gives an object": """
        @dataclass
        class Answer:
            first: bool
            row: object = None

        def delivery(pk):
            row, created = Sent.objects.get_or_create(order_id=pk, kind="receipt")
            return Answer(first=created, row=row)

        def run(pk):
            answer = delivery(pk)
            if answer.first:
                mail()
    """,
    "a helper that raises": """
        class Again(Exception):
            pass

        def record(pk):
            try:
                Sent.objects.create(order_id=pk, kind="receipt")
            except IntegrityError as error:
                raise Again(pk) from error

        def run(pk):
            record(pk)
            mail()
    """,
    "a helper that raises unless it has won": """
        def ensure_first(pk):
            if not cache.add(f"mailed:{pk}", 1):
                raise ValueError(pk)

        def run(pk):
            try:
                ensure_first(pk)
            except ValueError:
                return
            mail()
    """,
    "a default that does not switch the claim off": """
        def claim(pk, force=False):
            if force:
                return True
            return cache.add(f"mailed:{pk}", 1)

        def run(pk):
            if claim(pk):
                mail()
    """,
    "a method of the row": """
        class Delivery:
            def __init__(self, pk):
                self.pk = pk

            def take(self):
                return Order.objects.filter(pk=self.pk, mailed=False).update(mailed=True) > 0

        def run(pk):
            delivery = Delivery(pk)
            if delivery.take():
                mail()
    """,
    "a property": """
        class Delivery:
            def __init__(self, pk):
                self.pk = pk

            @property
            def is_first(self):
                return cache.add(f"mailed:{self.pk}", 1)

        def run(pk):
            if Delivery(pk).is_first:
                mail()
    """,
    "every implementation claims": """
        class Shared:
            def claim(self, pk):
                return cache.add(f"mailed:{pk}", 1)

        class Rows(Shared):
            def claim(self, pk):
                return Order.objects.filter(pk=pk, mailed=False).update(mailed=True)

        def run(claims: Shared, pk):
            if claims.claim(pk):
                mail()
    """,
    "a context manager that raises": """
        class Again(Exception):
            pass

        @contextmanager
        def once(pk):
            if not cache.add(f"mailed:{pk}", 1):
                raise Again(pk)
            yield

        def run(pk):
            try:
                with once(pk):
                    mail()
            except Again:
                return
    """,
    "a context manager that tells": """
        @contextmanager
        def once(pk):
            yield cache.add(f"mailed:{pk}", 1)

        def run(pk):
            with once(pk) as first:
                if first:
                    mail()
    """,
    "a context manager class": """
        class Once:
            def __init__(self, pk):
                self.pk = pk

            def __enter__(self):
                if not cache.add(f"mailed:{self.pk}", 1):
                    raise ValueError(self.pk)
                return self

            def __exit__(self, *error):
                return False

        def run(pk):
            with Once(pk):
                mail()
    """,
    "a context manager class that tells": """
        class Once:
            def __init__(self, pk):
                self.pk = pk

            def __enter__(self):
                return cache.add(f"mailed:{self.pk}", 1)

            def __exit__(self, *error):
                return False

        def run(pk):
            with Once(pk) as first:
                if not first:
                    return
                mail()
    """,
    "the claim was made in a block that has been left": """
        @contextmanager
        def once(pk):
            if not cache.add(f"mailed:{pk}", 1):
                raise ValueError(pk)
            yield

        def run(pk):
            with once(pk):
                print(pk)
            mail()
    """,
    "a decorator": """
        def once(function):
            @functools.wraps(function)
            def wrapper(pk):
                if not cache.add(f"mailed:{pk}", 1):
                    return None
                return function(pk)
            return wrapper

        @once
        def send(pk):
            mail()

        def run(pk):
            send(pk)
    """,
    "a decorator with arguments": """
        def once(kind):
            def decorate(function):
                @functools.wraps(function)
                def wrapper(*args, **kwargs):
                    key = f"{kind}:{args[0]}"
                    if cache.add(key, 1):
                        return function(*args, **kwargs)
                    return None
                return wrapper
            return decorate

        @once("receipt")
        def send(pk):
            mail()

        def run(pk):
            send(pk)
    """,
    "a helper that is given what was won": """
        def notify(first):
            if first:
                mail()

        def run(pk):
            _, created = Sent.objects.get_or_create(order_id=pk, kind="receipt")
            notify(created)
    """,
    "a helper that is given the count": """
        def notify(count, address):
            if count == 0:
                return
            mail(address)

        def run(pk):
            notify(Order.objects.filter(pk=pk, mailed=False).update(mailed=True), "you@example.org")
    """,
    "a helper that is given an object to ask": """
        class Claims:
            def take(self, pk):
                return cache.add(f"mailed:{pk}", 1)

        def mail_once(claims, pk):
            if not claims.take(pk):
                return
            mail()

        def run(pk):
            mail_once(Claims(), pk)
    """,
    "an object that is given another": """
        class Claims:
            def take(self, pk):
                return cache.add(f"mailed:{pk}", 1)

        class Notifier:
            def __init__(self, claims):
                self.claims = claims

            def notify(self, pk):
                if self.claims.take(pk):
                    mail()

        def run(pk):
            Notifier(Claims()).notify(pk)
    """,
    "a helper that is given the claim as a function": """
        def when(test, action):
            if test():
                action()

        def run(pk):
            when(lambda: cache.add(f"mailed:{pk}", 1), mail)
    """,
    "a claim in another thread": """
        def claim(pk):
            return cache.add(f"mailed:{pk}", 1)

        async def run(pk):
            if await asyncio.to_thread(claim, pk):
                mail()
    """,
    "an asynchronous context manager": """
        @asynccontextmanager
        async def once(pk):
            if not await cache.aadd(f"mailed:{pk}", 1):
                raise ValueError(pk)
            yield

        async def run(pk):
            async with once(pk):
                mail()
    """,
    "a generator that gives only what it has won": """
        def due():
            for order in Order.objects.filter(mailed=False):
                if Order.objects.filter(pk=order.pk, mailed=False).update(mailed=True):
                    yield order

        def run():
            for order in due():
                mail(order.number)
    """,
}


@pytest.mark.parametrize("code", OPEN.values(), ids=OPEN)
def test_is_no_reservation(tmp_path: Path, code: str) -> None:
    assert not is_guarded(tmp_path, HEAD + code, DJANGO)


@pytest.mark.parametrize("code", GUARDED.values(), ids=GUARDED)
def test_is_a_reservation(tmp_path: Path, code: str) -> None:
    assert is_guarded(tmp_path, HEAD + code, DJANGO)


def test_a_claim_in_a_helper_stands_in_the_helper_and_has_the_callers_key(tmp_path: Path) -> None:
    code = """
        def claim(kind, pk):
            return cache.add(f"{kind}:{pk}", 1)

        def run(pk):
            if claim("receipt", pk):
                mail()
    """
    (guard,) = guards(tmp_path, HEAD + code, DJANGO)
    assert guard is not None
    assert (guard.path, guard.line, guard.key) == ("shop/run.py", 13, "key(key=receipt:{})")
