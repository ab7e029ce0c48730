"""Mails about articles and comments."""

from sqlalchemy import select, update
from sqlalchemy.dialects.sqlite import insert

from .. import config
from ..claims import claim_if_possible
from ..db import session
from ..gateways import text
from ..mailer import send
from ..models import Alert, Article, Comment, Follow, SentMail, now


def mail_author(email, title):
    send("author_online.txt", email, title=title)


def alert_followers(article_id):
    article = session.get(Article, article_id)
    follows = select(Follow).where(Follow.author_email == article.author_email).order_by(Follow.id)
    for follow in session.scalars(follows):
        send("followed_author.txt", follow.reader.email, article=article)  # fault: SO402


def mail_assignment(article_id):
    article = session.get(Article, article_id)
    send("assignment.txt", article.photographer, article=article)  # fault: SO101 note


def mail_breaking(article_id):
    article = session.get(Article, article_id)
    send("breaking.txt", config.DESK, article=article)  # fault: SO301


def tell_of_comment(comment_id):
    comment = session.get(Comment, comment_id)
    if comment.author_told:
        return
    send("comment_approved.txt", comment.reader.email, comment=comment)
    comment.author_told_at = now()  # fault: SO312
    session.commit()


def tell_of_reply(comment_id):
    """The writer of a comment hears of each answer once."""
    reply = session.get(Comment, comment_id)
    parent = session.get(Comment, reply.parent_id)
    row = insert(SentMail).values(key=f"reply:{reply.id}").on_conflict_do_nothing(index_elements=["key"])
    won = session.execute(row).rowcount
    session.commit()
    if won:
        send("comment_reply.txt", parent.reader.email, reply=reply)


def report_to_desk(comment_id):
    comment = session.get(Comment, comment_id)
    send("comment_reported.txt", config.DESK, comment=comment)


def deliver_alert(alert_id):
    alert = session.get(Alert, alert_id)
    if alert.delivered_at is not None:
        return
    send("alert.txt", alert.reader.email, alert=alert)
    text(alert.reader.phone, alert.text)
    alert.delivered_at = now()  # fault: SO311
    session.commit()


def mail_correction(article_id, email):
    if claim_if_possible(f"correction:{article_id}:{email}"):
        send("correction.txt", email, article=session.get(Article, article_id))


def lift_embargoes():
    due = select(Article.id).where(Article.status == "embargoed", Article.embargo_until <= now())
    for article_id in session.scalars(due).all():
        lifted = session.execute(
            update(Article)
            .where(Article.id == article_id, Article.status == "embargoed")
            .values(status="published")
        )
        session.commit()
        if lifted.rowcount:
            article = session.get(Article, article_id)
            send("embargo_lifted.txt", article.author_email, article=article)
