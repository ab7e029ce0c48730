from datetime import timedelta

from sqlalchemy import func, select, update

from helpdesk.db import Session
from helpdesk.mail.claims import claim
from helpdesk.mail.resend import send_mail
from helpdesk.models import Agent, Customer, Ticket, utcnow


async def send_surveys(ctx):
    """A day after a ticket was resolved we ask how it went."""
    async with Session() as session:
        query = select(Ticket).where(Ticket.state == "resolved", Ticket.survey_sent_at.is_(None))
        for ticket in (await session.scalars(query)).all():
            marking = update(Ticket).where(Ticket.id == ticket.id, Ticket.survey_sent_at.is_(None))
            marked = await session.execute(marking.values(survey_sent_at=utcnow()))
            await session.commit()
            if marked.rowcount == 1:
                key = f"survey-{ticket.id}"
                await send_mail("survey", ticket.customer.email, {"subject": ticket.subject}, key=key)


async def warn_of_due_tickets(ctx):
    async with Session() as session:
        open_ones = Ticket.state == "open", Ticket.warned_at.is_(None), Ticket.assignee_id.is_not(None)
        query = select(Ticket).where(*open_ones, Ticket.due_at < utcnow())
        for ticket in (await session.scalars(query)).all():
            marking = update(Ticket).where(Ticket.id == ticket.id, Ticket.warned_at.is_(None))
            marked = await session.execute(marking.values(warned_at=utcnow()))
            await session.commit()
            if marked.rowcount == 1:
                key = f"overdue-{ticket.id}"
                await send_mail("overdue", ticket.assignee.email, {"subject": ticket.subject}, key=key)


async def send_morning_report(ctx):
    async with Session() as session:
        count = await session.scalar(select(func.count(Ticket.id)).where(Ticket.state == "open"))
        agents = (await session.scalars(select(Agent))).all()
    today = utcnow().date().isoformat()
    for agent in agents:
        if await claim("morning_report", f"{agent.id}:{today}"):
            key = f"morning-report-{agent.id}-{today}"
            await send_mail("morning_report", agent.email, {"open": count}, key=key)


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
                await send_mail("closed_silently", ticket.customer.email, key=f"closed-{ticket.id}")


async def send_weekly_summary(ctx):
    week = utcnow().strftime("%G-W%V")
    async with Session() as session:
        customers = (await session.scalars(select(Customer).where(Customer.plan == "business"))).all()
    for customer in customers:
        if await claim("weekly_summary", f"{customer.id}:{week}"):
            key = f"weekly-summary-{customer.id}-{week}"
            await send_mail("weekly_summary", customer.email, {"week": week}, key=key)
