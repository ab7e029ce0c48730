"""The audit as one HTML file: no other file, no other host, readable without scripts and on paper."""

from __future__ import annotations

from collections import Counter

from markupsafe import Markup

from sendonce.audit.model import Audit, Mail, Picture
from sendonce.findings import TriggerKind
from sendonce.report import View
from sendonce.report.audit_svg import drawn
from sendonce.report.audit_words import cell, headline, kind_name, outcome_words
from sendonce.report.pages import page
from sendonce.report.text import cut

MOST_WAYS = 5
"""Ways of a mail that are told step by step; the others are listed."""


def render(audit: Audit, view: View) -> str:
    """The whole document."""
    return page(
        "audit.html.jinja",
        view,
        {"picture": _picture, "kind_name": kind_name},
        audit=audit,
        headline=headline(audit),
        counts=Counter(finding.severity for finding in audit.findings),
        kinds_of=_kinds_of,
        doubled=[mail for mail in audit.mails if mail.worst in ("error", "warning")],
        cell=cell,
        outcome_words=outcome_words,
        most_ways=MOST_WAYS,
    )


def _picture(picture: Picture, name: str) -> Markup:
    return drawn(picture, f"Ways from the triggers to the mail {cut(name)}")


def _kinds_of(mail: Mail) -> str:
    """The kinds of trigger of a mail, for the filter."""
    kinds: set[TriggerKind] = {way.trigger.kind for way in mail.ways}
    return " ".join(sorted(kinds))
