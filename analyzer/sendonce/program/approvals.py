"""Tools of language models: whether a person releases what they do, and who makes the keys that they pass."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from sendonce import facts
from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program import held as h
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.link import Linker
from sendonce.program.mail import Guard
from sendonce.program.mentions import mentions
from sendonce.program.paths import Path
from sendonce.program.reader import Reader
from sendonce.program.spots import Spots
from sendonce.program.symbols import Function
from sendonce.program.values import Attr, Call, ClassRef, Item, Param, Seq, Table, Value, walk

MAX_DEPTH = 3


class Approvals:
    """Answers for the paths of tools."""

    def __init__(self, linker: Linker, flows: Flows, spots: Spots) -> None:
        self.linker = linker
        self.flows = flows
        self.spots = spots
        self.evaluator = linker.evaluator
        self.program = linker.program
        self.packs = linker.packs

    def is_tool(self, path: Path) -> bool:
        """Whether a language model decides that the trigger of a path runs."""
        return path.trigger.kind == "agent_tool" and (path.start.entry is None or path.start.entry.decided)

    # ------------------------------------------------------------------ a person releases it

    def is_approved(self, path: Path) -> bool:
        """Whether a person is asked on the way, in the tool's own options, or by what runs the tools."""
        if any(self._asks(site) or self._tests(site) for site in path.sites()):
            return True
        function = self.program.function(path.start.function)
        return self._has_option(path, function) or not self._names(path, function).isdisjoint(self._released)

    def _asks(self, site: Site) -> bool:
        """Whether a person is asked before a call, in its function or in a helper that was called before."""
        done = (fact.site for fact in h.newest_first(site.held) if isinstance(fact, h.Done))
        raised = self.flows.of(self.program.function(site.function)).raises
        return any(self._is_step(one.call, MAX_DEPTH) for one in done) or any(
            isinstance(exit.value, Call) and self._is_step(exit.value, 0) for exit in raised
        )

    def _tests(self, site: Site) -> bool:
        """Whether something stored is asked for a person's word: `if not draft.approved_at`."""
        tests = (fact.value for fact in h.newest_first(site.held) if isinstance(fact, h.Test))
        asked = (word.lower() for test in tests for word in mentions(test))
        return any(word in name for name in asked for word in self._words)

    @cached_property
    def _words(self) -> tuple[str, ...]:
        return tuple(word for pack in self.packs.packs for one in pack.approval for word in one.words)

    def _is_step(self, call: Call, depth: int) -> bool:
        found: tuple[tuple[object, v.Approval], ...] = self.evaluator.lookup(self.packs.approvals, call.func)
        if any(not entry.names for _, entry in found):
            return True
        if depth <= 0:
            return False
        bodies = (self.flows.of(self.program.function(ref.id)) for ref, *_ in self.linker.callables(call.func))
        return any(self._is_step(site.call, depth - 1) for flow in bodies for site in flow.sites)

    def _has_option(self, path: Path, function: Function) -> bool:
        calls: list[Value] = [call.func for call in self.linker.decorations(function)]
        if path.start.site is not None:
            calls += [path.start.site.call, path.start.site.call.func]
        if any(isinstance(call, Call) and self._is_switched(call) for call in calls):
            return True
        cls = path.start.cls
        if cls is None:
            return False
        told = (
            (self.evaluator.constant(Attr(ClassRef(cls.id), name)), wanted) for name, wanted in self._options.items()
        )
        return any(found is not None and found.value == wanted for found, wanted in told)

    def _is_switched(self, call: Call) -> bool:
        """Whether an option says that a person must agree, always or where a function of the project says so."""
        for name, value in zip(call.names, call.args, strict=True):
            if name in self._options:
                constant = self.evaluator.constant(value)
                if constant is None or constant.value == self._options[name]:
                    return True
        return False

    @cached_property
    def _options(self) -> dict[str, v.Scalar]:
        return {
            name: value for pack in self.packs.packs for one in pack.approval for name, value in one.options.items()
        }

    def _names(self, path: Path, function: Function) -> frozenset[str]:
        """The names by which a tool is known to what runs it, and that of all tools."""
        named = {function.name, path.trigger.detail, path.trigger.function.rpartition(".")[2]}
        if path.start.cls is not None:
            constant = self.evaluator.constant(Attr(ClassRef(path.start.cls.id), "name"))
            named |= {path.start.cls.name, str(constant.value) if constant is not None else ""}
        return frozenset(named - {""}) | self._all_tools

    @cached_property
    def _all_tools(self) -> frozenset[str]:
        return frozenset(name for pack in self.packs.packs for one in pack.approval for name in one.every)

    @cached_property
    def _released(self) -> frozenset[str]:
        """The names of tools before which what runs them stops for a person, wherever the project says so."""
        found: set[str] = set()
        for shape, pairs in sorted(self.packs.approvals.items()):
            entries = [entry for _, entry in pairs if entry.names]
            for function in self.program.mentioning(shape.rpartition(".")[2]) if entries else ():
                for site in self.flows.of(function).sites:
                    if shape in self.evaluator.shapes(site.call.func):
                        found.update(name for entry in entries for name in self._named(site.call, entry))
        return frozenset(found)

    def _named(self, call: Call, entry: v.Approval) -> Iterator[str]:
        for given in arguments.given(self.evaluator, call, entry.names):
            resolved = self.evaluator.resolve(given)
            items: list[tuple[Value, Value]] = []
            if isinstance(resolved, Table):
                items = list(zip(resolved.keys, resolved.values, strict=True))
            elif isinstance(resolved, Seq):
                items = [(one, one) for one in resolved.items]
            for name, value in items:
                key, told = self.evaluator.constant(name), self.evaluator.constant(value)
                if key is not None and (told is None or told.value is not False):
                    yield str(key.value)

    # ------------------------------------------------------------------ who makes the key

    def invented(self, path: Path) -> str | None:
        """The argument of the model that a claim or key on a path is made of alone; None if more stands behind it."""
        guard = path.mail.guard
        if guard is None or guard.stored:
            return None
        function = self.program.function(path.start.function)
        holes = self._holes(guard)
        own = [part for part in holes if isinstance(part, Param) and part.function == function.id]
        if not own or len(own) < len(holes):
            return None
        declared = {param.name: param for param in function.params}
        names = [part.name for part in own]
        if any(self._is_given(function, declared[name]) or self._is_looked_up(function, name) for name in names):
            return None
        return names[0]

    def _holes(self, guard: Guard) -> list[Value]:
        """What a key is made of: parameters, and what is read from anything else."""
        found: dict[Value, None] = {}
        for _, value in guard.parts:
            for part in walk(self.evaluator.resolve(value)):
                stored = isinstance(part, Attr | Item) and not isinstance(part.base, Param)
                if isinstance(part, Param) or (stored and not self.evaluator.shapes(part)):
                    found[part] = None
        return list(found)

    def _is_given(self, function: Function, declared: facts.Param) -> bool:
        """Whether the framework fills a parameter in, so that the model neither sees nor sets it."""
        reader = Reader(self.evaluator, function.module.body, function.cls)
        given: list[Value] = []
        if declared.annotation is not None:
            given += walk(self.evaluator.resolve(reader.annotation(declared.annotation)))
            given += walk(reader.annotation(declared.annotation))
        if declared.default is not None:
            given.append(reader.read(declared.default))
        if function.is_method and function.params and declared is function.params[0]:
            return True
        return any(self._injects(value) for value in given)

    def _injects(self, value: Value) -> bool:
        func = value.func if isinstance(value, Call) else value
        if not self._injected.isdisjoint({name.removesuffix("()") for name in self.evaluator.shapes(func)}):
            return True
        found: tuple[tuple[object, v.Invoke], ...] = self.evaluator.lookup(self.packs.invokes, func)
        return any(entry.injects for _, entry in found)

    @cached_property
    def _injected(self) -> frozenset[str]:
        return frozenset(
            self.packs.canonical(name) for pack in self.packs.packs for one in pack.approval for name in one.injected
        )

    def _is_looked_up(self, function: Function, name: str) -> bool:
        """Whether a tool finds something stored by a parameter: then that names what is there, and is not made up."""
        param = Param(function.id, name)
        for site in self.flows.of(function).sites:
            read = self.evaluator.lookup(self.packs.store_reads, site.call.func)
            if (read or self._finds(site.call)) and any(param in walk(arg) for arg in site.call.args):
                return True
            if any(isinstance(part, Item) and part.index is param for part in walk(site.call)):
                return True
        return False

    def _finds(self, call: Call) -> bool:
        """Whether a call asks for a row, itself or in a helper of the project."""
        if self.spots.model_of(call) is not None:
            return True
        for ref, *_ in self.linker.callables(call.func):
            for site in self.flows.of(self.program.function(ref.id)).sites:
                if self.evaluator.lookup(self.packs.store_reads, site.call.func):
                    return True
        return False
