"""What a test tells about claims: the values that an expression can have in a run that won no claim.

`lost` computes those values, through project functions and branches. A test whose outcome none of
them can give proves that a claim was won.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from sendonce import facts
from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program import held as h
from sendonce.program.dependencies import behind, run_of
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Exit, Flows
from sendonce.program.handlers import Handlers
from sendonce.program.link import Linker
from sendonce.program.link.given import invoke_arguments
from sendonce.program.possible import (
    COMPARE,
    CONVERSIONS,
    EMPTY,
    OBJECT,
    TEXT_METHODS,
    chained,
    compared,
    item_of,
    negated,
    text_method,
    truth,
)
from sendonce.program.potential import Potential
from sendonce.program.reservations import Reservation, Reservations
from sendonce.program.results import Results
from sendonce.program.scene import ANYTHING, Lost, Scene, joined
from sendonce.program.spine import elements, itself, spine
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
    Op,
    Param,
    Seq,
    Table,
    Text,
    Union,
    Updated,
    Value,
    options,
)

MAX_DEPTH = 7
"""Through how many project functions a test is followed."""
MAX_TARGETS = 8
"""A call that may run more functions than this (a hook that many classes override) is not looked into."""


class Outcomes:
    """Answers for expressions. `dominating` finds the claim among the facts of a scene, `given_back` tells whether
    the function of a scene gives one back; their owner sets them."""

    def __init__(
        self,
        evaluator: Evaluator,
        flows: Flows,
        linker: Linker,
        reservations: Reservations,
        handlers: Handlers | None = None,
    ) -> None:
        self.handlers = handlers or Handlers()
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.flows = flows
        self.linker = linker
        self.reservations = reservations
        self.results = Results(reservations)
        self.potential = Potential(evaluator, flows, linker, reservations)
        self.dominating: Callable[[Scene], Reservation | None] = lambda scene: None
        self.given_back: Callable[[Reservation, Scene], bool] = lambda claim, scene: False
        self._known: dict[Value, Lost] = {}
        self._busy: set[Value] = set()
        self._injected: dict[Param, FunctionRef | None] = {}
        self._chosen_from: set[Value] = set()
        """Values given by an `a if t else b` that are just being told: `x = x if t else y` gives itself."""

    def won(self, value: Value, holds: bool, scene: Scene) -> Reservation | None:
        """The claim that was won if `value` turned out true (`holds`) or false."""
        found = self.lost(value, scene)
        if not found.claims or any(truth(one) in (None, holds) for one in found.outcomes):
            return None
        return found.claims[0]

    # ------------------------------------------------------------------ values without a claim

    def lost(self, value: Value, scene: Scene) -> Lost:
        """The values that an expression can have if no claim was won."""
        match value:
            case Const():
                return Lost(frozenset((value,)))
            case Op(op=op, operands=operands):
                return self._of_op(op, operands, scene)
            case Union():
                return self._of_union(value, scene)
            case Updated(base=base, field=field) if not field.endswith("()"):
                return self.lost(base, scene)
            case Text(pieces=pieces):
                return Lost(frozenset((OBJECT if any(isinstance(p, Const) and p.value for p in pieces) else UNKNOWN,)))
            case Seq():
                return self._of_sequence(value, scene)
            case Table(keys=keys):
                return Lost(frozenset((OBJECT if keys else EMPTY,)))
            case ClassRef() | FunctionRef():
                return Lost(frozenset((OBJECT,)))
            case Attr(base=ClassRef(id=id), name=name) if self.evaluator.hierarchy.is_enum(id):
                return Lost(frozenset((Const(f"{id}.{name}"),)))
            case Call(func=External(dotted=dotted), args=(first, *_)) if dotted in CONVERSIONS:
                return self._converted(dotted, first, scene)
            case Call() | Attr() | Item() | Element() | Updated() | Param():
                return self._of_expression(value, scene)
            case _:
                return ANYTHING

    def _of_op(self, op: str, operands: tuple[Value, ...], scene: Scene) -> Lost:
        parts = [self.lost(operand, scene) for operand in operands]
        claims = tuple(claim for part in parts for claim in part.claims)
        if op in ("and", "or"):
            return Lost(frozenset(chained(op, [part.outcomes for part in parts])), claims)
        if op == "not":
            return Lost(frozenset(negated(one) for one in parts[0].outcomes), claims)
        if op in COMPARE and len(parts) == 2:
            found = {compared(op, left, right) for left in parts[0].outcomes for right in parts[1].outcomes}
            return Lost(frozenset(found), claims)
        return Lost(frozenset((UNKNOWN,)), claims)

    def _of_union(self, value: Union, scene: Scene) -> Lost:
        choices = () if value in self._chosen_from else self._choices(value, scene)
        if not choices:
            return joined(self._alternatives(value, scene))
        self._chosen_from.add(value)
        try:
            return joined(self._chosen(one, scene) for one in choices)
        finally:
            self._chosen_from.discard(value)

    def _choices(self, value: Value, scene: Scene) -> list[tuple[Value, Value, Value]]:
        """The `a if t else b` of the function that gave a value."""
        if not scene.function:
            return []
        return self.flows.of(self.program.function(scene.function)).choices.get(value, [])

    def _chosen(self, choice: tuple[Value, Value, Value], scene: Scene) -> Lost:
        """What `a if t else b` can be, by what `t` can be."""
        test, body, orelse = choice
        found = self.lost(test, scene)
        known = {truth(one) for one in found.outcomes}
        parts = [Lost(frozenset(), found.claims)]
        if known - {False}:
            parts.append(self.lost(body, scene))
        if known - {True}:
            parts.append(self.lost(orelse, scene))
        return joined(parts)

    def _alternatives(self, value: Value, scene: Scene, wrap: Callable[[Value], Value] = itself) -> Iterator[Lost]:
        """A value that differs between branches: what it is in those that won no claim; else any of its options."""
        chosen = [
            (index, fact, values)
            for index, fact in enumerate(scene.facts)
            if isinstance(fact, h.Either)
            for merged, values in fact.chosen
            if merged is value
        ]
        for index, fact, values in chosen:
            for branch, one in zip(fact.branches, values, strict=True):
                if self.handlers.end(self.path_of(scene), branch):
                    continue
                inner = scene.branch(index, branch)
                claim = self.dominating(inner)
                if claim is not None:
                    yield Lost(frozenset(), (claim,))
                else:
                    for option in options(one) if one is value else (one,):
                        yield self.lost(wrap(option), inner)
        if not chosen:
            for option in options(value):
                yield self.lost(wrap(option), scene)

    def _of_sequence(self, value: Seq, scene: Scene) -> Lost:
        """A display is as true as it is long; a comprehension over nothing is empty."""
        if value.kind != "each":
            return Lost(frozenset((OBJECT if value.items else EMPTY,)))
        sources = [part.base for item in value.items for part in elements(item)]
        for source in sources:
            found = self.lost(source, scene)
            if found.claims and all(truth(one) is False for one in found.outcomes):
                return Lost(frozenset((EMPTY,)) if found.outcomes else found.outcomes, found.claims)
        return ANYTHING

    def _converted(self, dotted: str, value: Value, scene: Scene) -> Lost:
        found = self.lost(value, scene)
        return Lost(frozenset(CONVERSIONS[dotted](one) for one in found.outcomes), found.claims)

    # ------------------------------------------------------------------ calls and what is read from them

    def _of_expression(self, value: Value, scene: Scene) -> Lost:
        """A call, or an attribute, item or method of what a call gives."""
        put = scene.put(value)
        result = self.results.of(put, scene)
        if result is not None:
            return result
        text = self._of_text(value, scene)
        if text is not None:
            return text
        if put in self._busy or scene.depth > MAX_DEPTH:
            return ANYTHING
        if put not in self._known:
            self._busy.add(put)
            found = self._through(value, put, scene)
            self._busy.discard(put)
            if scene.depth > MAX_DEPTH // 2 or isinstance(found, _Local):
                return found
            self._known[put] = found
        return self._known[put]

    def _of_text(self, value: Value, scene: Scene) -> Lost | None:
        """`status.endswith("1")`, `status.split()[-1]` of a text that a claim answers with."""
        match value:
            case Call(func=Attr(base=Call() | Item() as base, name=name), args=args) if name in TEXT_METHODS:
                given = [arg.value for arg in args if isinstance(arg, Const)]
                found = self.lost(base, scene)
                outcomes = [text_method(one, name, given) for one in found.outcomes]
            case Item(base=Call() | Item() as base, index=Const(value=int() as index)):
                found = self.lost(base, scene)
                outcomes = [item_of(one, index) for one in found.outcomes]
            case _:
                return None
        return Lost(frozenset(outcomes), found.claims) if found.claims and UNKNOWN not in outcomes else None

    def _through(self, raw: Value, value: Value, scene: Scene) -> Lost:
        """The value as its parts tell: through project functions, branches, and what it resolves to."""
        inner, wrap = spine(raw)
        if isinstance(inner, Union):
            found = joined(self._alternatives(inner, scene, wrap))
            return _Local(found.outcomes, found.claims)
        if isinstance(value, Element) and value.entered and isinstance(value.base, Call):
            entered = self.exits(value.base, scene, yields=True) or self.entering(value.base, scene)
            if entered:
                return self._of_exits(itself, entered)
        base, around = spine(value)
        for call, outside in ((value, itself), (base, around)):
            if isinstance(call, Call) and not self.makes(call) and self.potential.may(call):
                exits = self.exits(call, scene)
                if exits is not None:
                    return self._of_exits(outside, exits)
        if isinstance(value, Call):
            return Lost(frozenset((OBJECT,))) if self.makes(value) else ANYTHING
        given = self._property(value) or self._given(value) or self._dependency(value)
        if given is not None:
            return self.lost(given, replace(scene, env={}))
        resolved = self.evaluator.resolve(value)
        if resolved is value or isinstance(resolved, Element | Param):
            return ANYTHING
        return self.lost(resolved, replace(scene, env={}, depth=scene.depth + 1))

    def makes(self, call: Call) -> bool:
        """Whether a call makes an instance of a class of the tree."""
        return isinstance(self.evaluator.resolve(call.func), ClassRef)

    def _given(self, value: Value) -> Value | None:
        """What the constructor of a data class was given for the field that is read."""
        if not (isinstance(value, Attr) and isinstance(value.base, Call)):
            return None
        cls, call = self.evaluator.resolve(value.base.func), value.base
        if not isinstance(cls, ClassRef) or self.evaluator.hierarchy.method_of(cls, "__init__") is not None:
            return None
        if value.name in call.names:
            return call.args[call.names.index(value.name)]
        declared = [name for name, found in self.program.cls(cls.id).scope.items() if found[-1].annotation is not None]
        positional = [one for one, name in zip(call.args, call.names, strict=True) if name == ""]
        place = declared.index(value.name) if value.name in declared else len(positional)
        return positional[place] if place < len(positional) else None

    def _of_exits(self, around: Callable[[Value], Value], exits: list[tuple[Exit, Scene]]) -> Lost:
        """What a function gives. Where the winner gets None, the others get something, even if it cannot be told."""
        parts = [(exit, self._of_exit(around, exit, inside)) for exit, inside in exits]
        found = joined(part for _, part in parts)
        none_for_winner = any(exit.value is NONE and not part.outcomes and part.claims for exit, part in parts)
        if none_for_winner and UNKNOWN in found.outcomes:
            return Lost(found.outcomes - {UNKNOWN} | {OBJECT}, found.claims)
        return found

    def _of_exit(self, around: Callable[[Value], Value], exit: Exit, inside: Scene) -> Lost:
        """What a function gives at one of its exits; nothing if a claim was won on the way to it."""
        if not self.possible(inside):
            return Lost(frozenset())
        claim = self.dominating(inside)
        if claim is not None:
            return Lost(frozenset(), (claim,))
        found = self.lost(around(exit.value), inside)
        return ANYTHING if any(self.given_back(one, inside) for one in found.claims) else found

    def _property(self, value: Value) -> Call | None:
        """The call that reading a property is."""
        if not isinstance(value, Attr):
            return None
        for cls in self.evaluator.types(value.base):
            if isinstance(cls, ClassRef):
                method = self.program.method(self.evaluator.hierarchy.mro(cls.id), value.name)
                if method is not None and method.has_decorator("property", "cached_property"):
                    at = method.node.at if isinstance(method.node, facts.Def) else facts.NOWHERE
                    return Call(FunctionRef(method.id, value.base), (), (), (method.module.path, *at[:2]))
        return None

    def _dependency(self, value: Value) -> Call | None:
        """The call by which a framework makes the value of a parameter."""
        if not isinstance(value, Param):
            return None
        if value not in self._injected:
            self._injected[value] = behind(self.linker, value)
        ref = self._injected[value]
        return None if ref is None else run_of(self.linker, ref)

    # ------------------------------------------------------------------ project functions

    def exits(self, call: Call, scene: Scene, yields: bool = False) -> list[tuple[Exit, Scene]] | None:
        """The ways out of the project functions that a call runs (with `yields`, where a generator stops first).

        None if it runs none, or one that cannot be looked into.
        """
        if scene.depth >= MAX_DEPTH:
            return None
        found: list[tuple[Exit, Scene]] = []
        targets = list(self.linker.callables(self._called(call).func))
        if not targets or len(targets) > MAX_TARGETS:
            return None
        for ref, names, args, *_ in targets:
            function = self.program.function(ref.id)
            flow = self.flows.of(function)
            if bool(flow.yields) is not yields:
                return None
            inner = self._called(call)
            binding = arguments.bind(
                self.evaluator, ref, (*names, *inner.names), (*args, *inner.args)
            )  # fmt: skip
            for exit in flow.yields if yields else flow.returns:
                if self.handlers.end(function.module.path, h.newest_first(exit.held)):
                    continue
                inside = Scene(h.oldest_first(exit.held), binding, scene.depth + 1, function.id)
                found.append((exit, inside))
        return found

    def entering(self, value: Value, scene: Scene) -> list[tuple[Exit, Scene]] | None:
        """The exits of the `__enter__` of an object of the tree."""
        enter = self.evaluator.hierarchy.method_of_instance(self.evaluator.types(value), "__enter__", "__aenter__")
        if enter is None:
            return None
        at = (enter.module.path, enter.line, 1)
        return self.exits(Call(FunctionRef(enter.id, value), (), (), at), scene)

    def _called(self, call: Call) -> Call:
        """`asyncio.to_thread(f, x)` as `f(x)`."""
        found: tuple[tuple[object, v.Invoke], ...] = self.evaluator.lookup(self.packs.invokes, call.func)
        for _, entry in found:
            if not entry.wraps and entry.hop in ("call", "thread") and entry.function:
                callee = arguments.first_argument(self.evaluator, call, entry.function)
                if callee is not None and not entry.coroutine:
                    names, args = invoke_arguments(self.evaluator, call, entry)
                    return Call(callee, names, args, call.at)
        return call

    def path_of(self, scene: Scene) -> str:
        """The file of the function of a scene."""
        return self.program.function(scene.function).module.path if scene.function else ""

    def possible(self, scene: Scene) -> bool:
        """Whether the tests on the way do not contradict what the parameters are known to be."""
        for fact in scene.facts:
            if isinstance(fact, h.Test) and fact.value.free:
                constant = self.evaluator.constant(scene.put(fact.value))
                if constant is not None and bool(constant.value) is not fact.holds:
                    return False
        return True


class _Local(Lost):
    """An answer that hangs on the branches around it."""
