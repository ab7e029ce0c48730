"""A real SMTP server on loopback that counts what it has accepted, and can fail in the ways that real ones do."""

from __future__ import annotations

import asyncio
import socket
import threading
from asyncio import Transport
from collections.abc import Iterable
from dataclasses import dataclass, field
from email import message_from_bytes, policy

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP as Server
from aiosmtpd.smtp import Envelope, Session


@dataclass(frozen=True)
class Accepted:
    """One message that the server took over: it is in the queue, the recipient will get it."""

    to: str
    subject: str


@dataclass
class Mailbox:
    """What the server accepted, and what goes wrong next.

    `lose_replies`: so many messages are accepted, but no 250 gets back. `refuse` holds addresses that the
    server turns away at RCPT. `slow_by`: seconds from the acceptance of a message to its 250.
    """

    accepted: list[Accepted] = field(default_factory=list)
    lose_replies: int = 0
    refuse: set[str] = field(default_factory=set)
    slow_by: float = 0
    _changed: threading.Condition = field(default_factory=threading.Condition)

    async def handle_RCPT(
        self, server: Server, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if address in self.refuse:
            return "550 no such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Server, session: Session, envelope: Envelope) -> str:
        message = message_from_bytes(envelope.original_content or b"", policy=policy.default)
        self.accept(envelope.rcpt_tos, str(message["Subject"]))
        if self.slow_by:
            await asyncio.sleep(self.slow_by)
        if self.lose_replies:
            self.lose_replies -= 1
            assert isinstance(server.transport, Transport)
            server.transport.abort()
        return "250 accepted"

    def accept(self, addresses: Iterable[str], subject: str) -> None:
        """Counts one message; a stand-in of a mail API calls it as the SMTP server does."""
        with self._changed:
            self.accepted += [Accepted(to, subject) for to in addresses]
            self._changed.notify_all()

    def reset(self) -> None:
        self.accepted.clear()
        self.refuse.clear()
        self.lose_replies, self.slow_by = 0, 0.0

    def to(self, address: str) -> list[str]:
        """Subjects of the messages accepted for one address, in order of arrival."""
        return [m.subject for m in self.accepted if m.to == address]

    def wait_for(self, count: int, seconds: float = 10) -> None:
        """Returns when `count` messages have been accepted; raises TimeoutError if they are not."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.accepted) >= count, seconds):
                raise TimeoutError(f"{len(self.accepted)} of {count} messages in {seconds} s")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_smtp(mailbox: Mailbox) -> Controller:
    controller = Controller(mailbox, hostname="127.0.0.1", port=free_port())
    controller.start()
    return controller


MAILBOX = Mailbox()
SMTP = start_smtp(MAILBOX)
