import json

from arq import ArqRedis
from fastapi import APIRouter, Depends, Request
from sqlalchemy import select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.ext.asyncio import AsyncSession

from helpdesk.api.invoices import mark_paid
from helpdesk.db import get_session
from helpdesk.mail.claims import claim
from helpdesk.models import Customer, Invoice, WebhookEvent
from helpdesk.queue import get_queue
from helpdesk.webhooks.signatures import billing_verified

router = APIRouter(prefix="/webhooks")


@router.post("/billing")
async def billing_event(
    request: Request, session: AsyncSession = Depends(get_session), queue: ArqRedis = Depends(get_queue)
):
    event = json.loads(await billing_verified(request))
    row = insert(WebhookEvent).values(event_id=event["id"], kind=event["type"]).on_conflict_do_nothing()
    recorded = await session.execute(row)
    await session.commit()
    if recorded.rowcount == 0:
        return {"repeated": True}

    if event["type"] == "invoice.created":
        customer = await session.scalar(select(Customer).where(Customer.email == event["email"]))
        invoice = Invoice(customer_id=customer.id, number=event["number"])
        session.add(invoice)
        await session.commit()
        await queue.enqueue_job("send_invoice", invoice.id)
    elif event["type"] == "invoice.paid":
        await mark_paid(session, queue, event["number"])
    elif event["type"] == "payment.failed":
        invoice = await session.scalar(select(Invoice).where(Invoice.number == event["number"]))
        if await claim("payment_failed", invoice.number):
            await queue.enqueue_job("send_payment_failed", invoice.id)
    return {"ok": True}
