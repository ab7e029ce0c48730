"""Where the schedulers of scheduled jobs are started, and whether each process of a web application does so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program import held as h
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.link import Linker
from sendonce.program.paths import Path
from sendonce.program.processes import Processes, Way
from sendonce.program.starts import Start
from sendonce.program.values import Attr, Call, Const, Value, options, unchanged, walk

At = tuple[str, int, int]


@dataclass(frozen=True, eq=False)
class Started:
    """A call that starts a scheduler in every process of a web application, and how these come to it."""

    site: Site
    way: Way
    sure: bool = True


class Schedulers:
    """Answers for paths."""

    def __init__(self, processes: Processes, linker: Linker, flows: Flows) -> None:
        self.processes = processes
        self.linker = linker
        self.flows = flows
        self.evaluator = linker.evaluator
        self.program = linker.program
        self.packs = linker.packs
        self._sites: dict[str, tuple[Site, ...]] = {}

    def started(self, path: Path) -> Iterator[Started]:
        """The calls that start the scheduler of a path's job in every web process."""
        start = path.start
        if start.entry is None or not start.entry.per_process:
            yield from self._looping(path)
            return
        for site in self._starting(start):
            way = self.processes.way(site)
            if way is not None and self._is_everywhere(site, way, start.entry):
                sure = not any(self._asks_setting(one) for one in (site, *(crossing.site for crossing in way)))
                yield Started(site, way, sure)

    def _looping(self, path: Path) -> Iterator[Started]:
        """The start of a thread or task that mails, sleeps and mails again: a scheduler made by hand."""
        crossings = list(path.crossings())
        sites = list(path.sites())
        for number, crossing in enumerate(crossings):
            if crossing.hop == "thread" and any(map(self._repeats, sites[number + 1 :])):
                way = self.processes.way(crossing.site)
                elected = [self._is_elected(one) for one in sites[: number + 1]]
                if way is not None and not any(elected):
                    yield Started(crossing.site, way)
            if crossing.hop != "call":
                return

    def _repeats(self, site: Site) -> bool:
        """Whether a call stands in a `while` of a function that sleeps."""
        if not any(isinstance(fact, h.Loop) and fact.over is None for fact in h.newest_first(site.held)):
            return False
        sites = self.flows.of(self.program.function(site.function)).sites
        return any(name.rpartition(".")[2] == "sleep" for one in sites for name in self._names(one))

    def _names(self, site: Site) -> frozenset[str]:
        name = site.call.func.name if isinstance(site.call.func, Attr) else ""
        return self.evaluator.shapes(site.call.func) | {name}

    def _is_everywhere(self, site: Site, way: Way, entry: v.Trigger) -> bool:
        """Whether nothing on the way lets only one process start it, and it lets the process go on."""
        shapes = self.evaluator.shapes(site.call.func)
        blocks = any(self.packs.canonical(one) in shapes for one in entry.blocks)
        if blocks and all(crossing.hop != "thread" for crossing in way):
            return False
        if self._takes_turns(site, entry):
            return False
        return not any(self._is_elected(one) for one in (site, *(crossing.site for crossing in way)))

    def _takes_turns(self, site: Site, entry: v.Trigger) -> bool:
        """Whether the schedulers share a store through which only one of them runs each job."""
        return any(arguments.argument(self.evaluator, site.call, one) is not None for one in entry.shares)

    # ------------------------------------------------------------------ which calls start a scheduler

    def _starting(self, start: Start) -> list[Site]:
        """The calls that start the scheduler on which a job was registered."""
        assert start.entry is not None
        if not start.entry.starts:
            return self._begun(start)
        found = [site for shape in start.entry.starts for site in self._calling(self.packs.canonical(shape))]
        made = self._makers(start)
        own = [site for site in found if self._maker(site) in made]
        if own or start.site is None:
            return own or found
        beside = [site for site in found if site.path == start.site.path]
        known = {self._maker(site) for site in found} - {None}
        return beside or [site for site in found if not (made and self._maker(site) in known)] or found[:1]

    def _begun(self, start: Start) -> list[Site]:
        """Where a job that needs no scheduler object begins: at its decorator, or at the call of what that makes."""
        if start.site is None:
            return []
        function = self.program.function(start.function)
        if any(one.entry is not None and one.entry.startup for one in self.processes.starts.of(function)):
            return [start.site]
        calls = [edge.site for edge in self.processes.callers.into(function.id) if edge.site is not start.site]
        return calls or [start.site]

    def _calling(self, shape: str) -> tuple[Site, ...]:
        """The calls of a shape in application code."""
        if shape not in self._sites:
            name = shape.rpartition(".")[2]
            roots = self._roots(shape)
            functions = {
                one.id: one
                for file in self.program.index.files_with(name)
                if any(self.program.index.has(file, root) for root in roots)
                and (module := self.program.module_of(file)) is not None
                for one in module.mentioning(name)
            }
            sites = (site for id in sorted(functions) for site in self.flows.of(functions[id]).sites)
            self._sites[shape] = tuple(site for site in sites if self._is(site, shape))
        return self._sites[shape]

    def _roots(self, shape: str) -> frozenset[str]:
        """Words beside which a scheduler may be meant: the library, and names that a project's modules give one."""
        library = shape.partition(".")[0]
        found = {
            library,
            *(pack_word for pack in self.packs.packs for pack_word in pack.words if library in pack.words),
        }
        for file in self.program.index.files_with(library):
            module = self.program.module_of(file)
            if module is not None:
                found.update(name for name in module.scope if len(name) > 2)
        return frozenset(found)

    def _is(self, site: Site, shape: str) -> bool:
        for one in self.evaluator.shapes(site.call.func):
            owner, _, member = one.rpartition("().")
            names = (one, *(f"{base}().{member}" for base in self.packs.bases(owner))) if owner else (one,)
            if shape in names:
                return True
        return False

    def _makers(self, start: Start) -> frozenset[At]:
        """Where the objects were made that a job was registered on."""
        func = start.site.call.func if start.site is not None else None
        called = func.func if isinstance(func, Call) else func
        if start.site is not None and not isinstance(called, Attr):
            return frozenset(one for arg in start.site.call.args for one in self._made(arg))
        return frozenset(self._made(called.base)) if isinstance(called, Attr) else frozenset()

    def _made(self, value: Value) -> Iterator[At]:
        for option in options(self.evaluator.resolve(value)):
            yield from (part.at for part in walk(unchanged(option)) if isinstance(part, Call))

    def _maker(self, site: Site) -> At | None:
        """Where the object was made that is started."""
        func = site.call.func
        if not isinstance(func, Attr):
            return None
        for option in options(self.evaluator.resolve(func.base)):
            made = unchanged(option)
            if isinstance(made, Call):
                return made.at
        return None

    # ------------------------------------------------------------------ one process of many

    def _is_elected(self, site: Site) -> bool:
        """Whether a call is made only by the process that holds a lock for its whole life, or is told to."""
        for fact in h.newest_first(site.held):
            if isinstance(fact, h.Done) and self._is_lock(fact.site.call):
                return True
            if isinstance(fact, h.Test) and fact.holds and self._asks_environment(fact.value):
                return True
        return False

    def _is_lock(self, call: Call) -> bool:
        shapes = self.evaluator.shapes(call.func)
        name = call.func.name if isinstance(call.func, Attr) else ""
        if name in _BINDS or any(shape.rpartition(".")[2] in _BINDS for shape in shapes):
            return True
        return any(isinstance(part, Const) and "advisory_lock" in str(part.value) for part in walk(call))

    def _asks_environment(self, test: Value) -> bool:
        """Whether a test asks what the process was told when it was started; not whether it is the reloader's child."""
        asked = [part for part in walk(test) if self.evaluator.shapes(part) & _ENVIRONMENT]
        names = {str(part.value) for part in walk(test) if isinstance(part, Const)}
        return bool(asked) and _RELOADER.isdisjoint(names)

    def _asks_setting(self, site: Site) -> bool:
        """Whether a setting decides on a call."""
        tests = (fact.value for fact in h.newest_first(site.held) if isinstance(fact, h.Test))
        return any(self._is_setting(part) for test in tests for part in walk(test))

    def _is_setting(self, value: Value) -> bool:
        named = isinstance(value, Attr) and value.name in _SETTINGS
        return named or any(shape.startswith("django.conf.settings") for shape in self.evaluator.shapes(value))


_BINDS = frozenset(["flock", "lockf", "bind"])
_ENVIRONMENT = frozenset(
    ["os.environ", "os.getenv", "os.environ.get", "os.getenv()", "os.environ.get()", "os.environ[]"]
)
_RELOADER = frozenset(["WERKZEUG_RUN_MAIN", "RUN_MAIN", "FLASK_ENV", "FLASK_DEBUG", "DEBUG"])
_SETTINGS = frozenset(["config", "settings"])
