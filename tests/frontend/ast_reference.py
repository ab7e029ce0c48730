"""A second front end: the standard `ast` → the same facts, as the measure of the first one.

It reads only what the running interpreter reads. Before Python 3.12 `ast` does not know where the
expressions inside an f-string stand: `unplaced` takes such spans away, on both sides of a comparison.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from sendonce import facts
from sendonce.facts import Expr, ModuleFacts, Span, Stmt
from sendonce.frontend.matching import Bound, Case, all_of, any_of, case, chain, is_instance, kept

PLACES_FSTRINGS = sys.version_info >= (3, 12)
LONGEST_CHAIN = 100


def extract(source: bytes) -> ModuleFacts:
    """The facts of a module; raises SyntaxError or ValueError where the interpreter refuses it."""
    tree = ast.parse(source)
    return ModuleFacts(_block(_Source(source), tree.body), _doc(tree))


class _Source:
    """The text of a file, with the look-ups from `ast` positions (lines, bytes) to spans (lines, characters)."""

    def __init__(self, source: bytes) -> None:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        self.text = source.decode(encoding)
        self.starts = [0, *(end.end() for end in re.finditer(r"\r\n?|\n", self.text)), len(self.text)]
        self.ascii = self.text.isascii()

    def column(self, line: int, offset: int) -> int:
        """The column, from 1, of a byte offset in a line's UTF-8."""
        if self.ascii:
            return offset + 1
        line_text = self.text[self.starts[line - 1] : self.starts[line]]
        return len(line_text.encode()[:offset].decode()) + 1

    def span(self, node: Any) -> Span:
        line, end_line = node.lineno, node.end_lineno
        return (line, self.column(line, node.col_offset), end_line, self.column(end_line, node.end_col_offset))

    def offset(self, line: int, column: int) -> int:
        return self.starts[line - 1] + column - 1

    def segment(self, at: Span) -> str:
        return self.text[self.offset(*at[:2]) : self.offset(*at[2:])]

    def place(self, offset: int) -> tuple[int, int]:
        line = sum(start <= offset for start in self.starts[:-1])
        return line, offset - self.starts[line - 1] + 1


# ------------------------------------------------------------------ expressions


def _expr(s: _Source, node: ast.AST) -> Expr:
    return _EXPRESSIONS[type(node)](s, node)


def _maybe(s: _Source, node: ast.AST | None) -> Expr | None:
    return None if node is None else _expr(s, node)


def _exprs(s: _Source, nodes: Sequence[ast.AST]) -> tuple[Expr, ...]:
    return tuple(_expr(s, node) for node in nodes)


def _name(s: _Source, node: ast.Name) -> Expr:
    return facts.Name(s.span(node), node.id)


def _attribute(s: _Source, node: ast.Attribute) -> Expr:
    return facts.Attribute(s.span(node), _expr(s, node.value), node.attr)


def _call(s: _Source, node: ast.Call) -> Expr:
    return facts.Call(s.span(node), _expr(s, node.func), _arguments(s, node.args, node.keywords))


def _arguments(s: _Source, args: list[ast.expr], keywords: list[ast.keyword]) -> tuple[facts.Arg, ...]:
    found = [(s.span(arg), _positional(s, arg)) for arg in args]
    for keyword in keywords:
        value = _expr(s, keyword.value)
        arg = facts.Arg(value, None, "**") if keyword.arg is None else facts.Arg(value, keyword.arg)
        found.append((s.span(keyword), arg))
    return tuple(arg for _, arg in sorted(found, key=lambda item: item[0]))


def _positional(s: _Source, node: ast.expr) -> facts.Arg:
    if isinstance(node, ast.Starred):
        return facts.Arg(_expr(s, node.value), None, "*")
    return facts.Arg(_expr(s, node))


def _constant(s: _Source, node: ast.Constant) -> Expr:
    at = s.span(node)
    value: Any = node.value
    if value is ...:
        return facts.Ellipsis_(at)
    if isinstance(value, (bytes, complex)) or not _storable(value):
        return facts.Opaque(at, s.segment(at))
    return facts.Constant(at, value)


def _doc(node: Any) -> str | None:
    text = ast.get_docstring(node, clean=False)
    return text if _storable(text) else None


def _storable(value: object) -> bool:
    if isinstance(value, str):
        return not re.search("[\ud800-\udfff]", value)
    return not isinstance(value, int) or value.bit_length() <= 60


def _fstring(s: _Source, node: Any) -> Expr:
    at = s.span(node)
    parts = [_text(at, str(part.value)) if isinstance(part, ast.Constant) else _hole(s, part) for part in node.values]
    return facts.FString(at, tuple(parts))


def _text(at: Span, value: str) -> Expr:
    return facts.Constant(at, value) if _storable(value) else facts.Opaque(at, "")


def _hole(s: _Source, node: Any) -> Expr:
    value = _expr(s, node.value)
    conversion = chr(node.conversion) if node.conversion >= 0 else ""
    spec, holes = _format_spec(s, node.format_spec)
    if conversion in ("", "s") and not spec:
        return value
    text = (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "")
    return facts.Opaque(value.at, text, (value, *holes))


def _format_spec(s: _Source, node: Any) -> tuple[str, list[Expr]]:
    text, holes = "", []
    for part in node.values if node else ():
        if isinstance(part, ast.Constant):
            text += str(part.value)
        else:
            text += "{}"
            holes.append(_hole(s, part))
    return text, holes


def _template(s: _Source, node: Any) -> Expr:
    at = s.span(node)
    holes = [_hole(s, value) for value in node.values if not isinstance(value, ast.Constant)]
    return facts.Opaque(at, s.segment(at), tuple(holes))


def _subscript(s: _Source, node: ast.Subscript) -> Expr:
    return facts.Subscript(s.span(node), _expr(s, node.value), _expr(s, node.slice))


def _slice(s: _Source, node: ast.Slice) -> Expr:
    return facts.Slice(s.span(node), _maybe(s, node.lower), _maybe(s, node.upper), _maybe(s, node.step))


def _lambda(s: _Source, node: ast.Lambda) -> Expr:
    return facts.Lambda(s.span(node), _parameters(s, node.args), _expr(s, node.body))


def _parameters(s: _Source, args: ast.arguments) -> tuple[facts.Param, ...]:
    plain = [*args.posonlyargs, *args.args]
    defaults = [*[None] * (len(plain) - len(args.defaults)), *args.defaults]
    found = []
    for number, (arg, default) in enumerate(zip(plain, defaults, strict=True)):
        kind = "positional" if number < len(args.posonlyargs) else "any"
        found.append(_parameter(s, arg, kind, default))
    if args.vararg:
        found.append(_parameter(s, args.vararg, "*"))
    for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        found.append(_parameter(s, arg, "keyword", default))
    if args.kwarg:
        found.append(_parameter(s, args.kwarg, "**"))
    return tuple(found)


def _parameter(s: _Source, arg: ast.arg, kind: Any, default: ast.expr | None = None) -> facts.Param:
    return facts.Param(arg.arg, kind, _maybe(s, arg.annotation), _maybe(s, default))


_COMPARATORS: dict[type[ast.cmpop], Any] = {
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


def _compare(s: _Source, node: ast.Compare) -> Expr:
    at = s.span(node)
    operands = _exprs(s, [node.left, *node.comparators])
    ops = [_COMPARATORS[type(op)] for op in node.ops]
    if len(ops) == 1:
        return facts.Compare(at, operands[0], ops[0], operands[1])
    links = zip(operands, ops, operands[1:], strict=False)
    values = [facts.Compare(left.at[:2] + right.at[2:], left, op, right) for left, op, right in links]
    return facts.BoolOp(at, "and", tuple(values))


def _bool_op(s: _Source, node: ast.BoolOp) -> Expr:
    return facts.BoolOp(s.span(node), "and" if isinstance(node.op, ast.And) else "or", _exprs(s, node.values))


_OPERATORS: dict[type[ast.AST], str] = {
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


def _bin_op(s: _Source, node: ast.BinOp) -> Expr:
    at = s.span(node)
    links = [node]
    while isinstance(links[-1].left, ast.BinOp) and s.span(links[-1].left)[:2] == at[:2]:
        links.append(links[-1].left)
    if len(links) > LONGEST_CHAIN:
        operands = [links[-1].left, *(link.right for link in reversed(links))]
        return facts.Opaque(at, s.segment(at), _exprs(s, operands))
    value = _expr(s, links[-1].left)
    for link in reversed(links):
        value = facts.BinOp(s.span(link), value, _OPERATORS[type(link.op)], _expr(s, link.right))
    return value


def _unary_op(s: _Source, node: ast.UnaryOp) -> Expr:
    at, value = s.span(node), _expr(s, node.operand)
    return facts.Not(at, value) if isinstance(node.op, ast.Not) else facts.UnaryOp(at, _OPERATORS[type(node.op)], value)


def _if_exp(s: _Source, node: ast.IfExp) -> Expr:
    return facts.IfExp(s.span(node), _expr(s, node.test), _expr(s, node.body), _expr(s, node.orelse))


def _tuple(s: _Source, node: ast.Tuple) -> Expr:
    return facts.Sequence(s.span(node), "tuple", _exprs(s, node.elts))


def _list(s: _Source, node: ast.List) -> Expr:
    return facts.Sequence(s.span(node), "list", _exprs(s, node.elts))


def _set(s: _Source, node: ast.Set) -> Expr:
    return facts.Sequence(s.span(node), "set", _exprs(s, node.elts))


def _starred(s: _Source, node: ast.Starred) -> Expr:
    return facts.Starred(s.span(node), _expr(s, node.value))


def _dict(s: _Source, node: ast.Dict) -> Expr:
    return facts.Dict(
        s.span(node), tuple((_maybe(s, k), _expr(s, v)) for k, v in zip(node.keys, node.values, strict=True))
    )


def _comprehension(kind: Any) -> Callable[[_Source, Any], Expr]:
    def convert(s: _Source, node: Any) -> Expr:
        generators = tuple(_generator(s, item) for item in node.generators)
        return facts.Comprehension(s.span(node), kind, None, _expr(s, node.elt), generators)

    return convert


def _dict_comprehension(s: _Source, node: ast.DictComp) -> Expr:
    generators = tuple(_generator(s, item) for item in node.generators)
    return facts.Comprehension(s.span(node), "dict", _expr(s, node.key), _expr(s, node.value), generators)


def _generator(s: _Source, node: ast.comprehension) -> facts.Generator:
    return facts.Generator(_expr(s, node.target), _expr(s, node.iter), _exprs(s, node.ifs), bool(node.is_async))


def _await(s: _Source, node: ast.Await) -> Expr:
    return facts.Await(s.span(node), _expr(s, node.value))


def _yield(s: _Source, node: ast.Yield) -> Expr:
    return facts.Yield(s.span(node), _maybe(s, node.value))


def _yield_from(s: _Source, node: ast.YieldFrom) -> Expr:
    return facts.Yield(s.span(node), _expr(s, node.value), True)


def _walrus(s: _Source, node: ast.NamedExpr) -> Expr:
    return facts.Walrus(s.span(node), _expr(s, node.target), _expr(s, node.value))


_EXPRESSIONS: dict[type[ast.AST], Callable[[_Source, Any], Expr]] = {
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.Constant: _constant,
    ast.JoinedStr: _fstring,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Lambda: _lambda,
    ast.Compare: _compare,
    ast.BoolOp: _bool_op,
    ast.BinOp: _bin_op,
    ast.UnaryOp: _unary_op,
    ast.IfExp: _if_exp,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Set: _set,
    ast.Starred: _starred,
    ast.Dict: _dict,
    ast.ListComp: _comprehension("list"),
    ast.SetComp: _comprehension("set"),
    ast.GeneratorExp: _comprehension("generator"),
    ast.DictComp: _dict_comprehension,
    ast.Await: _await,
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
    ast.NamedExpr: _walrus,
}
if hasattr(ast, "TemplateStr"):
    _EXPRESSIONS[ast.TemplateStr] = _template


# ------------------------------------------------------------------ statements


def _block(s: _Source, nodes: Sequence[ast.stmt]) -> tuple[Stmt, ...]:
    return tuple(stmt for node in nodes for stmt in _stmts(s, node))


def _stmts(s: _Source, node: ast.stmt) -> Iterator[Stmt]:
    if isinstance(node, ast.Import):
        yield from (facts.Import(s.span(alias), alias.name, alias.asname) for alias in node.names)
    elif isinstance(node, ast.Match):
        yield from _match(s, node)
    else:
        yield _STATEMENTS[type(node)](s, node)


def _expr_stmt(s: _Source, node: ast.Expr) -> Stmt:
    return facts.ExprStmt(s.span(node), _expr(s, node.value))


def _assign(s: _Source, node: ast.Assign) -> Stmt:
    return facts.Assign(s.span(node), _exprs(s, node.targets), _expr(s, node.value))


def _ann_assign(s: _Source, node: ast.AnnAssign) -> Stmt:
    value = _maybe(s, node.value)
    return facts.Assign(s.span(node), (_expr(s, node.target),), value, _expr(s, node.annotation))


def _aug_assign(s: _Source, node: ast.AugAssign) -> Stmt:
    return facts.AugAssign(s.span(node), _expr(s, node.target), _OPERATORS[type(node.op)], _expr(s, node.value))


def _type_alias(s: _Source, node: Any) -> Stmt:
    return facts.Assign(s.span(node), (_expr(s, node.name),), _expr(s, node.value))


def _return(s: _Source, node: ast.Return) -> Stmt:
    return facts.Return(s.span(node), _maybe(s, node.value))


def _raise(s: _Source, node: ast.Raise) -> Stmt:
    return facts.Raise(s.span(node), _maybe(s, node.exc), _maybe(s, node.cause))


def _assert(s: _Source, node: ast.Assert) -> Stmt:
    return facts.Assert(s.span(node), _expr(s, node.test), _maybe(s, node.msg))


def _delete(s: _Source, node: ast.Delete) -> Stmt:
    return facts.Delete(s.span(node), _exprs(s, node.targets))


def _jump(kind: Any) -> Callable[[_Source, ast.stmt], Stmt]:
    return lambda s, node: facts.Jump(s.span(node), kind)


def _scope(kind: Any) -> Callable[[_Source, Any], Stmt]:
    return lambda s, node: facts.Scope(s.span(node), kind, tuple(node.names))


def _import_from(s: _Source, node: ast.ImportFrom) -> Stmt:
    names = tuple((alias.name, alias.asname or alias.name) for alias in node.names)
    return facts.ImportFrom(s.span(node), node.module or "", node.level, names)


def _if(s: _Source, node: ast.If) -> Stmt:
    return facts.If(s.span(node), _expr(s, node.test), _block(s, node.body), _block(s, node.orelse))


def _for(s: _Source, node: Any) -> Stmt:
    target, source = _expr(s, node.target), _expr(s, node.iter)
    body, orelse = _block(s, node.body), _block(s, node.orelse)
    return facts.For(s.span(node), target, source, body, orelse, isinstance(node, ast.AsyncFor))


def _while(s: _Source, node: ast.While) -> Stmt:
    return facts.While(s.span(node), _expr(s, node.test), _block(s, node.body), _block(s, node.orelse))


def _try(s: _Source, node: Any) -> Stmt:
    handlers = tuple(
        facts.Handler(s.span(item), _maybe(s, item.type), item.name, _block(s, item.body)) for item in node.handlers
    )
    orelse, final = _block(s, node.orelse), _block(s, node.finalbody)
    return facts.Try(s.span(node), _block(s, node.body), handlers, orelse, final)


def _with(s: _Source, node: Any) -> Stmt:
    items = tuple(facts.WithItem(_expr(s, item.context_expr), _maybe(s, item.optional_vars)) for item in node.items)
    return facts.With(s.span(node), items, _block(s, node.body), isinstance(node, ast.AsyncWith))


def _def(s: _Source, node: Any) -> Stmt:
    args = node.args
    inside = [*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg]
    inside += [*args.defaults, *args.kw_defaults, node.returns]
    return facts.Def(
        s.span(node),
        node.name,
        _parameters(s, args),
        _exprs(s, node.decorator_list),
        _maybe(s, node.returns),
        _block(s, node.body),
        isinstance(node, ast.AsyncFunctionDef),
        _is_generator(node.body),
        _header(s, node, inside),
        _doc(node),
    )


def _class(s: _Source, node: ast.ClassDef) -> Stmt:
    return facts.Class(
        s.span(node),
        node.name,
        _arguments(s, node.bases, node.keywords),
        _exprs(s, node.decorator_list),
        _block(s, node.body),
        _header(s, node, [*node.bases, *node.keywords]),
        _doc(node),
    )


_TO_COLON = re.compile(r"(?:[^:#]|#[^\r\n]*)*")


def _header(s: _Source, node: Any, inside: Sequence[Any]) -> Span:
    """From the start of `node` to the colon behind its name and all nodes inside its header."""
    at = s.span(node)
    ends = [s.span(item)[2:] for item in [*inside, *getattr(node, "type_params", ())] if item is not None]
    match = _TO_COLON.match(s.text, s.offset(*max([at[:2], *ends])))
    assert match is not None
    return at[:2] + s.place(match.end())


_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def _is_generator(body: Sequence[ast.AST]) -> bool:
    todo = list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if isinstance(node, _INNER):
            outside = [getattr(node, name, None) for name in ("args", "decorator_list", "returns", "bases", "keywords")]
            todo += [item for part in outside if part for item in (part if isinstance(part, list) else [part])]
        else:
            todo += ast.iter_child_nodes(node)
    return False


_STATEMENTS: dict[type[ast.AST], Callable[[_Source, Any], Stmt]] = {
    ast.Expr: _expr_stmt,
    ast.Assign: _assign,
    ast.AnnAssign: _ann_assign,
    ast.AugAssign: _aug_assign,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.Delete: _delete,
    ast.Pass: _jump("pass"),
    ast.Break: _jump("break"),
    ast.Continue: _jump("continue"),
    ast.Global: _scope("global"),
    ast.Nonlocal: _scope("nonlocal"),
    ast.ImportFrom: _import_from,
    ast.If: _if,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.Try: _try,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.FunctionDef: _def,
    ast.AsyncFunctionDef: _def,
    ast.ClassDef: _class,
}
if hasattr(ast, "TryStar"):
    _STATEMENTS[ast.TryStar] = _try
if hasattr(ast, "TypeAlias"):
    _STATEMENTS[ast.TypeAlias] = _type_alias


# ------------------------------------------------------------------ match statements


def _match(s: _Source, node: ast.Match) -> list[Stmt]:
    heads, subject = kept(_expr(s, node.subject))
    return [*heads, chain(s.span(node), [_case(s, item, subject) for item in node.cases])]


def _case(s: _Source, node: ast.match_case, subject: Expr) -> Case:
    at, bound = s.span(node.pattern), Bound()
    test = _pattern(s, node.pattern, subject, bound)
    return case(at, test, _maybe(s, node.guard), bound, s.segment(at), subject, _block(s, node.body))


def _pattern(s: _Source, node: Any, subject: Expr, bound: Bound) -> Expr | None:
    """The test of a pattern, None if it always matches; adds the names that it binds."""
    at = s.span(node)
    if isinstance(node, ast.MatchValue):
        return facts.Compare(at, subject, "==", _expr(s, node.value))
    if isinstance(node, ast.MatchSingleton):
        return facts.Compare(at, subject, "is", facts.Constant(at, node.value))
    if isinstance(node, ast.MatchAs):
        test = None if node.pattern is None else _pattern(s, node.pattern, subject, bound)
        if node.name is not None:
            bound.add(node.name)
        return test
    if isinstance(node, ast.MatchOr):
        return any_of(at, [_pattern(s, item, subject, bound) for item in node.patterns])
    if isinstance(node, ast.MatchClass):
        return _class_pattern(s, node, subject, bound)
    if isinstance(node, ast.MatchMapping):
        return _mapping_pattern(s, node, subject, bound)
    _bind(node, bound)
    return facts.Opaque(at, s.segment(at), (subject,))


def _class_pattern(s: _Source, node: ast.MatchClass, subject: Expr, bound: Bound) -> Expr | None:
    tests = [is_instance(s.span(node), subject, _expr(s, node.cls))]
    tested = [item for item in node.patterns if _pattern(s, item, subject, bound) is not None]
    tests += [facts.Opaque(s.span(item), s.segment(s.span(item)), (subject,)) for item in tested]
    for name, item in zip(node.kwd_attrs, node.kwd_patterns, strict=True):
        test = _pattern(s, item, facts.Attribute(subject.at, subject, name), bound)
        tests += [] if test is None else [test]
    return all_of(s.span(node), tests)


def _mapping_pattern(s: _Source, node: ast.MatchMapping, subject: Expr, bound: Bound) -> Expr:
    tests: list[Expr] = []
    for key_node, item in zip(node.keys, node.patterns, strict=True):
        key = _expr(s, key_node)
        test = _pattern(s, item, facts.Subscript(subject.at, subject, key), bound)
        tests.append(test or facts.Compare(key.at, key, "in", subject))
    if node.rest is not None:
        bound.add(node.rest)
    at = s.span(node)
    return all_of(at, tests) or facts.Opaque(at, s.segment(at), (subject,))


def _bind(node: ast.AST, bound: Bound) -> None:
    """Adds the names inside a sequence pattern, in source order."""
    if isinstance(node, (ast.MatchAs, ast.MatchStar)):
        for child in ast.iter_child_nodes(node):
            _bind(child, bound)
        if node.name is not None:
            bound.add(node.name)
    else:
        for child in ast.iter_child_nodes(node):
            _bind(child, bound)
        if isinstance(node, ast.MatchMapping) and node.rest is not None:
            bound.add(node.rest)


# ------------------------------------------------------------------ comparison


def unplaced(value: Any, inside: bool = False) -> Any:
    """`value` with `NOWHERE` for all spans inside its f-strings."""
    if isinstance(value, tuple):
        return tuple(unplaced(item, inside) for item in value)
    if not isinstance(value, msgspec.Struct):
        return value
    within = inside or isinstance(value, facts.FString)
    changed = {
        name: facts.NOWHERE
        if name == "at" and inside
        else getattr(value, name)
        if name in ("at", "name_at")
        else unplaced(getattr(value, name), within)
        for name in value.__struct_fields__
    }
    return type(value)(**changed)


def first_difference(left: Any, right: Any, path: str = "module") -> str:
    """Where two facts differ first, or an empty text."""
    if type(left) is not type(right):
        return f"{path}: {left!r} != {right!r}"
    if isinstance(left, msgspec.Struct):
        place = f"{path} {type(left).__name__}{getattr(left, 'at', '')}"
        fields = ((getattr(left, f), getattr(right, f), f"{place}.{f}") for f in left.__struct_fields__)
        return next((found for item in fields if (found := first_difference(*item))), "")
    if isinstance(left, tuple) and len(left) == len(right) and not all(isinstance(item, int) for item in left):
        items = ((a, b, f"{path}[{i}]") for i, (a, b) in enumerate(zip(left, right, strict=True)))
        return next((found for item in items if (found := first_difference(*item))), "")
    return "" if left == right and repr(left) == repr(right) else f"{path}: {left!r} != {right!r}"
