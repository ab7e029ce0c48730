"""After the race of the notifications: the key is claimed first."""

import json

from fastapi import APIRouter, Header
from fastapi.responses import JSONResponse

from mailapi import config
from mailapi.keys import fingerprint
from mailapi.relay import Refused, submit
from mailapi.schemas import Mail
from mailapi.store import kv

router = APIRouter()


def earlier(name, digest):
    """The answer to a request whose key has been used."""
    saved = json.loads(kv.get(name) or "{}")
    if saved.get("digest") not in (None, digest):
        return JSONResponse({"detail": "this key belongs to another mail"}, 422)
    if "status" not in saved:
        return JSONResponse({"detail": "the first request is still at work"}, 409)
    return JSONResponse(saved["body"], saved["status"])


@router.post("/reminders")
def create_reminder(mail: Mail, idempotency_key: str = Header(max_length=100)):
    name = f"reminder:{mail.account_id}:{idempotency_key}"
    digest = fingerprint(mail)
    if not kv.setnx(name, json.dumps({"digest": digest})):  # fault: SO612
        return earlier(name, digest)
    try:
        status, body = 202, {"id": submit("reminder", mail.to, mail.variables, mail.account_id)}
    except Refused as error:
        kv.delete(name)
        return JSONResponse({"detail": str(error)}, 502)
    kv.set(name, json.dumps({"status": status, "body": body, "digest": digest}), ex=config.A_DAY)
    return JSONResponse(body, status)


@router.post("/invitations")
def create_invitation(mail: Mail, idempotency_key: str = Header(max_length=100)):
    name = f"invitation:{mail.account_id}:{idempotency_key}"
    digest = fingerprint(mail)
    if not kv.set(name, json.dumps({"digest": digest}), nx=True, ex=5):  # fault: SO612
        return earlier(name, digest)
    try:
        status, body = 202, {"id": submit("invitation", mail.to, mail.variables, mail.account_id)}
    except Refused as error:
        kv.delete(name)
        return JSONResponse({"detail": str(error)}, 502)
    kv.set(name, json.dumps({"status": status, "body": body, "digest": digest}), ex=config.A_DAY)
    return JSONResponse(body, status)
