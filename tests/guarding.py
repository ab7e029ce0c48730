"""Small programs that mail, and the reservations that the analysis finds before the mail."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from textwrap import dedent

from sendonce.config import Settings
from sendonce.packs import Packs, load_packs
from sendonce.program.analysis import analyse
from sendonce.program.mail import Guard
from sendonce.target import target_of

DJANGO = {
    "shop/__init__.py": "",
    "shop/settings.py": """
        INSTALLED_APPS = ["shop"]
        CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache"}}
    """,
    "shop/models.py": """
        import uuid
        from django.db import models

        class Order(models.Model):
            number = models.CharField(max_length=20)
            state = models.CharField(max_length=10, default="new")
            version = models.IntegerField(default=0)
            mailed = models.BooleanField(default=False)
            mailed_at = models.DateTimeField(null=True)

            @property
            def is_mailed(self):
                return self.mailed_at is not None

        class Sent(models.Model):
            order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="sent")
            kind = models.CharField(max_length=20)
            text = models.TextField()

            class Meta:
                unique_together = [("order", "kind")]

        class Log(models.Model):
            order = models.ForeignKey(Order, on_delete=models.CASCADE)
            kind = models.CharField(max_length=20)

        class Event(models.Model):
            event_id = models.CharField(max_length=80, unique=True)
            source = models.CharField(max_length=80)
    """,
    "shop/mail.py": """
        from django.core.mail import send_mail

        def mail(address="you@example.org"):
            send_mail("Subject", "Text", None, [address])
    """,
}
"""A Django application: models, a mail helper, a cache that processes share."""

ALCHEMY = {
    "shop/__init__.py": "",
    "shop/db.py": """
        from sqlalchemy import create_engine
        from sqlalchemy.orm import DeclarativeBase, sessionmaker

        engine = create_engine("postgresql://db/shop")
        Session = sessionmaker(engine)

        class Base(DeclarativeBase):
            pass
    """,
    "shop/models.py": """
        from datetime import datetime
        from sqlalchemy import ForeignKey, UniqueConstraint
        from sqlalchemy.orm import Mapped, mapped_column
        from .db import Base

        class Order(Base):
            __tablename__ = "orders"
            id: Mapped[int] = mapped_column(primary_key=True)
            state: Mapped[str]
            mailed: Mapped[bool] = mapped_column(default=False)
            mailed_at: Mapped[datetime | None]

        class Sent(Base):
            __tablename__ = "sent"
            __table_args__ = (UniqueConstraint("order_id", "kind"),)
            id: Mapped[int] = mapped_column(primary_key=True)
            order_id: Mapped[int] = mapped_column(ForeignKey("orders.id"))
            kind: Mapped[str]

        class Log(Base):
            __tablename__ = "log"
            id: Mapped[int] = mapped_column(primary_key=True)
            order_id: Mapped[int]
            kind: Mapped[str]
    """,
    "shop/mail.py": """
        import smtplib

        def mail(address="you@example.org"):
            with smtplib.SMTP("smtp.example.org") as server:
                server.sendmail("shop@example.org", [address], "Text")
    """,
}
"""The same for SQLAlchemy."""


@cache
def packs() -> Packs:
    """The packs of the project, read once."""
    return load_packs(Settings().rules)


def guards(root: Path, code: str, files: Mapping[str, str]) -> list[Guard | None]:
    """The reservation of each path to a mail in a program whose module `shop/run.py` is `code`."""
    for name, content in {**files, "shop/run.py": code}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(content))
    settings = Settings()
    analysis = analyse(target_of([root]).sources(settings), packs(), settings)
    found = [path.mail.guard for path in analysis.paths if path.trigger.function.startswith("shop.run.")]
    assert found, "the program leads to no mail"
    return found


def is_guarded(root: Path, code: str, files: Mapping[str, str]) -> bool:
    """Whether every path of a program to its mail has a reservation."""
    return all(guard is not None for guard in guards(root, code, files))
