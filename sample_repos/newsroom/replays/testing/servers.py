"""The outside world but the mail server: HTTP on loopback for text messages and the ledger, and Redis in memory."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from fakeredis import FakeServer, FakeStrictRedis


@dataclass
class Outside:
    """How many text messages and bookings fail next."""

    sms_outages: int = 0
    ledger_outages: int = 0

    def reset(self) -> None:
        self.sms_outages = self.ledger_outages = 0

    def answer(self, path: str) -> int:
        if path == "/sms" and self.sms_outages:
            self.sms_outages -= 1
            return 503
        if path == "/ledger" and self.ledger_outages:
            self.ledger_outages -= 1
            return 503
        return 201


def start_http(outside: Outside) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(outside.answer(self.path))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """The server is silent: its answers are seen in the tests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    return server


class RedisServers:
    """One Redis server in memory for each database of the URLs, with the clients of the application."""

    def __init__(self) -> None:
        self.by_number: dict[str, FakeServer] = {}

    def client(self, url: str, **options: Any) -> FakeStrictRedis:
        return FakeStrictRedis(server=self.server(url.rsplit("/", 1)[-1]), **options)

    def server(self, number: str) -> FakeServer:
        return self.by_number.setdefault(number, FakeServer())

    def reset(self) -> None:
        for server in self.by_number.values():
            server.connected = True
            FakeStrictRedis(server=server).flushall()
