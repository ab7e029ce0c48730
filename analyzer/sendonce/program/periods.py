"""Formats of dates and times: which show a period that a mail may go out once in, which show the moment."""

from __future__ import annotations

import re

_MOMENT = re.compile(r"%[-#]?[MSfsXcTrR]")
_MOMENT_IN_LETTERS = re.compile(r"[msSXx]")
_PERIOD = re.compile(r"%[-#]?[a-zA-Z]|YY|yy|(?<![a-zA-Z])[YyWwD](?![a-z])")


def shows_moment(text: str) -> bool:
    """Whether a format shows more of a time than its hour: `%Y%m%d%H%M`, `YYYY-MM-DD HH:mm`."""
    if "%" in text:
        return _MOMENT.search(text) is not None
    return _MOMENT_IN_LETTERS.search(text) is not None


def shows_period(text: str) -> bool:
    """Whether a format shows a day, a week, a month or the like and nothing finer: `%Y-%m-%d`, `YYYY-[W]WW`."""
    return _PERIOD.search(text) is not None and not shows_moment(text)
