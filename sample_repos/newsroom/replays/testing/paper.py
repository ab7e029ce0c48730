"""Rows that replays begin with. Each function commits and gives the row's id."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from newsroom.db import Base, session
from newsroom.models import (
    Article,
    Comment,
    Contact,
    Follow,
    Letter,
    PressRelease,
    Purchase,
    Reader,
    Subscription,
    Topic,
    now,
)

ANNA, BEN, AUTHOR = "anna@example.org", "ben@example.org", "author@gazette.example"


def put(row: Base) -> int:
    session.add(row)
    session.commit()
    number = int(row.id)  # type: ignore[attr-defined]
    session.remove()
    return number


def reader(email: str = ANNA, **fields: Any) -> int:
    return put(Reader(email=email, **fields))


def article(slug: str = "tide", **fields: Any) -> int:
    return put(Article(slug=slug, title="The tide", author_email=AUTHOR, **fields))


def subscription(**fields: Any) -> int:
    return put(Subscription(reader_id=reader(), **{"plan": "year", **fields}))


def ending(days: int, **fields: Any) -> int:
    return subscription(ends_at=now() + timedelta(days=days), **fields)


def follow(email: str) -> int:
    return put(Follow(author_email=AUTHOR, reader_id=reader(email)))


def comment(**fields: Any) -> int:
    return put(Comment(article_id=article(), reader_id=reader(), text="Well said", **fields))


def answer_to(parent: int) -> int:
    of = session.get(Comment, parent)
    assert of is not None
    return put(Comment(article_id=of.article_id, reader_id=of.reader_id, parent_id=parent, text="No"))


def purchase(reader_id: int | None = None) -> int:
    row = Purchase(reader_id=reader_id or reader(), article_id=article(), paid_cents=199)
    return put(row)


def release() -> int:
    return put(PressRelease(title="A new editor"))


def contact(*topics: str) -> int:
    return put(Contact(email=ANNA, topics=[Topic(name=name) for name in topics]))


def letter() -> int:
    return put(Letter(email=ANNA, text="Dear editor"))
