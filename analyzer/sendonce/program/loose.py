"""Calls of methods on objects of which nothing is known.

Such a call is never an edge that a default finding may rest on. It is tried at low confidence where
one class alone defines a telling name, or where the object is called like a family of classes that has
the method (`plugin.send(…)`, `plugins.get(slug).send(…)`); else it is only counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from sendonce.findings import Place, Related
from sendonce.program import arguments
from sendonce.program.evaluate import Evaluator
from sendonce.program.held import Site
from sendonce.program.link import Crossing, Edge, Linker, Reached
from sendonce.program.mentions import mentions
from sendonce.program.symbols import Class, Function
from sendonce.program.values import Attr, Call, Const, Element, External, FunctionRef, Item, ModuleRef, Updated

MAX_FILES = 40
"""A name that stands in more files than this tells nothing by itself."""

_PASSING = frozenset(
    External(f"builtins.{name}") for name in ("sorted", "list", "tuple", "set", "iter", "next", "reversed", "filter")
)
"""Functions that give what is in their argument."""
_OPAQUE = frozenset(External(f"builtins.{name}") for name in ("getattr", "next", "min", "max", "vars", "__import__"))
"""Functions whose results may be anything, objects of the project too."""


class Loose:
    """The unresolved method calls seen so far, by the method's name."""

    def __init__(self, evaluator: Evaluator, linker: Linker) -> None:
        self.evaluator = evaluator
        self.linker = linker
        self.program = evaluator.program
        self._sites: dict[str, list[Site]] = {}
        self._wanted: dict[str, list[Function]] = {}
        self._tried: set[tuple[Site, str]] = set()
        self._alone: dict[str, bool] = {}

    def note(self, site: Site, reached: Reached) -> Iterator[Edge]:
        """Remembers a call that leads nowhere known; gives the edge if its name alone tells."""
        func = site.call.func
        if not isinstance(func, Attr) or reached.edges or func.name.startswith("__") or self._is_known(func):
            return
        if any(self.linker.choices.asks_by_name(one.callee) for one in reached.opens if not one.outer):
            return  # the callers tell what is meant
        self._sites.setdefault(func.name, []).append(site)
        for function in self._wanted.get(func.name, ()):
            yield from self._edges(site, function)

    def wanted(self, function: Function) -> Iterator[Edge]:
        """The edges from calls seen before into a method that is now known to lead to mail."""
        if function.cls is None or function.parent is not None:
            return
        self._wanted.setdefault(function.name, []).append(function)
        for site in self._sites.get(function.name, ()):
            yield from self._edges(site, function)

    def _edges(self, site: Site, function: Function) -> Iterator[Edge]:
        func = site.call.func
        if not isinstance(func, Attr) or (site, function.id) in self._tried or not self._fits(site, function):
            return
        self._tried.add((site, function.id))
        if not self._tells(function) and not self._is_family(site, func, function):
            return
        ref = FunctionRef(function.id, func.base if function.is_method else None)
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
        if any(one not in _OPAQUE for one in self.evaluator.types(func.base)):
            return True
        head = self.evaluator.resolve(func.base)
        while isinstance(head, Attr | Item | Element | Updated | Call):
            if isinstance(head, Call):
                head = self.evaluator.resolve(head.args[0] if head.args and head.func in _PASSING else head.func)
            else:
                head = self.evaluator.resolve(head.base)
        return isinstance(head, External | ModuleRef | Const) and head not in _OPAQUE

    def _is_family(self, site: Site, func: Attr, function: Function) -> bool:
        """Whether an object is called like a family of classes, and no other class called so has such a method."""
        assert function.cls is not None
        kin = self.evaluator.hierarchy.mro(function.cls.id)
        shared = {last_word(one.name) for one in kin} & _words(mentions(func.base))
        if not shared or len(kin) == 1 or len(self.program.index.defining(function.name)) > MAX_FILES:
            return False
        others = [one for one in self.program.defined(function.name) if one.cls is not None and self._fits(site, one)]
        return all(self._are_kin(one.cls, kin) for one in others if one.cls and last_word(one.cls.name) in shared)

    def _are_kin(self, cls: Class, kin: tuple[Class, ...]) -> bool:
        """Whether a class has a base of the project in common with others."""
        above = {one.id for one in self.evaluator.hierarchy.mro(cls.id)}
        return any(one.id in above for one in kin)

    def _tells(self, function: Function) -> bool:
        """Whether the name of a method can mean nothing else: of several words, and one class's alone."""
        if function.id not in self._alone:
            self._alone[function.id] = self._is_alone(function)
        return self._alone[function.id]

    def _is_alone(self, function: Function) -> bool:
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
        params = [p for p in function.params if p.kind not in ("*", "**")][1 if function.is_method else 0 :]
        if any(p.kind in ("*", "**") for p in function.params) or any(n in ("*", "**") for n in site.call.names):
            return True
        named = {name for name in site.call.names if name}
        positional = sum(1 for name in site.call.names if name == "")
        required = [p.name for p in params if p.default is None][positional:]
        return positional <= len(params) and named <= {p.name for p in params} and named.issuperset(required)


def last_word(name: str) -> str:
    """The last word of a name in lower case, as one of many: `plugin` of `MailPlugin` and of `active_plugins`."""
    words = _words_of(name)
    return words[-1] if words else ""


@cache
def _words_of(name: str) -> tuple[str, ...]:
    return tuple(word.lower().removesuffix("s") for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name))


def _words(names: Iterable[str]) -> set[str]:
    return {word for name in names for word in _words_of(name)}
