"""Error classes: which calls raise them, and whether a message may have been accepted when they are raised."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sendonce import vocabulary as v
from sendonce.program.evaluate import Evaluator
from sendonce.program.held import Site
from sendonce.program.mail import ProviderSend
from sendonce.program.values import Attr, Call, ClassRef, External, FunctionRef, Op, Seq, Value, options, walk

Catch = Literal["all", "some", "none"]

_EVERYTHING = frozenset(["builtins.Exception", "builtins.BaseException"])
_EXCEPT_FOR = "_not_"
"""In the name of what describes a retry: it names the errors that are not waited for (`retry_if_not_…`)."""


@dataclass(frozen=True)
class Failure:
    """An error on its way out of a run: its class, or the call that fails with whatever its library raises.

    All empty is an error of which nothing is known. `sent` tells that the failing call is the provider's send.
    """

    cls: Value | None = None
    call: Site | None = None
    sent: ProviderSend | None = None


@dataclass(frozen=True)
class Awaited:
    """The error classes that a retry or a handler takes; `every` for all there are, or some that nobody can tell.

    What is below `spared` is not taken.
    """

    classes: tuple[Value, ...] = ()
    every: bool = False
    spared: tuple[Value, ...] = ()


EVERY = Awaited(every=True)


class Errors:
    """Answers from the packs and from the project's own classes."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.packs = evaluator.packs
        self._entries: dict[str, tuple[v.Error, ...]] = {}

    # ------------------------------------------------------------------ what a retry waits for

    def awaited(self, given: Value | None) -> Awaited:
        """The classes that an option names: a class, a tuple, what describes them (`retry_if(E)`), a test of them."""
        if given is None:
            return EVERY
        excepted = self._excepted(given)
        if excepted:
            return Awaited(every=True, spared=excepted)
        found = tuple(dict.fromkeys(self._classes(given, 4)))
        if not found or any(self.is_every(cls) for cls in found):
            return EVERY
        return Awaited(found)

    def _excepted(self, given: Value) -> tuple[Value, ...]:
        """The classes of `retry_if_not_…(E)`."""
        found = self.evaluator.resolve(given)
        if isinstance(found, Call) and any(_EXCEPT_FOR in shape for shape in self.evaluator.shapes(found.func)):
            return tuple(cls for part in found.args for cls in self._classes(part, 4))
        return ()

    def taken(self, types: tuple[Value, ...]) -> Awaited:
        """What an `except` with these types takes; none is all."""
        found = [cls for given in types for cls in self._classes(given, 4)]
        if not types or any(self.is_every(cls) for cls in found):
            return EVERY
        return Awaited(tuple(dict.fromkeys(found)))

    def _classes(self, given: Value, depth: int) -> Iterator[Value]:
        for found in options(self.evaluator.resolve(given)) if depth else ():
            match found:
                case Seq() | Op():
                    for part in found.parts():
                        yield from self._classes(part, depth)
                case Call(func=func):
                    if any(_EXCEPT_FOR in shape for shape in self.evaluator.shapes(func)):
                        yield External("builtins.Exception")
                    for part in found.args:
                        yield from self._classes(part, depth - 1)
                case FunctionRef():
                    yield from self._asked_for(found, depth)
                case _ if self.is_class(found):
                    yield found

    def _asked_for(self, predicate: FunctionRef, depth: int) -> Iterator[Value]:
        """The classes that a predicate tests for: `lambda error: isinstance(error, E)`."""
        flow = self.evaluator.flow_of(self.evaluator.program.function(predicate.id))
        for part in walk(flow.returned):
            if isinstance(part, Call) and part.func is External("builtins.isinstance") and len(part.args) == 2:
                yield from self._classes(part.args[1], depth - 1)

    def is_class(self, value: Value) -> bool:
        """Whether a value is a class, as far as its name tells."""
        match value:
            case ClassRef():
                return True
            case External(dotted=dotted):
                return dotted.rpartition(".")[2][:1].isupper() or dotted in ("socket.error", "socket.timeout")
            case Attr(base=base, name=name):
                return name[:1].isupper() and isinstance(base, ClassRef | External)
            case _:
                return False

    def is_every(self, cls: Value) -> bool:
        """Whether every error is one of this class."""
        return not _EVERYTHING.isdisjoint(self._own_names(cls))

    # ------------------------------------------------------------------ matching

    def meets(self, awaited: Awaited, failure: Failure, late: bool = False) -> bool:
        """Whether what is awaited takes an error; `late` counts errors of a send that was certainly refused too."""
        if awaited.spared and self.catches(awaited.spared, failure) == "all":
            return False
        if awaited.every:
            return True
        return any(self._meets(cls, failure, late) for cls in awaited.classes)

    def _meets(self, cls: Value, failure: Failure, late: bool) -> bool:
        if failure.cls is not None:
            return self.is_subclass(failure.cls, cls)
        if failure.sent is not None:
            return self.of_send(cls, failure.sent, late)
        return failure.call is not None and self.of_call(cls, failure.call)

    def catches(self, types: tuple[Value, ...], failure: Failure) -> Catch:
        """How much of an error a handler with these types takes: a send fails in more than one way."""
        taken = self.taken(types)
        if taken.every:
            return "all"
        verdict: Catch = "none"
        for cls in taken.classes:
            if failure.cls is not None:
                if self.is_subclass(failure.cls, cls):
                    return "all"
            elif self._meets(cls, failure, late=True):
                verdict = "some"
                if any(entry.base for entry in self._known(cls)):
                    return "all"
        return verdict

    def is_subclass(self, cls: Value, base: Value) -> bool:
        """Whether a class is another, or below it."""
        return cls is base or not self._own_names(base).isdisjoint((*self._own_names(cls), *self._above(cls)))

    def _own_names(self, cls: Value) -> frozenset[str]:
        match cls:
            case ClassRef(id=id):
                return frozenset([id])
            case External(dotted=dotted):
                return frozenset([self.packs.canonical(dotted)])
            case Attr(base=ClassRef(id=id), name=name):
                return frozenset([f"{id}.{name}"])
            case _:
                return frozenset(map(self.packs.canonical, self.evaluator.shapes(cls)))

    def _above(self, cls: Value) -> Iterator[str]:
        match cls:
            case ClassRef(id=id):
                yield from (one.id for one in self.evaluator.hierarchy.mro(id))
                yield from self.evaluator.hierarchy.external_bases(id)
            case External(dotted=dotted):
                yield from self.packs.bases(dotted)
            case Attr(base=ClassRef()):
                yield "django.core.exceptions.ObjectDoesNotExist"

    # ------------------------------------------------------------------ where errors come from

    def of_send(self, cls: Value, send: ProviderSend, late: bool = False) -> bool:
        """Whether a provider's call may raise this class, or one below it, when the message may have been taken."""
        if not isinstance(cls, External):
            return False  # what the project itself defines is raised by its own statements
        entries = self._known(cls)
        if any(entry.before for entry in entries):
            return late
        if any(entry.network for entry in entries):
            return True
        if any(entry.by for entry in entries):
            return False
        return cls.dotted.partition(".")[0] in self._roots(send)

    def _roots(self, send: ProviderSend) -> set[str]:
        """Import roots of the libraries that run when a provider's call is made."""
        found = {send.api.partition(".")[0]}
        for pack in self.packs.packs:
            if pack.name == send.provider:
                found |= {*self.packs.roots(pack), *pack.transport}
        return found - {"builtins"}

    def of_call(self, cls: Value, site: Site) -> bool:
        """Whether a call of a library may raise this class."""
        if not isinstance(cls, External):
            return isinstance(cls, Attr) and any(
                shape.startswith("django.db") for shape in self.evaluator.shapes(site.call.func)
            )
        entries = self._known(cls)
        if any(entry.before for entry in entries) and not self.is_remote(site):
            return False
        if any(entry.network for entry in entries) and self.is_remote(site):
            return True
        own = {cls.dotted.partition(".")[0]} - {"builtins"}
        roots = {root for entry in entries for root in entry.by} or own
        shapes = self.evaluator.shapes(site.call.func)
        return any(shape == root or shape.startswith((f"{root}.", f"{root}(")) for shape in shapes for root in roots)

    def is_remote(self, site: Site) -> bool:
        """Whether a call is known to talk to another machine: a database, a server, a mail provider."""
        tables = (self.packs.stores, self.packs.http_clients, self.packs.sends, self.packs.transaction_commits)
        return any(self.evaluator.lookup(table, site.call.func) for table in tables)

    def _known(self, cls: Value) -> tuple[v.Error, ...]:
        """What packs say of a class."""
        if not isinstance(cls, External):
            return ()
        dotted = self.packs.canonical(cls.dotted)
        if dotted not in self._entries:
            self._entries[dotted] = tuple(
                entry
                for pack in self.packs.packs
                for entry in pack.error
                if dotted in map(self.packs.canonical, entry.classes)
                or any(dotted.startswith(f"{module}.") for module in entry.modules)
            )
        return self._entries[dotted]
