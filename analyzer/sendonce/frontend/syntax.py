"""A quick look at files that nobody has to parse: can they be read as Python at all?"""

from __future__ import annotations

import ast
import warnings


def check(source: bytes) -> None:
    """Raises `ParseError` for a file that is no Python.

    The interpreter's own parser is ten times faster than the parser of record, which has the last
    word on what the interpreter refuses: it may only be newer than the interpreter.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        from sendonce.frontend.python import extract

        extract(source)
