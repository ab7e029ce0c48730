from datetime import datetime, timezone

from sqlalchemy import Column, ForeignKey, String, Table, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from .db import Base


def now():
    return datetime.now(timezone.utc).replace(tzinfo=None)


class Reader(Base):
    __tablename__ = "readers"

    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(String(200), unique=True)
    phone: Mapped[str] = mapped_column(String(40), default="")
    letter: Mapped[bool] = mapped_column(default=True)
    verify_mailed_at: Mapped[datetime | None]


class Article(Base):
    __tablename__ = "articles"

    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(String(80), unique=True)
    title: Mapped[str] = mapped_column(String(200))
    text: Mapped[str] = mapped_column(default="")
    author_email: Mapped[str] = mapped_column(String(200))
    status: Mapped[str] = mapped_column(String(20), default="draft")
    urgent: Mapped[bool] = mapped_column(default=False)
    embargo_until: Mapped[datetime | None]
    photographer: Mapped[str] = mapped_column(String(200), default="")
    shoot_on: Mapped[str] = mapped_column(String(20), default="")
    revisions: Mapped[list["Revision"]] = relationship(back_populates="article")


class Revision(Base):
    """Who edits hands in the next number: of two who had the same text before them, one is turned away."""

    __tablename__ = "revisions"
    __table_args__ = (UniqueConstraint("article_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    article_id: Mapped[int] = mapped_column(ForeignKey("articles.id"))
    number: Mapped[int]
    article: Mapped[Article] = relationship(back_populates="revisions")


class Follow(Base):
    __tablename__ = "follows"

    id: Mapped[int] = mapped_column(primary_key=True)
    author_email: Mapped[str] = mapped_column(String(200))
    reader_id: Mapped[int] = mapped_column(ForeignKey("readers.id"))
    reader: Mapped[Reader] = relationship()


class Comment(Base):
    __tablename__ = "comments"

    id: Mapped[int] = mapped_column(primary_key=True)
    article_id: Mapped[int] = mapped_column(ForeignKey("articles.id"))
    reader_id: Mapped[int] = mapped_column(ForeignKey("readers.id"))
    parent_id: Mapped[int | None] = mapped_column(ForeignKey("comments.id"))
    text: Mapped[str]
    approved: Mapped[bool] = mapped_column(default=False)
    author_told: Mapped[bool] = mapped_column(default=False)
    article: Mapped[Article] = relationship()
    reader: Mapped[Reader] = relationship()


class Report(Base):
    """A reader finds a comment offensive. One report a reader and comment."""

    __tablename__ = "reports"

    id: Mapped[int] = mapped_column(primary_key=True)
    comment_id: Mapped[int] = mapped_column(ForeignKey("comments.id"))
    reader_id: Mapped[int] = mapped_column(ForeignKey("readers.id"))


class Subscription(Base):
    __tablename__ = "subscriptions"
    __table_args__ = (UniqueConstraint("reader_id", "plan"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    reader_id: Mapped[int] = mapped_column(ForeignKey("readers.id"))
    plan: Mapped[str] = mapped_column(String(20))
    status: Mapped[str] = mapped_column(String(20), default="active")
    ends_at: Mapped[datetime | None]
    reminded_at: Mapped[datetime | None]
    renews: Mapped[bool] = mapped_column(default=False)
    reader: Mapped[Reader] = relationship()


class Gift(Base):
    __tablename__ = "gifts"

    id: Mapped[int] = mapped_column(primary_key=True)
    order: Mapped[str] = mapped_column(String(40), unique=True)
    email: Mapped[str] = mapped_column(String(200))
    plan: Mapped[str] = mapped_column(String(20))


class Purchase(Base):
    __tablename__ = "purchases"

    id: Mapped[int] = mapped_column(primary_key=True)
    reader_id: Mapped[int] = mapped_column(ForeignKey("readers.id"))
    article_id: Mapped[int] = mapped_column(ForeignKey("articles.id"))
    paid_cents: Mapped[int] = mapped_column(default=0)
    reader: Mapped[Reader] = relationship()
    article: Mapped[Article] = relationship()


class Alert(Base):
    """A storm, a strike, an election: goes out by mail and as a text message."""

    __tablename__ = "alerts"

    id: Mapped[int] = mapped_column(primary_key=True)
    reader_id: Mapped[int] = mapped_column(ForeignKey("readers.id"))
    text: Mapped[str]
    delivered_at: Mapped[datetime | None]
    reader: Mapped[Reader] = relationship()


class Letter(Base):
    """A letter to the editor waits here until the clock sends it on to the desk."""

    __tablename__ = "letters"

    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(String(200))
    text: Mapped[str]
    answered_at: Mapped[datetime | None]


topics_of_contacts = Table(
    "topics_of_contacts",
    Base.metadata,
    Column("contact_id", ForeignKey("contacts.id"), primary_key=True),
    Column("topic_id", ForeignKey("topics.id"), primary_key=True),
)


class Topic(Base):
    __tablename__ = "topics"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(40), unique=True)


class Contact(Base):
    """Somebody at a news agency."""

    __tablename__ = "contacts"

    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(String(200), unique=True)
    topics: Mapped[list[Topic]] = relationship(secondary=topics_of_contacts)


class PressRelease(Base):
    __tablename__ = "press_releases"

    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str] = mapped_column(String(200))
    sent_at: Mapped[datetime | None]


class SentMail(Base):
    """One row a mail that must go out once, see claims.claim()."""

    __tablename__ = "sent_mails"

    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(String(120), unique=True)


class HookEvent(Base):
    """Deliveries of the payment provider that have been here."""

    __tablename__ = "hook_events"

    id: Mapped[str] = mapped_column(String(80), primary_key=True)
    kind: Mapped[str] = mapped_column(String(40))
