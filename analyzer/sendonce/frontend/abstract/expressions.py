"""`ast` expressions → facts: one function for each kind of node.

Those for the most frequent kinds take a node's fields from its `__dict__` and make its span
themselves: that is a fifth of the whole walk.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Literal

from sendonce.facts import (
    Arg,
    Attribute,
    Await,
    BinOp,
    BoolOp,
    Call,
    Compare,
    Expr,
    IfExp,
    Lambda,
    Name,
    Not,
    Opaque,
    Param,
    Slice,
    Subscript,
    UnaryOp,
    Walrus,
    Yield,
)
from sendonce.frontend.abstract.dispatch import EXPRESSIONS, expression, expressions, optional
from sendonce.frontend.abstract.source import Node, Source, span
from sendonce.frontend.lowering import LONGEST_CHAIN, Comparator, chained

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.MatMult: "@",
    ast.USub: "-",
    ast.UAdd: "+",
    ast.Invert: "~",
}

_COMPARATORS: dict[type[ast.AST], Comparator] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


# ------------------------------------------------------------------ names and calls


def _name(s: Source, n: Node) -> Expr:
    d = n.__dict__
    return Name((d["lineno"], d["col_offset"] + 1, d["end_lineno"], d["end_col_offset"] + 1), d["id"])


def _attribute(s: Source, n: Node) -> Expr:
    d = n.__dict__
    value = d["value"]
    at = (d["lineno"], d["col_offset"] + 1, d["end_lineno"], d["end_col_offset"] + 1)
    return Attribute(at, EXPRESSIONS[type(value)](s, value), d["attr"])


def _call(s: Source, n: Node) -> Expr:
    d = n.__dict__
    func, args, keywords = d["func"], d["args"], d["keywords"]
    at = (d["lineno"], d["col_offset"] + 1, d["end_lineno"], d["end_col_offset"] + 1)
    taken = arguments(s, args, keywords) if args or keywords else ()
    return Call(at, EXPRESSIONS[type(func)](s, func), taken)


def arguments(s: Source, args: Sequence[Node], keywords: Sequence[Node]) -> tuple[Arg, ...]:
    """The arguments of a call or a class header, in the order of the source."""
    found = []
    for arg in args:
        if type(arg) is ast.Starred:
            found.append(Arg(expression(s, arg.value), None, "*"))
        else:
            found.append(Arg(EXPRESSIONS[type(arg)](s, arg)))
    if not keywords:
        return tuple(found)
    for keyword in keywords:
        d = keyword.__dict__
        name, value = d["arg"], d["value"]
        found.append(Arg(EXPRESSIONS[type(value)](s, value), name, "**" if name is None else ""))
    if args and _start(keywords[0]) < _start(args[-1]):  # f(a=1, *b)
        return _in_order([*args, *keywords], found)
    return tuple(found)


def _start(n: Node) -> tuple[int, int]:
    return (n.lineno, n.col_offset)


def _in_order(nodes: Sequence[Node], found: Sequence[Arg]) -> tuple[Arg, ...]:
    places = sorted((_start(node), number) for number, node in enumerate(nodes))
    return tuple([found[number] for _, number in places])


def _subscript(s: Source, n: Node) -> Expr:
    return Subscript(span(n), expression(s, n.value), expression(s, n.slice))


def _slice(s: Source, n: Node) -> Expr:
    return Slice(span(n), optional(s, n.lower), optional(s, n.upper), optional(s, n.step))


# ------------------------------------------------------------------ operators


def _compare(s: Source, n: Node) -> Expr:
    left = expression(s, n.left)
    links = [(_COMPARATORS[type(op)], expression(s, right)) for op, right in zip(n.ops, n.comparators, strict=True)]
    if len(links) == 1:
        return Compare(span(n), left, *links[0])
    return chained(span(n), left, links)


def _bool_op(s: Source, n: Node) -> Expr:
    return BoolOp(span(n), "and" if type(n.op) is ast.And else "or", expressions(s, n.values))


def _bin_op(s: Source, n: Node) -> Expr:
    links = [n]
    left = n.left
    while type(left) is ast.BinOp and _start(left) == _start(n):
        links.append(left)
        left = left.left
    if len(links) > LONGEST_CHAIN:
        at = span(n)
        return Opaque(at, s.segment(at), expressions(s, [left, *[link.right for link in reversed(links)]]))
    value = expression(s, left)
    for link in reversed(links):
        value = BinOp(span(link), value, OPERATORS[type(link.op)], expression(s, link.right))
    return value


def _unary_op(s: Source, n: Node) -> Expr:
    value = expression(s, n.operand)
    return Not(span(n), value) if type(n.op) is ast.Not else UnaryOp(span(n), OPERATORS[type(n.op)], value)


def _if_exp(s: Source, n: Node) -> Expr:
    return IfExp(span(n), expression(s, n.test), expression(s, n.body), expression(s, n.orelse))


def _walrus(s: Source, n: Node) -> Expr:
    return Walrus(span(n), expression(s, n.target), expression(s, n.value))


def _await(s: Source, n: Node) -> Expr:
    return Await(span(n), expression(s, n.value))


def _yield(s: Source, n: Node) -> Expr:
    s.yields = True
    return Yield(span(n), optional(s, n.value), type(n) is ast.YieldFrom)


# ------------------------------------------------------------------ parameters


def _lambda(s: Source, n: Node) -> Expr:
    params = parameters(s, n.args)
    outside, s.yields = s.yields, False
    body = expression(s, n.body)
    s.yields = outside
    return Lambda(span(n), params, body)


def parameters(s: Source, n: Node) -> tuple[Param, ...]:
    """The parameters of a function or lambda."""
    d = n.__dict__
    found: list[Param] = []
    only, plain = d["posonlyargs"], d["args"]
    if only or plain:
        _plain(s, only, plain, d["defaults"], found)
    star, named, stars = d["vararg"], d["kwonlyargs"], d["kwarg"]
    if star is not None:
        found.append(Param(star.arg, "*", optional(s, star.annotation)))
    for arg, default in zip(named, d["kw_defaults"], strict=True) if named else ():
        found.append(Param(arg.arg, "keyword", optional(s, arg.annotation), optional(s, default)))
    if stars is not None:
        found.append(Param(stars.arg, "**", optional(s, stars.annotation)))
    return tuple(found)


def _plain(s: Source, only: list[Node], plain: list[Node], defaults: list[Node], found: list[Param]) -> None:
    """Adds the parameters that may be passed by position; the last of them have the defaults."""
    kind: Literal["positional", "any"] = "positional" if only else "any"
    first, last = len(only) + len(plain) - len(defaults), len(only) - 1
    for number, arg in enumerate([*only, *plain] if only else plain):
        note = arg.annotation
        if note is not None:
            note = EXPRESSIONS[type(note)](s, note)
        default = expression(s, defaults[number - first]) if number >= first else None
        found.append(Param(arg.arg, kind, note, default))
        if number == last:
            kind = "any"


EXPRESSIONS.update(
    {
        ast.Name: _name,
        ast.Attribute: _attribute,
        ast.Call: _call,
        ast.Subscript: _subscript,
        ast.Slice: _slice,
        ast.Compare: _compare,
        ast.BoolOp: _bool_op,
        ast.BinOp: _bin_op,
        ast.UnaryOp: _unary_op,
        ast.IfExp: _if_exp,
        ast.NamedExpr: _walrus,
        ast.Await: _await,
        ast.Yield: _yield,
        ast.YieldFrom: _yield,
        ast.Lambda: _lambda,
    }
)
