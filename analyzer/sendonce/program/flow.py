"""One walk over a function's body: its calls with what holds at each, what it returns and writes.

The walk is flow-sensitive for local variables and resolves nearly nothing: values stay symbolic,
so that walking one function never depends on another.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from sendonce import facts
from sendonce.program import held as h
from sendonce.program.evaluate import Evaluator
from sendonce.program.held import Held, Site
from sendonce.program.reader import Reader
from sendonce.program.symbols import Body, Class, Function, bindings_of
from sendonce.program.values import (
    FALSE,
    MAX_SIZE,
    NONE,
    TRUE,
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    External,
    FunctionRef,
    Item,
    Op,
    Param,
    Seq,
    Some,
    Union,
    Updated,
    Value,
    options,
    thinned,
    union,
)


@dataclass(frozen=True, eq=False)
class Exit:
    """One way out of a function (return, raise) or one yield: the value, where, and what holds."""

    value: Value
    at: facts.Span
    held: Held | None


@dataclass(frozen=True, eq=False)
class Write:
    """One assignment to an attribute or item."""

    base: Value
    field: str
    value: Value
    at: facts.Span
    held: Held | None


@dataclass
class Flow:
    """All that one walk found, in the order of the source."""

    function: Function
    sites: list[Site] = field(default_factory=list)
    returns: list[Exit] = field(default_factory=list)
    raises: list[Exit] = field(default_factory=list)
    yields: list[Exit] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    assigned: dict[str, list[Value]] = field(default_factory=dict)
    choices: dict[Value, list[tuple[Value, Value, Value]]] = field(default_factory=dict)
    """For the value of each `a if t else b`: the test and the two values."""

    @property
    def returned(self) -> Value:
        """One of the returned values (for a generator: yielded), None left out if there are others."""
        exits = self.yields or self.returns
        known = [exit.value for exit in exits if exit.value is not NONE]
        return union(known) if known else NONE

    def binding(self, name: str) -> Value | None:
        """One of the values that a local variable gets; the parameter of that name; None for other names."""
        if name in self.assigned:
            return union(self.assigned[name])
        if any(param.name == name for param in self.function.params):
            return Param(self.function.id, name)
        return None

    def written(self, attr: str) -> tuple[Value, ...]:
        """The values assigned to an attribute of the first parameter."""
        if not self.function.params:
            return ()
        first = Param(self.function.id, self.function.params[0].name)
        return tuple(write.value for write in self.writes if write.field == attr and _root(write.base) is first)


def _root(value: Value) -> Value:
    while isinstance(value, Updated):
        value = value.base
    return value


class Flows:
    """The walks of a program's functions, each done once."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._known: dict[str, Flow] = {}
        evaluator.flow_of = self.of

    def of(self, function: Function) -> Flow:
        """The walk over a function; empty for one that is being walked just now."""
        found = self._known.get(function.id)
        if found is None:
            found = self._known[function.id] = Flow(function)
            # What nests deeper than can be walked leaves what was found before it.
            with self._evaluator.memo.afresh(), suppress(RecursionError):
                Walk(self._evaluator, function, found).run()
        return found


class Walk(Reader):
    """The state of one walk: local variables, the facts that hold, and whether this point can be reached."""

    def __init__(self, evaluator: Evaluator, function: Function, flow: Flow, cls: Class | None = None) -> None:
        super().__init__(evaluator, function, cls)
        self.flow = flow
        self.held: Held | None = None
        self.alive = True
        self.globals: set[str] = set()
        self.breaks: list[list[Held | None]] = []
        self.unused: facts.Call | None = None

    def run(self) -> None:
        """Walks the whole function."""
        node = self.function.node
        for param in self.function.params:
            self.locals[param.name] = Param(self.function.id, param.name)
        if isinstance(node, facts.Lambda):
            value = self.read(node.body)
            self.flow.returns.append(Exit(value, node.body.at, self.held))
            return
        self.block(node.body)
        if self.alive:
            self.flow.returns.append(Exit(NONE, node.body[-1].at if node.body else facts.NOWHERE, self.held))

    def lookup(self, name: str) -> Value:
        if name in self.locals:
            return self.locals[name]
        function = self.function
        if function is function.module.body:
            return self.evaluator.module_name(function.module, name)
        return self.evaluator.name(function, name)

    # ------------------------------------------------------------------ calls

    def called(
        self, value: Value, node: facts.Call, func: Value, names: tuple[str, ...], args: tuple[Value, ...]
    ) -> Value:
        call = value if isinstance(value, Call) else Call(func, names, args, self.at(node))
        if isinstance(call, Call):
            self.record(call, node.at, node is not self.unused)
        return value

    def record(self, call: Call, at: facts.Span, used: bool = True) -> Site:
        """Notes a call; from here on it is done."""
        path = self.function.module.path
        site = Site(self.function.id, path, len(self.flow.sites), at, call, self.held, used)
        self.flow.sites.append(site)
        self.held = h.add(self.held, h.Done(site))
        return site

    # ------------------------------------------------------------------ conditions inside expressions

    def assume(self, value: Value, holds: bool, at: facts.Span) -> None:
        """From here on the test is known to be true or false; `and`, `or` and `not` are taken apart."""
        if isinstance(value, Op):
            if value.op == "not":
                return self.assume(value.operands[0], not holds, at)
            if (value.op == "and" and holds) or (value.op == "or" and not holds):
                for operand in value.operands:
                    self.assume(operand, holds, at)
                return None
        if value is not UNKNOWN:
            self.held = h.add(self.held, h.Test(value, holds, at))
        if holds:
            self._narrow(value)
        return None

    def _narrow(self, value: Value) -> None:
        """`isinstance(x, C)` tells the type of a variable that had none."""
        if not (isinstance(value, Call) and value.func is External("builtins.isinstance") and len(value.args) == 2):
            return
        subject, cls = value.args
        for name, known in self.locals.items():
            if known is subject and _tells_type(cls) and not isinstance(subject, Call):
                self.locals[name] = Some(cls)

    def assumed(self, test: facts.Expr, holds: bool) -> None:
        self.assume(self.read(test), holds, test.at)

    def _bool_op(self, node: facts.BoolOp) -> Value:
        """Each operand is read knowing that those before it were true (`and`) or false (`or`)."""
        values = [self.read(node.values[0])]
        start = self.held
        for before, operand in zip(node.values, node.values[1:], strict=False):
            self.assume(values[-1], node.op == "and", before.at)
            values.append(self.read(operand))
        self.held = start
        return Op(node.op, tuple(values))

    def _if_exp(self, node: facts.IfExp) -> Value:
        test = self.read(node.test)
        start = self.held
        self.assume(test, True, node.test.at)
        body = self.read(node.body)
        self.held = start
        self.assume(test, False, node.test.at)
        orelse = self.read(node.orelse)
        self.held = start
        found = _as_test(test, body, orelse) or union((body, orelse))
        if isinstance(found, Union):
            self.flow.choices.setdefault(found, []).append((test, body, orelse))
        return found

    def _comprehension(self, node: facts.Comprehension) -> Value:
        start = self.held
        over = self.read(node.generators[0].iter)
        self.held = h.add(self.held, h.Loop(node.at, over))
        try:
            return super()._comprehension(node)
        finally:
            self.held = start

    def _lambda(self, node: facts.Lambda) -> Value:
        for param in node.params:
            if param.default is not None:
                self.read(param.default)
        return super()._lambda(node)

    def _yield(self, node: facts.Yield) -> Value:
        value = NONE if node.value is None else self.read(node.value)
        self.flow.yields.append(Exit(Element(value) if node.is_from else value, node.at, self.held))
        return UNKNOWN

    # ------------------------------------------------------------------ statements

    def block(self, body: Body) -> None:
        """Walks statements until one cannot be passed."""
        for statement in body:
            if not self.alive:
                return
            _STATEMENT[type(statement)](self, statement)

    def _expr(self, node: facts.ExprStmt) -> None:
        call = node.value.value if isinstance(node.value, facts.Await) else node.value
        self.unused = call if isinstance(call, facts.Call) else None
        value = self.read(node.value)
        self.unused = None
        if isinstance(value, Call):
            self._method_effect(value, call if isinstance(call, facts.Call) else None)
            if self.evaluator.never_returns(value):
                self.flow.raises.append(Exit(value, node.at, self.held))
                self.alive = False

    def _method_effect(self, call: Call, node: facts.Call | None) -> None:
        """`message.attach(x)` may change the object that a variable holds; `items.append(x)` makes a list longer."""
        if not isinstance(call.func, Attr):
            return
        base = call.func.base
        if isinstance(base, Call | Updated):
            self._replace(base, Updated(base, f"{call.func.name}()", call))
        elif all(isinstance(option, Seq) for option in options(base)):
            self._list_effect(call, base, node)

    def _list_effect(self, call: Call, base: Value, node: facts.Call | None) -> None:
        """Two lists of equal items are one value: only the variable that is named changes."""
        match node:
            case facts.Call(func=facts.Attribute(value=facts.Name(id=name), attr=attr)) if (
                self.locals.get(name) is base
            ):
                if attr == "append" and call.names == ("",):
                    self.locals[name] = union(_longer(option, call.args[0]) for option in options(base))
                elif isinstance(base, Seq):
                    self.locals[name] = Updated(base, f"{attr}()", call)
            case _:
                pass

    def _replace(self, old: Value, new: Value) -> None:
        if new is UNKNOWN:
            return  # too many changes to keep them all: better the object without the last ones
        for name, known in self.locals.items():
            if known is old:
                self.locals[name] = new

    def _assign(self, node: facts.Assign) -> None:
        if node.value is None:
            if node.annotation is not None and isinstance(node.targets[0], facts.Name):
                self.bind(node.targets[0], self.evaluator.instance_of(self.annotation(node.annotation)))
            return
        value = self.read(node.value)
        if node.annotation is not None and value is UNKNOWN:
            value = self.evaluator.instance_of(self.annotation(node.annotation))
        for target in node.targets:
            self.bind(target, value)

    def _aug_assign(self, node: facts.AugAssign) -> None:
        old = self.read(node.target)
        value = self.read(node.value)
        if node.op == "+" and isinstance(old, Seq) and isinstance(value, Seq) and "each" not in (old.kind, value.kind):
            self.bind(node.target, Seq(old.kind, old.items + value.items))
        else:
            self.bind(node.target, Op(node.op, (old, value)))

    def bind(self, target: facts.Expr, value: Value) -> None:
        match target:
            case facts.Name(id=name):
                if name not in self.globals:
                    self.locals[name] = value
                    self.flow.assigned.setdefault(name, []).append(value)
            case facts.Attribute(value=owner, attr=attr):
                self._write(owner, attr, value, target.at)
                if isinstance(owner, facts.Name):
                    self.locals[f"{owner.id}.{attr}"] = value
            case facts.Subscript(value=owner, index=index):
                key = self.read(index)
                self._write(owner, f"[{key.value}]" if isinstance(key, Const) else "[]", value, target.at)
            case facts.Sequence(items=items):
                for number, item in enumerate(items):
                    if isinstance(item, facts.Starred):
                        self.bind(item.value, Seq("each", (Element(value),)))
                    else:
                        self.bind(item, self._part(value, number))
            case _:
                pass

    def _part(self, value: Value, number: int) -> Value:
        if isinstance(value, Seq) and value.kind != "each" and number < len(value.items):
            return value.items[number]
        return Item(value, Const(number))

    def _write(self, owner: facts.Expr, field: str, value: Value, at: facts.Span) -> None:
        base = self.read(owner)
        self.flow.writes.append(Write(base, field, value, at, self.held))
        self.held = h.add(self.held, h.Wrote(base, field, value, at))
        if (
            isinstance(base, Call | Updated | Item | Element | Some)
            or (isinstance(base, Attr | Param) and isinstance(owner, facts.Name))
        ) and not (isinstance(base, Param) and self.function.is_method and self._is_first(base)):
            self._replace(base, Updated(base, field, value))

    def _is_first(self, param: Param) -> bool:
        return bool(self.function.params) and self.function.params[0].name == param.name

    def _return(self, node: facts.Return) -> None:
        value = NONE if node.value is None else self.read(node.value)
        self.flow.returns.append(Exit(value, node.at, self.held))
        self.alive = False

    def _raise(self, node: facts.Raise) -> None:
        value = UNKNOWN if node.value is None else self.read(node.value)
        self.flow.raises.append(Exit(value, node.at, self.held))
        self.alive = False

    def _assert(self, node: facts.Assert) -> None:
        self.assumed(node.test, True)

    def _delete(self, node: facts.Delete) -> None:
        for target in node.targets:
            if isinstance(target, facts.Name):
                self.locals.pop(target.id, None)

    def _jump(self, node: facts.Jump) -> None:
        if node.kind == "break" and self.breaks:
            self.breaks[-1].append(self.held)
        if node.kind != "pass":
            self.alive = False

    def _scope(self, node: facts.Scope) -> None:
        self.globals.update(node.names)

    def _import(self, node: facts.Import | facts.ImportFrom) -> None:
        if self.function is self.function.module.body:
            return
        for binding in bindings_of(node, False):
            value = self.evaluator.binding_value(self.function.module, None, binding)
            self.locals[binding.name] = value
            self.flow.assigned.setdefault(binding.name, []).append(value)

    def _def(self, node: facts.Def) -> None:
        function = self._function(node)
        if function is None:
            return
        value: Value = self.evaluator.closed(function, FunctionRef(function.id))
        for decorator in reversed(node.decorators):
            value = self._decorate(self.read(decorator), value, decorator.at)
        if self.cls is None:
            if self.function is not self.function.module.body:
                self.locals[node.name] = value
            self.flow.assigned.setdefault(node.name, []).append(value)

    def _decorate(self, decorator: Value, value: Value, at: facts.Span) -> Value:
        applied = self.evaluator.applied(decorator, value, (self.function.module.path, *at[:2]))
        self.record(Call(decorator, ("",), (value,), (self.function.module.path, *at[:2])), at)
        return applied

    def _function(self, node: facts.Def) -> Function | None:
        for function in self.function.module.functions.values():
            if function.node is node:
                return function
        return None

    def _class(self, node: facts.Class) -> None:
        cls = next((c for c in self.function.module.classes.values() if c.node is node), None)
        if cls is None:
            return
        saved, outer = dict(self.locals), self.cls
        self.cls = cls
        self.block(node.body)
        self.locals, self.cls = saved, outer
        value: Value = ClassRef(cls.id)
        for decorator in reversed(node.decorators):
            self.record(
                Call(self.read(decorator), ("",), (value,), (self.function.module.path, *decorator.at[:2])),
                decorator.at,
            )
        if self.function is not self.function.module.body:
            self.locals[node.name] = value
        self.flow.assigned.setdefault(node.name, []).append(value)

    # ------------------------------------------------------------------ branches

    def _if(self, node: facts.If) -> None:
        test = self.read(node.test)
        start, known = self.held, dict(self.locals)
        ends: list[tuple[Held | None, dict[str, Value]]] = []
        for body, holds in ((node.body, True), (node.orelse, False)):
            self.held, self.locals, self.alive = start, dict(known), True
            self.assume(test, holds, node.test.at)
            self.block(body)
            if self.alive:
                ends.append((self.held, self.locals))
        self._joined(start, ends)

    def _joined(self, start: Held | None, ends: list[tuple[Held | None, dict[str, Value]]]) -> None:
        """Goes on after branches; dead if none of them can be left."""
        self.alive = bool(ends)
        if ends:
            branches = [known for _, known in ends]
            self.locals = _merged(branches)
            self.held = h.join(start, [end for end, _ in ends], _chosen(branches, self.locals))

    def _while(self, node: facts.While) -> None:
        test = self.read(node.test)
        endless = isinstance(test, Const) and bool(test.value)
        start, known = self.held, dict(self.locals)
        self.held = h.add(self.held, h.Loop(node.at, None))
        if not endless:
            self.assume(test, True, node.test.at)
        self._loop(node.body, node.orelse, start, known, None if endless else test, node.test.at)

    def _for(self, node: facts.For) -> None:
        over = self.read(node.iter)
        start, known = self.held, dict(self.locals)
        self.held = h.add(self.held, h.Loop(node.at, over))
        self.bind(node.target, Element(over))
        self._loop(node.body, node.orelse, start, known, UNKNOWN, node.at)

    def _loop(
        self,
        body: Body,
        orelse: Body,
        start: Held | None,
        known: dict[str, Value],
        test: Value | None,
        at: facts.Span,
    ) -> None:
        """Walks a loop's body; `test` is None for a loop that only `break` leaves."""
        self.breaks.append([])
        self.block(body)
        after = self.locals if self.alive else known
        breaks = self.breaks.pop()
        self.held, self.locals = start, _merged([known, after])
        passed = test is not None or bool(breaks)
        self.alive = passed
        if not passed:
            return
        if test is None:
            self.held = h.join(start, breaks)
        elif not breaks:
            self.assume(test, False, at)
        self.block(orelse)
        if orelse and breaks:
            # A `break` passes the `else` by.
            self.held = h.join(start, [*breaks, self.held] if self.alive else breaks)
            self.alive = True

    def _with(self, node: facts.With) -> None:
        start = self.held
        entered: list[h.Inside] = []
        for item in node.items:
            value = self.read(item.context)
            site = self.flow.sites[-1] if self.flow.sites and self.flow.sites[-1].call is value else None
            inside = h.Inside(value, item.context.at, site)
            self.held = h.add(self.held, inside)
            entered.append(inside)
            if item.target is not None:
                self.bind(item.target, Element(value, True))
        self.block(node.body)
        if self.alive:
            for inside in reversed(entered):
                self.held = h.add(h.without(self.held, start, inside), h.Left(inside))
        if any(self.evaluator.suppresses(inside.value) for inside in entered):
            self.held = h.join(start, [self.held, start]) if self.alive else start
            self.alive = True

    def _try(self, node: facts.Try) -> None:
        start, known = self.held, dict(self.locals)
        handlers = tuple((self._exception_types(handler), handler.at) for handler in node.handlers)
        trying = h.Trying(node.at, handlers)
        if handlers:
            self.held = h.add(self.held, trying)
        self.block(node.body)
        ended = self.held if self.alive else None
        ends: list[tuple[Held | None, dict[str, Value]]] = []
        after_body = _merged([known, self.locals])
        if self.alive:
            self.held = h.without(self.held, start, trying)
            self.block(node.orelse)
            if self.alive:
                ends.append((self.held, self.locals))
        left: list[facts.Span] = []
        for handler, (types, at) in zip(node.handlers, handlers, strict=True):
            self.held = h.add(start, h.Caught(trying, types, at, ended))
            self.locals, self.alive = dict(after_body), True
            if handler.name is not None:
                self.locals[handler.name] = UNKNOWN
            self.block(handler.body)
            if self.alive:
                ends.append((self.held, self.locals))
            else:
                left.append(at)
        self._joined(start, ends)
        if left and self.alive:
            self.held = h.add(self.held, h.Passed(trying, tuple(left)))
        if node.final:
            self._finally(node.final, start)

    def _finally(self, final: Body, start: Held | None) -> None:
        """A `finally` block runs whichever way the `try` ends."""
        reached = self.alive
        if not reached:
            self.held = start
        self.alive = True
        self.block(final)
        self.alive = self.alive and reached

    def _exception_types(self, handler: facts.Handler) -> tuple[Value, ...]:
        if handler.type is None:
            return ()
        value = self.read(handler.type)
        return value.items if isinstance(value, Seq) else (value,)


def _longer(items: Value, item: Value) -> Value:
    """A list with one more item."""
    item = item if item.size <= MAX_SIZE // 8 else thinned(item)
    return Seq(items.kind, (*items.items, item)) if isinstance(items, Seq) and items.kind == "list" else items


def _merged(branches: list[dict[str, Value]]) -> dict[str, Value]:
    """Local variables after branches: what they agree on, or one of their values."""
    first, *others = branches
    if not others:
        return first
    merged: dict[str, Value] = {}
    for name in dict.fromkeys(name for branch in branches for name in branch):
        values = [branch[name] for branch in branches if name in branch]
        merged[name] = values[0] if all(value is values[0] for value in values) else union(values)
    return merged


def _chosen(branches: list[dict[str, Value]], merged: dict[str, Value]) -> tuple[tuple[Value, tuple[Value, ...]], ...]:
    """For each variable on which branches do not agree: the value it has now and its value in each branch."""
    found: dict[Value, tuple[Value, ...]] = {}
    for name, value in merged.items():
        if isinstance(value, Union) and len(branches) > 1:
            values = tuple(branch.get(name, UNKNOWN) for branch in branches)
            if any(one is not value for one in values):
                found[value] = values if value not in found else tuple(map(_either, found[value], values))
    return tuple(found.items())


def _tells_type(cls: Value) -> bool:
    """Whether a class says more of an object than how it was made: one of the language's own does not."""
    return isinstance(cls, ClassRef) or (isinstance(cls, External) and not cls.dotted.startswith("builtins."))


def _either(left: Value, right: Value) -> Value:
    return union((left, right))


def _as_test(test: Value, body: Value, orelse: Value) -> Value | None:
    """`True if test else False` and its contrary are the test."""
    if body is TRUE and orelse is FALSE:
        return Op("not", (Op("not", (test,)),))
    return Op("not", (test,)) if body is FALSE and orelse is TRUE else None


_STATEMENT: dict[type, Callable[[Walk, Any], None]] = {
    facts.ExprStmt: Walk._expr,
    facts.Assign: Walk._assign,
    facts.AugAssign: Walk._aug_assign,
    facts.Return: Walk._return,
    facts.Raise: Walk._raise,
    facts.Assert: Walk._assert,
    facts.Delete: Walk._delete,
    facts.Jump: Walk._jump,
    facts.Scope: Walk._scope,
    facts.If: Walk._if,
    facts.For: Walk._for,
    facts.While: Walk._while,
    facts.Try: Walk._try,
    facts.With: Walk._with,
    facts.Def: Walk._def,
    facts.Class: Walk._class,
    facts.Import: Walk._import,
    facts.ImportFrom: Walk._import,
}
