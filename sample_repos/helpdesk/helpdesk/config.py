"""Settings from the environment; the defaults are production."""

import os

DATABASE_URL = os.environ.get("DATABASE_URL", "sqlite+aiosqlite:///helpdesk.db")
REDIS_URL = os.environ.get("REDIS_URL", "redis://localhost:6379/0")

RESEND_URL = os.environ.get("RESEND_URL", "https://api.resend.com")
RESEND_API_KEY = os.environ.get("RESEND_API_KEY", "re_test")
MAIL_FROM = "Helpdesk <support@helpdesk.example>"
MAIL_TIMEOUT = float(os.environ.get("MAIL_TIMEOUT", "10"))
TEAM = "team@helpdesk.example"
ON_CALL = "oncall@helpdesk.example"

CRM_URL = os.environ.get("CRM_URL", "https://crm.example/api")
CHAT_HOOK_URL = os.environ.get("CHAT_HOOK_URL", "https://chat.example/hooks/support")

LOGIN_SECRET = os.environ.get("LOGIN_SECRET", "login-secret")

# webhook secrets: Resend signs as Svix does, the billing system with a plain HMAC
INBOUND_SECRET = os.environ.get("INBOUND_SECRET", "whsec_aGVscGRlc2staW5ib3VuZC1zZWNyZXQ=")
BILLING_SECRET = os.environ.get("BILLING_SECRET", "billing-secret")
