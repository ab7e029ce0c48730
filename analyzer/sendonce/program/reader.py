"""Reads an expression as a symbolic value in the scope of a function, class or module.

`Reader` alone has no memory of what ran before; `flow.Walk` extends it with local variables,
call sites and the facts that hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sendonce import facts
from sendonce.program.quoted import unquoted
from sendonce.program.symbols import Binding, Class, Function, lambda_id
from sendonce.program.values import (
    UNKNOWN,
    At,
    Attr,
    Call,
    Const,
    Element,
    External,
    FunctionRef,
    Item,
    Op,
    Param,
    Seq,
    Super,
    Table,
    Value,
    text,
    union,
)

if TYPE_CHECKING:
    from sendonce.program.evaluate import Evaluator

FORMAT = External("builtins.format")


class Reader:
    """Reads expressions that stand in `function` (a module's body for its top level).

    `cls` is the class whose body they stand in, `binding` the binding whose own value is read: its
    name then means what was bound before.
    """

    def __init__(
        self, evaluator: Evaluator, function: Function, cls: Class | None = None, binding: Binding | None = None
    ) -> None:
        self.evaluator = evaluator
        self.function = function
        self.cls = cls
        self.binding = binding
        self.locals: dict[str, Value] = {}

    # ------------------------------------------------------------------ names

    def lookup(self, name: str) -> Value:
        """What a name means here."""
        if name in self.locals:
            return self.locals[name]
        if self.cls is not None and name in self.cls.scope:
            return self._earlier(self.cls.scope[name], self.cls)
        function = self.function
        if any(param.name == name for param in function.params):
            return Param(function.id, name)
        if self.cls is None and function is function.module.body and name in function.module.scope:
            if self.binding is not None and self.binding.name == name:
                return self._earlier(function.module.scope[name], None)
            return self.evaluator.module_name(function.module, name)
        if not isinstance(function.node, facts.ModuleFacts):
            found = self.evaluator.flow_of(function).binding(name)
            if found is not None:
                return found
        return self.evaluator.name(function, name)

    def _earlier(self, bindings: list[Binding], cls: Class | None) -> Value:
        """The value of a name by the bindings before the one that is being read."""
        if self.binding in bindings:
            bindings = bindings[: bindings.index(self.binding)]
        if not bindings:
            return self.evaluator.name(self.function, self.binding.name) if cls and self.binding else UNKNOWN
        return self.evaluator.binding_value(self.function.module, cls, bindings[-1])

    def at(self, node: facts.Node) -> At:
        """The place of a node."""
        return (self.function.module.path, node.at[0], node.at[1])

    # ------------------------------------------------------------------ expressions

    def read(self, node: facts.Expr) -> Value:
        """The value of an expression."""
        return _READ[type(node)](self, node)

    def _name(self, node: facts.Name) -> Value:
        return self.lookup(node.id)

    def _attribute(self, node: facts.Attribute) -> Value:
        if isinstance(node.value, facts.Name):
            known = self.locals.get(f"{node.value.id}.{node.attr}")
            if known is not None:
                return known
        return Attr(self.read(node.value), node.attr)

    def _constant(self, node: facts.Constant) -> Value:
        return Const(node.value)

    def _opaque(self, node: facts.Opaque) -> Value:
        for child in node.children:
            self.read(child)
        return UNKNOWN

    def _fstring(self, node: facts.FString) -> Value:
        return text(tuple(self._shown(part) for part in node.parts))

    def _shown(self, part: facts.Expr) -> Value:
        """A hole; one that is shown by a format as a call of `format`."""
        if isinstance(part, facts.Opaque) and part.children and part.text[:1] in (":", "!"):
            values = [self.read(child) for child in part.children]
            return Call(FORMAT, ("", ""), (values[0], Const(part.text.lstrip(":"))), self.at(part))
        return self.read(part)

    def _subscript(self, node: facts.Subscript) -> Value:
        base = self.read(node.value)
        if isinstance(node.index, facts.Slice):
            return self._part(base, node.index)
        return Item(base, self.read(node.index))

    def _part(self, base: Value, node: facts.Slice) -> Value:
        """A slice: of a list whose items are known those that are in it."""
        given = (Const(None) if part is None else self.read(part) for part in (node.lower, node.upper, node.step))
        bounds: list[Any] = [part.value if isinstance(part, Const) else "" for part in given]
        if isinstance(base, Seq) and base.kind != "each" and all(_is_bound(one) for one in bounds) and bounds[2] != 0:
            return Seq(base.kind, base.items[slice(*bounds)])
        return Item(base, UNKNOWN)

    def _lambda(self, node: facts.Lambda) -> Value:
        body = self.function
        prefix = body.module.key if isinstance(body.node, facts.ModuleFacts) else f"{body.id}.<locals>"
        id = lambda_id(prefix, node)
        try:
            function = self.evaluator.program.function(id)
        except KeyError:
            return UNKNOWN  # a lambda in a decorator or default, read in another scope
        return self.evaluator.closed(function, FunctionRef(id))

    def _compare(self, node: facts.Compare) -> Value:
        return Op(node.op, (self.read(node.left), self.read(node.right)))

    def _bool_op(self, node: facts.BoolOp) -> Value:
        return Op(node.op, tuple(self.read(value) for value in node.values))

    def _not(self, node: facts.Not) -> Value:
        return Op("not", (self.read(node.value),))

    def _bin_op(self, node: facts.BinOp) -> Value:
        left, right = self.read(node.left), self.read(node.right)
        if node.op == "%" and isinstance(left, Const) and isinstance(left.value, str):
            return _percent(left.value, right)
        if (
            node.op == "+"
            and isinstance(left, Seq)
            and isinstance(right, Seq)
            and "each" not in (left.kind, right.kind)
        ):
            return Seq(left.kind, left.items + right.items)
        return Op(node.op, (left, right))

    def _unary_op(self, node: facts.UnaryOp) -> Value:
        value = self.read(node.value)
        if node.op == "-" and isinstance(value, Const) and isinstance(value.value, int | float):
            return Const(-value.value)
        return Op(node.op, (value,))

    def _if_exp(self, node: facts.IfExp) -> Value:
        self.read(node.test)
        return union((self.read(node.body), self.read(node.orelse)))

    def _sequence(self, node: facts.Sequence) -> Value:
        items: list[Value] = []
        for item in node.items:
            if isinstance(item, facts.Starred):
                inner = self.read(item.value)
                if isinstance(inner, Seq) and inner.kind != "each":
                    items.extend(inner.items)
                    continue
                return Seq("each", (union([*items, Element(inner)]),))
            items.append(self.read(item))
        return Seq(node.kind, tuple(items))

    def _starred(self, node: facts.Starred) -> Value:
        self.read(node.value)
        return UNKNOWN

    def _dict(self, node: facts.Dict) -> Value:
        keys: list[Value] = []
        values: list[Value] = []
        for key, value in node.items:
            found = self.read(value)
            if key is not None:
                keys.append(self.read(key))
                values.append(found)
            elif isinstance(inner := self.evaluator.resolve(found), Table):
                keys.extend(inner.keys)
                values.extend(inner.values)
            else:
                keys.append(UNKNOWN)
                values.append(UNKNOWN)
        return Table(tuple(keys), tuple(values))

    def _comprehension(self, node: facts.Comprehension) -> Value:
        saved = dict(self.locals)
        try:
            for generator in node.generators:
                self.bind(generator.target, Element(self.read(generator.iter)))
                for test in generator.tests:
                    self.assumed(test, True)
            element = self.read(node.element)
            if node.key is not None:
                return Table((self.read(node.key),), (element,))
            return Seq("each", (element,))
        finally:
            self.locals = saved

    def _await(self, node: facts.Await) -> Value:
        return self.read(node.value)

    def _yield(self, node: facts.Yield) -> Value:
        if node.value is not None:
            self.read(node.value)
        return UNKNOWN

    def _walrus(self, node: facts.Walrus) -> Value:
        value = self.read(node.value)
        self.bind(node.target, value)
        return value

    def _slice(self, node: facts.Slice) -> Value:
        for part in (node.lower, node.upper, node.step):
            if part is not None:
                self.read(part)
        return UNKNOWN

    def _ellipsis(self, node: facts.Ellipsis_) -> Value:
        return UNKNOWN

    # ------------------------------------------------------------------ calls

    def _call(self, node: facts.Call) -> Value:
        if isinstance(node.func, facts.Name) and node.func.id == "super" and "super" not in self.locals:
            return self._super(node)
        func = self.read(node.func)
        names = tuple(arg.keyword or arg.star for arg in node.args)
        args = tuple(self.read(arg.value) for arg in node.args)
        value = _literal_call(func, names, args, self.at(node)) or Call(func, names, args, self.at(node))
        return self.called(value, node, func, names, args)

    def called(
        self, value: Value, node: facts.Call, func: Value, names: tuple[str, ...], args: tuple[Value, ...]
    ) -> Value:
        """Told of every call; gives the value of the call."""
        return value

    def _super(self, node: facts.Call) -> Value:
        method = self.function
        while method.cls is None and method.parent is not None:
            method = method.parent
        if method.cls is None or not method.params:
            return UNKNOWN
        return Super(method.cls.id, Param(method.id, method.params[0].name))

    # ------------------------------------------------------------------ hooks

    def bind(self, target: facts.Expr, value: Value) -> None:
        """Gives a target its value: names only, further kinds in `flow.Walk`."""
        match target:
            case facts.Name(id=name):
                self.locals[name] = value
            case facts.Sequence(items=items):
                for index, item in enumerate(items):
                    starred = isinstance(item, facts.Starred)
                    self.bind(
                        item.value if isinstance(item, facts.Starred) else item,
                        UNKNOWN if starred else Item(value, Const(index)),
                    )
            case _:
                pass

    def assumed(self, test: facts.Expr, holds: bool) -> None:
        """Reads a test that decides whether the rest is reached."""
        self.read(test)

    def annotation(self, node: facts.Expr) -> Value:
        """The value of an annotation, which may be a string, or have strings inside."""
        parsed = unquoted(node)
        return UNKNOWN if parsed is None else self.read(parsed)


def _is_bound(value: object) -> bool:
    return value is None or isinstance(value, int)


def _percent(pattern: str, right: Value) -> Value:
    """`"…%s…" % values` as a text."""
    pieces: list[Value] = []
    rest = list(right.items) if isinstance(right, Seq) and right.kind == "tuple" else [right]
    done = 0
    for found in _DIRECTIVE.finditer(pattern):
        pieces.append(Const(pattern[done : found.start()]))
        done = found.end()
        if found[0] == "%%":
            pieces.append(Const("%"))
        elif found[1] is not None:
            pieces.append(Item(right, Const(found[1])))
        else:
            pieces.append(rest.pop(0) if rest and not isinstance(right, Table) else UNKNOWN)
    return text((*pieces, Const(pattern[done:])))


_DIRECTIVE = re.compile(r"%(?:\((\w+)\))?[-#0 +]*\d*(?:\.\d+)?[diouxXeEfFgGcrsa]|%%")


def _literal_call(func: Value, names: tuple[str, ...], args: tuple[Value, ...], at: At) -> Value | None:
    """`"…".format(…)` and `dict(a=…)` as the literals that they are."""
    match func:
        case Attr(base=Const(value=str() as pattern), name="format"):
            return _formatted(pattern, names, args, at)
        case _:
            if func is External("builtins.dict") and names and all(n not in ("", "*", "**") for n in names):
                return Table(tuple(Const(name) for name in names), args)
            return None


def _formatted(pattern: str, names: tuple[str, ...], args: tuple[Value, ...], at: At) -> Value:
    import string

    positional = [arg for name, arg in zip(names, args, strict=True) if name == ""]
    pieces: list[Value] = []
    try:
        for number, (literal, field, shown, _) in enumerate(string.Formatter().parse(pattern)):
            pieces.append(Const(literal))
            if field is None:
                continue
            head, *attributes = field.split(".")
            if head and head in names:
                piece = args[names.index(head)]
            else:
                index = int(head) if head.isdigit() else number
                piece = positional[index] if index < len(positional) else UNKNOWN
            for attribute in attributes:
                piece = Attr(piece, attribute)
            pieces.append(Call(FORMAT, ("", ""), (piece, Const(shown)), at) if shown else piece)
    except ValueError:
        return UNKNOWN
    return text(tuple(pieces))


_READ: dict[type, Callable[[Any, Any], Value]] = {
    facts.Name: lambda r, n: r._name(n),
    facts.Attribute: lambda r, n: r._attribute(n),
    facts.Call: lambda r, n: r._call(n),
    facts.Constant: lambda r, n: r._constant(n),
    facts.Ellipsis_: lambda r, n: r._ellipsis(n),
    facts.Opaque: lambda r, n: r._opaque(n),
    facts.FString: lambda r, n: r._fstring(n),
    facts.Subscript: lambda r, n: r._subscript(n),
    facts.Slice: lambda r, n: r._slice(n),
    facts.Lambda: lambda r, n: r._lambda(n),
    facts.Compare: lambda r, n: r._compare(n),
    facts.BoolOp: lambda r, n: r._bool_op(n),
    facts.Not: lambda r, n: r._not(n),
    facts.BinOp: lambda r, n: r._bin_op(n),
    facts.UnaryOp: lambda r, n: r._unary_op(n),
    facts.IfExp: lambda r, n: r._if_exp(n),
    facts.Sequence: lambda r, n: r._sequence(n),
    facts.Starred: lambda r, n: r._starred(n),
    facts.Dict: lambda r, n: r._dict(n),
    facts.Comprehension: lambda r, n: r._comprehension(n),
    facts.Await: lambda r, n: r._await(n),
    facts.Yield: lambda r, n: r._yield(n),
    facts.Walrus: lambda r, n: r._walrus(n),
}
