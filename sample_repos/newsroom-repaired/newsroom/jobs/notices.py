"""Mails about articles and comments."""

from sqlalchemy import select, update
from sqlalchemy.dialects.sqlite import insert

from .. import config
from ..db import session
from ..gateways import text
from ..mailer import send, send_once
from ..models import Alert, Article, Comment, Follow, SentMail, now


def mail_author(article_id):
    article = session.get(Article, article_id)
    send_once("author_online.txt", article_id, article.author_email, title=article.title)


def alert_followers(article_id):
    article = session.get(Article, article_id)
    follows = select(Follow).where(Follow.author_email == article.author_email).order_by(Follow.id)
    for follow in session.scalars(follows).all():
        key = f"{article_id}:{follow.reader_id}"
        send_once("followed_author.txt", key, follow.reader.email, article=article)


def mail_assignment(article_id):
    article = session.get(Article, article_id)
    key = f"{article_id}:{article.photographer}"
    send_once("assignment.txt", key, article.photographer, article=article)


def mail_breaking(article_id):
    article = session.get(Article, article_id)
    send_once("breaking.txt", article_id, config.DESK, article=article)


def tell_of_comment(comment_id):
    untold = update(Comment).where(Comment.id == comment_id, Comment.author_told.is_(False))
    mine = session.execute(untold.values(author_told=True))
    session.commit()
    if mine.rowcount:
        comment = session.get(Comment, comment_id)
        send("comment_approved.txt", comment.reader.email, comment=comment)


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
    unmailed = update(Alert).where(Alert.id == alert_id, Alert.mailed_at.is_(None))
    mail = session.execute(unmailed.values(mailed_at=now()))
    session.commit()
    if mail.rowcount:
        send("alert.txt", alert.reader.email, alert=alert)
    if alert.texted_at is None:
        text(alert.reader.phone, alert.text)
        alert.texted_at = now()
        session.commit()


def mail_correction(article_id, email):
    article = session.get(Article, article_id)
    send_once("correction.txt", f"{article_id}:{email}", email, article=article)


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
