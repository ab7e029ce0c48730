"""The first endpoint that took a key."""

from fastapi import APIRouter, Header
from fastapi.responses import JSONResponse

from mailapi.keys import claim, earlier, fingerprint, keep, release
from mailapi.relay import Refused, submit
from mailapi.schemas import Mail

router = APIRouter()


@router.post("/notifications")
def create_notification(mail: Mail, idempotency_key: str = Header(max_length=100)):
    name = f"notification:{mail.account_id}:{idempotency_key}"
    digest = fingerprint(mail)
    if not claim(name, digest):
        return earlier(name, digest)
    try:
        status, body = 202, {"id": submit("notification", mail.to, mail.variables, mail.account_id, key=name)}
    except Refused as error:
        release(name)
        return JSONResponse({"detail": str(error)}, 502)
    keep(name, digest, status, body)
    return JSONResponse(body, status)
