from flask import Blueprint, abort, jsonify, request
from sqlalchemy import select, update

from ..claims import DAY, claim_for, redis
from ..db import session
from ..mailer import send, send_once
from ..models import Contact, PressRelease, Topic, now

bp = Blueprint("press", __name__, url_prefix="/press")


@bp.post("/<int:release_id>/send")
def send_release(release_id):
    """To everybody who is interested in one of the topics."""
    mine = session.execute(
        update(PressRelease)
        .where(PressRelease.id == release_id, PressRelease.sent_at.is_(None))
        .values(sent_at=now())
    )
    session.commit()
    if not mine.rowcount:
        return jsonify(error="has been sent"), 409
    release = session.get(PressRelease, release_id)
    emails = select(Contact.email).join(Contact.topics).where(Topic.name.in_(request.json["topics"]))
    emails = emails.distinct()
    for email in session.scalars(emails).all():
        send("press_release.txt", email, release=release)
    return jsonify(ok=True)


@bp.post("/<int:release_id>/fax")
def fax(release_id):
    """The fax bridge answers when it likes to: a fax that it may have is not sent again."""
    release = session.get(PressRelease, release_id) or abort(404)
    send_once("fax.txt", release_id, "fax@bridge.example", release=release)
    return jsonify(ok=True)


@bp.post("/<int:release_id>/preview")
def preview(release_id):
    release = session.get(PressRelease, release_id) or abort(404)
    if not claim_for(f"preview:{release_id}", DAY):
        return jsonify(mailed=False)
    send("preview.txt", request.json["email"], release=release)
    return jsonify(mailed=True)


@bp.post("/<int:release_id>/proof")
def proof(release_id):
    """The printer gets the proof once, however often the button is pressed."""
    release = session.get(PressRelease, release_id) or abort(404)
    with redis.lock(f"proof-lock:{release_id}", timeout=60):
        if redis.exists(f"proof:{release_id}"):
            return jsonify(mailed=False)
        send("proof.txt", "printer@print.example", release=release)
        redis.set(f"proof:{release_id}", 1)
    return jsonify(mailed=True)
