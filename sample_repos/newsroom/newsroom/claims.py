"""Ways to say "I mail this". True (or not None) for one run only, whatever runs at the same time."""

import logging

from redis import Redis
from redis.exceptions import RedisError
from sqlalchemy.exc import IntegrityError

from . import config
from .db import session
from .models import SentMail

logger = logging.getLogger(__name__)
redis = Redis.from_url(config.CLAIMS_REDIS_URL)

DAY = 24 * 3600


def claim(key):
    """True for the first run with this key, for ever: a unique row, committed."""
    session.add(SentMail(key=key))
    try:
        session.commit()
    except IntegrityError:
        session.rollback()
        return False
    return True


def claim_for(key, seconds):
    """True for the first run with this key within so many seconds."""
    return bool(redis.set(f"claim:{key}", 1, nx=True, ex=seconds))


def claim_if_possible(key):
    # a dead Redis must not keep the news from the readers
    try:
        return bool(redis.set(f"claim:{key}", 1, nx=True, ex=7 * DAY))
    except RedisError:  # fault: SO310
        logger.warning("no redis, going on without")
        return True
