from redis import Redis
from rq import Queue

from . import config

queue = Queue("mail", connection=Redis.from_url(config.REDIS_URL))
