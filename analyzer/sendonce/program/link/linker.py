"""Resolves call sites: the functions that run, through helpers that are given functions."""

from __future__ import annotations

from collections.abc import Iterator

from sendonce import facts
from sendonce import vocabulary as v
from sendonce.findings import Confidence, Why, weakest
from sendonce.program import arguments
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.link.callables import MAX_NESTING, Callables, Callee
from sendonce.program.link.choices import Choices
from sendonce.program.link.dispatch import Dispatch
from sendonce.program.link.edges import Crossing, Edge, Open, Reached, Way
from sendonce.program.link.enqueues import Enqueues
from sendonce.program.link.invokes import Invokes
from sendonce.program.link.jobs import Jobs
from sendonce.program.link.registers import Registers
from sendonce.program.symbols import Function
from sendonce.program.values import UNKNOWN, Attr, Call, FunctionRef, Param, Super, Union, Value, options, substitute

MAX_DEPTH = 25
"""How many functions deep the search for helpers that call what they are given goes at once."""
MAX_OPEN = 12
"""How many calls of what it was given one function may have before the rest is left out."""


class Linker:
    """Answers for sites and functions, memoised."""

    def __init__(self, evaluator: Evaluator, flows: Flows) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.flows = flows
        self._reached: dict[Site, Reached] = {}
        self._started: dict[str, frozenset[Value]] = {}
        self._opens: dict[str, tuple[Open, ...]] = {}
        self._many: set[str] = set()
        """Functions with more such calls than are followed."""
        self._depth = 0
        self.choices = Choices(evaluator)
        self.callees = Callables(evaluator)
        self.dispatch = Dispatch(evaluator, self.callees)
        self.queues = Jobs(evaluator, self.callees)
        self.registrations = Registers(evaluator, self.choices)
        self.enqueues = Enqueues(self)
        self.invokes = Invokes(self)
        # What others ask, whichever part answers.
        self.registers = self.registrations.of
        self.callables = self.callees.callables
        self.jobs = self.callees.jobs
        self.named = self.callees.named
        self.decorations = self.callees.decorations
        self.ended = self.queues.ended

    @property
    def after_methods(self) -> frozenset[str]:
        """Names of methods that queues call when a job has ended."""
        return self.queues.after_methods

    # ------------------------------------------------------------------ sites and functions

    def reached(self, site: Site) -> Reached:
        """The edges and open calls of a site."""
        if site not in self._reached:
            found = self._reached[site] = Reached()
            try:
                self.registrations.note_open(found, site)
                self.reach(Way(found, site), site.call)
                if self._is_started_elsewhere(site, found):
                    found.edges.clear()
            except RecursionError:
                self.program.cuts.at(site, "leads through more functions than can be followed")
        return self._reached[site]

    def _is_started_elsewhere(self, site: Site, found: Reached) -> bool:
        """Whether a call only makes a coroutine, which another call of the function starts (`create_task(f())`)."""
        targets = (self.program.function(edge.target).node for edge in found.edges)
        if not any(isinstance(node, facts.Def) and node.is_async for node in targets):
            return False
        return site.call in self._coroutines(self.program.function(site.function))

    def _coroutines(self, function: Function) -> frozenset[Value]:
        """The coroutines that a function hands to a call which runs them beside it."""
        if function.id not in self._started:
            self._started[function.id] = frozenset(
                value for site in self.flows.of(function).sites for value in self.invokes.beside(site.call)
            )
        return self._started[function.id]

    def edges(self, function: Function) -> Iterator[Edge]:
        """All edges that leave a function."""
        flow = self.flows.of(function)
        for site in (*flow.sites, *flow.hidden):
            yield from self.reached(site).edges

    def opens(self, function: Function) -> tuple[Open, ...]:
        """The calls of what the function was given, its own and those of helpers that it hands it on to."""
        if function.id not in self._opens:
            if self._depth > MAX_DEPTH:
                return ()  # what is given is handed on through more helpers than anybody follows
            self._opens[function.id] = ()
            self._depth += 1
            flow = self.flows.of(function)
            given = [site for site in (*flow.sites, *flow.hidden) if site.call.free]
            found = [one for site in given for one in self.reached(site).opens]
            self._depth -= 1
            self._opens[function.id] = tuple(sorted(found, key=lambda one: len(one.outer))[:MAX_OPEN])
            if len(found) > MAX_OPEN:
                self._many.add(function.id)
        return self._opens[function.id]

    def handler(self, value: Value, site: Site | None) -> tuple[Edge, ...]:
        """The functions that a framework runs when it calls a handler, wrappers on the way as crossings.

        The last crossing is the registration: nothing is known of what the framework passes.
        """
        found = Reached()
        for callee in self.jobs(value):
            at = site if site is not None else self._first_site(callee.ref)
            crossing = None
            if at is not None:
                crossing = Crossing(at, "trigger", self._held_by(callee), callee.sure)
            found.edges.append(Edge(callee.ref.id, () if site is None or crossing is None else (crossing,)))
            if crossing is not None:
                for inner in self.opens(self.program.function(callee.ref.id)):
                    self._lift(found, inner, crossing, ())
        return tuple(found.edges)

    def _first_site(self, ref: FunctionRef) -> Site | None:
        return next(iter(self.flows.of(self.program.function(ref.id)).sites), None)

    def _held_by(self, callee: Callee) -> dict[Param, Value]:
        """What a handler already holds when it is registered: closure, receiver, bound arguments."""
        ref = callee.ref
        binding = dict(ref.closure)
        params = list(self.program.function(ref.id).params)
        if ref.receiver is not None and params:
            binding[Param(ref.id, params.pop(0).name)] = ref.receiver
        for name, value in zip(callee.names, callee.args, strict=True):
            if name == "" and params:
                binding[Param(ref.id, params.pop(0).name)] = value
            elif name not in ("", "*", "**"):
                binding[Param(ref.id, name)] = value
        return binding

    # ------------------------------------------------------------------ reaching

    def reach(self, way: Way, call: Call) -> None:
        """Adds what a call leads to."""
        if len(way.outer) > MAX_NESTING:
            return
        call = self.evaluator.direct(call)
        if self._chosen(way, call):
            return
        if self.enqueues.overridden(way, call) or self.enqueues.enqueued(way, call):
            return
        if self.invokes.invoked(way, call) or self.enqueues.called_job(way, call):
            return
        resolved = self.evaluator.resolve(call.func)
        parts = options(resolved) if isinstance(resolved, Union) else (call.func,)
        inner = way.apart()
        for part in parts:
            self._reach_one(inner, part, call, "high" if len(parts) == 1 else "medium")
        if self._is_method_of_job(call.func):
            way.found.waiting(inner.found)
        else:
            way.found.add(inner.found)

    def _chosen(self, way: Way, call: Call) -> bool:
        """Handles a method of something that a table gives (`TASKS[kind].delay(…)`): each may be meant."""
        chosen = self.choices.of(call.func, way.site) if isinstance(call.func, Attr) else []
        if all(choice is call.func for choice, _ in chosen):
            return False
        for choice, test in chosen:
            part = way.apart()
            self.reach(part, Call(choice, call.names, call.args, call.at))
            way.found.add(
                part.found.one_of(len(chosen)) if test is None else part.found.one_of(len(chosen)).tested(test)
            )
        return True

    def _reach_one(self, way: Way, callee: Value, call: Call, sure: Confidence) -> None:
        """Adds what one of the values that a call may mean leads to."""
        some = False
        for choice, test in self.choices.of(callee, way.site):
            for ref, names, args, confidence, why in list(self.callables(choice)):
                some = True
                sure_of = weakest(sure, confidence, "high" if choice is callee else "medium")
                given = ((*names, *call.names), (*args, *call.args))
                reason = why if sure == "high" and choice is callee else "table"
                by_super = isinstance(call.func, Attr) and isinstance(call.func.base, Super)
                asked = call.func if by_super else choice
                several = self.dispatch.of(ref, given[1])
                if len(several) > 1:
                    sure_of, reason = weakest(sure_of, "medium"), "table"
                for one in several:
                    self.enter(way, one, *given, confidence=sure_of, callee=asked, test=test, why=reason)
            if choice is not callee and self.choices.is_open(choice):
                some = True
                way.found.opens.append(Open(choice, call.names, call.args, way.site, way.hop, way.outer, test=test))
        if not some and self.choices.is_open(callee):
            way.found.opens.append(Open(callee, call.names, call.args, way.site, way.hop, way.outer))

    def _is_chosen_by_class(self, owner: Value) -> bool:
        """Whether the class of a parameter tells which method of it is meant: its own, or what follows a mixin's."""
        if isinstance(owner, Super):
            return isinstance(owner.receiver, Param) and any(True for _ in self.evaluator.hierarchy.mixing(owner.cls))
        return isinstance(owner, Param)

    def _is_method_of_job(self, callee: Value) -> bool:
        """Whether a job's own class is asked to enqueue it, in a method that the project overrides."""
        owner = self.evaluator.resolve(callee.base) if isinstance(callee, Attr) else None
        return isinstance(owner, Call) and any(True for _ in self.evaluator.jobs_of(owner))

    def enter(
        self,
        way: Way,
        ref: FunctionRef,
        names: tuple[str, ...],
        args: tuple[Value, ...],
        *,
        confidence: Confidence = "high",
        callee: Value = UNKNOWN,
        enqueue: v.Enqueue | None = None,
        unique: bool = False,
        test: Value | None = None,
        within: str = "",
        why: Why = "exact",
    ) -> None:
        """Adds the edge into a project function, and those through it to functions that it is given."""
        binding = arguments.bind(self.evaluator, ref, names, args)
        method = callee if isinstance(callee, Attr) and self._is_chosen_by_class(callee.base) else None
        reason = "framework" if way.hop != "call" or way.by_library else why
        crossing = Crossing(
            way.site, way.hop, binding, confidence, enqueue, within, unique, method, test, ref.id, reason
        )
        way.found.edges.append(Edge(ref.id, (crossing, *way.outer)))
        if not any(self.choices.carries(one) or self.registrations.takes_handlers(one) for one in binding.values()):
            return
        for inner in self.opens(self.program.function(ref.id)):
            self._lift(way.found, inner, crossing, way.outer)
        if ref.id in self._many and any(isinstance(value, FunctionRef) for value in binding.values()):
            self.program.cuts.at(
                way.site, "gives a function to one that calls more of what it is given than is followed"
            )

    def _lift(self, found: Reached, inner: Open, crossing: Crossing, outer: tuple[Crossing, ...]) -> None:
        """What an open call of a helper becomes where the helper is called with `crossing`'s binding."""
        callee = substitute(inner.callee, crossing.binding)
        for further in outer:
            callee = substitute(callee, further.binding)
        around = (*inner.outer, crossing, *outer)
        way = Way(found, inner.site, inner.hop, around)
        if inner.register is not None:
            self.registrations.lift(found, inner, callee, crossing, around)
            return
        if inner.enqueue is not None:
            self.enqueues.job(way, around, inner.enqueue, callee, (inner.names, inner.args))
            return
        if callee.free != inner.callee.free:
            args = tuple(substitute(arg, crossing.binding) for arg in inner.args)
            known = Call(callee, inner.names, args, inner.site.call.at)
            self.registrations.note_known(found, known, around[-1].site)
        if inner.test is None:
            self.reach(way, Call(callee, inner.names, inner.args, inner.site.call.at))
            return
        part = way.apart()
        self.reach(part, Call(callee, inner.names, inner.args, inner.site.call.at))
        found.add(part.found.tested(inner.test))
