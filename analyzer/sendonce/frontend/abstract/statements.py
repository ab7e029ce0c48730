"""`ast` statements → facts."""

from __future__ import annotations

import ast
from typing import Any, Literal

from sendonce.facts import (
    Assert,
    Assign,
    AugAssign,
    Class,
    Def,
    Delete,
    Expr,
    ExprStmt,
    For,
    Handler,
    If,
    Import,
    ImportFrom,
    Jump,
    Raise,
    Return,
    Scope,
    Stmt,
    Try,
    While,
    With,
    WithItem,
)
from sendonce.frontend.abstract.dispatch import (
    EXPRESSIONS,
    SEVERAL,
    STATEMENTS,
    block,
    expression,
    expressions,
    optional,
    register,
)
from sendonce.frontend.abstract.expressions import OPERATORS, arguments, parameters
from sendonce.frontend.abstract.source import Node, Source, span
from sendonce.frontend.lowering import docstring

# ------------------------------------------------------------------ simple statements


def _expr(s: Source, n: Node) -> Stmt:
    d = n.__dict__
    value = d["value"]
    at = (d["lineno"], d["col_offset"] + 1, d["end_lineno"], d["end_col_offset"] + 1)
    return ExprStmt(at, EXPRESSIONS[type(value)](s, value))


def _assign(s: Source, n: Node) -> Stmt:
    d = n.__dict__
    targets, value = d["targets"], d["value"]
    at = (d["lineno"], d["col_offset"] + 1, d["end_lineno"], d["end_col_offset"] + 1)
    if len(targets) == 1:
        target = targets[0]
        found: tuple[Expr, ...] = (EXPRESSIONS[type(target)](s, target),)
    else:
        found = expressions(s, targets)
    return Assign(at, found, EXPRESSIONS[type(value)](s, value))


def _annotated(s: Source, n: Node) -> Stmt:
    target, note = expression(s, n.target), expression(s, n.annotation)
    return Assign(span(n), (target,), optional(s, n.value), note)


def _augmented(s: Source, n: Node) -> Stmt:
    return AugAssign(span(n), expression(s, n.target), OPERATORS[type(n.op)], expression(s, n.value))


def _type_alias(s: Source, n: Node) -> Stmt:
    return Assign(span(n), (expression(s, n.name),), expression(s, n.value))


def _return(s: Source, n: Node) -> Stmt:
    return Return(span(n), optional(s, n.value))


def _raise(s: Source, n: Node) -> Stmt:
    return Raise(span(n), optional(s, n.exc), optional(s, n.cause))


def _assert(s: Source, n: Node) -> Stmt:
    return Assert(span(n), expression(s, n.test), optional(s, n.msg))


def _delete(s: Source, n: Node) -> Stmt:
    return Delete(span(n), expressions(s, n.targets))


_JUMPS: dict[type[ast.AST], Literal["break", "continue", "pass"]] = {
    ast.Break: "break",
    ast.Continue: "continue",
    ast.Pass: "pass",
}


def _jump(s: Source, n: Node) -> Stmt:
    return Jump(span(n), _JUMPS[type(n)])


def _scope(s: Source, n: Node) -> Stmt:
    return Scope(span(n), "global" if type(n) is ast.Global else "nonlocal", tuple(n.names))


def _import(s: Source, n: Node) -> list[Stmt]:
    return [Import(span(alias), alias.name, alias.asname) for alias in n.names]


def _import_from(s: Source, n: Node) -> Stmt:
    names = tuple([(alias.name, alias.asname or alias.name) for alias in n.names])
    return ImportFrom(span(n), n.module or "", n.level, names)


# ------------------------------------------------------------------ compound statements


def _if(s: Source, n: Node) -> Stmt:
    chain = [n]
    orelse = n.orelse
    while len(orelse) == 1 and type(orelse[0]) is ast.If:  # an `elif`: dispatchers have thousands
        chain.append(orelse[0])
        orelse = orelse[0].orelse
    rest = block(s, orelse) if orelse else ()
    for one in reversed(chain[1:]):
        test = one.test
        rest = (If(span(one), EXPRESSIONS[type(test)](s, test), block(s, one.body), rest),)
    test = n.test
    return If(span(n), EXPRESSIONS[type(test)](s, test), block(s, n.body), rest)


def _for(s: Source, n: Node) -> Stmt:
    target, source = expression(s, n.target), expression(s, n.iter)
    return For(span(n), target, source, block(s, n.body), block(s, n.orelse), type(n) is ast.AsyncFor)


def _while(s: Source, n: Node) -> Stmt:
    return While(span(n), expression(s, n.test), block(s, n.body), block(s, n.orelse))


def _try(s: Source, n: Node) -> Stmt:
    handlers = tuple([_handler(s, item) for item in n.handlers])
    return Try(span(n), block(s, n.body), handlers, block(s, n.orelse), block(s, n.finalbody))


def _handler(s: Source, n: Node) -> Handler:
    return Handler(span(n), optional(s, n.type), n.name, block(s, n.body))


def _with(s: Source, n: Node) -> Stmt:
    items = tuple([WithItem(expression(s, i.context_expr), optional(s, i.optional_vars)) for i in n.items])
    return With(span(n), items, block(s, n.body), type(n) is ast.AsyncWith)


# ------------------------------------------------------------------ functions and classes


def _function(s: Source, n: Node) -> Stmt:
    decorators = expressions(s, n.decorator_list) if n.decorator_list else ()
    params = parameters(s, n.args)
    returns = optional(s, n.returns)
    outside, s.yields = s.yields, False
    body = block(s, n.body)
    is_generator, s.yields = s.yields, outside
    is_async = type(n) is ast.AsyncFunctionDef
    name_at = s.header(n, _last_of_function(n))
    return Def(span(n), n.name, params, decorators, returns, body, is_async, is_generator, name_at, docstring(body))


def _last_of_function(n: Node) -> Node | None:
    """The last node between the name of a function and its colon."""
    args = n.args
    if n.returns is not None:
        return n.returns
    if args.kwarg is not None:
        return args.kwarg
    if args.kwonlyargs:
        return args.kw_defaults[-1] or args.kwonlyargs[-1]
    if args.vararg is not None:
        return args.vararg
    return _last(args.defaults) or _last(args.args) or _last(args.posonlyargs) or _last_type_parameter(n)


def _last(nodes: list[Any]) -> Node | None:
    return nodes[-1] if nodes else None


def _last_type_parameter(n: Node) -> Node | None:
    return _last(getattr(n, "type_params", []))


def _class(s: Source, n: Node) -> Stmt:
    bases = arguments(s, n.bases, n.keywords)
    decorators = expressions(s, n.decorator_list)
    body = block(s, n.body)
    last = max(n.bases[-1:] + n.keywords[-1:], key=_end, default=None) or _last_type_parameter(n)
    return Class(span(n), n.name, bases, decorators, body, s.header(n, last), docstring(body))


def _end(n: Node) -> tuple[int, int]:
    return (n.end_lineno, n.end_col_offset)


STATEMENTS.update(
    {
        ast.Expr: _expr,
        ast.Assign: _assign,
        ast.AnnAssign: _annotated,
        ast.AugAssign: _augmented,
        ast.Return: _return,
        ast.Raise: _raise,
        ast.Assert: _assert,
        ast.Delete: _delete,
        ast.Pass: _jump,
        ast.Break: _jump,
        ast.Continue: _jump,
        ast.Global: _scope,
        ast.Nonlocal: _scope,
        ast.ImportFrom: _import_from,
        ast.If: _if,
        ast.For: _for,
        ast.AsyncFor: _for,
        ast.While: _while,
        ast.Try: _try,
        ast.With: _with,
        ast.AsyncWith: _with,
        ast.FunctionDef: _function,
        ast.AsyncFunctionDef: _function,
        ast.ClassDef: _class,
    }
)
SEVERAL[ast.Import] = _import
register(STATEMENTS, "TryStar", _try)
register(STATEMENTS, "TypeAlias", _type_alias)
