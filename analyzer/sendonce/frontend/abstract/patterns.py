"""`ast` `match` statements → facts."""

from __future__ import annotations

import ast
from collections.abc import Callable

from sendonce.facts import Attribute, Compare, Constant, Expr, Opaque, Stmt, Subscript
from sendonce.frontend.abstract.dispatch import SEVERAL, block, expression, optional
from sendonce.frontend.abstract.source import Node, Source, span
from sendonce.frontend.matching import Bound, Case, all_of, any_of, case, chain, is_instance, kept


def _match(s: Source, n: Node) -> list[Stmt]:
    heads, subject = kept(expression(s, n.subject))
    return [*heads, chain(span(n), [_case(s, item, subject) for item in n.cases])]


def _case(s: Source, n: Node, subject: Expr) -> Case:
    at, bound = span(n.pattern), Bound()
    test = _pattern(s, n.pattern, subject, bound)
    return case(at, test, optional(s, n.guard), bound, s.segment(at), subject, block(s, n.body))


def _pattern(s: Source, n: Node, subject: Expr, bound: Bound) -> Expr | None:
    """The test of a pattern, None if it always matches; adds the names that it binds."""
    return _PATTERNS[type(n)](s, n, subject, bound)


def _opaque(s: Source, n: Node, subject: Expr) -> Expr:
    at = span(n)
    return Opaque(at, s.segment(at), (subject,))


def _value(s: Source, n: Node, subject: Expr, bound: Bound) -> Expr | None:
    return Compare(span(n), subject, "==", expression(s, n.value))


def _singleton(s: Source, n: Node, subject: Expr, bound: Bound) -> Expr | None:
    return Compare(span(n), subject, "is", Constant(span(n), n.value))


def _as(s: Source, n: Node, subject: Expr, bound: Bound) -> Expr | None:
    test = None if n.pattern is None else _pattern(s, n.pattern, subject, bound)
    if n.name is not None:
        bound.add(n.name)
    return test


def _or(s: Source, n: Node, subject: Expr, bound: Bound) -> Expr | None:
    return any_of(span(n), [_pattern(s, item, subject, bound) for item in n.patterns])


def _class(s: Source, n: Node, subject: Expr, bound: Bound) -> Expr | None:
    tests = [is_instance(span(n), subject, expression(s, n.cls))]
    tested = [item for item in n.patterns if _pattern(s, item, subject, bound) is not None]
    tests += [_opaque(s, item, subject) for item in tested]
    for name, item in zip(n.kwd_attrs, n.kwd_patterns, strict=True):
        test = _pattern(s, item, Attribute(subject.at, subject, name), bound)
        tests += [] if test is None else [test]
    return all_of(span(n), tests)


def _mapping(s: Source, n: Node, subject: Expr, bound: Bound) -> Expr | None:
    tests: list[Expr] = []
    for key_node, item in zip(n.keys, n.patterns, strict=True):
        key = expression(s, key_node)
        test = _pattern(s, item, Subscript(subject.at, subject, key), bound)
        tests.append(test or Compare(key.at, key, "in", subject))
    if n.rest is not None:
        bound.add(n.rest)
    return all_of(span(n), tests) or _opaque(s, n, subject)


def _sequence(s: Source, n: Node, subject: Expr, bound: Bound) -> Expr | None:
    for item in n.patterns:
        _pattern(s, item, subject, bound)
    return _opaque(s, n, subject)


def _star(s: Source, n: Node, subject: Expr, bound: Bound) -> Expr | None:
    if n.name is not None:
        bound.add(n.name)
    return None


_PATTERNS: dict[type[ast.AST], Callable[[Source, Node, Expr, Bound], Expr | None]] = {
    ast.MatchValue: _value,
    ast.MatchSingleton: _singleton,
    ast.MatchAs: _as,
    ast.MatchOr: _or,
    ast.MatchClass: _class,
    ast.MatchMapping: _mapping,
    ast.MatchSequence: _sequence,
    ast.MatchStar: _star,
}

SEVERAL[ast.Match] = _match
