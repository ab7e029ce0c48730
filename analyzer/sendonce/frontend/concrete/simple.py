"""libcst simple statements → facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import libcst as cst

from sendonce import facts
from sendonce.facts import Expr, Stmt
from sendonce.frontend.concrete.cursor import Cursor, Start
from sendonce.frontend.concrete.dispatch import STATEMENTS, expression, name_token, register
from sendonce.frontend.concrete.expressions import annotation, type_parameters


def _expr(c: Cursor, node: cst.Expr) -> list[Stmt]:
    start = c.start()
    value = expression(c, node.value)
    return [facts.ExprStmt(c.here(start), value)]


def _assign(c: Cursor, node: cst.Assign) -> list[Stmt]:
    start = c.start()
    targets = []
    for target in node.targets:
        targets.append(expression(c, target.target))
        c.token(1)
    value = expression(c, node.value)
    return [facts.Assign(c.here(start), tuple(targets), value)]


def _annotated(c: Cursor, node: cst.AnnAssign) -> list[Stmt]:
    start = c.start()
    target = expression(c, node.target)
    note = annotation(c, node.annotation)
    value = None
    if node.value is not None:
        c.token(1)
        value = expression(c, node.value)
    return [facts.Assign(c.here(start), (target,), value, note)]


_AUGMENTED: dict[type[cst.CSTNode], str] = {
    cst.AddAssign: "+",
    cst.SubtractAssign: "-",
    cst.MultiplyAssign: "*",
    cst.DivideAssign: "/",
    cst.FloorDivideAssign: "//",
    cst.ModuloAssign: "%",
    cst.PowerAssign: "**",
    cst.LeftShiftAssign: "<<",
    cst.RightShiftAssign: ">>",
    cst.BitAndAssign: "&",
    cst.BitOrAssign: "|",
    cst.BitXorAssign: "^",
    cst.MatrixMultiplyAssign: "@",
}


def _augmented(c: Cursor, node: cst.AugAssign) -> list[Stmt]:
    start = c.start()
    target = expression(c, node.target)
    op = _AUGMENTED[type(node.operator)]
    c.token(len(op) + 1)
    value = expression(c, node.value)
    return [facts.AugAssign(c.here(start), target, op, value)]


def _type_alias(c: Cursor, node: cst.TypeAlias) -> list[Stmt]:
    start = c.start()
    c.pos += 4
    target = expression(c, node.name)
    type_parameters(c, node.type_parameters)
    c.token(1)
    value = expression(c, node.value)
    return [facts.Assign(c.here(start), (target,), value)]


def _return(c: Cursor, node: cst.Return) -> list[Stmt]:
    start = c.start()
    c.pos += 6
    value = None if node.value is None else expression(c, node.value)
    return [facts.Return(c.here(start), value)]


def _raise(c: Cursor, node: cst.Raise) -> list[Stmt]:
    start = c.start()
    c.pos += 5
    value = cause = None
    if node.exc is not None:
        value = expression(c, node.exc)
    if node.cause is not None:
        c.token(4)
        cause = expression(c, node.cause.item)
    return [facts.Raise(c.here(start), value, cause)]


def _assert(c: Cursor, node: cst.Assert) -> list[Stmt]:
    start = c.start()
    c.pos += 6
    test = expression(c, node.test)
    message = None
    if node.msg is not None:
        c.token(1)
        message = expression(c, node.msg)
    return [facts.Assert(c.here(start), test, message)]


def _delete(c: Cursor, node: cst.Del) -> list[Stmt]:
    start = c.start()
    c.pos += 3
    target = expression(c, node.target)
    targets: tuple[Expr, ...] = (target,)
    if isinstance(target, facts.Sequence) and not node.target.lpar and target.kind == "tuple":
        targets = target.items
    return [facts.Delete(c.here(start), targets)]


def _pass(c: Cursor, node: cst.Pass) -> list[Stmt]:
    start = c.start()
    c.pos += 4
    return [facts.Jump(c.here(start), "pass")]


def _break(c: Cursor, node: cst.Break) -> list[Stmt]:
    start = c.start()
    c.pos += 5
    return [facts.Jump(c.here(start), "break")]


def _continue(c: Cursor, node: cst.Continue) -> list[Stmt]:
    start = c.start()
    c.pos += 8
    return [facts.Jump(c.here(start), "continue")]


def _global(c: Cursor, node: cst.Global) -> list[Stmt]:
    start = c.start()
    c.pos += 6
    names = _scope_names(c, node.names)
    return [facts.Scope(c.here(start), "global", names)]


def _nonlocal(c: Cursor, node: cst.Nonlocal) -> list[Stmt]:
    start = c.start()
    c.pos += 8
    names = _scope_names(c, node.names)
    return [facts.Scope(c.here(start), "nonlocal", names)]


def _scope_names(c: Cursor, items: Sequence[cst.NameItem]) -> tuple[str, ...]:
    names = []
    for item in items:
        names.append(name_token(c, item.name))
        if isinstance(item.comma, cst.Comma):
            c.token(1)
    return tuple(names)


# ------------------------------------------------------------------ imports


def _import(c: Cursor, node: cst.Import) -> list[Stmt]:
    c.token(6)
    return _import_names(c, node.names)


def _lazy_import(c: Cursor, node: Any) -> list[Stmt]:
    c.token(4)
    c.token(6)
    return _import_names(c, node.names)


def _import_names(c: Cursor, aliases: Sequence[cst.ImportAlias]) -> list[Stmt]:
    found: list[Stmt] = []
    for alias in aliases:
        start = c.start()
        name, bound = _alias(c, alias)
        found.append(facts.Import(c.here(start), name, bound))
        if isinstance(alias.comma, cst.Comma):
            c.token(1)
    return found


def _alias(c: Cursor, node: cst.ImportAlias) -> tuple[str, str | None]:
    name = _dotted(c, node.name)
    if node.asname is None:
        return name, None
    c.token(2)
    return name, name_token(c, cst.ensure_type(node.asname.name, cst.Name))


def _dotted(c: Cursor, node: cst.BaseExpression) -> str:
    if isinstance(node, cst.Name):
        return name_token(c, node)
    attribute = cst.ensure_type(node, cst.Attribute)
    head = _dotted(c, attribute.value)
    c.token(1)
    return f"{head}.{name_token(c, attribute.attr)}"


def _import_from(c: Cursor, node: cst.ImportFrom) -> list[Stmt]:
    start = c.start()
    return [_imported_from(c, node, start)]


def _lazy_import_from(c: Cursor, node: Any) -> list[Stmt]:
    start = c.start()
    c.token(4)
    return [_imported_from(c, node, start)]


def _imported_from(c: Cursor, node: cst.ImportFrom, start: Start) -> Stmt:
    c.token(4)
    for _ in node.relative:
        c.token(1)
    module = "" if node.module is None else _dotted(c, node.module)
    c.token(6)
    names = _imported_names(c, node)
    return facts.ImportFrom(c.here(start), module, len(node.relative), names)


def _imported_names(c: Cursor, node: cst.ImportFrom) -> tuple[tuple[str, str], ...]:
    if isinstance(node.names, cst.ImportStar):
        c.token(1)
        return (("*", "*"),)
    if node.lpar:
        c.token(1)
    names = []
    for alias in node.names:
        name, bound = _alias(c, alias)
        names.append((name, bound or name))
        if isinstance(alias.comma, cst.Comma):
            c.token(1)
    if node.rpar:
        c.token(1)
    return tuple(names)


STATEMENTS.update(
    {
        cst.Expr: _expr,
        cst.Assign: _assign,
        cst.AnnAssign: _annotated,
        cst.AugAssign: _augmented,
        cst.TypeAlias: _type_alias,
        cst.Return: _return,
        cst.Raise: _raise,
        cst.Assert: _assert,
        cst.Del: _delete,
        cst.Pass: _pass,
        cst.Break: _break,
        cst.Continue: _continue,
        cst.Global: _global,
        cst.Nonlocal: _nonlocal,
        cst.Import: _import,
        cst.ImportFrom: _import_from,
    }
)
register(STATEMENTS, "LazyImport", _lazy_import)
register(STATEMENTS, "LazyImportFrom", _lazy_import_from)
