"""The outside world on loopback: a counting SMTP server, and HTTP for Stripe and the carrier."""

from __future__ import annotations

import json
import socket
import threading
from asyncio import Transport
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session


@dataclass(frozen=True)
class Accepted:
    """One message that the server took over: it is in the queue, the recipient will get it."""

    to: str
    subject: str


@dataclass
class Mailbox:
    """An aiosmtpd handler. The next `lose_replies` messages are accepted, but no 250 gets back."""

    accepted: list[Accepted] = field(default_factory=list)
    lose_replies: int = 0

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        message = message_from_bytes(envelope.original_content or b"", policy=policy.default)
        for address in envelope.rcpt_tos:
            self.accepted.append(Accepted(address, str(message["Subject"])))
        if self.lose_replies:
            self.lose_replies -= 1
            assert isinstance(server.transport, Transport)
            server.transport.abort()
        return "250 accepted"

    def reset(self) -> None:
        self.accepted.clear()
        self.lose_replies = 0

    def to(self, address: str) -> list[str]:
        """Subjects of the messages accepted for one address, in order of arrival."""
        return [m.subject for m in self.accepted if m.to == address]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_smtp(mailbox: Mailbox) -> Controller:
    controller = Controller(mailbox, hostname="127.0.0.1", port=free_port())
    controller.start()
    return controller


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
            return 200, {
                "id": path.split("/")[3],
                "object": "payment_intent",
                "status": "succeeded",
            }
        return 404, {"error": {"message": f"{method} {path}", "type": "invalid_request_error"}}

    def _parcel(self) -> tuple[int, dict[str, Any]]:
        if self.carrier_outages:
            self.carrier_outages -= 1
            return 503, {}
        return 201, {}

    def _refund(self, intent: str) -> tuple[int, dict[str, Any]]:
        if self.declined_refunds:
            self.declined_refunds -= 1
            return 402, {
                "error": {"type": "card_error", "code": "card_declined", "message": "declined"}
            }
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
