"""Real log lines laid over the ways of a mail: which way each attempt took, which attempts belong to one event.

`laid_over` makes an `Incident` of the lines of a log and the timelines of a mail. It reads line by line and
keeps what it needs in a database on disk, so that the length of a log does not matter.
"""

from __future__ import annotations

from sendonce.incidents.events import laid_over
from sendonce.incidents.model import Attempt, Event, Incident, LogNames

__all__ = ["Attempt", "Event", "Incident", "LogNames", "laid_over"]
