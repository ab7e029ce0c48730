"""Which calls can have a claim below them at all: asked before a call is followed with its arguments."""

from __future__ import annotations

from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.link import Linker
from sendonce.program.reservations import Reservations
from sendonce.program.values import Attr, Call, FunctionRef, Param, Value, options, walk

MAX_DEPTH = 6
"""How many functions deep a claim is looked for."""


class Potential:
    """Answers for calls as they stand in the code, memoised. `held` asks for locks, else for all claims."""

    def __init__(self, evaluator: Evaluator, flows: Flows, linker: Linker, reservations: Reservations) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.flows = flows
        self.linker = linker
        self.reservations = reservations
        self._calls: dict[tuple[Call, bool], bool] = {}
        self._functions: dict[tuple[str, bool], tuple[bool, int]] = {}
        tables = (self.reservations.packs.returns, self.reservations.packs.store_reads)
        self._library = frozenset(shape.rpartition(".")[2] for table in tables for shape in table)

    def may(self, call: Call, held: bool = False) -> bool:
        """Whether a call is a claim, runs one in a function of the tree, or is given one."""
        key = (call, held)
        if key not in self._calls:
            self._calls[key] = False
            self._calls[key] = self._may(call, held, MAX_DEPTH) or any(self._is_given(arg, held) for arg in call.args)
        return self._calls[key]

    def _is_given(self, arg: Value, held: bool) -> bool:
        """Whether an argument is what a claim gave, or something that is called and may claim."""
        if any(isinstance(part, FunctionRef) for part in options(arg)):
            return True
        return any(self._may(part, held, 1) for part in walk(arg) if isinstance(part, Call))

    def _may(self, call: Call, held: bool, depth: int) -> bool:
        matched = self.reservations.matched(call)
        if matched is not None:
            return not held or matched.entry.win == "held"
        return any(self._function(ref.id, held, depth - 1) for ref, *_ in self.linker.callables(call.func))

    def _function(self, id: str, held: bool, depth: int) -> bool:
        """Whether a function may claim; an answer that was cut short is found again when there is more room."""
        known, room = self._functions.get((id, held), (False, -1))
        if known or room >= depth or depth < 0:
            return known
        self._functions[id, held] = (False, depth)
        for site in self.flows.of(self.program.function(id)).sites:
            if self._is_open(site.call.func) or self._may(site.call, held, depth):
                self._functions[id, held] = (True, depth)
                return True
        return False

    def _is_open(self, func: Value) -> bool:
        """Whether what is called is given to the function, and no method that libraries have."""
        if isinstance(func, Attr):
            return isinstance(func.base, Param) and func.name not in self._library and not self._is_first(func.base)
        return isinstance(func, Param)

    def _is_first(self, param: Param) -> bool:
        function = self.program.function(param.function)
        return function.is_method and function.params[0].name == param.name
