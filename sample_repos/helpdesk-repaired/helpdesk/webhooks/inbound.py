"""What Resend tells us: mail that came in, mail that bounced."""

import json

from arq import ArqRedis
from fastapi import APIRouter, Depends, Request
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from helpdesk.db import get_session
from helpdesk.models import Customer, Ticket, WebhookEvent
from helpdesk.queue import get_queue
from helpdesk.webhooks.signatures import svix_verified

router = APIRouter(prefix="/webhooks/resend")


@router.post("/inbound")
async def inbound_mail(
    request: Request, session: AsyncSession = Depends(get_session), queue: ArqRedis = Depends(get_queue)
):
    """A mail to support@ becomes a ticket, and the sender gets its number."""
    event = json.loads(await svix_verified(request))
    sender = event["data"]["from"]
    customer = await session.scalar(select(Customer).where(Customer.email == sender))
    if customer is None:
        return {"ignored": sender}
    ticket = Ticket(
        request_id=request.headers["svix-id"], customer_id=customer.id, subject=event["data"]["subject"]
    )
    session.add(ticket)
    try:
        await session.commit()
    except IntegrityError:
        return {"repeated": True}
    await queue.enqueue_job("send_auto_reply", ticket.id)
    return {"ticket": ticket.id}


@router.post("/bounces")
async def bounced(
    request: Request, session: AsyncSession = Depends(get_session), queue: ArqRedis = Depends(get_queue)
):
    """The team hears of an address that does not work."""
    event = json.loads(await svix_verified(request))
    event_id = request.headers["svix-id"]
    session.add(WebhookEvent(event_id=event_id, kind=event["type"]))
    try:
        await session.commit()
    except IntegrityError:
        return {"ok": True, "repeated": True}
    await queue.enqueue_job("send_bounce_alert", event["data"]["to"][0], event_id, _job_id=event_id)
    return {"ok": True}


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
