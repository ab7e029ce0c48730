from arq import ArqRedis, create_pool
from arq.connections import RedisSettings
from fastapi import Request

from helpdesk import config


def redis_settings() -> RedisSettings:
    return RedisSettings.from_dsn(config.REDIS_URL)


async def connect() -> ArqRedis:
    return await create_pool(redis_settings())


async def get_queue(request: Request) -> ArqRedis:
    return request.app.state.queue
