"""The facts of a text by `ast`, or the news that they must be had otherwise."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from sendonce.facts import ModuleFacts
from sendonce.frontend.abstract import displays, expressions, patterns, statements, strings  # noqa: F401  (to register)
from sendonce.frontend.abstract.dispatch import block
from sendonce.frontend.abstract.holes import UnsureError
from sendonce.frontend.abstract.places import count_characters
from sendonce.frontend.abstract.source import Source
from sendonce.frontend.collector import paused_collector
from sendonce.frontend.lowering import docstring

_REFUSALS = (SyntaxError, ValueError, MemoryError, RecursionError)
"""How the interpreter says that it cannot read a text."""

_NO_FEATURE = "from __future__ import none_of_this_name\n"


def facts_of(text: str) -> ModuleFacts | None:
    """The facts of a text; None if the interpreter cannot read it, or `ast` does not tell them all."""
    with _quiet(), paused_collector():
        try:
            tree = ast.parse(text)
            source = Source(text)
            if not text.isascii():
                count_characters(tree, source.lines)
            body = block(source, tree.body)
        except (*_REFUSALS, UnsureError):
            return None
        except KeyError:  # a kind of node that only a newer Python has
            return None
    return ModuleFacts(body, docstring(body))


def can_read(text: str) -> bool:
    """Whether the interpreter can read a text, found out in two thirds of the time that a tree takes.

    A future feature that does not exist is an error of the compiler, which looks for it as soon as
    it has parsed all of the text, before it does anything else with it.
    """
    with _quiet():
        try:
            compile(_NO_FEATURE + text, "<text>", "exec", dont_inherit=True)
        except SyntaxError as error:
            return error.lineno == 1 and "future feature" in error.msg
        except _REFUSALS:
            return False
    return False


@contextmanager
def _quiet() -> Iterator[None]:
    """Without warnings about the code that is read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
