"""The provider behind the API."""

import logging

import httpx

from mailapi import config

logger = logging.getLogger(__name__)


class Refused(Exception):
    """The provider did not take the message."""


def submit(template, to, variables, account_id, key=None):
    """Hands one message to the provider; returns its id."""
    logger.info("submit %s for account %s", template, account_id, extra={"template": template})
    headers = {"Authorization": f"Bearer {config.RESEND_API_KEY}"}
    if key:
        headers["Idempotency-Key"] = key
    mail = {"from": "api@mailapi.example", "to": [to], "template": {"id": template, "variables": variables}}
    answer = httpx.post(f"{config.RESEND_URL}/emails", json=mail, headers=headers, timeout=config.RELAY_TIMEOUT)  # fault: SO601
    if answer.status_code >= 400:
        raise Refused(answer.text)
    return answer.json()["id"]
