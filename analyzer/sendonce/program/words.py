"""Whether two mails say different things, although one layout wraps both."""

from __future__ import annotations

import re

from sendonce.program.evaluate import Evaluator
from sendonce.program.mail import Mail
from sendonce.program.values import Const, Text, Value, options

_LETTERS = re.compile(r"[^\W\d_]{3}")


def differ(evaluator: Evaluator, left: Mail, right: Mail) -> bool:
    """Whether the subjects of two mails are known and share no wording."""
    one, other = (_known_wordings(evaluator, mail.subject) for mail in (left, right))
    return bool(one) and bool(other) and one.isdisjoint(other)


def _known_wordings(evaluator: Evaluator, subject: Value | None) -> frozenset[str]:
    """The wordings of a subject; remembered, as each is compared with many."""
    return evaluator.memo.once(("wordings", subject), lambda: _wordings(evaluator, subject), frozenset())


def _wordings(evaluator: Evaluator, subject: Value | None) -> frozenset[str]:
    """The subject's text in each of its alternatives, holes as `{}`; nothing if one of them is not known."""
    found: set[str] = set()
    for option in options(evaluator.resolve(subject)) if subject is not None else ():
        if isinstance(option, Text):
            words = "".join(str(piece.value) if isinstance(piece, Const) else "{}" for piece in option.pieces)
        else:
            words = str(option.value) if isinstance(option, Const) else ""
        if _LETTERS.search(words.replace("{}", "")) is None:
            return frozenset()
        found.add(words)
    return frozenset(found)
