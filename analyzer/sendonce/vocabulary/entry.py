"""What the entries of a pack have in common."""

from __future__ import annotations

from typing import Literal, Union

import msgspec

Scalar = Union[bool, int, str, None]
Win = Literal["truthy", "falsy", "not_none", "is_none", "created", "no_exception", "held", "rows", "first"]
Kind = Literal["controller", "webhook", "model_callback", "cron", "job", "admin", "command", "agent_tool"]
Scope = Literal["shared", "host", "process", "cache"]


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    note: str = ""
    example: str = ""
    """A few lines of Python in which this entry matches (`# hit` ends the line); the packs' tests run it."""
