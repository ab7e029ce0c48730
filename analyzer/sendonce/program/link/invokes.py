"""Library calls that call what they are given, or methods of an object."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program.link.edges import Way
from sendonce.program.link.given import invoke_arguments
from sendonce.program.values import Attr, Call, ClassRef, Element, FunctionRef, Seq, Some, Value, options

if TYPE_CHECKING:
    from sendonce.program.link.linker import Linker


class Invokes:
    """Follows such a call into what it calls."""

    def __init__(self, linker: Linker) -> None:
        self.linker = linker
        self.evaluator = linker.evaluator
        self.packs = linker.packs

    def invoked(self, way: Way, call: Call) -> bool:
        """Whether a call is one; adds what it leads to."""
        used = False
        for _, entry in self.evaluator.lookup(self.packs.invokes, call.func):
            if entry.wraps or not arguments.holds(self.evaluator, call, entry.when):
                continue
            inner = replace(way, by_library=True)
            if entry.hop != "call":
                inner = replace(inner, hop=entry.hop, outer=way.around)
            if entry.coroutine:
                used |= self._coroutines(inner, entry, call)
            else:
                used |= self._methods(inner, entry, call) if entry.methods else self._functions(inner, entry, call)
        return used

    def _coroutines(self, way: Way, entry: v.Invoke, call: Call) -> bool:
        """Calls of coroutine functions that the call runs; those that it waits for are made where they stand."""
        found = [one for one in self._given(entry, call) if isinstance(one, Call)] if entry.hop != "call" else []
        for one in found:
            self.linker.reach(way, one)
        return bool(found)

    def beside(self, call: Call) -> Iterator[Value]:
        """The coroutines that a call is given to run beside its caller."""
        for _, entry in self.evaluator.lookup(self.packs.invokes, call.func):
            if entry.coroutine and entry.hop != "call":
                yield from self._given(entry, call)

    def _given(self, entry: v.Invoke, call: Call) -> tuple[Value, ...]:
        given = arguments.first_argument(self.evaluator, call, entry.function)
        if given is None:
            return ()
        return given.items if isinstance(given, Seq) else options(given)

    def _functions(self, way: Way, entry: v.Invoke, call: Call) -> bool:
        """The functions that the call is given."""
        callee = arguments.first_argument(self.evaluator, call, entry.function)
        if callee is None:
            return False
        names, args = invoke_arguments(self.evaluator, call, entry)
        resolved = self.evaluator.resolve(callee)
        for one in resolved.items if isinstance(resolved, Seq) else (callee,):
            self.linker.reach(way, Call(one, names, args, way.site.call.at))
        return True

    def _methods(self, way: Way, entry: v.Invoke, call: Call) -> bool:
        """Calls of `entry.methods` on the receiver, an argument or the model of a query set."""
        used = False
        for owner in self._owners(entry, call):
            for cls in self.evaluator.types(owner):
                for name in entry.methods:
                    method = self.evaluator.hierarchy.method_of(cls, name)
                    if method is not None:
                        used = True
                        within = self._own_transaction(entry, call.func)
                        self.linker.enter(way, FunctionRef(method.id, owner), (), (), within=within)
        return used

    def _own_transaction(self, entry: v.Invoke, func: Value) -> str:
        """The name of a library call that runs what it calls in a transaction of its own, "" for others."""
        pack = next(pack for pack in self.packs.packs if any(one is entry for one in pack.invoke))
        within = {self.packs.canonical(one) for signal in pack.signal for one in signal.within}
        for shape in sorted(self.evaluator.shapes(func)):
            owner, _, member = shape.rpartition("().")
            for name in (owner, *self.packs.bases(owner)):
                if f"{name}().{member}" in within:
                    return f"{name}().{member}"
        return ""

    def _owners(self, entry: v.Invoke, call: Call) -> Iterator[Value]:
        """The objects whose methods are called."""
        if entry.files:
            yield from self._in_file(entry, call)
            return
        receiver = call.func.base if isinstance(call.func, Attr) else None
        for where in entry.on or ("receiver",):
            if where not in ("model", "receiver"):
                given = arguments.argument(self.evaluator, call, where)
                if given is not None:
                    yield given
            elif receiver is not None:
                yield receiver if where == "receiver" else self._row(call, receiver)

    def _in_file(self, entry: v.Invoke, call: Call) -> Iterator[Value]:
        """The objects of the file that an argument names, or the argument itself."""
        given = arguments.first_argument(self.evaluator, call, entry.function)
        name = None if given is None else self.evaluator.constant(given)
        if name is None:
            yield from (given,) if given is not None else ()
            return
        end = "/" + entry.files.replace("{}", str(name.value))
        for file in self.evaluator.program.sources.files:
            module = self.evaluator.program.module_of(file) if f"/{file.path}".endswith(end) else None
            for cls in module.classes.values() if module is not None else ():
                if not set(entry.methods).isdisjoint(cls.methods):
                    yield Some(ClassRef(cls.id))

    def _row(self, call: Call, receiver: Value) -> Value:
        """The row that a call of a manager or query set saves: made by the call itself where it makes rows."""
        row = self.evaluator.resolve(Element(receiver))
        makes = any(entry.row == "new" for _, entry in self.evaluator.lookup(self.packs.signal_sends, call.func))
        if makes and isinstance(row, Some) and isinstance(row.cls, ClassRef):
            return Call(row.cls, call.names, call.args, call.at)
        return row
