import os

REDIS_URL = os.environ.get("REDIS_URL", "redis://localhost:6379/0")
RESEND_URL = os.environ.get("RESEND_URL", "https://api.resend.com")
RESEND_API_KEY = os.environ.get("RESEND_API_KEY", "re_test")
RELAY_TIMEOUT = 30
A_DAY = 24 * 3600
