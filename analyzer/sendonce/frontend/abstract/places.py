"""The places of nodes, changed where `ast` counts otherwise than the facts do.

`ast` counts the columns of a line in bytes of UTF-8, the facts in characters. Both are the same for
nearly all lines, so the nodes on the others are changed before the walk, which then need not ask.
"""

from __future__ import annotations

import ast
import sys
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from sendonce.frontend.abstract.source import Node

PLACES_HOLES = sys.version_info >= (3, 12)
"""Whether `ast` knows where the expressions inside an f-string stand."""


def count_characters(tree: Node, lines: Sequence[str]) -> None:
    """Makes the columns of all nodes in `tree` count characters."""
    wide = [number for number, line in enumerate(lines, 1) if not line.isascii()]
    known = {number: lines[number - 1].encode() for number in wide}
    todo = [tree]
    while todo:
        node = todo.pop()
        if hasattr(node, "lineno"):
            at = bisect_left(wide, _first_line(node))
            if at == len(wide) or wide[at] > node.end_lineno:
                continue
            if node.lineno in known:
                node.col_offset = len(known[node.lineno][: node.col_offset].decode())
            if node.end_lineno in known:
                node.end_col_offset = len(known[node.end_lineno][: node.end_col_offset].decode())
        todo.extend(_children(node))


def _first_line(node: Node) -> int:
    """Where a node begins: decorators stand before the line that their function counts as its first."""
    decorators = getattr(node, "decorator_list", None)
    return int(decorators[0].lineno if decorators else node.lineno)


def move(tree: Node, line: int, column: int) -> None:
    """Moves an expression that was parsed as a text of its own to where that text stands.

    `line` is added to the lines, from 0, and `column` to the columns of the first line.
    """
    todo = [tree]
    while todo:
        node = todo.pop()
        if hasattr(node, "lineno"):
            node.col_offset += column if node.lineno == 1 else 0
            node.end_col_offset += column if node.end_lineno == 1 else 0
            node.lineno += line
            node.end_lineno += line
        todo.extend(_children(node))


def _children(node: Node) -> Iterator[Node]:
    """The nodes directly inside a node, without those that are not placed by `ast`."""
    if type(node) is ast.JoinedStr and not PLACES_HOLES:
        return
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            yield from (item for item in value if isinstance(item, ast.AST))
        elif isinstance(value, ast.AST):
            yield value
