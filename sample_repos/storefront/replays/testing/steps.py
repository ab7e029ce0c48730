"""Steps that replays share: signed Stripe deliveries, ticks of beat, a worker in a thread."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from celery import Task
from celery.beat import Scheduler
from celery.contrib.testing.worker import start_worker
from celery.signals import after_task_publish, task_postrun
from config.celery import app
from django.conf import settings
from django.db import connection
from django.http.response import HttpResponseBase
from django.test import Client


def signature(payload: bytes, secret: str, moment: int | None = None) -> str:
    """Stripe's own scheme: `t=<seconds>,v1=<HMAC-SHA256 of "t.payload">`."""
    moment = int(time.time()) if moment is None else moment
    digest = hmac.new(secret.encode(), f"{moment}.".encode() + payload, hashlib.sha256)
    return f"t={moment},v1={digest.hexdigest()}"


def deliver(
    client: Client,
    event_id: str,
    kind: str,
    data: dict[str, Any],
    secret: str = "",
    moment: int | None = None,
) -> HttpResponseBase:
    """One delivery of a Stripe event; a redelivery is the same event id with a new signature."""
    event = {"id": event_id, "object": "event", "type": kind, "data": {"object": data}}
    payload = json.dumps(event).encode()
    return client.post(
        "/payments/stripe/webhook/",
        payload,
        content_type="application/json",
        headers={"Stripe-Signature": signature(payload, secret or settings.STRIPE_WEBHOOK_SECRET, moment)},
    )


def beat_process_fires(task: Task) -> None:
    """A beat process of its own comes to the task's entry of CELERY_BEAT_SCHEDULE and sends it."""
    scheduler = Scheduler(app=app)
    (entry,) = (entry for entry in scheduler.schedule.values() if entry.task == task.name)
    scheduler.apply_async(entry)


@contextmanager
def writing_at_once(together: threading.Barrier) -> Iterator[None]:
    """This thread's first UPDATE waits for those of the others: all have read by then, as in a busy hour."""
    waited = False

    def wait(execute: Callable[..., Any], sql: str, *args: Any) -> Any:
        nonlocal waited
        if sql.startswith("UPDATE") and not waited:
            waited = True
            together.wait(5)
        return execute(sql, *args)

    with connection.execute_wrapper(wait):
        yield


def run_next_job(queue: str, dies: bool = False) -> bool:
    """What a worker does with the next job of a queue; if it dies, then behind the run and before its late reply."""
    with app.connection_for_read() as connection, connection.SimpleQueue(queue) as jobs:
        try:
            message = jobs.get(timeout=2)
        except jobs.Empty:
            return False
        task: Task = app.tasks[message.headers["task"]]
        if not task.acks_late:
            message.ack()
        args, kwargs, _ = message.payload
        task.apply(args=args, kwargs=kwargs, task_id=message.headers["id"])
        if task.acks_late and dies:
            message.requeue()  # as a broker does when the connection is gone
        elif task.acks_late:
            message.ack()
        return True


class Jobs:
    """Counts the jobs put on the queue and the runs that the worker has ended, well or badly."""

    def __init__(self) -> None:
        self.queued = self.ended = 0
        after_task_publish.connect(self._on_publish)
        task_postrun.connect(self._on_end)

    def _on_publish(self, **_: object) -> None:
        self.queued += 1

    def _on_end(self, task: Task, **_: object) -> None:
        self.ended += not task.request.is_eager

    def settle(self, seconds: float = 15) -> None:
        """Returns when the worker has nothing left to do; raises TimeoutError if it never has."""
        end = time.monotonic() + seconds
        while self.ended < self.queued:
            if time.monotonic() > end:
                raise TimeoutError(f"{self.ended} of {self.queued} jobs ended")
            time.sleep(0.02)


@contextmanager
def running_worker() -> Iterator[Jobs]:
    """A Celery worker in a thread of this process, on the memory broker."""
    jobs = Jobs()
    with start_worker(app, perform_ping_check=False, pool="solo", shutdown_timeout=20):
        yield jobs
