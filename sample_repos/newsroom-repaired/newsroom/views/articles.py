from datetime import datetime

from flask import Blueprint, abort, jsonify, request
from rq import Retry
from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError

from ..claims import claim_for
from ..db import session
from ..jobs.notices import alert_followers, deliver_alert, mail_assignment, mail_author, mail_breaking, mail_correction
from ..mailer import send
from ..models import Alert, Article, Reader, Revision
from ..queue import queue

bp = Blueprint("articles", __name__, url_prefix="/articles")


@bp.post("/")
def draft():
    article = Article(
        slug=request.json["slug"],
        title=request.json["title"],
        author_email=request.json["author"],
        urgent=request.json.get("urgent", False),
    )
    session.add(article)
    session.commit()
    return jsonify(id=article.id), 201


@bp.put("/<int:article_id>")
def edit(article_id):
    article = session.get(Article, article_id) or abort(404)
    article.title = request.json.get("title", article.title)
    article.text = request.json.get("text", article.text)
    session.add(Revision(article=article, number=request.json["revision"]))
    try:
        session.commit()
    except IntegrityError:
        session.rollback()
        return jsonify(error="somebody else has edited it"), 409
    return jsonify(id=article.id)


@bp.post("/<int:article_id>/publish")
def publish(article_id):
    published = session.execute(
        update(Article)
        .where(Article.id == article_id, Article.status == "draft")
        .values(status="published")
    )
    session.commit()
    if published.rowcount:
        queue.enqueue(mail_author, article_id)
        queue.enqueue(alert_followers, article_id, retry=Retry(max=3))
    return jsonify(published=bool(published.rowcount))


@bp.post("/<int:article_id>/breaking")
def breaking(article_id):
    """The chief on duty wakes the desk."""
    queue.enqueue(mail_breaking, article_id)
    return jsonify(ok=True)


@bp.post("/<int:article_id>/photographer")
def assign(article_id):
    article = session.get(Article, article_id) or abort(404)
    article.photographer = request.json["email"]
    session.commit()
    queue.enqueue(mail_assignment, article_id)
    return jsonify(ok=True)


@bp.post("/<int:article_id>/shooting")
def set_day(article_id):
    article = session.get(Article, article_id) or abort(404)
    article.shoot_on = request.json["day"]
    session.commit()
    queue.enqueue(mail_assignment, article_id)
    return jsonify(ok=True)


@bp.post("/<int:article_id>/embargo")
def embargo(article_id):
    article = session.get(Article, article_id) or abort(404)
    article.status = "embargoed"
    article.embargo_until = datetime.fromisoformat(request.json["until"])
    session.commit()
    return jsonify(id=article.id)


@bp.post("/<int:article_id>/correction")
def correct(article_id):
    """Those who have bought the article hear that it was wrong."""
    for email in request.json["readers"]:
        mail_correction(article_id, email)
    return jsonify(ok=True)


@bp.post("/<int:article_id>/legal")
def legal(article_id):
    """The lawyers get what is about to be printed."""
    article = session.get(Article, article_id) or abort(404)
    if claim_for(f"legal:{article_id}:{request.json['lawyer']}", 3600):
        send("legal.txt", request.json["lawyer"], article=article)
    return jsonify(ok=True)


@bp.post("/alerts")
def alert():
    for reader_id in session.scalars(select(Reader.id).where(Reader.phone != "")).all():
        row = Alert(reader_id=reader_id, text=request.json["text"])
        session.add(row)
        session.commit()
        queue.enqueue(deliver_alert, row.id, retry=Retry(max=3))
    return jsonify(ok=True), 201
