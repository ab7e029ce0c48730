"""The audit as one HTML file: no other file, no other host, readable without scripts and on paper."""

from __future__ import annotations

from collections import Counter
from functools import partial

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sendonce.audit.model import Audit, Mail, Picture
from sendonce.findings import SEVERITIES, Place, TriggerKind
from sendonce.report import View
from sendonce.report.audit_svg import drawn
from sendonce.report.audit_words import cell, headline, kind_name, outcome_words, source_line
from sendonce.report.text import plural, visible

MOST_WAYS = 5
"""Ways of a mail that are told step by step; the others are listed."""
LONGEST_NAME = 160
LONGEST_TEXT = 1200


def render(audit: Audit, view: View) -> str:
    """The whole document."""
    environment = Environment(
        loader=PackageLoader("sendonce.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        name=_name,
        sentence=_sentence,
        at=_at,
        kind_name=kind_name,
        plural=plural,
        picture=_picture,
        source=partial(source_line, view.lines),
    )
    environment.globals.update(cell=cell, outcome_words=outcome_words, most_ways=MOST_WAYS)
    return environment.get_template("audit.html.jinja").render(
        audit=audit,
        headline=headline(audit),
        counts=Counter(finding.severity for finding in audit.findings),
        severities=tuple(reversed(SEVERITIES)),
        kinds_of=_kinds_of,
        doubled=[mail for mail in audit.mails if mail.worst in ("error", "warning")],
    )


def _name(text: str, most: int = LONGEST_NAME) -> str:
    """A name of the analysed code, safe to show and of bearable length."""
    shown = visible(text)
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def _sentence(text: str) -> str:
    """A message or repair as a sentence of its own."""
    return _name(text[:1].upper() + text[1:], LONGEST_TEXT)


def _at(place: Place) -> str:
    return f"{_name(place.path)}:{place.line}"


def _picture(picture: Picture, name: str) -> Markup:
    return drawn(picture, f"Ways from the triggers to the mail {_name(name)}")


def _kinds_of(mail: Mail) -> str:
    """The kinds of trigger of a mail, for the filter."""
    kinds: set[TriggerKind] = {way.trigger.kind for way in mail.ways}
    return " ".join(sorted(kinds))
