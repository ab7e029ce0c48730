"""What the HTML pages share: the environment of their templates, in which everything is escaped."""

from __future__ import annotations

from functools import partial
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from sendonce.findings import SEVERITIES, Place
from sendonce.report import View
from sendonce.report.text import LONGEST_NAME, LONGEST_TEXT, cut, excerpt, plural


def page(template: str, view: View, filters: dict[str, Any] | None = None, **values: Any) -> str:
    """A page from one of the templates."""
    environment = Environment(
        loader=PackageLoader("sendonce.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        name=name, sentence=sentence, at=at, plural=plural, source=partial(_source, view), **(filters or {})
    )
    text: str = environment.get_template(template).render(severities=tuple(reversed(SEVERITIES)), **values)
    return text


def name(text: str, most: int = LONGEST_NAME) -> str:
    """A name of the analysed code, safe to show and of bearable length."""
    return cut(text, most)


def sentence(text: str) -> str:
    """A message or repair as a sentence of its own."""
    return cut(text[:1].upper() + text[1:], LONGEST_TEXT)


def at(place: Place) -> str:
    """`path:line`."""
    return f"{cut(place.path)}:{place.line}"


def _source(view: View, place: Place) -> str:
    return excerpt(view.lines(place.path), place.line).strip()
