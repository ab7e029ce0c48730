"""The facts of one module: a small typed tree of statements and expressions.

The front end makes them, the cache stores them, everything later reads only them. They name no
library: rule packs can change without a file being parsed again. All values are frozen; `at` is a
`Span` whose lines and columns count from 1 and whose end column is exclusive. `match` statements
arrive lowered to `If`, decorators and defaults stay on their `Def` or `Class`.
"""

from __future__ import annotations

from typing import Literal, Union

import msgspec

IR_VERSION = 1
"""Changes whenever the shape or the meaning of the facts does; part of every cache key."""

Span = tuple[int, int, int, int]
"""(line, column, end line, end column), all from 1; the end column is exclusive."""

NOWHERE: Span = (0, 0, 0, 0)


class Node(msgspec.Struct, frozen=True, tag=True, array_like=True, gc=False):
    """What all facts share: where they stand in the file."""

    at: Span


# ------------------------------------------------------------------ expressions


class Name(Node, frozen=True, tag=True, array_like=True, gc=False):
    """A variable read by name."""

    id: str


class Attribute(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`value.attr`."""

    value: Expr
    attr: str


class Arg(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One argument of a call: `value`, `keyword=value`, `*value` or `**value`."""

    value: Expr
    keyword: str | None = None
    star: Literal["", "*", "**"] = ""


class Call(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`func(args)`; `at` spans the whole call."""

    func: Expr
    args: tuple[Arg, ...]


class Constant(Node, frozen=True, tag=True, array_like=True, gc=False):
    """A literal. Bytes, complex numbers and integers of more than 60 bits keep their source text as `Opaque`.

    Implicitly joined strings are one constant. A string with a lone surrogate is `Opaque` too: it has no UTF-8.
    """

    value: Union[None, bool, int, float, str]


class Ellipsis_(Node, frozen=True, tag=True, array_like=True, gc=False):  # noqa: N801  # `Ellipsis` is a builtin
    """The literal `...`."""


class Opaque(Node, frozen=True, tag=True, array_like=True, gc=False):
    """An expression whose value does not matter here; `children` are the expressions inside it.

    Among them are template strings, and chains of more than a hundred arithmetic operators (children: the operands).
    """

    text: str
    children: tuple[Expr, ...] = ()


class FString(Node, frozen=True, tag=True, array_like=True, gc=False):
    """An f-string: literal text and expressions in their order.

    Literal text is a `Constant` that stands where the whole string stands. An expression that is shown
    by a format or `!r` is an `Opaque` around it.
    """

    parts: tuple[Expr, ...]


class Subscript(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`value[index]`; several indices are a tuple `Sequence`, a slice is a `Slice`."""

    value: Expr
    index: Expr


class Slice(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`lower:upper:step` inside a subscript."""

    lower: Expr | None
    upper: Expr | None
    step: Expr | None


class Param(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One parameter of a function or lambda."""

    name: str
    kind: Literal["positional", "any", "*", "keyword", "**"]
    annotation: Expr | None = None
    default: Expr | None = None


class Lambda(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`lambda params: body`."""

    params: tuple[Param, ...]
    body: Expr


class Compare(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`left op right`; a chain arrives as a `BoolOp` of `and`. `op` is the source operator, such as `not in`."""

    left: Expr
    op: Literal["==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"]
    right: Expr


class BoolOp(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`a and b and …` or `a or b or …`."""

    op: Literal["and", "or"]
    values: tuple[Expr, ...]


class Not(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`not value`."""

    value: Expr


class BinOp(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`left op right` for arithmetic operators (`+`, `%`, `|`, …)."""

    left: Expr
    op: str
    right: Expr


class UnaryOp(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`-value`, `+value` or `~value`."""

    op: str
    value: Expr


class IfExp(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`body if test else orelse`."""

    test: Expr
    body: Expr
    orelse: Expr


class Sequence(Node, frozen=True, tag=True, array_like=True, gc=False):
    """A list, tuple or set display; starred items are `Starred`."""

    kind: Literal["list", "tuple", "set"]
    items: tuple[Expr, ...]


class Starred(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`*value` inside a display or an assignment target."""

    value: Expr


class Dict(Node, frozen=True, tag=True, array_like=True, gc=False):
    """A dict display: (key, value) pairs; the key is None for `**value`."""

    items: tuple[tuple[Expr | None, Expr], ...]


class Generator(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One `for target in iter if tests` of a comprehension."""

    target: Expr
    iter: Expr
    tests: tuple[Expr, ...]
    is_async: bool = False


class Comprehension(Node, frozen=True, tag=True, array_like=True, gc=False):
    """A comprehension; `key` is set for dicts only."""

    kind: Literal["list", "set", "dict", "generator"]
    key: Expr | None
    element: Expr
    generators: tuple[Generator, ...]


class Await(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`await value`."""

    value: Expr


class Yield(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`yield value` or `yield from value`."""

    value: Expr | None
    is_from: bool = False


class Walrus(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`(name := value)`."""

    target: Expr
    value: Expr


Expr = Union[
    Name,
    Attribute,
    Call,
    Constant,
    Ellipsis_,
    Opaque,
    FString,
    Subscript,
    Slice,
    Lambda,
    Compare,
    BoolOp,
    Not,
    BinOp,
    UnaryOp,
    IfExp,
    Sequence,
    Starred,
    Dict,
    Comprehension,
    Await,
    Yield,
    Walrus,
]


# ------------------------------------------------------------------- statements


class ExprStmt(Node, frozen=True, tag=True, array_like=True, gc=False):
    """An expression on its own."""

    value: Expr


class Assign(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`a = b = value`, or `a: annotation = value` (value None for a bare annotation).

    Targets are `Name`, `Attribute`, `Subscript`, `Sequence` or `Starred`.
    """

    targets: tuple[Expr, ...]
    value: Expr | None
    annotation: Expr | None = None


class AugAssign(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`target op= value`; `op` without the `=`."""

    target: Expr
    op: str
    value: Expr


class Return(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`return value`."""

    value: Expr | None


class Raise(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`raise value from cause`."""

    value: Expr | None
    cause: Expr | None = None


class Assert(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`assert test, message`."""

    test: Expr
    message: Expr | None = None


class Delete(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`del targets`."""

    targets: tuple[Expr, ...]


class Jump(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`break`, `continue` or `pass`."""

    kind: Literal["break", "continue", "pass"]


class Scope(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`global names` or `nonlocal names`."""

    kind: Literal["global", "nonlocal"]
    names: tuple[str, ...]


class If(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`if`; an `elif` is an `If` alone in `orelse`.

    A `match` arrives as such a chain: a value pattern is `subject == value`, a class pattern
    `isinstance(subject, C)`, an alternative an `or`, a guard an `and`, the wildcard the last
    `orelse`; any other pattern is an `Opaque` test with the subject inside. Keywords of a class
    pattern and keys of a mapping pattern are tested as `subject.keyword` and `subject[key]`. Names
    that a pattern binds are assigned an `Opaque` at the head of the body. A subject that is more than
    names and constants is first assigned to a name such as `<match 12:5>`.
    """

    test: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]


def chain_of(node: If) -> tuple[list[If], tuple[Stmt, ...]]:
    """An `if` with all its `elif`, and the block of the last `else`."""
    chain = [node]
    while len(chain[-1].orelse) == 1 and isinstance(inner := chain[-1].orelse[0], If):
        chain.append(inner)
    return chain, chain[-1].orelse


class For(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`for target in iter`, also `async for`."""

    target: Expr
    iter: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]
    is_async: bool = False


class While(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`while test`."""

    test: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]


class Handler(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """`except type as name` (also `except*`); `type` is None for a bare `except`."""

    at: Span
    type: Expr | None
    name: str | None
    body: tuple[Stmt, ...]


class Try(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`try` with all its parts."""

    body: tuple[Stmt, ...]
    handlers: tuple[Handler, ...]
    orelse: tuple[Stmt, ...]
    final: tuple[Stmt, ...]


class WithItem(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """`context as target` of a with statement."""

    context: Expr
    target: Expr | None = None


class With(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`with items`, also `async with`."""

    items: tuple[WithItem, ...]
    body: tuple[Stmt, ...]
    is_async: bool = False


class Def(Node, frozen=True, tag=True, array_like=True, gc=False):
    """A function; `at` spans from the line of `def` (not of its decorators) to the end of the body.

    `name_at` is the span of the header, from `def` or `async` up to the colon.
    """

    name: str
    params: tuple[Param, ...]
    decorators: tuple[Expr, ...]
    returns: Expr | None
    body: tuple[Stmt, ...]
    is_async: bool
    is_generator: bool
    name_at: Span
    doc: str | None = None


class Class(Node, frozen=True, tag=True, array_like=True, gc=False):
    """A class; `bases` holds positional and keyword arguments of its header."""

    name: str
    bases: tuple[Arg, ...]
    decorators: tuple[Expr, ...]
    body: tuple[Stmt, ...]
    name_at: Span
    doc: str | None = None


class Import(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`import a.b as c`: one statement a name; `name` is the dotted module, `alias` the `as` name."""

    name: str
    alias: str | None = None


class ImportFrom(Node, frozen=True, tag=True, array_like=True, gc=False):
    """`from ..module import a as b, c`: `level` counts the dots; `names` are (name, bound name); `*` is ("*", "*")."""

    module: str
    level: int
    names: tuple[tuple[str, str], ...]


Stmt = Union[
    ExprStmt,
    Assign,
    AugAssign,
    Return,
    Raise,
    Assert,
    Delete,
    Jump,
    Scope,
    If,
    For,
    While,
    Try,
    With,
    Def,
    Class,
    Import,
    ImportFrom,
]


class ModuleFacts(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """All facts of one file."""

    body: tuple[Stmt, ...]
    doc: str | None = None
