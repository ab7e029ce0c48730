"""Receipts: what is kept of the first answer is only that there was one."""

import json

from fastapi import APIRouter, Header
from fastapi.responses import JSONResponse

from mailapi import config
from mailapi.relay import Refused, submit
from mailapi.schemas import Mail
from mailapi.store import kv

router = APIRouter()


@router.post("/receipts")
def create_receipt(mail: Mail, idempotency_key: str = Header(max_length=100)):
    name = f"receipt:{mail.account_id}:{idempotency_key}"
    if not kv.set(name, "{}", nx=True, ex=900):
        saved = json.loads(kv.get(name) or "{}")
        return JSONResponse({"detail": "known"}, saved.get("status", 409))
    try:
        status, body = 202, {"id": submit("receipt", mail.to, mail.variables, mail.account_id)}
    except Refused as error:
        kv.delete(name)
        return JSONResponse({"detail": str(error)}, 502)
    kv.set(name, json.dumps({"status": status}), ex=config.A_DAY)  # fault: SO613
    return JSONResponse(body, status)
