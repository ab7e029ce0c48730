"""Text of the analysed tree inside Markdown and mermaid, where nothing of it may be markup."""

from __future__ import annotations

import re

from sendonce.findings import Place
from sendonce.report.text import LONGEST_NAME, cut

_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-!|~&@:])")


def plain(text: str, most: int = LONGEST_NAME) -> str:
    """Text in which nothing is Markdown or HTML, a mention or a link."""
    return _SPECIAL.sub(r"\\\1", cut(text, most))


def code(text: str) -> str:
    """A name as code; a backtick in it cannot end it, a bar no cell of a table."""
    return f"`{cut(text).replace('`', chr(0x2BC)).replace('|', chr(0x2223))}`"


def at(place: Place) -> str:
    """`path:line` as code."""
    return code(f"{place.path}:{place.line}")


def label(text: str) -> str:
    """A label for mermaid: what could end it or be HTML is an entity."""
    return re.sub(r"[^\w .×:/-]", lambda found: f"#{ord(found[0])};", cut(text))
