import redis

from mailapi import config

kv = redis.Redis.from_url(config.REDIS_URL)
