"""Handlers that are attached twice to one event: through signals, through a project's own registry, in schedules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

from sendonce import facts
from sendonce.findings import Place
from sendonce.program import arguments
from sendonce.program.callers import Callers
from sendonce.program.connections import Connection
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.link import Linker
from sendonce.program.paths import place_of
from sendonce.program.reader import Reader
from sendonce.program.symbols import Function, Module, own_nodes
from sendonce.program.values import Attr, Call, ClassRef, Const, FunctionRef, Param, Value, options, walk

_ADDS = frozenset(["append", "add", "insert", "extend", "appendleft"])


@dataclass(frozen=True)
class Twice:
    """Two registrations of handlers for one event: the first, the second, their functions, and why both run."""

    first: Place
    second: Place
    functions: tuple[str, str]
    why: str

    @property
    def copies(self) -> bool:
        """Whether two different functions are attached: then both must send the same mail."""
        return self.functions[0] != self.functions[1]


class Registrations:
    """Finds them among functions that lead to mail. `runs_often` tells whether a function runs more than once."""

    def __init__(
        self,
        evaluator: Evaluator,
        flows: Flows,
        linker: Linker,
        callers: Callers,
        runs_often: Callable[[Function], bool],
    ) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.flows = flows
        self.linker = linker
        self.callers = callers
        self.runs_often = runs_often

    def found(self, leading: list[Function]) -> Iterator[Twice]:
        """All double registrations of functions that lead to mail."""
        ids = {function.id for function in leading}
        yield from self._of_signals(ids)
        yield from self._repeated(ids)
        yield from self._in_registries(leading)
        yield from self._in_tables(leading)

    # ------------------------------------------------------------------ signals

    def _of_signals(self, ids: set[str]) -> Iterator[Twice]:
        """Handlers that are connected to one signal by two registrations which both stand."""
        known = [one for one in self.callers.connections.known if not self._is_put_back(one)]
        targets = [(one, edge.target) for one in known for edge in one.edges if edge.target in ids]
        for (one, a), (other, b) in combinations(sorted(targets, key=lambda pair: _order(pair[0])), 2):
            if one.site is not other.site and _same_signal(one, other) and self._both_stand(one, other, a == b):
                why = _why(one, other) if a == b else "two functions are attached to one signal"
                yield Twice(place_of(one.site), place_of(other.site), (a, b), why)

    def _both_stand(self, one: Connection, other: Connection, same_handler: bool) -> bool:
        """Whether neither registration replaces the other, and some event reaches both."""
        if not self._overlap(one, other):
            return False
        if self._is_open(one) or self._is_open(other):
            return False
        uids = [self._uid(one), self._uid(other)]
        if set(one.senders) == set(other.senders):
            return uids[0] != uids[1] or (not same_handler and uids == ["", ""])
        return True

    def _overlap(self, one: Connection, other: Connection) -> bool:
        if not one.senders or not other.senders:
            return True
        return not set(one.senders).isdisjoint(other.senders)

    def _is_open(self, one: Connection) -> bool:
        """Whether a sender is named that nobody knows here: another class, an object of one run."""
        return not one.senders and any(
            self.evaluator.constant(given) is None
            for given in arguments.given(self.evaluator, one.call, one.entry.sender)
        )

    def _uid(self, one: Connection) -> str:
        given = arguments.first_argument(self.evaluator, one.call, one.entry.uid)
        if given is None:
            return ""
        constant = self.evaluator.constant(given)
        return str(constant.value) if constant is not None else f"{one.site.path}:{one.site.at}"

    def _is_put_back(self, one: Connection) -> bool:
        """Whether the same function takes the handler off before: then it is attached once."""
        flow = self.flows.of(self.program.function(one.site.function))
        for site in flow.sites[: one.site.index]:
            func = site.call.func
            if isinstance(func, Attr) and func.name in ("disconnect", "remove") and self._is_signal(func.base, one):
                return True
        return False

    def _is_signal(self, value: Value, one: Connection) -> bool:
        return self.evaluator.resolve(value) in one.signals or not self.evaluator.shapes(value).isdisjoint(one.names)

    def _repeated(self, ids: set[str]) -> Iterator[Twice]:
        """A new function object that is attached each time some code runs."""
        for one in list(self.callers.connections.known):
            targets = [edge.target for edge in one.edges if edge.target in ids]
            if not targets or (one.entry.uid and self._uid(one)) or self._is_put_back(one) or self._is_open(one):
                continue
            home = self.program.function(one.site.function)
            if self._is_new_each_time(one) and self._is_held(one) and self.runs_often(home):
                why = f"{home.dotted} runs more than once, and each time attaches a new function object"
                yield Twice(place_of(one.site), place_of(one.site), (targets[0], targets[0]), why)

    def _is_new_each_time(self, one: Connection) -> bool:
        """Whether the handler is made where it is attached: a nested function, a lambda, a partial."""
        if isinstance(self.program.function(one.site.function).node, facts.ModuleFacts):
            return False
        for option in options(self.evaluator.resolve(one.handler)):
            if isinstance(option, FunctionRef):
                function = self.program.function(option.id)
                if function.parent is not None or isinstance(function.node, facts.Lambda):
                    return True
            elif isinstance(option, Call):
                return True
        return False

    def _is_held(self, one: Connection) -> bool:
        """Whether the signal keeps the handler alive."""
        if not one.entry.weak:
            return True
        given = arguments.first_argument(self.evaluator, one.call, one.entry.weak)
        constant = self.evaluator.constant(given) if given is not None else None
        return constant is not None and not constant.value

    # ------------------------------------------------------------------ registries of the project

    def _in_registries(self, leading: list[Function]) -> Iterator[Twice]:
        """Functions that a project's own registry keeps in one list for one event."""
        found: dict[tuple[str, object], list[tuple[Place, str]]] = {}
        for function in leading:
            for place, registry, event in (*self._decorating(function), *self._registering(function)):
                found.setdefault((registry, event), []).append((place, function.id))
        for (_, event), entries in found.items():
            for (first, a), (second, b) in combinations(sorted(set(entries)), 2):
                if first != second:
                    yield Twice(first, second, (a, b), f"the registry runs every handler of {_shown(event)}")

    def _decorating(self, function: Function) -> Iterator[tuple[Place, str, object]]:
        """The events for which decorators of the project enter a function: where, in which registry, which event."""
        node = function.node
        if not isinstance(node, facts.Def):
            return
        reader = Reader(self.evaluator, function.parent or function.module.body, function.cls)
        for decorator in node.decorators:
            made = reader.read(decorator)
            if isinstance(made, Call):
                for registry in self._keeping(made.func):
                    for event in self._events(made.args):
                        yield Place(function.module.path, *decorator.at), registry, event

    def _registering(self, function: Function) -> Iterator[tuple[Place, str, object]]:
        """Calls that enter a function for an event: `register("paid", f)`, `bus.on(PAID, f)`."""
        if not isinstance(function.node, facts.Def) or function.cls is not None:
            return
        for caller in self.program.mentioning(function.name):
            for site in self.flows.of(caller).sites:
                given = [self.evaluator.resolve(arg) for arg in site.call.args]
                if len(given) > 1 and any(isinstance(one, FunctionRef) and one.id == function.id for one in given):
                    for registry in self._keeping(site.call.func):
                        for event in self._events(site.call.args):
                            yield place_of(site), registry, event

    def _events(self, args: tuple[Value, ...]) -> Iterator[object]:
        for arg in args:
            found = self.evaluator.resolve(arg)
            if isinstance(found, Const) and isinstance(found.value, str):
                yield found.value
            elif isinstance(found, Attr) and isinstance(found.base, ClassRef):
                yield (found.base.id, found.name)

    def _keeping(self, func: Value) -> Iterator[str]:
        """The project functions behind a value that add what they, or a function inside them, are given to a list."""
        for ref, *_ in self.linker.callables(func):
            function = self.program.function(ref.id)
            inside = [one for one in function.module.functions.values() if one.parent is function]
            if any(self._adds(one) for one in (function, *inside)):
                yield function.id

    def _adds(self, function: Function) -> bool:
        for site in self.flows.of(function).sites:
            func = site.call.func
            given = any(isinstance(part, Param) for arg in site.call.args for part in walk(arg))
            if isinstance(func, Attr) and func.name in _ADDS and given:
                return True
        return False

    def _in_tables(self, leading: list[Function]) -> Iterator[Twice]:
        """Lists of handlers under one key of a dict: `{"paid": [book, thank]}`."""
        ids = {function.id for function in leading}
        names = {function.name for function in leading}
        for module in list(self.program.parsed()):
            if not names.isdisjoint(module.body.words):
                yield from self._lists(module, ids)

    def _lists(self, module: Module, ids: set[str]) -> Iterator[Twice]:
        reader = Reader(self.evaluator, module.body)
        for node in own_nodes(module.body.node):
            for _, value in node.items if isinstance(node, facts.Dict) else ():
                if isinstance(value, facts.Sequence) and value.kind == "list":
                    handlers = [(item, self.evaluator.resolve(reader.read(item))) for item in value.items]
                    known = [(item, one.id) for item, one in handlers if isinstance(one, FunctionRef) and one.id in ids]
                    for (first, a), (second, b) in combinations(known, 2):
                        places = [Place(module.path, *item.at) for item in (first, second)]
                        yield Twice(places[0], places[1], (a, b), "the table runs every handler of one key")


def _same_signal(one: Connection, other: Connection) -> bool:
    return bool(set(one.names) & set(other.names)) or bool(
        {signal for signal in one.signals if isinstance(signal, Call)} & set(other.signals)
    )


def _order(one: Connection) -> tuple[bool, Place]:
    """Decorators run when their module is imported, calls of `connect` later."""
    decorates = bool(one.entry.decorators) and not one.entry.registers
    return (not decorates, place_of(one.site))


def _why(one: Connection, other: Connection) -> str:
    if bool(one.senders) != bool(other.senders):
        return "one registration names the sender and the other takes every sender, so that both stand"
    return "the two registrations have different identities, so that both stand"


def _shown(event: object) -> str:
    return str(event[-1]) if isinstance(event, tuple) else str(event)
