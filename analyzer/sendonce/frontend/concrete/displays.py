"""libcst displays and comprehensions → facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import libcst as cst

from sendonce import facts
from sendonce.facts import Expr
from sendonce.frontend.concrete.cursor import Cursor
from sendonce.frontend.concrete.dispatch import EXPRESSIONS, expression, register


def _tuple(c: Cursor, node: cst.Tuple) -> Expr:
    """The innermost parentheses of a tuple are its own."""
    start = c.opened(node.lpar[:-1])
    if node.lpar:
        c.pos += 1
    items = _items(c, node.elements)
    if node.rpar:
        c.token(1)
    return facts.Sequence(c.closed(start, node.rpar[1:]), "tuple", items)


def _items(c: Cursor, nodes: Sequence[cst.BaseElement]) -> tuple[Expr, ...]:
    """The items of a display, without its brackets."""
    items = []
    for node in nodes:
        items.append(expression(c, node if isinstance(node, cst.StarredElement) else node.value))
        if isinstance(node.comma, cst.Comma):
            c.token(1)
    return tuple(items)


def _list(c: Cursor, node: cst.List) -> Expr:
    start = c.opened(node.lpar)
    c.pos += 1
    items = _items(c, node.elements)
    c.token(1)
    return facts.Sequence(c.closed(start, node.rpar), "list", items)


def _set(c: Cursor, node: cst.Set) -> Expr:
    start = c.opened(node.lpar)
    c.pos += 1
    items = _items(c, node.elements)
    c.token(1)
    return facts.Sequence(c.closed(start, node.rpar), "set", items)


def _starred(c: Cursor, node: cst.StarredElement) -> Expr:
    start = c.opened(node.lpar)
    c.pos += 1
    value = expression(c, node.value)
    return facts.Starred(c.closed(start, node.rpar), value)


def _dict(c: Cursor, node: cst.Dict) -> Expr:
    start = c.opened(node.lpar)
    c.pos += 1
    items = tuple([_dict_item(c, element) for element in node.elements])
    c.token(1)
    return facts.Dict(c.closed(start, node.rpar), items)


def _dict_item(c: Cursor, node: cst.BaseDictElement) -> tuple[Expr | None, Expr]:
    key = None
    if isinstance(node, cst.DictElement):
        key = expression(c, node.key)
        c.token(1)
    else:
        c.token(2)
    value = expression(c, node.value)
    c.comma()
    return key, value


def _list_comprehension(c: Cursor, node: cst.ListComp) -> Expr:
    return _bracketed(c, node, "list")


def _set_comprehension(c: Cursor, node: cst.SetComp) -> Expr:
    return _bracketed(c, node, "set")


def _bracketed(c: Cursor, node: cst.ListComp | cst.SetComp, kind: Literal["list", "set"]) -> Expr:
    start = c.opened(node.lpar)
    c.pos += 1
    element = expression(c, node.elt)
    generators = generators_of(c, node.for_in)
    c.token(1)
    return facts.Comprehension(c.closed(start, node.rpar), kind, None, element, generators)


def _generator(c: Cursor, node: cst.GeneratorExp) -> Expr:
    """The innermost parentheses of a generator are its own; alone in the hole of an f-string it has none."""
    start = c.opened(node.lpar[:-1])
    if node.lpar:
        c.pos += 1
    element = expression(c, node.elt)
    generators = generators_of(c, node.for_in)
    if node.rpar:
        c.token(1)
    return facts.Comprehension(c.closed(start, node.rpar[1:]), "generator", None, element, generators)


def _dict_comprehension(c: Cursor, node: cst.DictComp) -> Expr:
    start = c.opened(node.lpar)
    c.pos += 1
    key = expression(c, node.key)
    c.token(1)
    value = expression(c, node.value)
    generators = generators_of(c, node.for_in)
    c.token(1)
    return facts.Comprehension(c.closed(start, node.rpar), "dict", key, value, generators)


def _starred_dict_comprehension(c: Cursor, node: Any) -> Expr:
    """`{**mapping for …}`: a dict made of dicts has no key."""
    start = c.opened(node.lpar)
    c.pos += 1
    c.token(2)
    value = expression(c, node.value)
    generators = generators_of(c, node.for_in)
    c.token(1)
    return facts.Comprehension(c.closed(start, node.rpar), "dict", None, value, generators)


def generators_of(c: Cursor, node: cst.CompFor | None) -> tuple[facts.Generator, ...]:
    """The `for … in … if …` parts of a comprehension."""
    found = []
    while node is not None:
        found.append(_comp_for(c, node))
        node = node.inner_for_in
    return tuple(found)


def _comp_for(c: Cursor, node: cst.CompFor) -> facts.Generator:
    is_async = node.asynchronous is not None
    if is_async:
        c.token(5)
    c.token(3)
    target = expression(c, node.target)
    c.token(2)
    source = expression(c, node.iter)
    tests = []
    for test in node.ifs:
        c.token(2)
        tests.append(expression(c, test.test))
    return facts.Generator(target, source, tuple(tests), is_async)


EXPRESSIONS.update(
    {
        cst.Tuple: _tuple,
        cst.List: _list,
        cst.Set: _set,
        cst.StarredElement: _starred,
        cst.Dict: _dict,
        cst.ListComp: _list_comprehension,
        cst.SetComp: _set_comprehension,
        cst.GeneratorExp: _generator,
        cst.DictComp: _dict_comprehension,
    }
)
register(EXPRESSIONS, "StarredDictComp", _starred_dict_comprehension)
