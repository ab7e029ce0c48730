from flask import Blueprint, abort, jsonify, request
from sqlalchemy.exc import IntegrityError

from ..db import session
from ..jobs.notices import report_to_desk, tell_of_comment, tell_of_reply
from ..models import Comment, Report
from ..queue import queue

bp = Blueprint("comments", __name__)


@bp.post("/articles/<int:article_id>/comments")
def write(article_id):
    comment = Comment(
        article_id=article_id,
        reader_id=request.json["reader"],
        parent_id=request.json.get("parent"),
        text=request.json["text"],
    )
    session.add(comment)
    session.commit()
    return jsonify(id=comment.id), 201


@bp.post("/comments/<int:comment_id>/approve")
def approve(comment_id):
    comment = session.get(Comment, comment_id) or abort(404)
    comment.approved = True
    session.commit()
    queue.enqueue(tell_of_comment, comment_id)
    if comment.parent_id:
        queue.enqueue(tell_of_reply, comment_id)
    return jsonify(ok=True)


@bp.post("/comments/<int:comment_id>/report")
def report(comment_id):
    session.add(Report(comment_id=comment_id, reader_id=request.json["reader"]))
    try:
        session.commit()
    except IntegrityError:
        session.rollback()
        return jsonify(error="already reported"), 409
    queue.enqueue(report_to_desk, comment_id)
    return jsonify(ok=True), 201
