"""Steps that replays share: the worker, the clock, signed events, two runs at once, an hour that goes by."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

from apscheduler.schedulers.base import BaseScheduler
from flask import Flask
from flask.testing import FlaskClient
from newsroom import config
from newsroom.claims import redis
from newsroom.db import session
from newsroom.queue import queue
from newsroom.schedule import build_scheduler
from rq import SimpleWorker
from rq.registry import ScheduledJobRegistry
from werkzeug.test import TestResponse

logging.getLogger("rq.worker").setLevel(logging.CRITICAL)


class Worker(SimpleWorker):
    """The newsroom's worker, in this process: it too forgets its session behind each job."""

    def perform_job(self, *args: Any, **options: Any) -> Any:
        try:
            return super().perform_job(*args, **options)
        finally:
            session.remove()


def work() -> None:
    """A worker runs the jobs of the queue until none is left."""
    session.remove()
    Worker([queue], connection=queue.connection).work(burst=True, logging_level="CRITICAL")


def let_pass(seconds: int) -> None:
    """So much time goes by: claims expire, and what waits for its next try goes back to the queue."""
    for key in redis.keys("*"):
        left = redis.ttl(key)
        if 0 <= left <= seconds:
            redis.delete(key)
        elif left > seconds:
            redis.expire(key, left - seconds)
    due = int((datetime.now(timezone.utc) + timedelta(seconds=seconds)).timestamp())
    registry = ScheduledJobRegistry(queue=queue)
    for job_id in registry.get_jobs_to_schedule(due):
        job = queue.fetch_job(job_id)
        registry.remove(job_id)
        if job is not None:
            queue.enqueue_job(job)


def schedulers(*apps: Flask) -> list[BaseScheduler]:
    """The schedulers of these processes of the web server; that of the clock's own process if they have none."""
    found = [app.extensions["scheduler"] for app in apps if "scheduler" in app.extensions]
    return found or [build_scheduler()]


def tick(scheduler: BaseScheduler, job: Callable[[], None]) -> None:
    """A scheduler comes to the times for which a job was put into it."""
    entries = [one for one in scheduler.get_jobs() if one.func is job]
    assert entries
    for entry in entries:
        entry.func(*entry.args, **entry.kwargs)
    session.remove()


def deliver(browser: FlaskClient, path: str, event: dict[str, Any]) -> TestResponse:
    """One delivery of a signed event."""
    body = json.dumps(event).encode()
    digest = hmac.new(config.HOOK_SECRET.encode(), body, hashlib.sha256).hexdigest()
    headers = {"X-Signature": digest}
    return browser.post(path, data=body, content_type="application/json", headers=headers)


def at_once(*runs: Callable[[], object]) -> None:
    """Starts the runs together, each in a thread with a session of its own, and waits for all."""
    together = threading.Barrier(len(runs))

    def start(run: Callable[[], object]) -> None:
        together.wait(10)
        try:
            run()
        finally:
            session.remove()

    threads = [threading.Thread(target=start, args=(run,)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
