"""A stand-in for Resend's API on loopback: what it accepts is counted in the mailbox, under the template's id."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from smtp_server import MAILBOX


class Resend:
    """Keeps a key as Resend does: the same message under it is answered but not sent again, another one is refused.

    The mailbox says what goes wrong next: `lose_replies`, `slow_by`, and `refuse`, which here holds addresses that
    are turned away once.
    """

    def __init__(self) -> None:
        self.keys: dict[str, tuple[str, str]] = {}
        self.lock = threading.Lock()

    def take(self, mail: dict[str, Any], key: str | None) -> tuple[int, dict[str, Any]]:
        """The status and body of the answer."""
        with self.lock:
            status, answer = self._take(mail["to"], mail["template"]["id"], json.dumps(mail, sort_keys=True), key)
        if status == 200:
            time.sleep(MAILBOX.slow_by)
        return status, answer

    def _take(self, to: list[str], template: str, payload: str, key: str | None) -> tuple[int, dict[str, Any]]:
        if not MAILBOX.refuse.isdisjoint(to):
            MAILBOX.refuse.difference_update(to)
            return 503, {"name": "application_error", "message": "try again"}
        known = self.keys.get(key) if key is not None else None
        if known is not None and known[0] != payload:
            return 409, {"name": "invalid_idempotent_request", "message": "another payload under this key"}
        if known is not None:
            return 200, {"id": known[1]}
        MAILBOX.accept(to, template)
        id = f"mail-{len(MAILBOX.accepted)}"
        if key is not None:
            self.keys[key] = payload, id
        return 200, {"id": id}

    def loses_reply(self) -> bool:
        """Whether the connection is closed before the answer to what was accepted."""
        with self.lock:
            lost = MAILBOX.lose_replies > 0
            MAILBOX.lose_replies -= lost
            return lost


def start_resend(resend: Resend, elsewhere: Callable[[], int] = lambda: 404) -> ThreadingHTTPServer:
    """Serves Resend's `/emails`; `elsewhere` gives the status of all other answers."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
            if self.path == "/emails":
                status, answer = resend.take(body, self.headers.get("Idempotency-Key"))
                if status == 200 and resend.loses_reply():
                    self.close_connection = True
                    return
            else:
                status, answer = elsewhere(), {}
            text = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *args: Any) -> None:
            """The server is silent: its answers are seen in the replays."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    return server
