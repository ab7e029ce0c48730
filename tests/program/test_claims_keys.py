"""Reservations under keys: Redis, the cache, locks, the key of a mail provider, the id of a job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from guarding import DJANGO, guards, is_guarded

HEAD = """
        import time
        import uuid
        from datetime import date, datetime
        from redis import Redis
        from .mail import mail

        redis = Redis()
"""

OPEN = {
    "SET without NX": """
        def run(pk):
            if redis.set(f"mailed:{pk}", 1, ex=60):
                mail()
    """,
    "a read and then SET": """
        def run(pk):
            if redis.exists(f"mailed:{pk}"):
                return
            redis.set(f"mailed:{pk}", 1)
            mail()
    """,
    "SET NX, and nobody looks": """
        def run(pk):
            redis.set(f"mailed:{pk}", 1, nx=True)
            mail()
    """,
    "a random key": """
        def run(pk):
            if redis.set(f"mailed:{pk}:{uuid.uuid4()}", 1, nx=True):
                mail()
    """,
    "the clock in the key": """
        def run(pk):
            if redis.set("mailed:%s:%s" % (pk, time.time()), 1, nx=True):
                mail()
    """,
    "the process's own hash in the key": """
        def run(pk, text):
            if redis.set(f"mailed:{hash(text)}", 1, nx=True):
                mail()
    """,
    "every count of a counter": """
        def run(pk):
            if redis.incr(f"mailed:{pk}"):
                mail()
    """,
    "up to three": """
        def run(pk):
            if redis.incr(f"mailed:{pk}") <= 3:
                mail()
    """,
    "a claim that is given back after the mail": """
        def run(pk):
            if not redis.set(f"mailing:{pk}", 1, nx=True):
                return
            mail()
            redis.delete(f"mailing:{pk}")
    """,
    "a claim that is given back whatever happens": """
        def run(pk):
            if redis.set(f"mailing:{pk}", 1, nx=True, ex=60):
                try:
                    mail()
                finally:
                    redis.delete(f"mailing:{pk}")
    """,
    "a context manager that gives its claim back": """
        from contextlib import contextmanager

        @contextmanager
        def single(pk):
            if not redis.set(f"mailing:{pk}", 1, nx=True):
                raise ValueError(pk)
            try:
                yield
            finally:
                redis.delete(f"mailing:{pk}")

        def run(pk):
            with single(pk):
                mail()
    """,
    "a context manager that gives its claim back if it still has it": """
        from contextlib import contextmanager

        @contextmanager
        def single(pk):
            until = time.monotonic() + 60
            won = redis.set(f"mailing:{pk}", 1, nx=True, ex=60)
            try:
                yield won
            finally:
                if time.monotonic() < until and won:
                    redis.delete(f"mailing:{pk}")

        def run(pk):
            with single(pk) as won:
                if won:
                    mail()
    """,
    "a lock alone": """
        def run(pk):
            with redis.lock(f"mail:{pk}"):
                mail()
    """,
    "a lock with a mark that nobody reads": """
        def run(pk):
            with redis.lock(f"mail:{pk}"):
                mail()
                redis.set(f"mailed:{pk}", 1)
    """,
    "a lock that ends before the mark": """
        def run(pk):
            with redis.lock(f"mail:{pk}"):
                if redis.exists(f"mailed:{pk}"):
                    return
            mail()
            redis.set(f"mailed:{pk}", 1)
    """,
    "a lock that is tried": """
        def run(pk):
            lock = redis.lock(f"mail:{pk}", timeout=60)
            if not lock.acquire(blocking=False):
                return
            mail()
            lock.release()
    """,
    "a lock of this process": """
        import threading

        lock = threading.Lock()

        def run(pk):
            with lock:
                if redis.exists(f"mailed:{pk}"):
                    return
                mail()
                redis.set(f"mailed:{pk}", 1)
    """,
    "a lock of this host": """
        from filelock import FileLock

        def run(pk):
            with FileLock("/tmp/mail.lock"):
                if redis.exists(f"mailed:{pk}"):
                    return
                mail()
                redis.set(f"mailed:{pk}", 1)
    """,
    "the failed claim answers None, which is not tested": """
        def run(pk):
            if redis.set(f"mailed:{pk}", 1, nx=True) is not False:
                mail()
    """,
}

GUARDED = {
    "SET NX": """
        def run(pk):
            if not redis.set(f"mailed:{pk}", 1, nx=True, ex=86400):
                return
            mail()
    """,
    "SET NX, compared with None": """
        def run(pk):
            if redis.set(f"mailed:{pk}", 1, nx=True) is None:
                return
            mail()
    """,
    "setnx": """
        def run(pk):
            first = redis.setnx(f"mailed:{pk}", 1)
            if first:
                redis.expire(f"mailed:{pk}", 86400)
                mail()
    """,
    "the old value of SET NX GET": """
        def run(pk):
            if redis.set(f"mailed:{pk}", 1, nx=True, get=True) is None:
                mail()
    """,
    "a member that is new": """
        def run(pk):
            if redis.sadd("mailed", pk) == 0:
                return
            mail()
    """,
    "the first count of a counter": """
        def run(pk):
            if redis.incr(f"mailed:{pk}") == 1:
                mail()
    """,
    "nothing beyond the first count": """
        def run(pk):
            if redis.incr(f"mailed:{pk}") > 1:
                return
            mail()
    """,
    "an item that only one run can take": """
        def run():
            while True:
                item = redis.lpop("mails")
                if item is None:
                    break
                mail(item)
    """,
    "a client that an application keeps": """
        async def run(app, pk):
            if await app["redis"].set(f"mailed:{pk}", 1, nx=True):
                mail()
    """,
    "a day in the key": """
        def run(pk):
            if redis.set(f"mailed:{pk}:{date.today()}", 1, nx=True):
                mail()
    """,
    "a clock that is rounded to the day": """
        def run(pk):
            if redis.set(f"mailed:{pk}:{datetime.now().strftime('%Y-%m-%d')}", 1, nx=True):
                mail()
    """,
    "a name-based uuid": """
        def run(pk):
            if redis.set(f"mailed:{uuid.uuid5(uuid.NAMESPACE_URL, str(pk))}", 1, nx=True):
                mail()
    """,
    "a random value under a fixed key": """
        def run(pk):
            if redis.set(f"mailed:{pk}", uuid.uuid4().hex, nx=True):
                mail()
    """,
    "a claim that is given back when the mail failed": """
        def run(pk):
            if not redis.set(f"mailed:{pk}", 1, nx=True):
                return
            try:
                mail()
            except OSError:
                redis.delete(f"mailed:{pk}")
                raise
    """,
    "a lock around the check, the mail and the mark": """
        def run(pk):
            with redis.lock(f"mail:{pk}"):
                if redis.exists(f"mailed:{pk}"):
                    return
                mail()
                redis.set(f"mailed:{pk}", 1)
    """,
    "a lock around the check and the mark": """
        def run(pk):
            with redis.lock(f"mail:{pk}"):
                if redis.sismember("mailed", pk):
                    return
                redis.sadd("mailed", pk)
            mail()
    """,
    "a lock with the check and the mark in helpers": """
        def is_mailed(pk):
            return redis.get(f"mailed:{pk}") is not None

        def remember(pk):
            redis.set(f"mailed:{pk}", 1)

        def run(pk):
            with redis.lock(f"mail:{pk}"):
                if not is_mailed(pk):
                    mail()
                    remember(pk)
    """,
    "a lock that is acquired and released": """
        def run(pk):
            lock = redis.lock(f"mail:{pk}")
            lock.acquire()
            try:
                if redis.exists(f"mailed:{pk}"):
                    return
                mail()
                redis.set(f"mailed:{pk}", 1)
            finally:
                lock.release()
    """,
    "the key that the provider honours": """
        import resend

        def run(pk):
            resend.Emails.send({"to": "you@example.org"}, {"idempotency_key": f"mail/{pk}"})
    """,
}

CACHE = """
        from django.core.cache import cache, caches
        from .mail import mail

        def run(pk):
            if cache.add(f"mailed:{pk}", 1):
                mail()
"""


@pytest.mark.parametrize("code", OPEN.values(), ids=OPEN)
def test_is_no_reservation(tmp_path: Path, code: str) -> None:
    assert not is_guarded(tmp_path, HEAD + code, DJANGO)


@pytest.mark.parametrize("code", GUARDED.values(), ids=GUARDED)
def test_is_a_reservation(tmp_path: Path, code: str) -> None:
    assert is_guarded(tmp_path, HEAD + code, DJANGO)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ('INSTALLED_APPS = ["shop"]', False),
        ('CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}', False),
        ('CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}', False),
        ('CACHES = {"default": {"BACKEND": "django_redis.cache.RedisCache"}}', True),
        ('CACHES = {"default": {"BACKEND": "django.core.cache.backends.db.DatabaseCache"}}', True),
        ('import environ\nenv = environ.Env()\nCACHES = {"default": env.cache()}', True),
    ],
)
def test_a_cache_is_worth_what_its_backend_is(tmp_path: Path, settings: str, expected: bool) -> None:
    files: Mapping[str, str] = {**DJANGO, "shop/settings.py": settings}
    assert is_guarded(tmp_path, CACHE, files) is expected


def test_another_cache_has_its_own_backend(tmp_path: Path) -> None:
    settings = """
        CACHES = {
            "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
            "shared": {"BACKEND": "django.core.cache.backends.redis.RedisCache"},
        }
    """
    code = CACHE.replace("cache.add", 'caches["shared"].add')
    assert is_guarded(tmp_path, code, {**DJANGO, "shop/settings.py": settings})


def test_without_any_settings_the_backend_is_assumed(tmp_path: Path) -> None:
    (guard,) = guards(tmp_path, CACHE, {**DJANGO, "shop/settings.py": ""})
    assert guard is not None
    assert (guard.confidence, guard.assumes) == ("medium", ("the backend of CACHES is shared by all processes",))


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("f'mail/{pk}'", True),
        ("str(uuid.uuid4())", False),
        ("None", False),
    ],
)
def test_a_providers_key_is_what_the_caller_gives(tmp_path: Path, key: str, expected: bool) -> None:
    code = f"""
        import resend

        def deliver(address, key):
            resend.Emails.send({{"to": address}}, {{"idempotency_key": key}})

        def run(pk):
            deliver("you@example.org", {key})
    """
    assert is_guarded(tmp_path, HEAD + code, DJANGO) is expected


@pytest.mark.parametrize(
    ("options", "expected", "passing"),
    [
        ("", False, False),
        (', job_id=f"mail-{pk}"', False, False),
        (', job_id=f"mail-{pk}", unique=True', True, True),
        (', job_id=f"mail-{pk}", unique=True, result_ttl=60', True, True),
        (', job_id=f"mail-{pk}", unique=True, result_ttl=30 * 86400', True, False),
        (', job_id=f"mail-{pk}", unique=True, result_ttl=-1', True, False),
        (", job_id=str(uuid.uuid4()), unique=True, result_ttl=-1", False, False),
    ],
)
def test_a_jobs_id_lasts_as_long_as_its_result(tmp_path: Path, options: str, expected: bool, passing: bool) -> None:
    code = f"""
        from rq import Queue

        queue = Queue(connection=redis)

        def deliver(pk):
            mail()

        def run(pk):
            queue.enqueue(deliver, pk{options})
    """
    (guard,) = guards(tmp_path, HEAD + code, DJANGO)
    assert (guard is not None) is expected
    assert bool(guard and guard.passing) is passing
