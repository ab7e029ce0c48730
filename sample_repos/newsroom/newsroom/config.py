"""Everything comes from the environment; the defaults are for a laptop."""

import os

DATABASE_URL = os.environ.get("DATABASE_URL", "sqlite:///newsroom.sqlite3")
REDIS_URL = os.environ.get("REDIS_URL", "redis://localhost:6379/0")
CLAIMS_REDIS_URL = os.environ.get("CLAIMS_REDIS_URL", "redis://localhost:6379/1")

SMTP_HOST = os.environ.get("SMTP_HOST", "localhost")
SMTP_PORT = int(os.environ.get("SMTP_PORT", "1025"))
MAIL_FROM = os.environ.get("MAIL_FROM", "The Gazette <news@gazette.example>")
DESK = os.environ.get("DESK", "desk@gazette.example")

SMS_URL = os.environ.get("SMS_URL", "http://localhost:9090")
LEDGER_URL = os.environ.get("LEDGER_URL", "http://localhost:9090")
HOOK_SECRET = os.environ.get("HOOK_SECRET", "hook-secret")
