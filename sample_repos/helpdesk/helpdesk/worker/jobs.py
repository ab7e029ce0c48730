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
from helpdesk.models import Customer, Invoice, Outage, Subscription, Ticket, utcnow

logger = logging.getLogger(__name__)


async def send_ticket_opened(ctx, email, subject):
    await send_mail("ticket_opened", email, {"subject": subject}, reference=ctx["job_id"])  # fault: SO301


async def send_comment_added(ctx, ticket_id, body):
    async with Session() as session:
        ticket = await session.get(Ticket, ticket_id)
    await send_mail("comment_added", ticket.customer.email, {"body": body}, reference=ticket.id)  # fault: SO301


async def send_ticket_assigned(ctx, ticket_id):
    async with Session() as session:
        ticket = await session.get(Ticket, ticket_id)
    await send_mail("ticket_assigned", ticket.assignee.email, {"subject": ticket.subject}, reference=ticket.id)  # fault: SO101 note


async def send_ticket_taken(ctx, ticket_id):
    async with Session() as session:
        ticket = await session.get(Ticket, ticket_id)
    await send_mail("ticket_taken", ticket.customer.email, {"agent": ticket.assignee.email}, reference=ticket.id)


async def send_welcome(ctx, customer_id):
    if not await ctx["redis"].set(f"welcome:{customer_id}", 1, nx=True, ex=60):  # fault: SO308
        return
    async with Session() as session:
        customer = await session.get(Customer, customer_id)
    try:
        await send_mail("welcome", customer.email, {"name": customer.name}, reference=customer.id)
    except httpx.HTTPError:
        raise Retry(defer=300) from None


async def send_invoice(ctx, invoice_id):
    async with Session() as session:
        invoice = await session.get(Invoice, invoice_id)
    try:
        await send_mail("invoice", invoice.customer.email, {"number": invoice.number}, reference=invoice.number)
    except httpx.HTTPError:
        raise Retry(defer=ctx["job_try"] * 5) from None  # fault: SO401


async def send_payment_received(ctx, invoice_id):
    async with Session() as session:
        invoice = await session.get(Invoice, invoice_id)
    await send_mail("payment_received", invoice.customer.email, {"number": invoice.number}, reference=invoice.number)  # fault: SO101, SO301


async def send_payment_failed(ctx, invoice_id):
    async with Session() as session:
        invoice = await session.get(Invoice, invoice_id)
    await send_mail("payment_failed", invoice.customer.email, {"number": invoice.number}, reference=invoice.number)


async def send_auto_reply(ctx, ticket_id):
    async with Session() as session:
        ticket = await session.get(Ticket, ticket_id)
    await send_mail("auto_reply", ticket.customer.email, {"ticket": ticket.id}, reference=ticket.id)


async def send_outage_notices(ctx, outage_id):
    async with Session() as session:
        outage = await session.get(Outage, outage_id)
        wanted = Subscription.product == outage.product, Subscription.confirmed.is_(True)
        subscriptions = (await session.scalars(select(Subscription).where(*wanted))).all()
    try:
        for subscription in subscriptions:
            await send_mail("outage", subscription.email, {"title": outage.title}, reference=outage.id)  # fault: SO402
    except httpx.HTTPError:
        raise Retry(defer=30) from None


async def send_outage_over(ctx, outage_id):
    """The outage is over: the customers by mail, the team in its chat."""
    async with Session() as session:
        outage = await session.get(Outage, outage_id)
        if outage.announced_at is not None:
            return
        await send_mail("outage_over", TEAM, {"title": outage.title}, reference=outage.id)
        await crm.post_to_chat(f"{outage.title} is over")
        outage.announced_at = utcnow()  # fault: SO311
        await session.commit()


async def send_complaint_alert(ctx, address):
    if await claim("complaint", ctx["job_id"]):
        await send_mail("complaint_alert", TEAM, {"address": address}, reference=address)
