"""Steps that replays share: rows, signed deliveries, arq's worker, a scripted model, time that passes in Redis."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

import arq.worker
from arq import ArqRedis
from fastapi.testclient import TestClient
from fakeredis import FakeServer
from fakeredis.aioredis import FakeAsyncRedisConnection
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from redis.asyncio import ConnectionPool
from sqlalchemy import update

from helpdesk import config, queue
from helpdesk.assistant.agent import assistant
from helpdesk.db import Session
from helpdesk.models import Agent, Base, Customer, Ticket
from helpdesk.worker.settings import WorkerSettings

ANNA, BEN, TEAM = "anna@example.org", "ben@helpdesk.example", config.TEAM
Row = TypeVar("Row", bound=Base)
T = TypeVar("T")


REDIS = FakeServer()
WORKERS: list[arq.worker.Worker] = []


async def connect() -> ArqRedis:
    return ArqRedis(connection_pool=ConnectionPool(connection_class=FakeAsyncRedisConnection, server=REDIS))


async def no_info(*_: Any) -> None:
    """arq logs what Redis says of itself when it starts; fakeredis has no `INFO`."""


queue.connect = connect
arq.worker.log_redis_info = no_info


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


# ------------------------------------------------------------------ rows


async def _add(row: Base) -> None:
    async with Session() as session:
        session.add(row)
        await session.commit()
        await session.refresh(row)


def add(row: Row) -> Row:
    run(_add(row))
    return row


async def _change(cls: type[Base], id: int, given: dict[str, Any]) -> None:
    async with Session() as session:
        await session.execute(update(cls).where(cls.id == id).values(given))
        await session.commit()


def change(cls: type[Base], id: int, **given: Any) -> None:
    run(_change(cls, id, given))


def anna(**given: Any) -> Customer:
    return add(Customer(email=ANNA, name="Anna", **given))


def ben() -> Agent:
    return add(Agent(email=BEN))


def ticket(**given: Any) -> Ticket:
    customer = given.pop("customer", None) or anna()
    return add(Ticket(customer_id=customer.id, subject="Printer on fire", **given))


async def _clear() -> None:
    async with Session() as session:
        for table in reversed(Base.metadata.sorted_tables):
            await session.execute(table.delete())
        await session.commit()
    redis = await connect()
    await redis.flushall()
    await redis.aclose()


def clear() -> None:
    run(_clear())


# ------------------------------------------------------------------ requests


def at_once(*requests: Callable[[], Any]) -> list[Any]:
    """Makes requests side by side."""
    with ThreadPoolExecutor(len(requests)) as pool:
        return [one.result() for one in [pool.submit(request) for request in requests]]


def from_resend(client: TestClient, path: str, id: str, kind: str, data: dict[str, Any]) -> int:
    """Delivers an event as Resend signs it; returns the status of the answer."""
    body = json.dumps({"type": kind, "data": data}).encode()
    stamp = str(int(time.time()))
    secret = base64.b64decode(config.INBOUND_SECRET.removeprefix("whsec_"))
    signed = hmac.new(secret, f"{id}.{stamp}.".encode() + body, hashlib.sha256).digest()
    headers = {
        "svix-id": id,
        "svix-timestamp": stamp,
        "svix-signature": "v1," + base64.b64encode(signed).decode(),
    }
    return client.post(path, content=body, headers=headers).status_code


def from_billing(client: TestClient, path: str, id: str, kind: str, **data: Any) -> int:
    body = json.dumps({"id": id, "type": kind, **data}).encode()
    signature = hmac.new(config.BILLING_SECRET.encode(), body, hashlib.sha256).hexdigest()
    answer = client.post(path, content=body, headers={"X-Billing-Signature": signature})
    return answer.status_code


# ------------------------------------------------------------------ jobs


def work() -> None:
    """Has arq's worker work until nothing is queued. Time that it would only wait for passes at once."""
    run(_side_by_side(1))


def tick(*names: str, times: int = 1) -> None:
    """Has the schedules of some jobs fire so many times, each while the run before it is still at work."""
    run(_side_by_side(times, names))


async def _side_by_side(workers: int, names: tuple[str, ...] = ()) -> None:
    await asyncio.gather(*[_work(number * 0.1, names) for number in range(workers)])


async def _work(late: float, names: tuple[str, ...]) -> None:
    await asyncio.sleep(late)
    worker = await _worker(names)
    WORKERS.append(worker)
    clock = asyncio.create_task(_hurry())
    try:
        await worker.main()
    finally:
        clock.cancel()
        await worker.close()
        WORKERS.remove(worker)


async def _worker(due: tuple[str, ...]) -> arq.worker.Worker:
    """A worker that knows all schedules; those that are due fire when it starts."""
    jobs = [replace(one, run_at_startup=one.name.removeprefix("cron:") in due) for one in WorkerSettings.cron_jobs]
    return arq.worker.Worker(
        functions=WorkerSettings.functions,
        cron_jobs=jobs,
        redis_pool=await connect(),
        burst=True,
        poll_delay=0.01,
        handle_signals=False,
    )


async def _hurry() -> None:
    redis = await connect()
    while True:
        await asyncio.sleep(0.02)
        waiting = await redis.zrange("arq:queue", 0, -1, withscores=True)
        left = [score - time.time() * 1000 for _, score in waiting]
        left += [await redis.pttl(f"arq:in-progress:{job.decode()}") for job, _ in waiting]
        if waiting and not any(not task.done() for worker in WORKERS for task in worker.tasks.values()):
            await _pass(redis, int(max(left)))


async def _pass(redis: Any, milliseconds: int) -> None:
    for job, score in await redis.zrange("arq:queue", 0, -1, withscores=True):
        await redis.zadd("arq:queue", {job: score - milliseconds})
    for key in await redis.keys("*"):
        left = await redis.pttl(key)
        if left > 0:
            await redis.pexpire(key, left - milliseconds)


# ------------------------------------------------------------------ the model


def model_calls(tool: str, **arguments: Any) -> Any:
    """A model that calls one tool in each conversation and then ends it; as a context."""

    def respond(messages: list[Any], info: Any) -> ModelResponse:
        parts = [part for message in messages for part in message.parts]
        if any(part.part_kind == "tool-return" for part in parts):
            return ModelResponse(parts=[TextPart("Done.")])
        [known] = [one.parameters_json_schema["properties"] for one in info.function_tools if one.name == tool]
        given = {name: value() if callable(value) else value for name, value in arguments.items() if name in known}
        return ModelResponse(parts=[ToolCallPart(tool, given)])

    return assistant.override(model=FunctionModel(respond))


def put_question(client: TestClient, request: str = "q1") -> Any:
    """The portal puts a question; it puts it again under the same id when no answer comes."""
    return client.post("/assistant", json={"request_id": request, "email": ANNA, "text": "How do I print?"}).json()
