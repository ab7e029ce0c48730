"""Mails to many, by the clock."""

from sqlalchemy import func, select

from .. import config
from ..claims import DAY, claim_for
from ..db import session
from ..mailer import send
from ..models import Article, Letter, Reader, now


def morning_briefing():  # fault: SO702 note
    articles = session.scalars(select(Article).where(Article.status == "published").limit(5)).all()
    for reader in session.scalars(select(Reader).where(Reader.letter)):
        send("morning.txt", reader.email, articles=articles)  # fault: SO301


def weekly_letter():
    week = now().strftime("%G-W%V")
    articles = session.scalars(select(Article).where(Article.status == "published")).all()
    for reader in session.scalars(select(Reader).where(Reader.letter)):
        if claim_for(f"weekly:{week}:{reader.id}", 14 * DAY):
            send("weekly.txt", reader.email, articles=articles, week=week)


def desk_summary():  # fault: SO702 note
    """Tells the desk what came in today."""
    waiting = session.scalar(select(func.count()).select_from(Letter).where(Letter.answered_at.is_(None)))
    send("desk_summary.txt", config.DESK, waiting=waiting)  # fault: SO301


def answer_letters():  # fault: SO702 note
    """Thanks those who have written to the editor."""
    waiting = session.scalars(select(Letter).where(Letter.answered_at.is_(None))).all()  # fault: SO404
    for letter in waiting:
        send("letter_thanks.txt", letter.email, letter=letter)
        letter.answered_at = now()
        session.commit()
