"""The layer that keeps a client's key: claimed before the work, overwritten with the answer behind it."""

import hashlib
import json

from fastapi.responses import JSONResponse

from mailapi import config
from mailapi.store import kv

AT_WORK = 900
"""Well above the relay's timeout."""


def fingerprint(mail):
    """Tells one payload from another."""
    return hashlib.sha256(mail.model_dump_json().encode()).hexdigest()


def claim(name, digest):
    """True for the first request under a key, until its answer is kept or it has surely died."""
    return kv.set(name, json.dumps({"digest": digest}), nx=True, ex=AT_WORK)


def earlier(name, digest):
    """The answer to a request whose key has been used."""
    saved = json.loads(kv.get(name) or "{}")
    if saved.get("digest") not in (None, digest):
        return JSONResponse({"detail": "this key belongs to another mail"}, 422)
    if "status" not in saved:
        return JSONResponse({"detail": "the first request is still at work"}, 409)
    return JSONResponse(saved["body"], saved["status"])


def keep(name, digest, status, body):
    """Keeps the answer in place of the claim."""
    kv.set(name, json.dumps({"digest": digest, "status": status, "body": body}), ex=config.A_DAY)


def release(name):
    """Gives the key back: the provider refused the mail, the client may try again."""
    kv.delete(name)
