import asyncio
import logging
from uuid import uuid4

import httpx
from arq import ArqRedis
from fastapi import APIRouter, Depends, HTTPException
from pydantic import BaseModel
from redis.exceptions import LockError
from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from helpdesk import config, crm
from helpdesk.db import get_session
from helpdesk.mail.resend import send_mail
from helpdesk.models import Comment, Customer, Ticket, utcnow
from helpdesk.queue import get_queue

logger = logging.getLogger(__name__)
router = APIRouter(prefix="/tickets")


class NewTicket(BaseModel):
    request_id: str
    email: str
    subject: str
    product: str = "app"


class NewComment(BaseModel):
    request_id: str
    body: str


class Assignment(BaseModel):
    agent_id: int


async def load(session: AsyncSession, ticket_id: int) -> Ticket:
    ticket = await session.get(Ticket, ticket_id)
    if ticket is None:
        raise HTTPException(404, "no such ticket")
    return ticket


async def check_limit(session: AsyncSession, customer: Customer) -> None:
    query = select(func.count(Ticket.id)).where(Ticket.customer_id == customer.id, Ticket.state == "open")
    if (await session.scalar(query) or 0) > customer.open_limit:
        raise HTTPException(402, "too many open tickets for this plan")


@router.post("", status_code=201)
async def open_ticket(
    new: NewTicket, session: AsyncSession = Depends(get_session), queue: ArqRedis = Depends(get_queue)
):
    async with session.begin():
        customer = await session.scalar(select(Customer).where(Customer.email == new.email))
        if customer is None:
            raise HTTPException(404, "no such customer")
        ticket = Ticket(customer_id=customer.id, subject=new.subject, product=new.product)
        session.add(ticket)
        await session.flush()
        await queue.enqueue_job("send_ticket_opened", customer.email, new.subject)  # fault: SO201
        await check_limit(session, customer)
    return {"id": ticket.id}


@router.post("/{ticket_id}/comments", status_code=201)
async def add_comment(
    ticket_id: int,
    new: NewComment,
    session: AsyncSession = Depends(get_session),
    queue: ArqRedis = Depends(get_queue),
):
    ticket = await load(session, ticket_id)
    comment = Comment(ticket_id=ticket.id, body=new.body)
    session.add(comment)
    await session.commit()
    await queue.enqueue_job("send_comment_added", ticket.id, new.body)
    # the customer should not have to wait for the worker
    await send_mail("comment_added", ticket.customer.email, {"body": new.body}, reference=ticket.id)  # fault: SO102, SO301
    return {"id": comment.id}


@router.post("/{ticket_id}/resolve")
async def resolve(ticket_id: int, session: AsyncSession = Depends(get_session)):
    ticket = await load(session, ticket_id)
    if ticket.resolution_mailed_at is None:  # fault: SO303
        await send_mail("ticket_resolved", ticket.customer.email, {"subject": ticket.subject}, reference=ticket.id)
        ticket.resolution_mailed_at = utcnow()
    ticket.state = "resolved"
    await session.commit()
    return {"state": ticket.state}


@router.post("/{ticket_id}/reopen")
async def reopen(ticket_id: int, session: AsyncSession = Depends(get_session)):
    ticket = await load(session, ticket_id)
    ticket.state = "open"
    await session.commit()
    key = f"reopened-{ticket.id}-{uuid4()}"  # fault: SO304
    await send_mail("ticket_reopened", ticket.customer.email, reference=ticket.id, key=key)
    return {"state": ticket.state}


@router.post("/{ticket_id}/escalate")
async def escalate(ticket_id: int, session: AsyncSession = Depends(get_session)):
    ticket = await load(session, ticket_id)
    if ticket.escalated:
        return {"escalated": False}
    ticket.escalated = True  # fault: SO312
    await send_mail("ticket_escalated", ticket.customer.email, reference=ticket.id)
    return {"escalated": True}


@router.post("/{ticket_id}/page")
async def page_on_call(ticket_id: int, session: AsyncSession = Depends(get_session)):
    """The on-call engineer must get this one, whatever it takes."""
    ticket = await load(session, ticket_id)
    while True:  # fault: SO403
        try:
            await send_mail("on_call_page", config.ON_CALL, {"subject": ticket.subject}, reference=ticket.id)  # fault: SO301
            break
        except httpx.HTTPError:
            logger.warning("paging failed, trying again", exc_info=True)
            await asyncio.sleep(0.2)
    return {"paged": True}


@router.post("/{ticket_id}/merge/{target_id}")
async def merge(ticket_id: int, target_id: int, session: AsyncSession = Depends(get_session)):
    async with session.begin():
        ticket = await load(session, ticket_id)
        await session.execute(update(Comment).where(Comment.ticket_id == ticket.id).values(ticket_id=target_id))
        ticket.merged_into_id = target_id
        ticket.state = "merged"
        await send_mail("ticket_merged", ticket.customer.email, {"into": target_id}, reference=ticket.id)  # fault: SO202, SO301
        await crm.note_merge(ticket.id, target_id)
    return {"merged_into": target_id}


@router.post("/{ticket_id}/assign")
async def assign(
    ticket_id: int,
    assignment: Assignment,
    session: AsyncSession = Depends(get_session),
    queue: ArqRedis = Depends(get_queue),
):
    ticket = await load(session, ticket_id)
    ticket.assignee_id = assignment.agent_id
    await session.commit()
    await queue.enqueue_job("send_ticket_assigned", ticket.id)
    return {"assignee": assignment.agent_id}


@router.post("/{ticket_id}/accept")
async def accept(
    ticket_id: int,
    assignment: Assignment,
    session: AsyncSession = Depends(get_session),
    queue: ArqRedis = Depends(get_queue),
):
    """An agent accepts what the router proposed."""
    ticket = await load(session, ticket_id)
    ticket.assignee_id = assignment.agent_id
    ticket.state = "accepted"
    await session.commit()
    await queue.enqueue_job("send_ticket_assigned", ticket.id)  # fault: SO405 note
    return {"assignee": assignment.agent_id}


@router.post("/{ticket_id}/take")
async def take(
    ticket_id: int,
    assignment: Assignment,
    session: AsyncSession = Depends(get_session),
    queue: ArqRedis = Depends(get_queue),
):
    """An agent takes a ticket out of the pool: only one of them gets it."""
    free = update(Ticket).where(Ticket.id == ticket_id, Ticket.assignee_id.is_(None))
    taken = await session.execute(free.values(assignee_id=assignment.agent_id))
    await session.commit()
    if taken.rowcount == 0:
        raise HTTPException(409, "somebody else has it")
    await queue.enqueue_job("send_ticket_taken", ticket_id)
    return {"assignee": assignment.agent_id}


@router.post("/{ticket_id}/rate")
async def ask_for_rating(ticket_id: int, session: AsyncSession = Depends(get_session)):
    ticket = await load(session, ticket_id)
    key = f"rating-{ticket.customer_id}"
    await send_mail("rating", ticket.customer.email, {"subject": ticket.subject}, reference=ticket.id, key=key)  # fault: SO305
    return {"asked": True}


@router.post("/{ticket_id}/hand-over")
async def hand_over(
    ticket_id: int, session: AsyncSession = Depends(get_session), queue: ArqRedis = Depends(get_queue)
):
    """The night shift takes over; two people tend to press this at seven o'clock."""
    try:
        async with queue.lock(f"hand-over:{ticket_id}", timeout=30, blocking_timeout=5):
            ticket = await load(session, ticket_id)
            if ticket.handed_over_at is not None:
                return {"handed_over": False}
    except LockError:
        raise HTTPException(409, "being handed over") from None
    await send_mail("handed_over", ticket.customer.email, reference=ticket.id)  # fault: SO309
    ticket.handed_over_at = utcnow()
    await session.commit()
    return {"handed_over": True}


@router.post("/{ticket_id}/archive")
async def archive(ticket_id: int, session: AsyncSession = Depends(get_session)):
    ticket = await load(session, ticket_id)
    closing = update(Ticket).where(Ticket.id == ticket_id, Ticket.archived_at.is_(None))
    closed = await session.execute(closing.values(archived_at=utcnow(), state="archived"))
    await session.commit()
    if closed.rowcount:
        await send_mail("ticket_archived", ticket.customer.email, reference=ticket.id)
    return {"archived": bool(closed.rowcount)}
