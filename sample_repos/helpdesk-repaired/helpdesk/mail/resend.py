"""All mail goes through Resend; the texts are templates that marketing keeps there."""

import logging

import httpx

from helpdesk import config

logger = logging.getLogger(__name__)


def api() -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {config.RESEND_API_KEY}"}
    return httpx.AsyncClient(base_url=config.RESEND_URL, headers=headers, timeout=config.MAIL_TIMEOUT)


async def send_mail(template, to, variables=None, *, key):
    """Sends one template to one address. `key` names the event: Resend sends one mail for it in a day."""
    logger.info("mail %s to %s (%s)", template, to, key, extra={"template": template, "idempotency_key": key})
    mail = {
        "from": config.MAIL_FROM,
        "to": [to],
        "template": {"id": template, "variables": variables or {}},
    }
    async with api() as client:
        answer = await client.post("/emails", json=mail, headers={"Idempotency-Key": key})
    answer.raise_for_status()
    return answer.json()["id"]
