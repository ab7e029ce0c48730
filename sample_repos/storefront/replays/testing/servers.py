"""The outside world but the mail server: HTTP on loopback for Stripe and the carrier."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs


@dataclass
class Outside:
    """The HTTP side. `declined_refunds` and `carrier_outages` say how many answers fail next."""

    declined_refunds: int = 0
    carrier_outages: int = 0
    refunded: set[str] = field(default_factory=set)
    sessions: int = 0

    def reset(self) -> None:
        self.declined_refunds = self.carrier_outages = 0
        self.refunded.clear()

    def answer(self, method: str, path: str, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        if path == "/parcels":
            return self._parcel()
        if path == "/v1/refunds":
            return self._refund(form["payment_intent"])
        if path == "/v1/checkout/sessions":
            self.sessions += 1
            return 200, _session(f"cs_test_{self.sessions}", "unpaid")
        if path.startswith("/v1/checkout/sessions/"):
            return 200, _session(path.rsplit("/", 1)[1], "paid")
        if path.startswith("/v1/payment_intents/") and path.endswith("/capture"):
            return 200, {"id": path.split("/")[3], "object": "payment_intent", "status": "succeeded"}
        return 404, {"error": {"message": f"{method} {path}", "type": "invalid_request_error"}}

    def _parcel(self) -> tuple[int, dict[str, Any]]:
        if self.carrier_outages:
            self.carrier_outages -= 1
            return 503, {}
        return 201, {}

    def _refund(self, intent: str) -> tuple[int, dict[str, Any]]:
        if self.declined_refunds:
            self.declined_refunds -= 1
            return 402, {"error": {"type": "card_error", "code": "card_declined", "message": "declined"}}
        if intent in self.refunded:
            code = "charge_already_refunded"
            return 400, {"error": {"type": "invalid_request_error", "code": code, "message": code}}
        self.refunded.add(intent)
        return 200, {"id": "re_test_1", "object": "refund", "payment_intent": intent}


def _session(name: str, status: str) -> dict[str, Any]:
    return {"id": name, "object": "checkout.session", "payment_status": status}


def start_http(outside: Outside) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def _reply(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            form = {key: values[0] for key, values in parse_qs(body).items()}
            status, answer = outside.answer(self.command, self.path.split("?")[0], form)
            text = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = _reply

        def log_message(self, format: str, *args: Any) -> None:
            """The server is silent: its answers are seen in the tests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
