"""Gives the triggers of functions, from all that packs know."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from dataclasses import replace

from sendonce import facts
from sendonce.findings import Trigger, TriggerKind
from sendonce.program import arguments
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.link import Edge, Linker
from sendonce.program.mainguard import is_script
from sendonce.program.namedjobs import JobDecorators
from sendonce.program.reader import Reader
from sendonce.program.starts.attributes import Attributes
from sendonce.program.starts.classes import ClassMethods
from sendonce.program.starts.details import Details
from sendonce.program.starts.registry import Registry
from sendonce.program.starts.start import Registration, Start
from sendonce.program.starts.tables import Tables
from sendonce.program.starts.webhooks import Webhooks
from sendonce.program.symbols import Function
from sendonce.program.values import Call, FunctionRef

MAX_WRAPPERS = 8
"""Through how many decorators a handler is followed to the function inside."""


class Starts:
    """Gives the triggers of a function that leads to mail."""

    def __init__(self, evaluator: Evaluator, linker: Linker, registry: Registry, flows: Flows) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.linker = linker
        self.registry = registry
        self.flows = flows
        self.details = Details(evaluator)
        self.attributes = Attributes(linker, registry, self.details)
        self.classes = ClassMethods(linker, registry, self.details, self.attributes)
        self.job_decorators = JobDecorators(linker, flows)
        self.tables = Tables(linker, self.details, self.attributes)
        self.webhooks = Webhooks(linker, flows)

    def of(self, function: Function) -> list[Start]:
        """All triggers of a function, without those that only packs of signals know; sorted, each once."""
        found: dict[Trigger, Start] = {}
        for start in _once(list(self._all(function))):
            start = self.webhooks.marked(start)
            known = found.get(start.trigger)
            if known is None:
                found[start.trigger] = start
        detailed = {(t.kind, t.function) for t in found if t.detail}
        return [
            found[trigger]
            for trigger in sorted(found)
            if trigger.detail or (trigger.kind, trigger.function) not in detailed
        ]

    def _all(self, function: Function) -> Iterator[Start]:
        for registration in self.registry.by_function.get(function.id, ()):
            for edge in registration.edges:
                if edge.target == function.id:
                    yield self._registered(function, registration, edge)
        if function.cls is not None and function.parent is None:
            yield from self.classes.of(function, function.cls)
        if function.cls is None and function.parent is None:
            yield from self.attributes.of_function(function)
        yield from self._conventions(function)
        yield from self.tables.of(function)
        yield from self._scheduled_jobs(function)
        yield from self._given_schedules(function)

    def _registered(self, function: Function, registration: Registration, edge: Edge) -> Start:
        detail = self.details.of(registration)
        trigger = self.details.trigger(registration.entry.kind, self._wrapped(edge), detail)
        return Start(trigger, function.id, edge.crossings, None, None, registration.entry, registration.site)

    def _wrapped(self, edge: Edge) -> Function:
        """The function that the user wrote as handler: inside the wrappers that its decorators put around it."""
        function = self.program.function(edge.target)
        held = edge.crossings[0].binding if edge.crossings else {}
        for _ in range(MAX_WRAPPERS):
            if function.parent is None:
                return function
            inner = [
                value
                for param, value in held.items()
                if isinstance(value, FunctionRef) and param.function in _outer(function)
            ]
            if not inner:
                return function
            function, held = self.program.function(inner[0].id), dict(inner[0].closure)
        return function

    def _conventions(self, function: Function) -> Iterator[Start]:
        for pattern, pairs in sorted(self.packs.trigger_functions.items()):
            glob, _, name = pattern.partition("::")
            qualified = function.dotted.removeprefix(f"{function.module.key}.")
            if fnmatch.fnmatchcase(qualified, name) and fnmatch.fnmatchcase(
                f"/{function.module.path}", f"*/{glob}".replace("*/*/", "*/")
            ):
                for _, entry in pairs:
                    yield Start(
                        self.details.trigger(entry.kind, function, _file_name(function)),
                        function.id, entry=entry,
                    )  # fmt: skip

    def _scheduled_jobs(self, function: Function) -> Iterator[Start]:
        """Jobs whose decorator carries a schedule."""
        for call in self.linker.decorations(function):
            for job, described in self.evaluator.jobs_of(call):
                given = list(arguments.given(self.evaluator, described, job.schedule))
                if given:
                    yield Start(self.details.trigger("cron", function, self.details.shown(given[0])), function.id)

    def _given_schedules(self, function: Function) -> Iterator[Start]:
        """A function under a decorator, the project's own for example, that is given a schedule."""
        node = function.node
        reader = Reader(self.evaluator, function.parent or function.module.body, function.cls)
        for decorator in node.decorators if isinstance(node, facts.Def) else ():
            for arg in decorator.args if isinstance(decorator, facts.Call) else ():
                value = self.evaluator.resolve(reader.read(arg.value))
                shapes = self.evaluator.shapes(value.func) if isinstance(value, Call) else frozenset()
                if not self.packs.schedules.isdisjoint(shapes) or (arg.keyword or "") in self.packs.schedule_names:
                    yield Start(self.details.trigger("cron", function, self.details.shown(value)), function.id)

    def is_job(self, function: Function) -> bool:
        """Whether a queue runs the function."""
        known = any(True for call in self.linker.decorations(function) for _ in self.evaluator.jobs_of(call))
        return known or self.job_decorators.of(function)

    def callback(self, function: Function, detail: str) -> Trigger:
        """The trigger of a function that a model's signal calls."""
        return self.details.trigger("model_callback", function, detail)

    def job(self, function: Function) -> Start:
        """The trigger of a job that nobody known enqueues."""
        trigger = self.details.trigger("job", function, "")
        for edge in self.linker.handler(self.evaluator.decorated(function), None):
            if edge.target == function.id:
                return Start(trigger, function.id, edge.crossings)
        return Start(trigger, function.id)

    def unknown(self, function: Function) -> Start:
        """The trigger of a function that nobody known calls: a framework, if it stands in a class of one."""
        trigger = self.details.trigger(self._framework_kind(function), function, "")
        own = self.attributes.self_binding(function, function.cls) if function.cls is not None else None
        return Start(trigger, function.id, (), own)

    def _framework_kind(self, function: Function) -> TriggerKind:
        """The kind of trigger that a class of a framework is, for public methods that no entry names (own actions).

        What a file does only if it is run itself is a command.
        """
        if isinstance(function.node, facts.ModuleFacts):
            return "command" if any(is_script(site.held) for site in self.flows.of(function).sites) else "unknown"
        if function.cls is None or not function.is_method or function.name.startswith("_"):
            return "unknown"
        for base in self.evaluator.hierarchy.external_bases(function.cls.id):
            for entry in self.classes.entries(base):
                if entry.kind in ("controller", "command", "admin") and any("*" not in one for one in entry.methods):
                    return entry.kind
        return "unknown"


def _once(starts: list[Start]) -> Iterator[Start]:
    """The starts, a route to a page of the admin told once: as the admin's, with the route that the other knows."""
    pages = [one for one in starts if one.trigger.kind == "admin" and one.site is not None]
    for start in starts:
        if pages and start in pages:
            routes = [one.trigger.detail for one in starts if one.trigger.kind == "controller"]
            yield replace(start, trigger=replace(start.trigger, detail=start.trigger.detail or "".join(routes[:1])))
        elif not pages or start.trigger.kind != "controller":
            yield start


def _outer(function: Function) -> frozenset[str]:
    """The ids of the functions around a function."""
    found: set[str] = set()
    outer = function.parent
    while outer is not None:
        found.add(outer.id)
        outer = outer.parent
    return frozenset(found)


def _file_name(function: Function) -> str:
    """The name of the function's file, as a command is called."""
    return function.module.path.rpartition("/")[2].removesuffix(".py")
