from datetime import datetime, timezone

from sqlalchemy import DateTime, ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship


def utcnow() -> datetime:
    return datetime.now(timezone.utc).replace(tzinfo=None)


class Base(DeclarativeBase):
    pass


class Customer(Base):
    __tablename__ = "customers"

    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(String(200), unique=True)
    name: Mapped[str] = mapped_column(String(100), default="")
    plan: Mapped[str] = mapped_column(String(20), default="free")
    open_limit: Mapped[int] = mapped_column(default=10)


class Agent(Base):
    """Somebody of the support team."""

    __tablename__ = "agents"

    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(String(200), unique=True)
    joined_at: Mapped[datetime | None] = mapped_column(DateTime)


class Ticket(Base):
    __tablename__ = "tickets"

    id: Mapped[int] = mapped_column(primary_key=True)
    request_id: Mapped[str | None] = mapped_column(String(120), unique=True)
    customer_id: Mapped[int] = mapped_column(ForeignKey("customers.id"))
    subject: Mapped[str] = mapped_column(String(200))
    product: Mapped[str] = mapped_column(String(40), default="app")
    state: Mapped[str] = mapped_column(String(20), default="open")
    assignee_id: Mapped[int | None] = mapped_column(ForeignKey("agents.id"))
    merged_into_id: Mapped[int | None] = mapped_column(ForeignKey("tickets.id"))
    created_at: Mapped[datetime] = mapped_column(DateTime, default=utcnow)
    due_at: Mapped[datetime | None] = mapped_column(DateTime)
    escalated: Mapped[bool] = mapped_column(default=False)
    reopenings: Mapped[int] = mapped_column(default=0)
    warned_at: Mapped[datetime | None] = mapped_column(DateTime)
    resolution_mailed_at: Mapped[datetime | None] = mapped_column(DateTime)
    survey_sent_at: Mapped[datetime | None] = mapped_column(DateTime)
    archived_at: Mapped[datetime | None] = mapped_column(DateTime)
    handed_over_at: Mapped[datetime | None] = mapped_column(DateTime)

    customer: Mapped[Customer] = relationship(lazy="joined")
    assignee: Mapped[Agent | None] = relationship(lazy="joined")


class Comment(Base):
    __tablename__ = "comments"

    id: Mapped[int] = mapped_column(primary_key=True)
    request_id: Mapped[str] = mapped_column(String(120), unique=True)
    ticket_id: Mapped[int] = mapped_column(ForeignKey("tickets.id"))
    body: Mapped[str] = mapped_column(String)
    created_at: Mapped[datetime] = mapped_column(DateTime, default=utcnow)

    ticket: Mapped[Ticket] = relationship(lazy="joined")


class Outage(Base):
    __tablename__ = "outages"

    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str] = mapped_column(String(200))
    product: Mapped[str] = mapped_column(String(40))
    announced_at: Mapped[datetime | None] = mapped_column(DateTime)


class Subscription(Base):
    """Who wants to hear of outages of a product."""

    __tablename__ = "subscriptions"
    __table_args__ = (UniqueConstraint("product", "email"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    product: Mapped[str] = mapped_column(String(40))
    email: Mapped[str] = mapped_column(String(200))
    confirmed: Mapped[bool] = mapped_column(default=True)


class Invoice(Base):
    __tablename__ = "invoices"

    id: Mapped[int] = mapped_column(primary_key=True)
    customer_id: Mapped[int] = mapped_column(ForeignKey("customers.id"))
    number: Mapped[str] = mapped_column(String(40), unique=True)
    state: Mapped[str] = mapped_column(String(20), default="open")

    customer: Mapped[Customer] = relationship(lazy="joined")


class Delivery(Base):
    """One row a mail that must go out once."""

    __tablename__ = "deliveries"
    __table_args__ = (UniqueConstraint("kind", "reference"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(40))
    reference: Mapped[str] = mapped_column(String(120))
    created_at: Mapped[datetime] = mapped_column(DateTime, default=utcnow)


class Notice(Base):
    """What the portal shows under "messages"."""

    __tablename__ = "notices"
    __table_args__ = (UniqueConstraint("customer_id", "kind", "reference"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    customer_id: Mapped[int] = mapped_column(ForeignKey("customers.id"))
    kind: Mapped[str] = mapped_column(String(40))
    reference: Mapped[str] = mapped_column(String(120))


class WebhookEvent(Base):
    """Deliveries of the billing system and of Resend that we have handled."""

    __tablename__ = "webhook_events"

    event_id: Mapped[str] = mapped_column(String(120), primary_key=True)
    kind: Mapped[str] = mapped_column(String(80))
    received_at: Mapped[datetime] = mapped_column(DateTime, default=utcnow)
