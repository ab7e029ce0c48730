"""Calls of methods on objects of which nothing is known.

Such a call is never an edge that a default finding may rest on: where one class alone defines a
telling name it is tried at low confidence, else it is only counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sendonce.findings import Place, Related
from sendonce.program import arguments
from sendonce.program.evaluate import Evaluator
from sendonce.program.held import Site
from sendonce.program.link import Crossing, Edge, Linker, Reached
from sendonce.program.symbols import Function
from sendonce.program.values import Attr, Call, Const, Element, External, FunctionRef, Item, ModuleRef, Updated

MAX_FILES = 40
"""A name that stands in more files than this tells nothing by itself."""


class Loose:
    """The unresolved method calls seen so far, by the method's name."""

    def __init__(self, evaluator: Evaluator, linker: Linker) -> None:
        self.evaluator = evaluator
        self.linker = linker
        self.program = evaluator.program
        self._sites: dict[str, list[Site]] = {}
        self._wanted: dict[str, Function] = {}
        self._tried: set[Site] = set()

    def note(self, site: Site, reached: Reached) -> Iterator[Edge]:
        """Remembers a call that leads nowhere known; gives the edge if its name alone tells."""
        func = site.call.func
        if not isinstance(func, Attr) or reached.edges or func.name.startswith("__") or self._is_known(func):
            return
        if any(self.linker.choices.asks_by_name(one.callee) for one in reached.opens if not one.outer):
            return  # the callers tell what is meant
        self._sites.setdefault(func.name, []).append(site)
        if func.name in self._wanted:
            yield from self._edges(site, self._wanted[func.name])

    def wanted(self, function: Function) -> Iterator[Edge]:
        """The edges from calls seen before into a method that is now known to lead to mail."""
        if function.cls is None or not self._tells(function):
            return
        self._wanted[function.name] = function
        for site in self._sites.get(function.name, ()):
            yield from self._edges(site, function)

    def _edges(self, site: Site, function: Function) -> Iterator[Edge]:
        func = site.call.func
        if site in self._tried or not isinstance(func, Attr) or not self._fits(site, function):
            return
        self._tried.add(site)
        ref = FunctionRef(function.id, func.base)
        binding = arguments.bind(self.evaluator, ref, site.call.names, site.call.args)
        yield Edge(function.id, (Crossing(site, "call", binding, "low", callee=function.id, why="unique name"),))

    def unresolved(self, functions: Iterable[Function]) -> Iterator[Related]:
        """The calls that may lead to one of these functions, by place."""
        found: dict[Site, Function] = {}
        for function in functions:
            if function.cls is not None and function.is_method:
                for site in self._sites.get(function.name, ()):
                    if self._fits(site, function):
                        found.setdefault(site, function)
        for site in sorted(found, key=lambda one: (one.path, one.at)):
            yield Related(Place(site.path, *site.at), f"may call {found[site].dotted}, which leads to mail")

    def _is_known(self, func: Attr) -> bool:
        """Whether the call is one of a library, or of a known object that has no such method."""
        if self.evaluator.types(func.base):
            return True
        head = self.evaluator.resolve(func.base)
        while isinstance(head, Attr | Item | Element | Updated | Call):
            head = self.evaluator.resolve(head.func if isinstance(head, Call) else head.base)
        return isinstance(head, External | ModuleRef | Const)

    def _tells(self, function: Function) -> bool:
        """Whether the name of a method can mean nothing else: of several words, and one class's alone."""
        if "_" not in function.name.strip("_") or len(self.program.index.files_with(function.name)) > MAX_FILES:
            return False
        homes = [one for one in self.program.defined(function.name) if one.cls is not None]
        return all(self._related(one, function) for one in homes)

    def _related(self, one: Function, other: Function) -> bool:
        assert one.cls is not None
        assert other.cls is not None
        above = {cls.id for cls in self.evaluator.hierarchy.mro(one.cls.id)}
        return other.cls.id in above or one.cls.id in {cls.id for cls in self.evaluator.hierarchy.mro(other.cls.id)}

    def _fits(self, site: Site, function: Function) -> bool:
        """Whether a call's arguments can be those of a method."""
        params = [p for p in function.params if p.kind not in ("*", "**")][1:]
        if any(p.kind in ("*", "**") for p in function.params) or any(n in ("*", "**") for n in site.call.names):
            return True
        named = {name for name in site.call.names if name}
        positional = sum(1 for name in site.call.names if name == "")
        required = [p.name for p in params if p.default is None][positional:]
        return positional <= len(params) and named <= {p.name for p in params} and named.issuperset(required)
