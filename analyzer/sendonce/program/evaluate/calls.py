"""What calls give: values returned by the project's functions, and what calls of libraries hand through."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sendonce import facts
from sendonce.program import arguments
from sendonce.program.evaluate.narrowing import is_instance
from sendonce.program.getattrs import attribute_names
from sendonce.program.held import Test
from sendonce.program.naming import split_text
from sendonce.program.symbols import Function, own_nodes
from sendonce.program.values import (
    NONE,
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    External,
    FunctionRef,
    Item,
    Param,
    Seq,
    Some,
    Table,
    Text,
    Unknown,
    Updated,
    Value,
    bare,
    options,
    substitute,
    thinned,
    union,
    walk,
)

if TYPE_CHECKING:
    from sendonce.program.evaluate.evaluator import Evaluator

MAX_OVERRIDES = 6
"""An abstract method that more subclasses write than this says nothing."""
SMALL = 12
"""What a function is given is kept whole up to this size where the result would be too large."""


class Calls:
    """Answers what a call gives, and whether it comes back at all."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.hierarchy = evaluator.hierarchy
        self._expanded: set[str] = set()
        """Functions whose returned value is just being read."""

    def seen_through(self, value: Value) -> Value:
        """What a call that only wraps something was given: `json.dumps(body)`, `message.as_string()`."""
        found = self.evaluator.resolve(value)
        while isinstance(found, Call):
            inner = self._wrapped(found)
            if inner is None:
                break
            found = self.evaluator.resolve(inner)
        return found

    def _wrapped(self, call: Call) -> Value | None:
        for _, entry in self.evaluator.lookup(self.packs.returns, call.func):
            if entry.value == "receiver" and isinstance(call.func, Attr):
                return call.func.base
            if entry.value.startswith("argument|"):
                return arguments.argument(self.evaluator, call, entry.value.removeprefix("argument"))
        return None

    def never_returns(self, call: Call) -> bool:
        """Whether a call always raises: a library's `abort`, or a project function that ends in `raise`."""
        for option in options(self.evaluator.resolve(call.func)):
            if isinstance(option, FunctionRef):
                node = self.program.function(option.id).node
                if not (isinstance(node, facts.Def) and _only_raises(node)):
                    return False
            elif not any(entry.value == "never" for _, entry in self.evaluator.lookup(self.packs.returns, option)):
                return False
        return True

    def suppresses(self, context: Value) -> bool:
        """Whether a context manager swallows exceptions of its body (`contextlib.suppress`)."""
        return "contextlib.suppress()" in self.evaluator.shapes(context)

    def result(self, value: Call) -> Value:
        """What a call gives: one of the results of what it may call."""
        found: list[Value] = []
        for option in options(self.evaluator.resolve(value.func)):
            found.extend(self._results(value, option))
        return union(found)

    def _is_left_unset(self, value: Value, names: list[str]) -> bool:
        """Whether an object was made here, and nobody gave it an attribute of these names since, as far as is seen.

        A library's method is taken to set what it is given under that name.
        """
        found = self.evaluator.resolve(value)
        while isinstance(found, Updated):
            if found.field in names or any(self._may_set(found.value, name) for name in names):
                return False
            found = found.base
        if not (names and isinstance(found, Call) and isinstance(cls := self.evaluator.resolve(found.func), ClassRef)):
            return False
        return not any(self.hierarchy.find(cls.id, name) or self.hierarchy.writers(cls.id, name) for name in names)

    def _may_set(self, called: Value, name: str) -> bool:
        if not isinstance(called, Call):
            return False
        given = (
            *called.names,
            *(part.name for arg in called.args for part in walk(arg) if isinstance(part, Param | Attr)),
        )
        return name in given

    def _looked_up(self, call: Call, base: Value) -> Iterable[Value]:
        """What `table.get(key, default)` gives: the one or the other where all keys are known."""
        table, key = self.evaluator.resolve(base), self.evaluator.resolve(call.args[0])
        default = tuple(self.evaluator.resolve(one) for one in call.args[1:2])
        if default and isinstance(table, Table) and isinstance(key, Const):
            if key in table.keys:
                return (self.evaluator.item(base, key),)
            if all(isinstance(one, Const) for one in table.keys):
                return default
        return (self.evaluator.item(base, key), *default)

    def _results(self, value: Call, called: Value) -> Iterable[Value]:
        """What a call gives if `called` is what it calls."""
        match called:
            case FunctionRef():
                return (self.returned(called, value),)
            case External(dotted="builtins.getattr") if len(value.args) > 1:
                names = attribute_names(self.evaluator, value)
                if len(value.args) == 3 and self._is_left_unset(value.args[0], names):
                    return (self.evaluator.resolve(value.args[2]),)
                return [self.evaluator.resolve(Attr(value.args[0], name)) for name in names] or [value]
            case External(dotted="builtins.next") if value.args:
                item = self.evaluator.resolve(Element(value.args[0]))
                return (value if isinstance(item, Element) else item,)
            case External(dotted="builtins.isinstance") if len(value.args) == 2:
                told = is_instance(self.evaluator, *value.args)
                return (value if told is None else Const(told),)
            case External(dotted="builtins.type") if len(value.args) == 1:
                return (union(self.evaluator.types(value.args[0])),)
            case Attr(base=base, name="get" | "pop") if isinstance(self.evaluator.resolve(base), Table) and value.args:
                return self._looked_up(value, base)
            case Attr(base=base, name="values" | "items" | "keys" | "copy" as name) if isinstance(
                table := self.evaluator.resolve(base), Table
            ):
                return (_part_of(table, name),)
            case Attr(base=ClassRef(id=id), name="__subclasses__"):
                return (Seq("list", tuple(ClassRef(cls.id) for cls in self.hierarchy.direct_subclasses(id))),)
            case Attr(base=base, name="get") if value.args and (put := self.evaluator.put_in(base, value.args[0])):
                return (self.evaluator.resolve(put),)
            case Call(func=External(dotted="functools.partial")) if called.args:
                given = ((*called.names[1:], *value.names), (*called.args[1:], *value.args))
                return (self.evaluator.resolve(Call(called.args[0], *given, value.at)),)
            case Call(func=ClassRef() as cls) if (method := self.hierarchy.method_of(cls, "__call__")) is not None:
                return (self.returned(FunctionRef(method.id, called), value),)
            case Call() if isinstance(kept := self.seen_through(called), FunctionRef):
                return (self.returned(kept, Call(kept, value.names, value.args, value.at)),)
            case Attr(base=Const(value=str() as text), name="rsplit" | "split" | "rpartition" | "partition" as name):
                return (split_text(self.evaluator, text, name, value),)
            case _:
                made = value if called is value.func else Call(called, value.names, value.args, value.at)
                found = self.evaluator.services.asked_for(made)
                return (found if found is not None else self.evaluator.by_name.result(made),)

    def returned(self, ref: FunctionRef, call: Call) -> Value:
        """What a project function returns for a call, or the call itself where the body does not tell."""
        function = self.program.function(ref.id)
        node = function.node
        is_generator = isinstance(node, facts.Def) and (node.is_generator or not node.body)
        if is_generator and not function.has_decorator("contextmanager", "asynccontextmanager"):
            return call
        binding = arguments.bind(self.evaluator, ref, call.names, call.args)
        value = self._given_back(function, binding)
        below = self._told_below(ref, function, value, call)
        if below is not None:
            return below
        if value is UNKNOWN or value is NONE:
            annotated = self.evaluator.annotations.returned(function)
            return annotated if annotated is not None else (call if value is UNKNOWN else value)
        if ref.id in self._expanded:
            return call  # what a recursive call returns says nothing that the first one does not
        self._expanded.add(ref.id)
        try:
            found = self.filled(value, binding)
            found = union(self._typed_return(option, function) for option in options(found))
        finally:
            self._expanded.discard(ref.id)
        return call if found is UNKNOWN else found

    def _given_back(self, function: Function, binding: dict[Param, Value]) -> Value:
        """One of the values that a function returns for what it was given."""
        flow = self.evaluator.flow_of(function)
        parted = flow.parted if binding else ()
        possible = [value for value, tests in parted if not any(self._is_ruled_out(one, binding) for one in tests)]
        if not possible or len(possible) == len(parted):
            return flow.returned
        known = [value for value in possible if value is not NONE]
        return union(known) if known else NONE

    def _is_ruled_out(self, test: Test, binding: dict[Param, Value]) -> bool:
        """Whether a test cannot come out as it would have to."""
        found = self.evaluator.resolve(substitute(test.value, binding))
        if isinstance(found, FunctionRef | ClassRef):
            return not test.holds
        return isinstance(found, Const) and bool(found.value) is not test.holds

    def filled(self, value: Value, binding: dict[Param, Value]) -> Value:
        """What a function's value is with what the function was given."""
        found = self.evaluator.resolve(substitute(value, binding))
        for smaller in (thinned, bare):
            if not any(one is UNKNOWN or (isinstance(one, Call) and one.func is UNKNOWN) for one in options(found)):
                break
            # Too large with all that was given: once more without what it is merely rendered with.
            small = {p: v if v.size <= SMALL else smaller(v) for p, v in binding.items()}
            found = self.evaluator.resolve(substitute(value, small))
        return found

    def _told_below(self, ref: FunctionRef, function: Function, value: Value, call: Call) -> Value | None:
        """What a method gives that says nothing itself, or a constant, where subclasses say otherwise.

        Where a caller can tell the object, the call stays as it is; else it gives what one of the subclasses gives.
        """
        if ref.receiver is None or not (value is NONE or isinstance(value, Const | Text)):
            return None
        receiver = self.evaluator.resolve(ref.receiver)
        if isinstance(receiver, Param):
            return call if self._overriding(receiver, function) else None
        abstract = isinstance(function.node, facts.Def) and _says_nothing(function.node)
        if not (abstract and isinstance(receiver, Some | Attr | Item | Element)):
            return None
        found = self._of_subclasses(ref, function, call)
        return (union(found) if len(found) <= MAX_OVERRIDES else call) if found else None

    def of_subclasses(self, call: Call) -> list[Value]:
        """What a method call on an object that a caller tells may give, as subclasses say; nothing if none does."""
        ref = self.evaluator.resolve(call.func)
        if not (isinstance(ref, FunctionRef) and ref.receiver is not None):
            return []
        if not isinstance(self.evaluator.resolve(ref.receiver), Param):
            return []
        return self._of_subclasses(ref, self.program.function(ref.id), call)

    def _of_subclasses(self, ref: FunctionRef, function: Function, call: Call) -> list[Value]:
        assert ref.receiver is not None
        if ref.id in self._expanded:
            return []
        self._expanded.add(ref.id)
        try:
            others = self._overriding(self.evaluator.resolve(ref.receiver), function)
            return [self.returned(FunctionRef(one.id, ref.receiver), call) for one in others]
        finally:
            self._expanded.discard(ref.id)

    def is_told_below(self, value: Value) -> bool:
        """Whether a value is what a method gives, or an item of that, where a caller's object may have another one."""
        while isinstance(value, Updated | Element | Item):
            value = value.base
        ref = self.evaluator.resolve(value.func) if isinstance(value, Call) else None
        if not (isinstance(ref, FunctionRef) and ref.receiver is not None):
            return False
        receiver = self.evaluator.resolve(ref.receiver)
        return isinstance(receiver, Param) and bool(self._overriding(receiver, self.program.function(ref.id)))

    def _overriding(self, receiver: Value, function: Function) -> list[Function]:
        """The methods of classes below that of a receiver that run in the place of a function."""
        ids = [cls.id for cls in self.evaluator.types(receiver) if isinstance(cls, ClassRef)]
        below = [cls for id in ids for cls in self.hierarchy.overriding(id, function.name)]
        found = [cls.methods[function.name] for cls in below if function.name in cls.methods]
        return list(dict.fromkeys(one for one in found if one is not function))

    def _typed_return(self, value: Value, function: Function) -> Value:
        """A returned value, or some instance of the annotated class where nothing is known of its own."""
        if isinstance(value, Unknown | Call | Attr | Item | Element) and not self.evaluator.types(value):
            annotated = self.evaluator.annotations.returned(function)
            inside = annotated.value if isinstance(annotated, Updated) else annotated  # of a `Promise[Order]`
            if inside is not None and any(isinstance(cls, ClassRef) for cls in self.evaluator.types(inside)):
                return annotated or value
        return value


def _says_nothing(node: facts.Def) -> bool:
    """Whether a method is one that subclasses must write: it only raises, or does nothing at all."""
    return all(isinstance(one, facts.Raise | facts.Jump) or _is_plain(one) for one in node.body)


def _is_plain(statement: facts.Stmt) -> bool:
    """Whether a statement is a text (of documentation) or an ellipsis."""
    return isinstance(statement, facts.ExprStmt) and isinstance(statement.value, facts.Constant | facts.Ellipsis_)


def _part_of(table: Table, method: str) -> Value:
    """What a method of a dict gives whose entries are known."""
    if method == "copy":
        return table
    if method == "items":
        return Seq("list", tuple(Seq("tuple", pair) for pair in zip(table.keys, table.values, strict=True)))
    return Seq("list", table.keys if method == "keys" else table.values)


def _only_raises(node: facts.Def) -> bool:
    returns = any(isinstance(inner, facts.Return | facts.Yield) for inner in own_nodes(node))
    return not returns and bool(node.body) and isinstance(node.body[-1], facts.Raise)
