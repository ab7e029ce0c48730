"""Jobs that the API enqueues. Run them with `arq helpdesk.worker.settings.WorkerSettings`."""

import logging

import httpx
from arq import Retry
from sqlalchemy import select

from helpdesk import crm
from helpdesk.config import TEAM
from helpdesk.db import Session
from helpdesk.mail.claims import claim
from helpdesk.mail.resend import send_mail
from helpdesk.models import Agent, Comment, Customer, Invoice, Outage, Subscription, Ticket, utcnow

logger = logging.getLogger(__name__)


async def send_ticket_opened(ctx, ticket_id):
    async with Session() as session:
        ticket = await session.get(Ticket, ticket_id)
    await send_mail("ticket_opened", ticket.customer.email, {"subject": ticket.subject}, key=f"opened-{ticket.id}")


async def send_comment_added(ctx, comment_id):
    async with Session() as session:
        comment = await session.get(Comment, comment_id)
    customer = comment.ticket.customer
    await send_mail("comment_added", customer.email, {"body": comment.body}, key=f"comment-{comment.id}")


async def send_ticket_assigned(ctx, ticket_id, agent_id):
    if not await claim("assigned", f"{ticket_id}:{agent_id}"):
        return
    async with Session() as session:
        ticket = await session.get(Ticket, ticket_id)
        agent = await session.get(Agent, agent_id)
    await send_mail("ticket_assigned", agent.email, {"subject": ticket.subject}, key=f"assigned-{ticket.id}-{agent.id}")


async def send_ticket_taken(ctx, ticket_id):
    async with Session() as session:
        ticket = await session.get(Ticket, ticket_id)
    agent = ticket.assignee.email
    await send_mail("ticket_taken", ticket.customer.email, {"agent": agent}, key=f"taken-{ticket.id}")


async def send_welcome(ctx, customer_id):
    async with Session() as session:
        customer = await session.get(Customer, customer_id)
    try:
        await send_mail("welcome", customer.email, {"name": customer.name}, key=f"welcome-{customer.id}")
    except httpx.HTTPError:
        raise Retry(defer=300) from None


async def send_invoice(ctx, invoice_id):
    async with Session() as session:
        invoice = await session.get(Invoice, invoice_id)
    try:
        await send_mail("invoice", invoice.customer.email, {"number": invoice.number}, key=f"invoice-{invoice.number}")
    except httpx.HTTPError:
        raise Retry(defer=ctx["job_try"] * 5) from None


async def send_payment_received(ctx, invoice_id):
    async with Session() as session:
        invoice = await session.get(Invoice, invoice_id)
    number = invoice.number
    await send_mail("payment_received", invoice.customer.email, {"number": number}, key=f"received-{number}")


async def send_payment_failed(ctx, invoice_id):
    async with Session() as session:
        invoice = await session.get(Invoice, invoice_id)
    number = invoice.number
    await send_mail("payment_failed", invoice.customer.email, {"number": number}, key=f"failed-{number}")


async def send_auto_reply(ctx, ticket_id):
    async with Session() as session:
        ticket = await session.get(Ticket, ticket_id)
    await send_mail("auto_reply", ticket.customer.email, {"ticket": ticket.id}, key=f"auto-reply-{ticket.id}")


async def send_outage_notices(ctx, outage_id):
    async with Session() as session:
        outage = await session.get(Outage, outage_id)
        wanted = Subscription.product == outage.product, Subscription.confirmed.is_(True)
        subscriptions = (await session.scalars(select(Subscription).where(*wanted))).all()
    try:
        for subscription in subscriptions:
            key = f"outage-{outage.id}-{subscription.id}"
            await send_mail("outage", subscription.email, {"title": outage.title}, key=key)
    except httpx.HTTPError:
        raise Retry(defer=30) from None


async def send_outage_over(ctx, outage_id):
    """The outage is over: the customers by mail, the team in its chat. Each has a mark of its own."""
    async with Session() as session:
        outage = await session.get(Outage, outage_id)
        if await claim("outage_over", outage.id):
            await send_mail("outage_over", TEAM, {"title": outage.title}, key=f"outage-over-{outage.id}")
        if outage.announced_at is None:
            await crm.post_to_chat(f"{outage.title} is over")
            outage.announced_at = utcnow()
            await session.commit()


async def send_bounce_alert(ctx, address, event_id):
    await send_mail("bounce_alert", TEAM, {"address": address}, key=f"bounce-{event_id}")


async def send_complaint_alert(ctx, address):
    if await claim("complaint", ctx["job_id"]):
        await send_mail("complaint_alert", TEAM, {"address": address}, key=f"complaint-{ctx['job_id']}")
