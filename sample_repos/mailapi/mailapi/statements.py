"""Statements: the layer as it should be."""

import json

from fastapi import APIRouter, Header
from fastapi.responses import JSONResponse

from mailapi import config
from mailapi.keys import fingerprint
from mailapi.relay import Refused, submit
from mailapi.schemas import Mail
from mailapi.store import kv

router = APIRouter()
AT_WORK = 900
"""Well above the relay's timeout."""


@router.post("/statements")
def create_statement(mail: Mail, idempotency_key: str = Header(max_length=100)):
    name = f"statement:{mail.account_id}:{idempotency_key}"
    digest = fingerprint(mail)
    if not kv.set(name, json.dumps({"digest": digest}), nx=True, ex=AT_WORK):
        saved = json.loads(kv.get(name) or "{}")
        if saved.get("digest") not in (None, digest):
            return JSONResponse({"detail": "this key belongs to another mail"}, 422)
        if "status" not in saved:
            return JSONResponse({"detail": "the first request is still at work"}, 409)
        return JSONResponse(saved["body"], saved["status"])
    try:
        status, body = 202, {"id": submit("statement", mail.to, mail.variables, mail.account_id, key=name)}
    except Refused as error:
        kv.delete(name)
        return JSONResponse({"detail": str(error)}, 502)
    kv.set(name, json.dumps({"status": status, "body": body, "digest": digest}), ex=config.A_DAY)
    return JSONResponse(body, status)
