import asyncio
import logging

import httpx
from arq import ArqRedis
from fastapi import APIRouter, Depends, HTTPException
from pydantic import BaseModel
from sqlalchemy import func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from helpdesk import config, crm
from helpdesk.db import get_session
from helpdesk.mail.resend import send_mail
from helpdesk.models import Comment, Customer, Ticket, utcnow
from helpdesk.queue import get_queue

logger = logging.getLogger(__name__)
router = APIRouter(prefix="/tickets")
ATTEMPTS = 5


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
        ticket = Ticket(
            request_id=new.request_id, customer_id=customer.id, subject=new.subject, product=new.product
        )
        session.add(ticket)
        try:
            await session.flush()
        except IntegrityError:
            raise HTTPException(409, "opened already") from None
        await check_limit(session, customer)
    await queue.enqueue_job("send_ticket_opened", ticket.id)
    return {"id": ticket.id}


@router.post("/{ticket_id}/comments", status_code=201)
async def add_comment(
    ticket_id: int,
    new: NewComment,
    session: AsyncSession = Depends(get_session),
    queue: ArqRedis = Depends(get_queue),
):
    ticket = await load(session, ticket_id)
    comment = Comment(request_id=new.request_id, ticket_id=ticket.id, body=new.body)
    session.add(comment)
    try:
        await session.commit()
    except IntegrityError:
        raise HTTPException(409, "added already") from None
    await queue.enqueue_job("send_comment_added", comment.id)
    return {"id": comment.id}


@router.post("/{ticket_id}/resolve")
async def resolve(ticket_id: int, session: AsyncSession = Depends(get_session)):
    ticket = await load(session, ticket_id)
    marking = update(Ticket).where(Ticket.id == ticket_id, Ticket.resolution_mailed_at.is_(None))
    marked = await session.execute(marking.values(resolution_mailed_at=utcnow(), state="resolved"))
    await session.commit()
    if marked.rowcount:
        key = f"resolved-{ticket.id}-{ticket.reopenings}"
        await send_mail("ticket_resolved", ticket.customer.email, {"subject": ticket.subject}, key=key)
    return {"state": "resolved"}


@router.post("/{ticket_id}/reopen")
async def reopen(ticket_id: int, session: AsyncSession = Depends(get_session)):
    ticket = await load(session, ticket_id)
    opening = update(Ticket).where(Ticket.id == ticket_id, Ticket.state == "resolved")
    values = {"state": "open", "reopenings": Ticket.reopenings + 1, "resolution_mailed_at": None}
    opened = await session.execute(opening.values(values))
    await session.commit()
    if opened.rowcount:
        await session.refresh(ticket)
        key = f"reopened-{ticket.id}-{ticket.reopenings}"
        await send_mail("ticket_reopened", ticket.customer.email, key=key)
    return {"state": "open"}


@router.post("/{ticket_id}/escalate")
async def escalate(ticket_id: int, session: AsyncSession = Depends(get_session)):
    ticket = await load(session, ticket_id)
    escalating = update(Ticket).where(Ticket.id == ticket_id, Ticket.escalated.is_(False))
    escalated = await session.execute(escalating.values(escalated=True))
    await session.commit()
    if escalated.rowcount:
        await send_mail("ticket_escalated", ticket.customer.email, key=f"escalated-{ticket.id}")
    return {"escalated": bool(escalated.rowcount)}


@router.post("/{ticket_id}/page")
async def page_on_call(ticket_id: int, session: AsyncSession = Depends(get_session)):
    """The on-call engineer must get this one, whatever it takes."""
    ticket = await load(session, ticket_id)
    key = f"page-{ticket.id}"
    for _ in range(ATTEMPTS):
        try:
            await send_mail("on_call_page", config.ON_CALL, {"subject": ticket.subject}, key=key)
            return {"paged": True}
        except httpx.HTTPError:
            logger.warning("paging failed, trying again", exc_info=True)
            await asyncio.sleep(0.2)
    raise HTTPException(502, "call them")


@router.post("/{ticket_id}/merge/{target_id}")
async def merge(ticket_id: int, target_id: int, session: AsyncSession = Depends(get_session)):
    async with session.begin():
        ticket = await load(session, ticket_id)
        merging = update(Ticket).where(Ticket.id == ticket.id, Ticket.state != "merged")
        merged = await session.execute(merging.values(merged_into_id=target_id, state="merged"))
        await session.execute(update(Comment).where(Comment.ticket_id == ticket.id).values(ticket_id=target_id))
        await crm.note_merge(ticket.id, target_id)
    if merged.rowcount:
        await send_mail("ticket_merged", ticket.customer.email, {"into": target_id}, key=f"merged-{ticket.id}")
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
    job_id = f"assigned:{ticket.id}:{assignment.agent_id}"
    await queue.enqueue_job("send_ticket_assigned", ticket.id, assignment.agent_id, _job_id=job_id)
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
    job_id = f"assigned:{ticket.id}:{assignment.agent_id}"
    await queue.enqueue_job("send_ticket_assigned", ticket.id, assignment.agent_id, _job_id=job_id)
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
    key = f"rating-{ticket.id}"
    await send_mail("rating", ticket.customer.email, {"subject": ticket.subject}, key=key)
    return {"asked": True}


@router.post("/{ticket_id}/hand-over")
async def hand_over(ticket_id: int, session: AsyncSession = Depends(get_session)):
    """The night shift takes over; two people tend to press this at seven o'clock."""
    ticket = await load(session, ticket_id)
    handing = update(Ticket).where(Ticket.id == ticket_id, Ticket.handed_over_at.is_(None))
    handed = await session.execute(handing.values(handed_over_at=utcnow()))
    await session.commit()
    if handed.rowcount:
        await send_mail("handed_over", ticket.customer.email, key=f"handed-over-{ticket.id}")
    return {"handed_over": bool(handed.rowcount)}


@router.post("/{ticket_id}/archive")
async def archive(ticket_id: int, session: AsyncSession = Depends(get_session)):
    ticket = await load(session, ticket_id)
    closing = update(Ticket).where(Ticket.id == ticket_id, Ticket.archived_at.is_(None))
    closed = await session.execute(closing.values(archived_at=utcnow(), state="archived"))
    await session.commit()
    if closed.rowcount:
        await send_mail("ticket_archived", ticket.customer.email, key=f"archived-{ticket.id}")
    return {"archived": bool(closed.rowcount)}
