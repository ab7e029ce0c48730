"""The first endpoint that took a key."""

import json

from fastapi import APIRouter, Header
from fastapi.responses import JSONResponse

from mailapi import config
from mailapi.keys import fingerprint
from mailapi.relay import Refused, submit
from mailapi.schemas import Mail
from mailapi.store import kv

router = APIRouter()


@router.post("/notifications")
def create_notification(mail: Mail, idempotency_key: str = Header(max_length=100)):
    name = f"notification:{mail.account_id}:{idempotency_key}"
    digest = fingerprint(mail)
    known = kv.get(name)  # fault: SO611
    if known is not None:
        saved = json.loads(known)
        if saved["digest"] != digest:
            return JSONResponse({"detail": "this key belongs to another mail"}, 422)
        return JSONResponse(saved["body"], saved["status"])
    try:
        status, body = 202, {"id": submit("notification", mail.to, mail.variables, mail.account_id)}
    except Refused as error:
        return JSONResponse({"detail": str(error)}, 502)
    kv.set(name, json.dumps({"status": status, "body": body, "digest": digest}), ex=config.A_DAY)
    return JSONResponse(body, status)
