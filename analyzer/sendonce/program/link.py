"""From call sites to the functions that run: the edges of the call graph.

An edge is a list of crossings, innermost first: a plain call is one, a call through a helper that
is given the function (a decorator's wrapper, `after_commit(f)`) has one for each site on the way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from sendonce import vocabulary as v
from sendonce.findings import Confidence, HopKind, weakest
from sendonce.packs import Table as PackTable
from sendonce.program import arguments
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.getattrs import possible_names
from sendonce.program.held import Site
from sendonce.program.symbols import Class, Function
from sendonce.program.values import (
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
    Super,
    Table,
    Text,
    Union,
    Value,
    options,
    substitute,
    walk,
)

GETATTR = External("builtins.getattr")
MAX_NESTING = 5
"""Through how many helpers a function passed as an argument is followed."""
MAX_TABLE = 80
"""A table with more entries than this is not followed into each."""
MAX_DEPTH = 25
"""How many functions deep the search for such helpers goes at once."""
MAX_OPEN = 12
"""How many calls of what it was given one function may have before the rest is left out."""


@dataclass(frozen=True, eq=False)
class Crossing:
    """One step from a function into what it calls. `binding` says what the callee's parameters are."""

    site: Site
    hop: HopKind
    binding: dict[Param, Value] = field(default_factory=dict)
    confidence: Confidence = "high"
    enqueue: v.Enqueue | None = None
    within: str = ""
    """The library call in whose own transaction the callee runs (signals of `get_or_create`)."""
    unique: bool = False
    """The queue refuses a second job with the same key."""
    method: Attr | None = None
    """A method call on an object whose class may be known better further out."""
    test: Value | None = None
    """What must be true for this callee to be the one: the key of a table that it was taken from."""
    callee: str = ""
    """The id of the function that the crossing leads into, where it leads into one of the project."""


@dataclass(frozen=True, eq=False)
class Edge:
    """`crossings`, innermost first, lead from the function of the last site into `target`."""

    target: str
    crossings: tuple[Crossing, ...]

    @property
    def site(self) -> Site:
        return self.crossings[-1].site


@dataclass(frozen=True, eq=False)
class Open:
    """A call of something that the function was given: it can be told only where the function is called."""

    callee: Value
    names: tuple[str, ...]
    args: tuple[Value, ...]
    site: Site
    hop: HopKind
    outer: tuple[Crossing, ...] = ()
    """Crossings between that call and the function that has this open call, innermost first."""
    enqueue: v.Enqueue | None = None
    register: Register | None = None


@dataclass(frozen=True, eq=False)
class Register:
    """A call that hands a handler to a framework: the entry of the pack, and the call with its options."""

    entry: v.Trigger | v.Connect
    call: Call


@dataclass(frozen=True, eq=False)
class Handed:
    """A handler that a helper (a decorator of the project) hands to a framework, where the helper is called."""

    site: Site
    register: Register
    handler: Value


@dataclass
class Reached:
    """What one site leads to."""

    edges: list[Edge] = field(default_factory=list)
    opens: list[Open] = field(default_factory=list)
    handed: list[Handed] = field(default_factory=list)


class Linker:
    """Resolves sites. `names` finds a job by the string that it is enqueued under."""

    def __init__(self, evaluator: Evaluator, flows: Flows) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.flows = flows
        self._reached: dict[Site, Reached] = {}
        self.too_deep: list[Site] = []
        """Calls that lead through more functions than can be followed at once."""
        self._opens: dict[str, tuple[Open, ...]] = {}
        self._depth = 0

    # ------------------------------------------------------------------ sites and functions

    def reached(self, site: Site) -> Reached:
        """The edges and open calls of a site."""
        if site not in self._reached:
            found = self._reached[site] = Reached()
            try:
                self._open_registers(found, site)
                self._reach(found, site.call.func, site.call.names, site.call.args, site, "call", ())
            except RecursionError:
                self.too_deep.append(site)
        return self._reached[site]

    def _open_registers(self, found: Reached, site: Site) -> None:
        """Registrations of a handler that the function is given: known where the function is called."""
        for register, handler in self.registers(site.call):
            if isinstance(handler, Param) or (handler.free and self._is_open(handler)):
                found.opens.append(Open(handler, (), (), site, "trigger", (), None, register))

    def _hand_over(self, found: Reached, call: Value, site: Site) -> None:
        """Registrations of a helper that became known at `site`, where the helper is called (`signal.connect`)."""
        for register, handler in self.registers(call) if isinstance(call, Call) else ():
            if not (handler.free and self._is_open(handler)):
                found.handed.append(Handed(site, register, handler))

    def registers(self, call: Call) -> Iterator[tuple[Register, Value]]:
        """What a call hands to a framework, as packs say: triggers' handlers and those of signals."""
        decorators = [(call, call.func)]
        if isinstance(call.func, Call):
            decorators.append((call.func, call.func.func))
        last = call.args[-1] if call.args else None
        for described, shape in decorators:
            for entry in self._entries(self.packs.trigger_decorators, self.packs.connect_decorators, shape):
                if last is not None and _decorates(entry, described, call):
                    yield Register(entry, described), last
        for entry in self._entries(self.packs.trigger_registers, self.packs.connect_registers, call.func):
            handler = arguments.first_argument(self.evaluator, call, entry.handler)
            if handler is not None:
                yield Register(entry, call), handler

    def _entries(
        self, triggers: PackTable[v.Trigger], connects: PackTable[v.Connect], shape: Value
    ) -> Iterator[v.Trigger | v.Connect]:
        """What two tables of packs say of a shape."""
        yield from (entry for _, entry in self.evaluator.lookup_overridden(triggers, shape))
        yield from (entry for _, entry in self.evaluator.lookup_overridden(connects, shape))

    def edges(self, function: Function) -> Iterator[Edge]:
        """All edges that leave a function."""
        for site in self.flows.of(function).sites:
            yield from self.reached(site).edges

    def opens(self, function: Function) -> tuple[Open, ...]:
        """The calls of what the function was given, its own and those of helpers that it hands it on to."""
        if function.id not in self._opens:
            if self._depth > MAX_DEPTH:
                return ()  # what is given is handed on through more helpers than anybody follows
            self._opens[function.id] = ()
            self._depth += 1
            found = [one for site in self.flows.of(function).sites for one in self.reached(site).opens]
            self._depth -= 1
            self._opens[function.id] = tuple(found[:MAX_OPEN])
        return self._opens[function.id]

    def handler(self, value: Value, site: Site | None) -> tuple[Edge, ...]:
        """The functions that a framework runs when it calls a handler, wrappers on the way as crossings.

        The last crossing is the registration: nothing is known of what the framework passes.
        """
        found = Reached()
        for ref, names, args, confidence in self.jobs(value):
            if site is None:
                found.edges.append(Edge(ref.id, ()))
                site_or_none = self._first_site(ref)
                if site_or_none is None:
                    continue
                crossing = Crossing(site_or_none, "trigger", self._held_by(ref, names, args), confidence)
            else:
                crossing = Crossing(site, "trigger", self._held_by(ref, names, args), confidence)
                found.edges.append(Edge(ref.id, (crossing,)))
            for inner in self.opens(self.program.function(ref.id)):
                self._lift(found, inner, crossing, ())
        return tuple(found.edges)

    def _first_site(self, ref: FunctionRef) -> Site | None:
        return next(iter(self.flows.of(self.program.function(ref.id)).sites), None)

    def _held_by(self, ref: FunctionRef, names: tuple[str, ...], args: tuple[Value, ...]) -> dict[Param, Value]:
        """What a handler already holds when it is registered: closure, receiver, bound arguments."""
        binding = dict(ref.closure)
        params = list(self.program.function(ref.id).params)
        if ref.receiver is not None and params:
            binding[Param(ref.id, params.pop(0).name)] = ref.receiver
        for name, value in zip(names, args, strict=True):
            if name == "" and params:
                binding[Param(ref.id, params.pop(0).name)] = value
            elif name not in ("", "*", "**"):
                binding[Param(ref.id, name)] = value
        return binding

    # ------------------------------------------------------------------ reaching

    def _reach(
        self,
        found: Reached,
        callee: Value,
        names: tuple[str, ...],
        args: tuple[Value, ...],
        site: Site,
        hop: HopKind,
        outer: tuple[Crossing, ...],
    ) -> None:
        """Adds what calling `callee` at `site` leads to; `outer` are the crossings around it."""
        if len(outer) > MAX_NESTING:
            return
        call = self.evaluator.direct(Call(callee, names, args, site.call.at))
        callee, names, args = call.func, call.names, call.args
        if self._own_enqueue(found, call, site, hop, outer):
            return
        if self._enqueued(found, call, site, hop, outer) or self._invoked(found, call, site, hop, outer):
            return
        if self._called_job(found, call, site, hop, outer):
            return
        resolved = self.evaluator.resolve(callee)
        parts = options(resolved) if isinstance(resolved, Union) else (callee,)
        inner = Reached()
        for part in parts:
            self._reach_one(inner, part, names, args, site, hop, outer, "high" if len(parts) == 1 else "medium")
        found.edges.extend(_waiting(inner.edges) if self._is_method_of_job(callee) else inner.edges)
        found.opens.extend(inner.opens)
        found.handed.extend(inner.handed)

    def _reach_one(
        self,
        found: Reached,
        callee: Value,
        names: tuple[str, ...],
        args: tuple[Value, ...],
        site: Site,
        hop: HopKind,
        outer: tuple[Crossing, ...],
        sure: Confidence,
    ) -> None:
        """Adds what one of the values that a call may mean leads to."""
        some = False
        for choice, test in self._choices(callee):
            for ref, more_names, more_args, confidence in list(self.callables(choice)):
                some = True
                confidence = weakest(sure, confidence, "high" if choice is callee else "medium")
                self._enter(
                    found,
                    ref,
                    (*more_names, *names),
                    (*more_args, *args),
                    site,
                    hop,
                    outer,
                    confidence,
                    choice,
                    test=test,
                )
        if not some and self._is_open(callee):
            found.opens.append(Open(callee, names, args, site, hop, outer))

    def _choices(self, callee: Value) -> list[tuple[Value, Value | None]]:
        """The callees that a table (`HANDLERS[kind](…)`) may give, each with the test on the key; else the callee."""
        resolved = self.evaluator.resolve(callee)
        if isinstance(resolved, Call) and resolved.func is GETATTR and len(resolved.args) > 1:
            named = possible_names(self.evaluator, resolved)
            return [(Attr(resolved.args[0], name), test) for name, test in named] or [(callee, None)]
        head = resolved
        while isinstance(head, Attr) or (isinstance(head, Call) and not isinstance(head.func, ClassRef | FunctionRef)):
            head = head.base if isinstance(head, Attr) else head.func
        if not isinstance(head, Item):
            return [(callee, None)]
        table = self.evaluator.resolve(head.base)
        if not isinstance(table, Table) or len(table.values) > MAX_TABLE:
            return [(callee, None)]
        return [
            (_replaced(resolved, head, value), Op("==", (head.index, key)) if isinstance(key, Const) else None)
            for key, value in zip(table.keys, table.values, strict=True)
        ]

    def _is_method_of_job(self, callee: Value) -> bool:
        """Whether a job's own class is asked to enqueue it, in a method that the project overrides."""
        owner = self.evaluator.resolve(callee.base) if isinstance(callee, Attr) else None
        return isinstance(owner, Call) and any(True for _ in self.evaluator.jobs_of(owner))

    def _enter(
        self,
        found: Reached,
        ref: FunctionRef,
        names: tuple[str, ...],
        args: tuple[Value, ...],
        site: Site,
        hop: HopKind,
        outer: tuple[Crossing, ...],
        confidence: Confidence,
        callee: Value = UNKNOWN,
        enqueue: v.Enqueue | None = None,
        unique: bool = False,
        test: Value | None = None,
        within: str = "",
    ) -> None:
        """Adds the edge into a project function, and those through it to functions that it is given."""
        binding = arguments.bind(self.evaluator, ref, names, args)
        method = callee if isinstance(callee, Attr) and isinstance(callee.base, Param) else None
        crossing = Crossing(site, hop, binding, confidence, enqueue, within, unique, method, callee=ref.id, test=test)
        found.edges.append(Edge(ref.id, (crossing, *outer)))
        if not any(self._carries(value) for value in binding.values()):
            return
        for inner in self.opens(self.program.function(ref.id)):
            self._lift(found, inner, crossing, outer)

    def _lift(self, found: Reached, inner: Open, crossing: Crossing, outer: tuple[Crossing, ...]) -> None:
        """What an open call of a helper becomes where the helper is called with `crossing`'s binding."""
        callee = substitute(inner.callee, crossing.binding)
        around = (*inner.outer, crossing, *outer)
        if inner.register is not None:
            self._hand(found, inner, callee, crossing, around)
            return
        if inner.enqueue is not None:
            self._job(found, inner.enqueue, callee, inner.names, inner.args, inner.site, around)
            return
        if callee.free != inner.callee.free:
            args = tuple(substitute(arg, crossing.binding) for arg in inner.args)
            self._hand_over(found, Call(callee, inner.names, args, inner.site.call.at), around[-1].site)
        self._reach(found, callee, inner.names, inner.args, inner.site, inner.hop, around)

    def _hand(
        self, found: Reached, inner: Open, handler: Value, crossing: Crossing, around: tuple[Crossing, ...]
    ) -> None:
        """A registration in a helper, where the helper is called: known now, or still up to the next caller."""
        assert inner.register is not None
        call = substitute(inner.register.call, crossing.binding)
        if not isinstance(call, Call) or len(around) > MAX_NESTING:
            return
        register = replace(inner.register, call=call)
        if handler.free and self._is_open(handler):
            found.opens.append(replace(inner, callee=handler, outer=around, register=register))
        else:
            found.handed.append(Handed(around[-1].site, register, handler))

    def _carries(self, value: Value) -> bool:
        """Whether a value may hold a function that the callee calls."""
        if isinstance(value, Param):
            return True
        # A class stands in its instances, which bring their methods.
        return any(isinstance(part, FunctionRef | Param | ClassRef) for part in walk(self.evaluator.resolve(value)))

    def _is_open(self, callee: Value) -> bool:
        """Whether the callee depends on what the function is given, in a way that a caller can settle."""
        head, first = callee, ""
        while isinstance(head, Attr | Element) or (isinstance(head, Call) and not isinstance(head.func, ClassRef)):
            first = head.name if isinstance(head, Attr) else first
            if isinstance(head, Call) and head.func is GETATTR:
                return bool(head.free)
            head = head.func if isinstance(head, Call) else head.base
        return isinstance(head, Param) and bool(callee.free) and not self._is_library_member(head, first)

    def _is_library_member(self, owner: Param, name: str) -> bool:
        """Whether an attribute of a method's own object is one that only a library can have put there."""
        function = self.program.function(owner.function)
        if not (function.is_method and function.params[0].name == owner.name and function.cls is not None):
            return False
        hierarchy = self.evaluator.hierarchy
        for cls in (function.cls, *hierarchy.subclasses(function.cls.id)):
            if hierarchy.find(cls.id, name) is not None or hierarchy.writers(cls.id, name):
                return False
        return bool(hierarchy.external_bases(function.cls.id))

    # ------------------------------------------------------------------ what packs know

    def _own_enqueue(self, found: Reached, call: Call, site: Site, hop: HopKind, outer: tuple[Crossing, ...]) -> bool:
        """`delay()` of a job whose project class overrides what `delay()` ends in (`apply_async`)."""
        if not isinstance(call.func, Attr) or not isinstance(self.evaluator.resolve(call.func.base), Call):
            return False
        entries = [entry for _, entry in self.evaluator.lookup(self.packs.enqueues, call.func)]
        for entry in entries:
            for cls in self.evaluator.types(call.func.base):
                for name in (call.func.name, *entry.through):
                    method = self.evaluator.hierarchy.method_of(cls, name)
                    if method is None:
                        continue
                    names, args = call.names, call.args
                    if name != call.func.name:
                        own_names, own_args = self._job_arguments(call, entry)
                        positional = tuple(a for n, a in zip(own_names, own_args, strict=True) if n == "")
                        names, args = ("",), (Seq("tuple", positional),)
                    ref = FunctionRef(method.id, call.func.base)
                    inner = Reached()
                    self._enter(inner, ref, names, args, site, hop, outer, "high")
                    found.edges.extend(_waiting(inner.edges))
                    found.opens.extend(inner.opens)
                    found.handed.extend(inner.handed)
                    return True
        return False

    def _called_job(self, found: Reached, call: Call, site: Site, hop: HopKind, outer: tuple[Crossing, ...]) -> bool:
        """Calling a job object as a function, where the queue makes that an enqueue."""
        for option in options(self.evaluator.resolve(call.func)):
            if isinstance(option, Call):
                for job, _ in self.evaluator.jobs_of(option):
                    if job.call == "enqueue":
                        entry = v.Enqueue(
                            calls=(), job=("receiver",), after_commit=job.after_commit, same_database=job.same_database
                        )
                        self._job(found, entry, option, call.names, call.args, site, self._hops(site, hop, outer))
                        return True
        return False

    @staticmethod
    def _hops(site: Site, hop: HopKind, outer: tuple[Crossing, ...]) -> tuple[Crossing, ...]:
        """The crossings around one at the same site, with its hop as one more if that is more than a call."""
        return outer if hop == "call" else (Crossing(site, hop), *outer)

    def _enqueued(self, found: Reached, call: Call, site: Site, hop: HopKind, outer: tuple[Crossing, ...]) -> bool:
        """Handles a call that puts a job on a queue."""
        outer = self._hops(site, hop, outer)
        entries = [e for e in self._enqueue_entries(call.func) if arguments.holds(self.evaluator, call, e.when)]
        for entry in sorted(entries, key=lambda entry: -len(entry.when)):
            jobs = self._given_jobs(call, entry.job)
            if not jobs:
                continue
            names, args = self._job_arguments(call, entry)
            for job in jobs:
                self._job(found, entry, job, names, args, site, outer)
            for job in self._given_jobs(call, entry.then):
                self._job(found, entry, job, (), (), site, outer)
            return True
        return False

    def _given_jobs(self, call: Call, notations: tuple[str, ...]) -> list[Value]:
        """All jobs that a call names, those in lists and groups one by one."""
        found: dict[Value, None] = {}
        todo = list(arguments.given(self.evaluator, call, notations))
        while todo:
            value = todo.pop(0)
            inner = self.evaluator.resolve(value)
            if isinstance(inner, Seq):
                todo[:0] = inner.items
            elif isinstance(inner, Op) and inner.op == "|":
                todo[:0] = inner.operands
            elif inner not in map(self.evaluator.resolve, found):
                found[value] = None
        return list(found)

    def _enqueue_entries(self, callee: Value) -> list[v.Enqueue]:
        """The entries for an enqueueing call; a telling method name is enough where the receiver is unknown."""
        found = [entry for _, entry in self.evaluator.lookup(self.packs.enqueues, callee)]
        if found or not isinstance(callee, Attr) or self.evaluator.types(callee.base):
            return found
        if not all(_is_attribute_of_object(shape) for shape in self.evaluator.shapes(callee.base)):
            return []
        if isinstance(self.evaluator.resolve(callee), FunctionRef):
            return []
        return [
            entry
            for pack in self.packs.packs
            for entry in pack.enqueue
            if entry.telling and callee.name in _last_names(entry)
        ]

    def _job(
        self,
        found: Reached,
        entry: v.Enqueue,
        job: Value,
        names: tuple[str, ...],
        args: tuple[Value, ...],
        site: Site,
        outer: tuple[Crossing, ...],
    ) -> None:
        unique = bool(entry.unique) and arguments.holds(self.evaluator, site.call, entry.unique)
        targets = list(self.jobs(job))
        for ref, more_names, more_args, confidence in targets:
            first = self._filled_in(ref)
            all_names = (*("",) * len(first), *more_names, *names)
            all_args = (*first, *more_args, *args)
            if entry.after_commit:
                outer = (Crossing(site, "defer"), *outer)
            self._enter(
                found, ref, all_names, all_args, site, "enqueue", outer, confidence, UNKNOWN, entry, unique
            )  # fmt: skip
        if not targets and job.free:
            found.opens.append(Open(job, names, args, site, "enqueue", outer, entry))

    @cached_property
    def after_methods(self) -> frozenset[str]:
        """Names of methods that queues call when a job has ended."""
        return frozenset(name for pack in self.packs.packs for job in pack.job for name in job.after)

    def ended(self, site: Site, method: Function, home: Class) -> Iterator[Edge]:
        """The edge from a job, decorated at `site` with the class `home`, into a method that runs when it has ended."""
        for job, described in self.evaluator.jobs_of(site.call):
            if method.name not in job.after or not site.call.args:
                continue
            for given in arguments.given(self.evaluator, described, job.base):
                if self.evaluator.resolve(given) is not ClassRef(home.id):
                    continue
                for ref, *_ in self.callables(site.call.args[-1]):
                    own = Site(ref.id, site.path, 0, site.at, site.call, None)
                    binding = {Param(method.id, method.params[0].name): site.call} if method.params else {}
                    yield Edge(method.id, (Crossing(own, "call", dict(binding), callee=method.id),))

    def _filled_in(self, ref: FunctionRef) -> tuple[Value, ...]:
        """The leading parameters that the queue itself fills in (`bind=True`, arq's `ctx`)."""
        function = self.program.function(ref.id)
        for call in self.decorations(function):
            for job, described in self.evaluator.jobs_of(call):
                for given in arguments.given(self.evaluator, described, job.bound):
                    constant = self.evaluator.constant(given)
                    if constant is not None and constant.value:
                        return (call,)
                return (UNKNOWN,) * job.first
        return (UNKNOWN,) * self._listed_first(ref)

    def _listed_first(self, ref: FunctionRef) -> int:
        """How many parameters the queue fills in for a function that a settings class lists as a job."""
        for pack in self.packs.packs:
            for job in pack.job:
                for path in job.settings if job.first else ():
                    owner, _, attribute = path.partition("/")[0].rpartition(".")
                    for file in self.program.index.files_with(owner, attribute):
                        module = self.program.module_of(file)
                        cls = module.classes.get(f"{module.key}.{owner}") if module is not None else None
                        listed = self.evaluator.resolve(Attr(ClassRef(cls.id), attribute)) if cls is not None else None
                        for item in listed.items if isinstance(listed, Seq) else ():
                            if any(one.id == ref.id for one, *_ in self.callables(item)):
                                return job.first
        return 0

    def _job_arguments(self, call: Call, entry: v.Enqueue) -> tuple[tuple[str, ...], tuple[Value, ...]]:
        """The arguments of the job in an enqueueing call."""
        if entry.args or entry.kwargs:
            packed = arguments.first_argument(self.evaluator, call, entry.args)
            named = arguments.first_argument(self.evaluator, call, entry.kwargs)
            given = [(name, value) for name, value in (("*", packed), ("**", named)) if value is not None]
            return tuple(name for name, _ in given), tuple(value for _, value in given)
        taken = {one.partition("|")[0] for one in (*entry.job, *entry.options)}
        skip = 0 if "receiver" in entry.job else 1
        names: list[str] = []
        args: list[Value] = []
        for name, value in zip(call.names, call.args, strict=True):
            if name == "" and skip:
                skip -= 1
            elif name not in taken or name in ("", "*", "**"):
                names.append(name)
                args.append(value)
        return tuple(names), tuple(args)

    def _invoked(self, found: Reached, call: Call, site: Site, hop: HopKind, outer: tuple[Crossing, ...]) -> bool:
        """Handles a library call that calls what it is given, or methods of an object."""
        used = False
        for _, entry in self.evaluator.lookup(self.packs.invokes, call.func):
            assert isinstance(entry, v.Invoke)
            if entry.wraps or not arguments.holds(self.evaluator, call, entry.when):
                continue
            around = outer if entry.hop == "call" else self._hops(site, hop, outer)
            inner = hop if entry.hop == "call" else entry.hop
            if entry.methods:
                used |= self._methods(found, entry, call, site, inner, around)
                continue
            callee = arguments.first_argument(self.evaluator, call, entry.function)
            if callee is None:
                continue
            used = True
            names, args = self._invoke_arguments(call, entry)
            for one in self._each(callee):
                self._reach(found, one, names, args, site, inner, around)
        return used

    def _each(self, callee: Value) -> tuple[Value, ...]:
        """A coroutine given instead of a function (`create_task(f(x))`) was reached by its own call already."""
        resolved = self.evaluator.resolve(callee)
        if isinstance(resolved, Seq):
            return resolved.items
        return (callee,)

    def _invoke_arguments(self, call: Call, entry: v.Invoke) -> tuple[tuple[str, ...], tuple[Value, ...]]:
        if entry.args or entry.kwargs:
            packed = arguments.first_argument(self.evaluator, call, entry.args)
            named = arguments.first_argument(self.evaluator, call, entry.kwargs)
            given = [(name, value) for name, value in (("*", packed), ("**", named)) if value is not None]
            return tuple(name for name, _ in given), tuple(value for _, value in given)
        position = next((int(p) for p in (one.partition("|")[2] for one in entry.function) if p.isdigit()), -1)
        keyword = {one.partition("|")[0] for one in entry.function}
        names: list[str] = []
        args: list[Value] = []
        seen = -1
        for name, value in zip(call.names, call.args, strict=True):
            seen += name == ""
            if (name == "" and seen <= position) or name in keyword - {""}:
                continue
            names.append(name)
            args.append(value)
        return tuple(names), tuple(args)

    def _methods(
        self, found: Reached, entry: v.Invoke, call: Call, site: Site, hop: HopKind, outer: tuple[Crossing, ...]
    ) -> bool:
        """Calls of `entry.methods` on the receiver, an argument or the model of a query set."""
        used = False
        for owner in self._owners(entry, call):
            for cls in self.evaluator.types(owner):
                for name in entry.methods:
                    method = self.evaluator.hierarchy.method_of(cls, name)
                    if method is not None:
                        used = True
                        within = self._own_transaction(entry, call.func)
                        self._enter(
                            found, FunctionRef(method.id, owner), (), (), site, hop, outer, "high", within=within
                        )
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
        receiver = call.func.base if isinstance(call.func, Attr) else None
        for where in entry.on or ("receiver",):
            if where == "model":
                if receiver is not None:
                    yield from self._rows(call, receiver)
            elif where == "receiver":
                if receiver is not None:
                    yield receiver
            else:
                given = arguments.argument(self.evaluator, call, where)
                if given is not None:
                    yield given

    def _rows(self, call: Call, receiver: Value) -> Iterator[Value]:
        """The row that a call of a manager or query set saves: made by the call itself where it makes rows."""
        row = self.evaluator.resolve(Element(receiver))
        makes = any(entry.row == "new" for _, entry in self.evaluator.lookup(self.packs.signal_sends, call.func))
        if makes and isinstance(row, Some) and isinstance(row.cls, ClassRef):
            yield Call(row.cls, call.names, call.args, call.at)
        else:
            yield row

    # ------------------------------------------------------------------ callables

    def decorations(self, function: Function) -> tuple[Call, ...]:
        """The calls of library decorators that a function's name was bound through, outermost first."""
        found: list[Call] = []
        value = self.evaluator.decorated(function)
        for option in options(value):
            while isinstance(option, Call) and option.args:
                found.append(option)
                option = option.args[-1]
        return tuple(found)

    def jobs(self, value: Value) -> Iterator[tuple[FunctionRef, tuple[str, ...], tuple[Value, ...], Confidence]]:
        """The functions behind a job: a function, a job object, a signature of one, a dotted string or a name."""
        resolved = self.evaluator.resolve(value)
        for option in options(resolved):
            if isinstance(option, Const) and isinstance(option.value, str):
                for ref in self.named(option.value):
                    yield ref, (), (), "high"
            elif isinstance(option, Super):
                yield from self.jobs(option.receiver)
            else:
                yield from self.callables(option)

    def named(self, name: str) -> Iterator[FunctionRef]:
        """Functions of the tree by dotted path, or by a job's bare name."""
        dotted = name.replace(":", ".")
        home, _, last = dotted.rpartition(".")
        if home:
            found = self._dotted(home, last)
            if found is not None:
                yield found
                return
        for function in self.program.defined(last):
            if function.cls is None and function.parent is None:
                yield FunctionRef(function.id)

    def _dotted(self, home: str, last: str) -> FunctionRef | None:
        module = self.program.module_named(home)
        if module is not None:
            value = self.evaluator.module_attr(module, last)
        else:
            owner, _, cls = home.rpartition(".")
            module = self.program.module_named(owner) if owner else None
            base = self.evaluator.module_attr(module, cls) if module is not None else None
            value = self.evaluator.resolve(Attr(base, last)) if base is not None else None
        for ref, *_ in self.callables(value) if value is not None else ():
            return ref
        return None

    def callables(
        self, value: Value, depth: int = 0
    ) -> Iterator[tuple[FunctionRef, tuple[str, ...], tuple[Value, ...], Confidence]]:
        """The project functions that calling a value runs, with leading arguments that it already holds."""
        if depth > MAX_NESTING:
            return
        resolved = self.evaluator.resolve(value)
        found = options(resolved)
        sure: Confidence = "high" if len(found) == 1 else "medium"
        for option in found:
            for ref, names, args, confidence in self._callable(option, depth):
                yield ref, names, args, weakest(sure, confidence)

    def _callable(
        self, option: Value, depth: int
    ) -> Iterator[tuple[FunctionRef, tuple[str, ...], tuple[Value, ...], Confidence]]:
        match option:
            case FunctionRef(receiver=receiver) if receiver is not None and self._may_be_overridden(receiver):
                yield from self._overrides(option, receiver)
            case FunctionRef():
                yield option, (), (), "high"
            case ClassRef():
                init = self.evaluator.hierarchy.method_of(option, "__init__")
                if init is not None:
                    yield FunctionRef(init.id, Some(option)), (), (), "high"
            case Call(func=func, names=names, args=args):
                yield from self._called(option, func, names, args, depth)
            case Op(op="or" | "and", operands=operands):
                for operand in operands:
                    yield from self.callables(operand, depth + 1)
            case Const() | Table() | Seq() | Text() | Union() | Super() | External():
                return
            case Param() if self.evaluator.is_cls_param(option):
                for cls in self.evaluator.types(option):
                    yield from self._callable(cls, depth)
            case _:
                yield from self._instance_call(option)

    def _instance_call(
        self, value: Value
    ) -> Iterator[tuple[FunctionRef, tuple[str, ...], tuple[Value, ...], Confidence]]:
        """An object with `__call__`."""
        for cls in self.evaluator.types(value):
            method = self.evaluator.hierarchy.method_of(cls, "__call__")
            if method is not None:
                yield FunctionRef(method.id, value), (), (), "high"

    def _called(
        self, option: Call, func: Value, names: tuple[str, ...], args: tuple[Value, ...], depth: int
    ) -> Iterator[tuple[FunctionRef, tuple[str, ...], tuple[Value, ...], Confidence]]:
        """What the result of a call is as a callable: a partial, a wrapped or decorated function, an instance."""
        shapes = self.evaluator.shapes(func)
        if "functools.partial" in shapes and args:
            for ref, more_names, more_args, sure in self.callables(args[0], depth + 1):
                yield ref, (*more_names, *names[1:]), (*more_args, *args[1:]), sure
            return
        for _, returns in self.evaluator.lookup(self.packs.returns, func):
            if returns.binds and isinstance(func, Attr):
                for ref, more_names, more_args, sure in self.callables(func.base, depth + 1):
                    yield ref, (*more_names, *names), (*more_args, *args), sure
                return
        for _, entry in self.evaluator.lookup(self.packs.invokes, func):
            if entry.wraps:
                inner = arguments.first_argument(self.evaluator, option, entry.function)
                if inner is not None:
                    own_names, own_args = self._invoke_arguments(option, entry)
                    for ref, more_names, more_args, sure in self.callables(inner, depth + 1):
                        yield ref, (*more_names, *own_names), (*more_args, *own_args), sure
                    return
        is_job = any(True for _ in self.evaluator.jobs_of(option))
        instance = [] if is_job else list(self._instance_call(option))
        if instance:
            yield from instance
        elif args and names[-1] == "" and not isinstance(func, ClassRef):
            # A library's decorator that no pack describes keeps the function.
            last = self.evaluator.resolve(args[-1])
            if isinstance(last, FunctionRef | Call):
                yield from self.callables(last, depth + 1)

    def _may_be_overridden(self, receiver: Value) -> bool:
        """Whether only the class of the receiver is known, so that a subclass's method may run instead."""
        known = self.evaluator.resolve(receiver)
        made = isinstance(known, Call) and isinstance(self.evaluator.resolve(known.func), ClassRef)
        return isinstance(known, Param | Some | Attr | Item | Element | Call) and not made

    def _overrides(
        self, ref: FunctionRef, receiver: Value
    ) -> Iterator[tuple[FunctionRef, tuple[str, ...], tuple[Value, ...], Confidence]]:
        function = self.program.function(ref.id)
        others = [
            cls.methods[function.name]
            for one in self.evaluator.types(receiver)
            if isinstance(one, ClassRef) and function.name != "__init__"
            for cls in self.evaluator.hierarchy.subclasses(one.id)
            if function.name in cls.methods and cls.methods[function.name] is not function
        ]
        sure: Confidence = "medium" if others else "high"
        yield ref, (), (), sure
        for other in others:
            yield replace_function(ref, other), (), (), "medium"


def _replaced(value: Value, old: Value, new: Value) -> Value:
    """`value` with `new` for the `old` at the head of its calls and attributes."""
    match value:
        case Attr(base=base, name=name):
            return Attr(_replaced(base, old, new), name)
        case Call(func=func, names=names, args=args, at=at):
            return Call(_replaced(func, old, new), names, args, at)
        case _:
            return new if value is old else value


def _is_attribute_of_object(shape: str) -> bool:
    """Whether a shape is an attribute of some library object (`Request().app.state.queue`): anything may be there."""
    return "()." in shape and not shape.endswith("()")


def _decorates(entry: v.Trigger | v.Connect, described: Call, call: Call) -> bool:
    """Whether a call is the use of a decorator, not the making of one (`receiver(signal)` before its function)."""
    if isinstance(entry, v.Connect):
        return described is not call or not entry.signal or entry.signal == ("receiver",)
    return True


def _waiting(edges: list[Edge]) -> list[Edge]:
    """The edges of a job's own enqueueing method: if it can wait for a commit, it does where one is to come."""
    if any(crossing.hop == "defer" for edge in edges for crossing in edge.crossings):
        return [e for e in edges if any(c.hop == "defer" for c in e.crossings) or e.crossings[0].hop != "enqueue"]
    return edges


def _last_names(entry: v.Enqueue) -> frozenset[str]:
    return frozenset(call.rpartition(".")[2] for call in entry.calls)


def replace_function(ref: FunctionRef, function: Function) -> FunctionRef:
    """The same receiver with another function."""
    return FunctionRef(function.id, ref.receiver)


def with_outer(edge: Edge, outer: Crossing) -> Edge:
    """The edge inside one more crossing."""
    return replace(edge, crossings=(*edge.crossings, outer))
