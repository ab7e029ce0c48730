"""Python source → facts: by `ast` if the running interpreter can read it, else by libcst.

`ast` is ten times faster. libcst reads the syntax of every Python 3 on any interpreter, so it has the
last word on what is no Python. Both give the same facts, to the last span: the tests compare them.
"""

from __future__ import annotations

from sendonce.facts import ModuleFacts
from sendonce.frontend.abstract.reading import can_read, facts_of
from sendonce.frontend.text import decode


def extract(source: bytes) -> ModuleFacts:
    """The facts of a file with the given content.

    Raises ParseError if it is not Python 3 or cannot be read for another reason.
    """
    text = decode(source)
    found = facts_of(text)
    return _by_libcst(text) if found is None else found


def check(source: bytes) -> None:
    """Raises ParseError as `extract` does, without making facts."""
    text = decode(source)
    if not can_read(text):
        _by_libcst(text)


def _by_libcst(text: str) -> ModuleFacts:
    from sendonce.frontend.concrete import reading  # its import takes longer than many whole runs

    return reading.facts_of(text)
