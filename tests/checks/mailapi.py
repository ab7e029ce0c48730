"""A small mail API with an idempotency layer of its own, for the rules about such layers."""

from __future__ import annotations

HEAD = """
import hashlib
import json
from flask import Flask, abort, jsonify, request
from redis import Redis
from sqlalchemy.exc import IntegrityError
import requests
from .store import Key, Session

app = Flask(__name__)
kv = Redis(decode_responses=True)


def transmit(mail):
    answer = requests.post("https://api.mailgun.net/v3/x.example/messages", data=mail, timeout=30)
    answer.raise_for_status()
    return answer.json()["id"]


def work(mail):
    try:
        return {"id": transmit(mail)}, 201
    except requests.RequestException:
        return {"error": "provider"}, 502


def digest_of(mail):
    return hashlib.sha256(json.dumps(mail, sort_keys=True).encode()).hexdigest()


@app.post("/mails")
def create():
    name = "idem:" + request.headers["Idempotency-Key"]
    mail = request.get_json()
    digest = digest_of(mail)
"""
STORE = """
from sqlalchemy import create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, sessionmaker


class Base(DeclarativeBase):
    pass


class Key(Base):
    __tablename__ = "keys"
    id: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str]
    body: Mapped[str | None]
    status: Mapped[int | None]


Session = sessionmaker(create_engine("postgresql://db/api"))
"""
CLAIM = """
    if not kv.set(name, json.dumps({"digest": digest}), nx=True, ex=900):
"""
REPLAY = """
        saved = json.loads(kv.get(name) or "{}")
        if saved.get("digest") != digest:
            abort(422)
        if "body" not in saved:
            abort(409)
        return jsonify(saved["body"]), saved["status"]
"""
WORK = """
    body, status = work(mail)
    kv.set(name, json.dumps({"digest": digest, "body": body, "status": status}), ex=86400)
    return jsonify(body), status
"""


def api(*parts: str) -> dict[str, str]:
    """The API with the body of its one route."""
    text = HEAD + "".join(part.removeprefix("\n") for part in parts)
    return {"api/__init__.py": "", "api/store.py": STORE, "api/app.py": text}
