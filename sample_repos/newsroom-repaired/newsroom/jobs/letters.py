"""Mails to many, by the clock."""

from sqlalchemy import func, select, update

from .. import config
from ..claims import DAY, claim_for
from ..db import session
from ..mailer import send, send_once
from ..models import Article, Letter, Reader, now


def morning_briefing():
    articles = session.scalars(select(Article).where(Article.status == "published").limit(5)).all()
    for reader in session.scalars(select(Reader).where(Reader.letter)).all():
        send_once("morning.txt", f"{now():%Y-%m-%d}:{reader.id}", reader.email, articles=articles)


def weekly_letter():
    week = now().strftime("%G-W%V")
    articles = session.scalars(select(Article).where(Article.status == "published")).all()
    for reader in session.scalars(select(Reader).where(Reader.letter)):
        if claim_for(f"weekly:{week}:{reader.id}", 14 * DAY):
            send("weekly.txt", reader.email, articles=articles, week=week)


def desk_summary():
    """Tells the desk what came in today."""
    waiting = session.scalar(select(func.count()).select_from(Letter).where(Letter.answered_at.is_(None)))
    send_once("desk_summary.txt", f"{now():%Y-%m-%d}", config.DESK, waiting=waiting)


def answer_letters():
    """Thanks those who have written to the editor."""
    for letter_id in session.scalars(select(Letter.id).where(Letter.answered_at.is_(None))).all():
        mine = session.execute(
            update(Letter)
            .where(Letter.id == letter_id, Letter.answered_at.is_(None))
            .values(answered_at=now())
        )
        session.commit()
        if mine.rowcount:
            letter = session.get(Letter, letter_id)
            send("letter_thanks.txt", letter.email, letter=letter)
