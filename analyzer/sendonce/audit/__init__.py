"""The one-off audit of a tree: every mail with its ways, pictures and findings, a plan, checklists, what stays open.

`audited` makes an `Audit`, which is all that the renderings read.
"""

from __future__ import annotations

from sendonce.audit.build import audited
from sendonce.audit.model import Audit

__all__ = ["Audit", "audited"]
