"""What else the helpdesk talks to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Outside:
    """The CRM and the chat: `outages` of their next answers fail."""

    outages: int = 0

    def answer(self) -> int:
        if self.outages:
            self.outages -= 1
            return 503
        return 200
