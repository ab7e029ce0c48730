"""`except` handlers that are looked at as if they ended the run: what would be claimed if they did?"""

from __future__ import annotations

from collections.abc import Iterable

from sendonce import facts
from sendonce.program import held as h

Handler = tuple[str, facts.Span]
"""The file and place of a handler."""


class Handlers:
    """The handlers that end the run: those given, or (None) all of them, each noted in `met`."""

    def __init__(self, only: frozenset[Handler] | None = frozenset()) -> None:
        self.only = only
        self.met: dict[Handler, h.Caught] = {}

    def end(self, path: str, passed: Iterable[h.Fact]) -> bool:
        """Whether the way over these facts, of a function in the file `path`, goes through such a handler."""
        if self.only is not None and not self.only:
            return False
        found = [fact for fact in passed if isinstance(fact, h.Caught)]
        ended = [fact for fact in found if self.only is None or (path, fact.at) in self.only]
        self.met.update(((path, fact.at), fact) for fact in ended)
        return bool(ended)
