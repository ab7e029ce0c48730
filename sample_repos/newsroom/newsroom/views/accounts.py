from flask import Blueprint, abort, jsonify, request
from sqlalchemy.exc import IntegrityError

from ..claims import claim_for
from ..db import session
from ..jobs.subscribers import mail_welcome
from ..mailer import send
from ..models import Letter, Reader, now
from ..queue import queue

bp = Blueprint("accounts", __name__)


@bp.post("/readers")
def register():
    reader = Reader(email=request.json["email"].strip().lower(), phone=request.json.get("phone", ""))
    session.add(reader)
    try:
        session.commit()
    except IntegrityError:
        session.rollback()
        return jsonify(error="taken"), 409
    queue.enqueue(mail_welcome, reader.id)
    return jsonify(id=reader.id), 201


@bp.post("/readers/<int:reader_id>/verify")
def verify(reader_id):
    reader = session.get(Reader, reader_id) or abort(404)
    if reader.verify_mailed_at is None:  # fault: SO303
        send("verify.txt", reader.email, reader=reader)
        reader.verify_mailed_at = now()
        session.commit()
    return jsonify(mailed=True)


@bp.post("/readers/<int:reader_id>/sign-in-link")
def sign_in_link(reader_id):
    reader = session.get(Reader, reader_id) or abort(404)
    # double clicks: one link in five minutes
    if claim_for(f"sign-in:{reader_id}", 300):
        send("sign_in.txt", reader.email, reader=reader)
    return jsonify(mailed=True)


@bp.post("/letters")
def write_letter():
    session.add(Letter(email=request.json["email"], text=request.json["text"]))
    session.commit()
    return jsonify(ok=True), 201
