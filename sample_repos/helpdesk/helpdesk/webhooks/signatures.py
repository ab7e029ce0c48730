import base64
import hashlib
import hmac
import time

from fastapi import HTTPException, Request

from helpdesk import config

TOLERANCE = 300


async def svix_verified(request: Request) -> bytes:
    """The body of a delivery that Resend signed (Svix: id, timestamp and body, HMAC-SHA256)."""
    body = await request.body()
    event_id = request.headers.get("svix-id", "")
    stamp = request.headers.get("svix-timestamp", "0")
    secret = base64.b64decode(config.INBOUND_SECRET.removeprefix("whsec_"))
    signed = hmac.new(secret, f"{event_id}.{stamp}.".encode() + body, hashlib.sha256).digest()
    expected = "v1," + base64.b64encode(signed).decode()
    given = request.headers.get("svix-signature", "").split()
    if abs(time.time() - float(stamp)) > TOLERANCE or not any(hmac.compare_digest(expected, one) for one in given):
        raise HTTPException(400, "bad signature")
    return body


async def billing_verified(request: Request) -> bytes:
    body = await request.body()
    expected = hmac.new(config.BILLING_SECRET.encode(), body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, request.headers.get("X-Billing-Signature", "")):
        raise HTTPException(400, "bad signature")
    return body
