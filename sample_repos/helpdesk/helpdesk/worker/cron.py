from datetime import timedelta

from sqlalchemy import func, select, update

from helpdesk.db import Session
from helpdesk.mail.claims import claim
from helpdesk.mail.resend import send_mail
from helpdesk.models import Agent, Customer, Ticket, utcnow


async def send_surveys(ctx):  # fault: SO702 note
    """A day after a ticket was resolved we ask how it went."""
    async with Session() as session:
        query = select(Ticket).where(Ticket.state == "resolved", Ticket.survey_sent_at.is_(None))
        for ticket in (await session.scalars(query)).all():  # fault: SO404
            await send_mail("survey", ticket.customer.email, {"subject": ticket.subject}, reference=ticket.id)
            ticket.survey_sent_at = utcnow()
            await session.commit()


async def warn_of_due_tickets(ctx):  # fault: SO702 note
    async with Session() as session:
        query = select(Ticket).where(Ticket.state == "open", Ticket.due_at < utcnow())
        for ticket in (await session.scalars(query)).all():  # fault: SO408
            if ticket.assignee is not None:
                await send_mail("overdue", ticket.assignee.email, {"subject": ticket.subject}, reference=ticket.id)


async def send_morning_report(ctx):  # fault: SO702 note
    async with Session() as session:
        count = await session.scalar(select(func.count(Ticket.id)).where(Ticket.state == "open"))
        agents = (await session.scalars(select(Agent))).all()
    for agent in agents:
        await send_mail("morning_report", agent.email, {"open": count}, reference=agent.id)  # fault: SO301


async def close_silent_tickets(ctx):
    """Tickets that nobody has touched for a month are closed, and the customer is told."""
    async with Session() as session:
        old = utcnow() - timedelta(days=30)
        query = select(Ticket).where(Ticket.state == "open", Ticket.created_at < old)
        for ticket in (await session.scalars(query)).all():
            closing = update(Ticket).where(Ticket.id == ticket.id, Ticket.state == "open").values(state="closed")
            closed = await session.execute(closing)
            await session.commit()
            if closed.rowcount == 1:
                await send_mail("closed_silently", ticket.customer.email, reference=ticket.id)


async def send_weekly_summary(ctx):
    week = utcnow().strftime("%G-W%V")
    async with Session() as session:
        customers = (await session.scalars(select(Customer).where(Customer.plan == "business"))).all()
    for customer in customers:
        if await claim("weekly_summary", f"{customer.id}:{week}"):
            await send_mail("weekly_summary", customer.email, {"week": week}, reference=customer.id)
