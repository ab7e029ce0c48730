from arq import ArqRedis
from fastapi import APIRouter, Depends, HTTPException
from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from helpdesk.db import get_session
from helpdesk.models import Invoice
from helpdesk.queue import get_queue

router = APIRouter(prefix="/invoices")


async def load(session: AsyncSession, number: str) -> Invoice:
    invoice = await session.scalar(select(Invoice).where(Invoice.number == number))
    if invoice is None:
        raise HTTPException(404, "no such invoice")
    return invoice


async def mark_paid(session: AsyncSession, queue: ArqRedis, number: str) -> None:
    """Called by the billing webhook and by accounting, whichever comes first."""
    invoice = await load(session, number)
    paying = update(Invoice).where(Invoice.id == invoice.id, Invoice.state != "paid").values(state="paid")
    paid = await session.execute(paying)
    await session.commit()
    if paid.rowcount:
        await queue.enqueue_job("send_payment_received", invoice.id)


@router.post("/{number}/book")
async def book_payment(
    number: str, session: AsyncSession = Depends(get_session), queue: ArqRedis = Depends(get_queue)
):
    """Accounting books what arrived by bank transfer."""
    await mark_paid(session, queue, number)
    return {"booked": number}
