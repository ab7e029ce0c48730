"""Which code every process of a web application runs when it starts: modules it imports, factories, lifespans."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from sendonce import vocabulary as v
from sendonce.discovery import SourceFile
from sendonce.program.callers import Callers
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.link import Crossing
from sendonce.program.mainguard import is_script
from sendonce.program.starts import Starts
from sendonce.program.symbols import Function, Module
from sendonce.program.values import Call, Value

MAX_MODULES = 600
"""How many modules are looked at for one that a web application is."""
MAX_DEPTH = 8
Way = tuple[Crossing, ...]
"""How the web process comes to a call: the crossings on the way, outermost first; none where it stands there itself."""

_WEB = ("controller", "webhook")


class Processes:
    """Answers for sites. `way` is None where no web process is known to come there."""

    def __init__(self, callers: Callers, starts: Starts, flows: Flows) -> None:
        self.callers = callers
        self.starts = starts
        self.flows = flows
        self.evaluator = callers.evaluator
        self.program = callers.program
        self.packs = callers.packs
        self._ways: dict[str, Way | None] = {}
        self._searched: set[str] = set()
        self._web: dict[str, bool] = {}

    def way(self, site: Site) -> Way | None:
        """How every process of a web application comes to a call when it starts; None if none is known to."""
        if is_script(site.held):
            return None
        return self._way_to(self.program.function(site.function), MAX_DEPTH)

    def _way_to(self, function: Function, depth: int) -> Way | None:
        if function.id not in self._ways:
            self._ways[function.id] = None
            self._ways[function.id] = self._found(function, depth)
        return self._ways[function.id]

    def _found(self, function: Function, depth: int) -> Way | None:
        if function is function.module.body:
            return () if self._is_imported(function.module) else None
        self._search(function)
        kinds = [(start.trigger.kind, start.entry) for start in self.starts.of(function)]
        if any(kind in _WEB or (entry is not None and entry.startup) for kind, entry in kinds):
            return ()
        if kinds or depth <= 0:
            return None
        if self._makes_app(function):
            return ()
        for edge in self.callers.into(function.id):
            way = None if is_script(edge.site.held) else self._way_to(self._around(edge.site), depth - 1)
            if way is not None:
                return (*way, *reversed(edge.crossings))
        return None

    def _around(self, site: Site) -> Function:
        return self.program.function(site.function)

    def _search(self, function: Function) -> None:
        """Links the callers of a function, once."""
        if function.id not in self._searched:
            self._searched.add(function.id)
            self.callers.search(function.id)

    # ------------------------------------------------------------------ modules

    def _is_imported(self, module: Module) -> bool:
        """Whether a web application is this module, or imports it, by itself or through others."""
        seen = {module.path}
        todo = [module]
        for one in todo:
            if self._is_web(one):
                return True
            for file in self._importers(one):
                other = self.program.module_of(file) if file.path not in seen else None
                seen.add(file.path)
                if other is not None and len(seen) < MAX_MODULES:
                    todo.append(other)
        return False

    def _importers(self, module: Module) -> Iterator[SourceFile]:
        yield from self._imports.get(module.file.module, ())

    @cached_property
    def _imports(self) -> dict[str, tuple[SourceFile, ...]]:
        """For each module the files that import it, or something in it where it is a package."""
        found: dict[str, dict[SourceFile, None]] = {}
        for file in self.program.sources.files:
            if file.role == "application":
                for name in (*self.program.index.imports(file), file.module):
                    while name:
                        if name != file.module:
                            found.setdefault(name, {})[file] = None
                        name = name.rpartition(".")[0]
        return {name: tuple(files) for name, files in found.items()}

    def _is_web(self, module: Module) -> bool:
        """Whether a module registers handlers of requests or makes an application."""
        if module.path not in self._web:
            self._web[module.path] = False
            functions = list(module.functions.values())
            sites = (site for function in functions for site in self.flows.of(function).sites)
            self._web[module.path] = any(self._serves(site) for site in sites) or self._has_views(module)
        return self._web[module.path]

    def _has_views(self, module: Module) -> bool:
        bases = (base for cls in module.classes.values() for base in self.evaluator.hierarchy.external_bases(cls.id))
        return any(_is_served(entry) for base in bases for _, entry in self.packs.trigger_bases.get(base, ()))

    def _serves(self, site: Site) -> bool:
        func = site.call.func
        for table in (self.packs.trigger_registers, self.packs.trigger_decorators):
            entries: tuple[tuple[object, v.Trigger], ...] = self.evaluator.lookup(table, func)
            if not entries and table is self.packs.trigger_decorators:
                entries = self.evaluator.lookup(table, _called(func))
            if any(_is_served(entry) for _, entry in entries):
                return True
        return self._is_app(func)

    def _makes_app(self, function: Function) -> bool:
        return any(self._is_app(site.call.func) for site in self.flows.of(function).sites)

    def _is_app(self, func: Value) -> bool:
        """Whether a call makes an object on which handlers of requests are registered."""
        for shape in self.evaluator.shapes(func):
            if not self._owners.isdisjoint((self.packs.canonical(shape), *self.packs.bases(shape))):
                return True
        return False

    @cached_property
    def _owners(self) -> frozenset[str]:
        """The classes on which handlers of requests are registered: `flask.Flask`, `fastapi.APIRouter`."""
        tables = (self.packs.trigger_registers, self.packs.trigger_decorators)
        return frozenset(
            shape.partition("()")[0]
            for table in tables
            for shape, pairs in table.items()
            if "()." in shape and any(entry.kind in _WEB for _, entry in pairs)
        )


def _is_served(entry: v.Trigger) -> bool:
    return entry.kind in _WEB or entry.startup


def _called(func: Value) -> Value:
    """What made a decorator: `app.get` of `app.get("/")`."""
    return func.func if isinstance(func, Call) else func
