"""libcst `match` statements → facts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import libcst as cst

from sendonce import facts
from sendonce.facts import Expr, Span, Stmt
from sendonce.frontend.concrete.cursor import Cursor
from sendonce.frontend.concrete.dispatch import STATEMENTS, expression, name_token
from sendonce.frontend.concrete.statements import suite
from sendonce.frontend.matching import Bound, Case, all_of, any_of, case, chain, is_instance, kept


def _match(c: Cursor, node: cst.Match) -> list[Stmt]:
    start = c.start()
    c.pos += 5
    heads, subject = kept(expression(c, node.subject))
    c.token(1)
    cases = [_case(c, item, subject) for item in node.cases]
    return [*heads, chain(c.here(start), cases)]


def _case(c: Cursor, node: cst.MatchCase, subject: Expr) -> Case:
    c.token(4)
    bound = Bound()
    at, test = _pattern(c, node.pattern, subject, bound)
    guard = None
    if node.guard is not None:
        c.token(2)
        guard = expression(c, node.guard)
    return case(at, test, guard, bound, c.text_at(at), subject, suite(c, node.body))


Found = tuple[Span, "Expr | None"]
"""Where a pattern stands, and its test (None: always true)."""


def _pattern(c: Cursor, node: cst.CSTNode, subject: Expr, bound: Bound) -> Found:
    return _PATTERNS[type(node)](c, node, subject, bound)


def _opaque(c: Cursor, at: Span, subject: Expr) -> Expr:
    return facts.Opaque(at, c.text_at(at), (subject,))


def _value(c: Cursor, node: cst.MatchValue, subject: Expr, bound: Bound) -> Found:
    return _compared(c, node.value, "==", subject)


def _singleton(c: Cursor, node: cst.MatchSingleton, subject: Expr, bound: Bound) -> Found:
    return _compared(c, node.value, "is", subject)


def _compared(c: Cursor, node: cst.BaseExpression, op: Literal["==", "is"], subject: Expr) -> Found:
    value = expression(c, node)
    return value.at, facts.Compare(value.at, subject, op, value)


def _as(c: Cursor, node: cst.MatchAs, subject: Expr, bound: Bound) -> Found:
    start = c.opened(node.lpar)
    test = None
    if node.pattern is not None:
        _, test = _pattern(c, node.pattern, subject, bound)
        c.token(2)
    if node.name is None:
        c.token(1)
    else:
        bound.add(name_token(c, node.name))
    return c.closed(start, node.rpar), test


def _or(c: Cursor, node: cst.MatchOr, subject: Expr, bound: Bound) -> Found:
    start = c.opened(node.lpar)
    tests = []
    for item in node.patterns:
        tests.append(_pattern(c, item.pattern, subject, bound)[1])
        if isinstance(item.separator, cst.BitOr):
            c.token(1)
    at = c.closed(start, node.rpar)
    return at, any_of(at, tests)


def _class(c: Cursor, node: cst.MatchClass, subject: Expr, bound: Bound) -> Found:
    start = c.opened(node.lpar)
    kind = expression(c, node.cls)
    c.token(1)
    inner: list[Expr] = []
    for item in node.patterns:
        at, test = _pattern(c, item.value, subject, bound)
        inner += [] if test is None else [_opaque(c, at, subject)]
        c.comma()
    for keyword in node.kwds:
        inner += _keyword(c, keyword, subject, bound)
    c.token(1)
    at = c.closed(start, node.rpar)
    return at, all_of(at, [is_instance(at, subject, kind), *inner])


def _keyword(c: Cursor, node: cst.MatchKeywordElement, subject: Expr, bound: Bound) -> list[Expr]:
    part = facts.Attribute(subject.at, subject, name_token(c, node.key))
    c.token(1)
    _, test = _pattern(c, node.pattern, part, bound)
    c.comma()
    return [] if test is None else [test]


def _mapping(c: Cursor, node: cst.MatchMapping, subject: Expr, bound: Bound) -> Found:
    start = c.opened(node.lpar)
    c.pos += 1
    tests = [_mapping_item(c, item, subject, bound) for item in node.elements]
    if node.rest is not None:
        c.token(2)
        bound.add(name_token(c, node.rest))
        c.comma()
    c.token(1)
    at = c.closed(start, node.rpar)
    return at, all_of(at, tests) or _opaque(c, at, subject)


def _mapping_item(c: Cursor, node: cst.MatchMappingElement, subject: Expr, bound: Bound) -> Expr:
    key = expression(c, node.key)
    c.token(1)
    _, test = _pattern(c, node.pattern, facts.Subscript(subject.at, subject, key), bound)
    c.comma()
    return test or facts.Compare(key.at, key, "in", subject)


def _list(c: Cursor, node: cst.MatchList, subject: Expr, bound: Bound) -> Found:
    start = c.opened(node.lpar)
    if node.lbracket is not None:
        c.pos += 1
    _elements(c, node, subject, bound)
    if node.rbracket is not None:
        c.token(1)
    at = c.closed(start, node.rpar)
    return at, _opaque(c, at, subject)


def _tuple(c: Cursor, node: cst.MatchTuple, subject: Expr, bound: Bound) -> Found:
    """As with tuples, the innermost parentheses are the pattern's own."""
    start = c.opened(node.lpar[:-1])
    if node.lpar:
        c.pos += 1
    _elements(c, node, subject, bound)
    if node.rpar:
        c.token(1)
    at = c.closed(start, node.rpar[1:])
    return at, _opaque(c, at, subject)


def _elements(c: Cursor, node: cst.MatchList | cst.MatchTuple, subject: Expr, bound: Bound) -> None:
    for item in node.patterns:
        if isinstance(item, cst.MatchStar):
            _star(c, item, bound)
        else:
            _pattern(c, item.value, subject, bound)
        if isinstance(item.comma, cst.Comma):
            c.token(1)


def _star(c: Cursor, node: cst.MatchStar, bound: Bound) -> None:
    c.token(1)
    if node.name is None:
        c.token(1)
    else:
        bound.add(name_token(c, node.name))


_PATTERNS: dict[type[cst.CSTNode], Callable[[Cursor, Any, Expr, Bound], Found]] = {
    cst.MatchValue: _value,
    cst.MatchSingleton: _singleton,
    cst.MatchAs: _as,
    cst.MatchOr: _or,
    cst.MatchClass: _class,
    cst.MatchMapping: _mapping,
    cst.MatchList: _list,
    cst.MatchTuple: _tuple,
}

STATEMENTS[cst.Match] = _match
