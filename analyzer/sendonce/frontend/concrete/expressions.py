"""libcst expressions → facts: one function for each kind of node, each a step of one walk in source order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import libcst as cst

from sendonce import facts
from sendonce.facts import Expr
from sendonce.frontend import literals
from sendonce.frontend.concrete.cursor import Cursor, Start
from sendonce.frontend.concrete.dispatch import EXPRESSIONS, expression, name_token
from sendonce.frontend.concrete.displays import generators_of
from sendonce.frontend.lowering import LONGEST_CHAIN, Comparator, chained

_CONSTANTS = {"None": None, "True": True, "False": False}

_OPERATORS: dict[type[cst.CSTNode], str] = {
    cst.Add: "+",
    cst.Subtract: "-",
    cst.Multiply: "*",
    cst.Divide: "/",
    cst.FloorDivide: "//",
    cst.Modulo: "%",
    cst.Power: "**",
    cst.LeftShift: "<<",
    cst.RightShift: ">>",
    cst.BitAnd: "&",
    cst.BitOr: "|",
    cst.BitXor: "^",
    cst.MatrixMultiply: "@",
    cst.Minus: "-",
    cst.Plus: "+",
    cst.BitInvert: "~",
}

_COMPARATORS: dict[type[cst.CSTNode], Comparator] = {
    cst.Equal: "==",
    cst.NotEqual: "!=",
    cst.LessThan: "<",
    cst.LessThanEqual: "<=",
    cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=",
    cst.Is: "is",
    cst.IsNot: "is not",
    cst.In: "in",
    cst.NotIn: "not in",
}


# ------------------------------------------------------------------ names and calls


def _name(c: Cursor, node: cst.Name) -> Expr:
    start = c.opened(node.lpar)
    value = node.value
    c.word(value)
    at = c.closed(start, node.rpar)
    if value in _CONSTANTS:
        return facts.Constant(at, _CONSTANTS[value])
    return facts.Name(at, literals.identifier(value))


def _attribute(c: Cursor, node: cst.Attribute) -> Expr:
    start = c.opened(node.lpar)
    value = expression(c, node.value)
    c.token(1)
    attr = name_token(c, node.attr)
    return facts.Attribute(c.closed(start, node.rpar), value, attr)


def _call(c: Cursor, node: cst.Call) -> Expr:
    start = c.opened(node.lpar)
    func = expression(c, node.func)
    paren = c.start()
    c.pos += 1
    args = node.args
    if len(args) == 1 and isinstance(args[0].value, cst.GeneratorExp) and not args[0].value.lpar:
        taken: tuple[facts.Arg, ...] = (facts.Arg(_bare_generator(c, args[0].value, paren)),)
    else:
        taken = arguments(c, args)
        c.token(1)
    return facts.Call(c.closed(start, node.rpar), func, taken)


def arguments(c: Cursor, args: Sequence[cst.Arg]) -> tuple[facts.Arg, ...]:
    """The arguments of a call or a class header, without its parentheses."""
    return tuple([_argument(c, arg) for arg in args])


def _argument(c: Cursor, arg: cst.Arg) -> facts.Arg:
    keyword = None
    if arg.star:
        c.token(len(arg.star))
    elif arg.keyword is not None:
        keyword = name_token(c, arg.keyword)
        c.token(1)
    value = expression(c, arg.value)
    c.comma()
    return facts.Arg(value, keyword, arg.star)


def _bare_generator(c: Cursor, node: cst.GeneratorExp, paren: Start) -> Expr:
    """The lone generator of a call: the call's parentheses are the generator's too."""
    element = expression(c, node.elt)
    generators = generators_of(c, node.for_in)
    c.token(1)
    return facts.Comprehension(c.here(paren), "generator", None, element, generators)


def _subscript(c: Cursor, node: cst.Subscript) -> Expr:
    start = c.opened(node.lpar)
    value = expression(c, node.value)
    c.token(1)
    index = _index(c, node.slice)
    c.token(1)
    return facts.Subscript(c.closed(start, node.rpar), value, index)


def _index(c: Cursor, elements: Sequence[cst.SubscriptElement]) -> Expr:
    start = c.start()
    items = []
    comma = False
    for element in elements:
        items.append(_slice(c, element.slice))
        comma = isinstance(element.comma, cst.Comma)
        if comma:
            c.token(1)
    if len(items) == 1 and not comma and not isinstance(items[0], facts.Starred):
        return items[0]
    return facts.Sequence(c.here(start), "tuple", tuple(items))


def _slice(c: Cursor, node: cst.BaseSlice) -> Expr:
    if isinstance(node, cst.Index):
        if not node.star:
            return expression(c, node.value)
        start = c.start()
        c.pos += 1
        value = expression(c, node.value)
        return facts.Starred(c.here(start), value)
    return _range(c, cst.ensure_type(node, cst.Slice))


def _range(c: Cursor, node: cst.Slice) -> Expr:
    start = c.start()
    lower = upper = step = None
    if node.lower is not None:
        lower = expression(c, node.lower)
    c.token(1)
    if node.upper is not None:
        upper = expression(c, node.upper)
    if isinstance(node.second_colon, cst.Colon):
        c.token(1)
    if node.step is not None:
        step = expression(c, node.step)
    return facts.Slice(c.here(start), lower, upper, step)


# ------------------------------------------------------------------ operators


def _binary(c: Cursor, node: cst.BinaryOperation) -> Expr:
    start = c.opened(node.lpar)
    chain = [node]
    while isinstance(node.left, cst.BinaryOperation) and not node.left.lpar:
        node = node.left
        chain.append(node)
    if len(chain) > LONGEST_CHAIN:
        return _long_chain(c, chain, start)
    value = expression(c, node.left)
    for link in reversed(chain):
        op = _operator(c, link.operator)
        right = expression(c, link.right)
        value = facts.BinOp(c.here(start), value, op, right)
    c.closed(start, chain[0].rpar)
    return value


def _long_chain(c: Cursor, chain: list[cst.BinaryOperation], start: Start) -> Expr:
    operands = [expression(c, chain[-1].left)]
    for link in reversed(chain):
        _operator(c, link.operator)
        operands.append(expression(c, link.right))
    at = c.closed(start, chain[0].rpar)
    return facts.Opaque(at, c.text_at(at), tuple(operands))


def _operator(c: Cursor, node: cst.CSTNode) -> str:
    op = _OPERATORS[type(node)]
    c.token(len(op))
    return op


def _boolean(c: Cursor, node: cst.BooleanOperation) -> Expr:
    start = c.opened(node.lpar)
    rpar, kind = node.rpar, type(node.operator)
    op: Literal["and", "or"] = "and" if kind is cst.And else "or"
    rights = [node.right]
    while isinstance(node.left, cst.BooleanOperation) and not node.left.lpar and type(node.left.operator) is kind:
        node = node.left
        rights.append(node.right)
    values = [expression(c, node.left)]
    for right in reversed(rights):
        c.token(len(op))
        values.append(expression(c, right))
    return facts.BoolOp(c.closed(start, rpar), op, tuple(values))


def _unary(c: Cursor, node: cst.UnaryOperation) -> Expr:
    start = c.opened(node.lpar)
    if isinstance(node.operator, cst.Not):
        c.pos += 3
        value = expression(c, node.expression)
        return facts.Not(c.closed(start, node.rpar), value)
    op = _operator(c, node.operator)
    value = expression(c, node.expression)
    return facts.UnaryOp(c.closed(start, node.rpar), op, value)


def _comparison(c: Cursor, node: cst.Comparison) -> Expr:
    start = c.opened(node.lpar)
    left = expression(c, node.left)
    links = [(_comparator(c, link.operator), expression(c, link.comparator)) for link in node.comparisons]
    at = c.closed(start, node.rpar)
    if len(links) == 1:
        return facts.Compare(at, left, *links[0])
    return chained(at, left, links)


def _comparator(c: Cursor, node: cst.BaseCompOp) -> Comparator:
    op = _COMPARATORS[type(node)]
    for word in op.split():
        c.token(len(word))
    return op


def _conditional(c: Cursor, node: cst.IfExp) -> Expr:
    start = c.opened(node.lpar)
    body = expression(c, node.body)
    c.token(2)
    test = expression(c, node.test)
    c.token(4)
    orelse = expression(c, node.orelse)
    return facts.IfExp(c.closed(start, node.rpar), test, body, orelse)


def _walrus(c: Cursor, node: cst.NamedExpr) -> Expr:
    start = c.opened(node.lpar)
    target = expression(c, node.target)
    c.token(2)
    value = expression(c, node.value)
    return facts.Walrus(c.closed(start, node.rpar), target, value)


def _await(c: Cursor, node: cst.Await) -> Expr:
    start = c.opened(node.lpar)
    c.pos += 5
    value = expression(c, node.expression)
    return facts.Await(c.closed(start, node.rpar), value)


def _yield(c: Cursor, node: cst.Yield) -> Expr:
    start = c.opened(node.lpar)
    c.pos += 5
    c.yields = True
    inner, is_from = node.value, isinstance(node.value, cst.From)
    if isinstance(inner, cst.From):
        c.token(4)
        inner = inner.item
    value = None if inner is None else expression(c, inner)
    return facts.Yield(c.closed(start, node.rpar), value, is_from)


# ------------------------------------------------------------------ parameters


def _lambda(c: Cursor, node: cst.Lambda) -> Expr:
    start = c.opened(node.lpar)
    c.pos += 6
    params = parameters(c, node.params)
    c.token(1)
    outside, c.yields = c.yields, False
    body = expression(c, node.body)
    c.yields = outside
    return facts.Lambda(c.closed(start, node.rpar), params, body)


def parameters(c: Cursor, node: cst.Parameters) -> tuple[facts.Param, ...]:
    """The parameters of a function or lambda, without parentheses."""
    params = [_parameter(c, param, "positional") for param in node.posonly_params]
    if params:
        c.token(1)
        c.comma()
    params += [_parameter(c, param, "any") for param in node.params]
    if isinstance(node.star_arg, cst.Param):
        params.append(_parameter(c, node.star_arg, "*"))
    elif isinstance(node.star_arg, cst.ParamStar):
        c.token(1)
        c.comma()
    params += [_parameter(c, param, "keyword") for param in node.kwonly_params]
    if node.star_kwarg is not None:
        params.append(_parameter(c, node.star_kwarg, "**"))
    return tuple(params)


def _parameter(c: Cursor, node: cst.Param, kind: Literal["positional", "any", "*", "keyword", "**"]) -> facts.Param:
    if kind in ("*", "**"):
        c.token(len(kind))
    name = name_token(c, node.name)
    note = default = None
    if node.annotation is not None:
        note = annotation(c, node.annotation)
    if node.default is not None:
        c.token(1)
        default = expression(c, node.default)
    c.comma()
    return facts.Param(name, kind, note, default)


def annotation(c: Cursor, node: cst.Annotation, width: int = 1) -> Expr:
    """The expression behind `:` or, with a `width` of 2, `->`."""
    c.token(width)
    return expression(c, node.annotation)


def type_parameters(c: Cursor, node: cst.TypeParameters | None) -> None:
    """Goes over `[T: bound = default, *Ts, **P]`: no fact needs them."""
    if node is None:
        return
    c.token(1)
    for item in node.params:
        _type_parameter(c, item.param)
        if item.default is not None:
            c.token(1)
            c.token(len(item.star))
            expression(c, item.default)
        c.comma()
    c.token(1)


def _type_parameter(c: Cursor, node: cst.TypeVar | cst.TypeVarTuple | cst.ParamSpec) -> None:
    if isinstance(node, cst.TypeVar):
        name_token(c, node.name)
        if node.bound is not None:
            c.token(1)
            expression(c, node.bound)
        return
    c.token(1 if isinstance(node, cst.TypeVarTuple) else 2)
    name_token(c, node.name)


EXPRESSIONS.update(
    {
        cst.Name: _name,
        cst.Attribute: _attribute,
        cst.Call: _call,
        cst.Subscript: _subscript,
        cst.BinaryOperation: _binary,
        cst.BooleanOperation: _boolean,
        cst.UnaryOperation: _unary,
        cst.Comparison: _comparison,
        cst.IfExp: _conditional,
        cst.NamedExpr: _walrus,
        cst.Await: _await,
        cst.Yield: _yield,
        cst.Lambda: _lambda,
    }
)
