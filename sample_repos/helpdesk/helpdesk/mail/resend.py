"""All mail goes through Resend; the texts are templates that marketing keeps there."""

import logging

import httpx

from helpdesk import config

logger = logging.getLogger(__name__)


def api() -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {config.RESEND_API_KEY}"}
    return httpx.AsyncClient(base_url=config.RESEND_URL, headers=headers, timeout=config.MAIL_TIMEOUT)


async def send_mail(template, to, variables=None, reference="", key=None):
    """Sends one template to one address. `key` is passed on as Resend's Idempotency-Key."""
    logger.info("mail %s to %s (%s)", template, to, reference, extra={"template": template, "reference": reference})
    mail = {
        "from": config.MAIL_FROM,
        "to": [to],
        "template": {"id": template, "variables": variables or {}},
    }
    async with api() as client:
        headers = {"Idempotency-Key": key} if key else {}
        answer = await client.post("/emails", json=mail, headers=headers)  # fault: SO601
    answer.raise_for_status()
    return answer.json()["id"]
