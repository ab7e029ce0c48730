from arq import ArqRedis
from fastapi import APIRouter, Depends, HTTPException
from pydantic import BaseModel
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from helpdesk.db import get_session
from helpdesk.mail.claims import claim
from helpdesk.mail.resend import send_mail
from helpdesk.models import Customer, Outage, Ticket
from helpdesk.queue import get_queue

router = APIRouter(prefix="/announcements")


class Maintenance(BaseModel):
    reference: str
    product: str
    text: str


@router.post("/maintenance")
async def announce_maintenance(new: Maintenance, session: AsyncSession = Depends(get_session)):
    """Tells everybody who has written to us about a product."""
    query = select(Customer).join(Ticket, Ticket.customer_id == Customer.id).where(Ticket.product == new.product)
    for customer in (await session.scalars(query.distinct())).all():
        key = f"{new.reference}:{customer.id}"
        if await claim("maintenance", key):
            await send_mail("maintenance", customer.email, {"text": new.text}, key=f"maintenance-{key}")
    return {"product": new.product}


@router.post("/outages/{outage_id}")
async def announce_outage(
    outage_id: int, session: AsyncSession = Depends(get_session), queue: ArqRedis = Depends(get_queue)
):
    if await session.get(Outage, outage_id) is None:
        raise HTTPException(404, "no such outage")
    await queue.enqueue_job("send_outage_notices", outage_id, _job_id=f"outage:{outage_id}")
    return {"outage": outage_id}


@router.post("/outages/{outage_id}/over")
async def announce_end(outage_id: int, queue: ArqRedis = Depends(get_queue)):
    await queue.enqueue_job("send_outage_over", outage_id)
    return {"outage": outage_id}
