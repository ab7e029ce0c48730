"""libcst blocks and compound statements → facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import libcst as cst

from sendonce import facts
from sendonce.facts import Expr, Stmt
from sendonce.frontend.concrete.cursor import Cursor, Start
from sendonce.frontend.concrete.dispatch import STATEMENTS, expression, name_token
from sendonce.frontend.concrete.expressions import annotation, arguments, parameters, type_parameters
from sendonce.frontend.lowering import docstring

Body = tuple[Stmt, ...]


def suite(c: Cursor, node: cst.BaseSuite) -> Body:
    """The block behind a colon, and the colon."""
    c.token(1)
    if isinstance(node, cst.IndentedBlock):
        return block(c, node.body)
    found: list[Stmt] = []
    _line(c, node, found)
    return tuple(found)


def block(c: Cursor, nodes: Sequence[cst.BaseStatement]) -> Body:
    """The statements of a module or an indented block."""
    found: list[Stmt] = []
    for node in nodes:
        if type(node) is cst.SimpleStatementLine:
            _line(c, node, found)
        else:
            found += STATEMENTS[type(node)](c, node)
    return tuple(found)


def _line(c: Cursor, node: Any, found: list[Stmt]) -> None:
    for small in node.body:
        found += STATEMENTS[type(small)](c, small)
        if isinstance(small.semicolon, cst.Semicolon):
            c.token(1)


# ------------------------------------------------------------------ compound statements


def _if(c: Cursor, node: cst.If) -> list[Stmt]:
    branches = [_branch(c, node, 2)]
    orelse = node.orelse
    while isinstance(orelse, cst.If):  # an `elif`: dispatchers have thousands
        branches.append(_branch(c, orelse, 4))
        orelse = orelse.orelse
    rest = _keyword_suite(c, orelse, 4)
    for start, test, body in reversed(branches):
        rest = (facts.If(c.here(start), test, body, rest),)
    return list(rest)


def _branch(c: Cursor, node: cst.If, word: int) -> tuple[Start, Expr, Body]:
    start = c.start()
    c.pos += word
    return start, expression(c, node.test), suite(c, node.body)


def _keyword_suite(c: Cursor, node: cst.Else | cst.Finally | None, word: int) -> Body:
    """The block of an `else` or `finally`; none if there is no such part."""
    if node is None:
        return ()
    c.token(word)
    return suite(c, node.body)


def _for(c: Cursor, node: cst.For) -> list[Stmt]:
    start = c.start()
    is_async = _async(c, node)
    c.token(3)
    target = expression(c, node.target)
    c.token(2)
    source = expression(c, node.iter)
    body = suite(c, node.body)
    orelse = _keyword_suite(c, node.orelse, 4)
    return [facts.For(c.here(start), target, source, body, orelse, is_async)]


def _async(c: Cursor, node: cst.For | cst.With | cst.FunctionDef) -> bool:
    if node.asynchronous is None:
        return False
    c.pos += 5
    return True


def _while(c: Cursor, node: cst.While) -> list[Stmt]:
    start = c.start()
    c.pos += 5
    test = expression(c, node.test)
    body = suite(c, node.body)
    orelse = _keyword_suite(c, node.orelse, 4)
    return [facts.While(c.here(start), test, body, orelse)]


def _try(c: Cursor, node: cst.Try | cst.TryStar) -> list[Stmt]:
    start = c.start()
    c.pos += 3
    body = suite(c, node.body)
    handlers = tuple([_handler(c, handler) for handler in node.handlers])
    orelse = _keyword_suite(c, node.orelse, 4)
    final = _keyword_suite(c, node.finalbody, 7)
    return [facts.Try(c.here(start), body, handlers, orelse, final)]


def _handler(c: Cursor, node: cst.ExceptHandler | cst.ExceptStarHandler) -> facts.Handler:
    start = c.start()
    c.pos += 6
    if isinstance(node, cst.ExceptStarHandler):
        c.token(1)
    kind = name = None
    if node.type is not None:
        kind = expression(c, node.type)
    if node.name is not None:
        c.token(2)
        name = name_token(c, cst.ensure_type(node.name.name, cst.Name))
    body = suite(c, node.body)
    return facts.Handler(c.here(start), kind, name, body)


def _with(c: Cursor, node: cst.With) -> list[Stmt]:
    start = c.start()
    is_async = _async(c, node)
    c.token(4)
    if isinstance(node.lpar, cst.LeftParen):
        c.token(1)
    items = tuple([_with_item(c, item) for item in node.items])
    if isinstance(node.rpar, cst.RightParen):
        c.token(1)
    body = suite(c, node.body)
    return [facts.With(c.here(start), items, body, is_async)]


def _with_item(c: Cursor, node: cst.WithItem) -> facts.WithItem:
    context = expression(c, node.item)
    target = None
    if node.asname is not None:
        c.token(2)
        target = expression(c, node.asname.name)
    if isinstance(node.comma, cst.Comma):
        c.token(1)
    return facts.WithItem(context, target)


# ------------------------------------------------------------------ functions and classes


def _decorators(c: Cursor, nodes: Sequence[cst.Decorator]) -> tuple[Expr, ...]:
    found = []
    for node in nodes:
        c.token(1)
        found.append(expression(c, node.decorator))
    return tuple(found)


def _function(c: Cursor, node: cst.FunctionDef) -> list[Stmt]:
    decorators = _decorators(c, node.decorators)
    start = c.start()
    is_async = _async(c, node)
    c.token(3)
    name = name_token(c, node.name)
    type_parameters(c, node.type_parameters)
    c.token(1)
    params = parameters(c, node.params)
    c.token(1)
    returns = None if node.returns is None else annotation(c, node.returns, 2)
    name_at = _header(c, start)
    outside, c.yields = c.yields, False
    body = suite(c, node.body)
    is_generator, c.yields = c.yields, outside
    return [
        facts.Def(
            c.here(start),
            name,
            params,
            decorators,
            returns,
            body,
            is_async,
            is_generator,
            name_at,
            docstring(body),
        )
    ]


def _class(c: Cursor, node: cst.ClassDef) -> list[Stmt]:
    decorators = _decorators(c, node.decorators)
    start = c.start()
    c.pos += 5
    name = name_token(c, node.name)
    type_parameters(c, node.type_parameters)
    bases: tuple[facts.Arg, ...] = ()
    if isinstance(node.lpar, cst.LeftParen):
        c.token(1)
        bases = arguments(c, node.bases) + arguments(c, node.keywords)
        c.token(1)
    name_at = _header(c, start)
    body = suite(c, node.body)
    return [facts.Class(c.here(start), name, bases, decorators, body, name_at, docstring(body))]


def _header(c: Cursor, start: Start) -> facts.Span:
    """The span of a header, up to its colon."""
    c.skip()
    return c.here(start)


STATEMENTS.update(
    {
        cst.If: _if,
        cst.For: _for,
        cst.While: _while,
        cst.Try: _try,
        cst.TryStar: _try,
        cst.With: _with,
        cst.FunctionDef: _function,
        cst.ClassDef: _class,
    }
)
