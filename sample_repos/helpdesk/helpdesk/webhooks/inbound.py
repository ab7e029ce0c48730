"""What Resend tells us: mail that came in, mail that bounced."""

import json
import logging

from arq import ArqRedis
from fastapi import APIRouter, Depends, Request
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from helpdesk.config import TEAM
from helpdesk.db import get_session
from helpdesk.mail.resend import send_mail
from helpdesk.models import Customer, Ticket, WebhookEvent
from helpdesk.queue import get_queue
from helpdesk.webhooks.signatures import svix_verified

logger = logging.getLogger(__name__)
router = APIRouter(prefix="/webhooks/resend")


@router.post("/inbound")
async def inbound_mail(  # fault: SO501, SO702 note
    request: Request, session: AsyncSession = Depends(get_session), queue: ArqRedis = Depends(get_queue)
):
    """A mail to support@ becomes a ticket, and the sender gets its number."""
    event = json.loads(await svix_verified(request))
    sender = event["data"]["from"]
    customer = await session.scalar(select(Customer).where(Customer.email == sender))
    if customer is None:
        return {"ignored": sender}
    ticket = Ticket(customer_id=customer.id, subject=event["data"]["subject"])
    session.add(ticket)
    await session.commit()
    await queue.enqueue_job("send_auto_reply", ticket.id)
    return {"ticket": ticket.id}


@router.post("/bounces")
async def bounced(request: Request):  # fault: SO501, SO702 note
    """The team hears of an address that does not work."""
    event = json.loads(await svix_verified(request))
    address = event["data"]["to"][0]
    try:
        await send_mail("bounce_alert", TEAM, {"address": address}, reference=address)  # fault: SO502
    except Exception:
        logger.exception("no alert for %s", address)
    return {"ok": True}  # fault: SO503


@router.post("/complaints")
async def complained(
    request: Request, session: AsyncSession = Depends(get_session), queue: ArqRedis = Depends(get_queue)
):
    event = json.loads(await svix_verified(request))
    session.add(WebhookEvent(event_id=request.headers["svix-id"], kind=event["type"]))
    try:
        await session.commit()
    except IntegrityError:
        return {"ok": True, "repeated": True}
    await queue.enqueue_job("send_complaint_alert", event["data"]["to"][0], _job_id=request.headers["svix-id"])
    return {"ok": True}
