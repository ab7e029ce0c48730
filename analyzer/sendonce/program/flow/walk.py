"""The state of a walk, and what expressions add to it: calls, and what tests inside them tell."""

from __future__ import annotations

from sendonce import facts
from sendonce.program import held as h
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import assignments
from sendonce.program.flow.found import Exit, Flow
from sendonce.program.flow.statements import STATEMENT
from sendonce.program.held import Held, Site
from sendonce.program.reader import Reader
from sendonce.program.symbols import Body, Class, Function
from sendonce.program.values import (
    FALSE,
    KNOWN_AS,
    NONE,
    TRUE,
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    External,
    Op,
    Param,
    Seq,
    Some,
    Table,
    Text,
    Union,
    Updated,
    Value,
    union,
)


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
        if self.function is self.function.module.body:
            self.flow.end = self.locals
        if self.alive:
            self.flow.returns.append(Exit(NONE, node.body[-1].at if node.body else facts.NOWHERE, self.held))

    def block(self, body: Body) -> None:
        """Walks statements until one cannot be passed."""
        for statement in body:
            if not self.alive:
                return
            STATEMENT[type(statement)](self, statement)

    def lookup(self, name: str) -> Value:
        if name in self.locals:
            return self.locals[name]
        function = self.function
        if function is function.module.body:
            return self.evaluator.module_name(function.module, name)
        return self.evaluator.name(function, name)

    def bind(self, target: facts.Expr, value: Value) -> None:
        assignments.bind(self, target, value)

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

    def hidden(self, owner: Value, method: str, at: facts.Span) -> Value:
        """Notes a call of a method that the language makes by itself; gives what it returns."""
        call = Call(Attr(owner, method) if method else owner, (), (), (self.function.module.path, *at[:2]))
        self.flow.hidden.append(Site(self.function.id, call.at[0], len(self.flow.sites), at, call, self.held, False))
        return call

    def iterated(self, over: Value, at: facts.Span, is_async: bool = False) -> None:
        """Notes what a loop over something calls."""
        first, step = ("__aiter__", "__anext__") if is_async else ("__iter__", "__next__")
        if not isinstance(over, Seq | Table | Const | Text):
            self.hidden(self.hidden(over, first, at), step, at)

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
                told = Some(cls)
                self.locals[name] = Updated(subject, KNOWN_AS, told) if isinstance(subject, Param) else told

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


def _tells_type(cls: Value) -> bool:
    """Whether a class says more of an object than how it was made: one of the language's own does not."""
    return isinstance(cls, ClassRef) or (isinstance(cls, External) and not cls.dotted.startswith("builtins."))


def _as_test(test: Value, body: Value, orelse: Value) -> Value | None:
    """`True if test else False` and its contrary are the test."""
    if body is TRUE and orelse is FALSE:
        return Op("not", (Op("not", (test,)),))
    return Op("not", (test,)) if body is FALSE and orelse is TRUE else None
