"""One machine, no Postgres, no Redis: SQLite file, cache table, jobs run in place."""

import os

from .settings import *  # noqa: F403
from .settings import BASE_DIR

DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": os.environ.get("STOREFRONT_DB", str(BASE_DIR / "db.sqlite3")),
        "OPTIONS": {"timeout": 20},
    }
}

CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "shop_cache",
    }
}

EMAIL_PORT = int(os.environ.get("EMAIL_PORT", "1025"))
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

CELERY_BROKER_URL = "memory://"
CELERY_TASK_ALWAYS_EAGER = True
