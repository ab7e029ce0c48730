"""Where runs start: the triggers of functions, as packs describe them."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from sendonce import facts
from sendonce import vocabulary as v
from sendonce.findings import Place, Trigger, TriggerKind
from sendonce.program import arguments
from sendonce.program.dependencies import injected
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.link import Crossing, Edge, Handed, Linker
from sendonce.program.symbols import Class, Function
from sendonce.program.values import (
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Const,
    External,
    FunctionRef,
    Op,
    Param,
    Seq,
    Some,
    Table,
    Text,
    Updated,
    Value,
    options,
)

MAX_WRAPPERS = 8
MAX_SUPERS = 3


@dataclass(frozen=True, eq=False)
class Start:
    """A trigger of a function. `crossings` lead from the function out to the framework (wrappers on the way)."""

    trigger: Trigger
    function: str
    crossings: tuple[Crossing, ...] = ()
    binding: dict[Param, Value] | None = None
    cls: Class | None = None
    """The class whose instance the framework makes for the run."""
    entry: v.Trigger | None = None
    site: Site | None = None
    saves: bool = False
    """It runs at every save of a row, not only at the first."""


@dataclass(frozen=True, eq=False)
class Registration:
    """A site that hands a handler (a function's edges, or a class) to a framework."""

    site: Site
    entry: v.Trigger
    call: Call
    edges: tuple[Edge, ...] = ()
    cls: Class | None = None


class Registry:
    """The registrations noted while functions are linked."""

    def __init__(self, evaluator: Evaluator, flows: Flows, linker: Linker) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.flows = flows
        self.linker = linker
        self.by_function: dict[str, list[Registration]] = {}
        self.by_class: dict[str, list[Registration]] = {}
        self.into: Callable[[str], tuple[Edge, ...]] = lambda function: ()
        """The edges known to lead into a function."""
        self._noted: set[Site] = set()

    def note(self, site: Site) -> None:
        """Remembers a site that registers a handler with a framework."""
        if site in self._noted:
            return
        self._noted.add(site)
        for register, handler in self.linker.registers(site.call):
            if isinstance(register.entry, v.Trigger):
                self._add(site, register.entry, register.call, handler)

    def handed(self, handed: Handed) -> None:
        """Remembers a handler that a helper of the project registers."""
        if isinstance(handed.register.entry, v.Trigger):
            self._add(handed.site, handed.register.entry, handed.register.call, handed.handler)

    def _add(self, site: Site, entry: object, call: Call, handler: Value) -> None:
        assert isinstance(entry, v.Trigger)
        for option in options(self.evaluator.resolve(handler)):
            cls = self._class_of(option)
            if cls is not None:
                self.by_class.setdefault(cls.id, []).append(Registration(site, entry, call, (), cls))
                continue
            edges = self.linker.handler(option, site)
            for edge in edges:
                self.by_function.setdefault(edge.target, []).append(Registration(site, entry, call, edges))

    def _class_of(self, value: Value) -> Class | None:
        """The class behind a class, `View.as_view()` or a wrapped one."""
        for _ in range(6):
            match value:
                case ClassRef(id=id):
                    return self.program.cls(id)
                case Call(func=Attr(base=base, name="as_view")):
                    value = self.evaluator.resolve(base)
                case Call(args=args) if args and not self.evaluator.types(value):
                    value = self.evaluator.resolve(args[-1])
                case Call(func=func, args=args) if args and isinstance(
                    self.evaluator.resolve(func), External | Attr | Call
                ):
                    value = self.evaluator.resolve(args[-1])
                case _:
                    return None
        return None


class Starts:
    """Gives the triggers of a function that leads to mail."""

    def __init__(self, evaluator: Evaluator, linker: Linker, registry: Registry, flows: Flows) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.linker = linker
        self.registry = registry
        self.flows = flows

    def of(self, function: Function) -> list[Start]:
        """All triggers of a function, without those that only packs of signals know; sorted, each once."""
        found: dict[Trigger, Start] = {}
        for start in self._all(function):
            start = self._webhook(start)
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
            yield from self._methods(function, function.cls)
        if function.cls is None and function.parent is None:
            yield from self._listed(function)
        yield from self._conventions(function)
        yield from self._settings(function)
        yield from self._scheduled_jobs(function)

    # ------------------------------------------------------------------ registered functions

    def _registered(self, function: Function, registration: Registration, edge: Edge) -> Start:
        detail = self.detail(registration)
        trigger = self._trigger(registration.entry.kind, self._wrapped(edge), detail)
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

    def _trigger(self, kind: TriggerKind, function: Function, detail: str, cls: Class | None = None) -> Trigger:
        name = function.dotted
        if cls is not None and function.cls is not cls:
            name = f"{cls.id}.{function.name}"
        at = function.node.name_at if isinstance(function.node, facts.Def) else facts.NOWHERE
        place = Place(function.module.path, at[0] or function.line, max(at[1], 1), at[2], at[3])
        return Trigger(place, kind, name, detail)

    def detail(self, registration: Registration) -> str:
        """The route, schedule or event that a registration names."""
        return self._detail_of(registration.entry, registration.call)

    def _detail_of(self, entry: v.Trigger, call: Call) -> str:
        parts = [self.shown(value) for value in arguments.given(self.evaluator, call, entry.detail)]
        verb = call.func.name.upper() if isinstance(call.func, Attr) else ""
        words = ([verb] if verb in _VERBS else []) + [part for part in parts if part]
        return " ".join(words)

    def shown(self, value: Value, depth: int = 0) -> str:
        """A value as a reader would write it; empty for one that is not known."""
        found = self.evaluator.resolve(value)
        match found:
            case Const(value=inner):
                return str(inner)
            case Text(pieces=pieces):
                return "".join(self.shown(piece, depth + 1) or "{}" for piece in pieces)
            case Call(func=func, names=names, args=args) if depth < 3:
                name = re.split(r"[.]", min(self.evaluator.shapes(func), default=""))[-1]
                inner = ", ".join(
                    f"{n}={self.shown(a, depth + 1)}" if n else self.shown(a, depth + 1)
                    for n, a in zip(names, args, strict=True)
                )
                return f"{name}({inner})" if name else ""
            case Seq(items=items) if depth < 3:
                return ",".join(self.shown(item, depth + 1) for item in items)
            case _:
                return ""

    # ------------------------------------------------------------------ methods of framework classes

    def _methods(self, function: Function, home: Class) -> Iterator[Start]:
        hierarchy = self.evaluator.hierarchy
        for cls in (home, *hierarchy.subclasses(home.id)):
            if cls.module.file.role != "application":
                continue
            if self.program.method(hierarchy.mro(cls.id), function.name) is not function:
                continue
            registrations = self.registry.by_class.get(cls.id, ())
            entries = [entry for base in hierarchy.external_bases(cls.id) for entry in self._entries(base)]
            entries += [registration.entry for registration in registrations]
            for entry in {id(one): one for one in entries}.values():
                if self._is_entry(entry, function, cls):
                    yield from self._of_class(function, cls, entry, registrations)
                    break
            else:
                if registrations and self._is_dispatched(function, cls, entries):
                    yield from self._of_class(function, cls, registrations[0].entry, registrations)
        yield from self._through_attributes(function, home)

    def _is_dispatched(self, function: Function, cls: Class, entries: list[v.Trigger]) -> bool:
        """Whether a method of a registered class is called by its base classes alone: an own way to handle requests.

        A method that one of the framework's own handler methods calls is a hop of that one.
        """
        above = {one.id for one in self.evaluator.hierarchy.mro(cls.id)} - {cls.id}
        edges = self.registry.into(function.id)
        for edge in edges:
            caller = self.program.function(edge.site.function)
            if caller.cls is None or caller.cls.id not in above or edge.crossings[0].method is None:
                return False
            if any(self._is_entry(entry, caller, cls) for entry in entries if entry.bases):
                return False
        if not edges or function.cls is None or not function.is_method:
            return False
        return not self._dispatches(function, cls, MAX_SUPERS)

    def _dispatches(self, function: Function, cls: Class, depth: int) -> bool:
        """Whether a method hands on to methods of subclasses: then those are where the run is told apart."""
        order = [one.id for one in self.evaluator.hierarchy.mro(cls.id)]
        for edge in self.linker.edges(function):
            target = self.program.function(edge.target)
            if target.cls is None or function.cls is None or target is function:
                continue
            above = {one.id for one in self.evaluator.hierarchy.mro(target.cls.id)} - {target.cls.id}
            if edge.crossings[0].method is not None and function.cls.id in above:
                return True
            above_it = depth and target.name == function.name and target.cls.id in order
            if above_it and self._dispatches(target, cls, depth - 1):
                return True
        return False

    def _entries(self, base: str) -> Iterator[v.Trigger]:
        for _, entry in self.packs.trigger_bases.get(base, ()):
            yield entry

    def _is_entry(self, entry: v.Trigger, function: Function, cls: Class) -> bool:
        if any(fnmatch.fnmatchcase(function.name, method) for method in entry.methods):
            return True
        for name in entry.lists:
            listed = self.evaluator.hierarchy.find(cls.id, name)
            if listed is not None and self._lists(Attr(Some(ClassRef(cls.id)), name), function):
                return True
        return bool(entry.marked) and any(self._is_marked(function, mark) for mark in entry.marked)

    def _lists(self, value: Value, function: Function) -> bool:
        found = self.evaluator.resolve(value)
        for item in found.items if isinstance(found, Seq) else ():
            resolved = self.evaluator.resolve(item)
            if isinstance(resolved, Const):
                if resolved.value == function.name and function.cls is not None:
                    return True
                continue
            if any(ref.id == function.id for ref, *_ in self.linker.callables(resolved)):
                return True
        return False

    @staticmethod
    def _is_marked(function: Function, mark: str) -> bool:
        return False

    def _of_class(
        self,
        function: Function,
        cls: Class,
        entry: v.Trigger,
        registrations: tuple[Registration, ...] | list[Registration],
    ) -> Iterator[Start]:
        binding = self._self_binding(function, cls)
        routes = dict.fromkeys(self.detail(one) for one in registrations)
        verb = function.name.upper() if function.name.upper() in _VERBS else ""
        for route in routes or ("",):
            detail = " ".join(part for part in (verb, route) if part)
            trigger = self._trigger(entry.kind, function, detail, cls)
            yield Start(trigger, function.id, (), binding, cls, entry, saves=function.name in entry.saves)

    def _self_binding(self, function: Function, cls: Class) -> dict[Param, Value]:
        if not (function.is_method and function.params):
            return {}
        return {Param(function.id, function.params[0].name): Some(ClassRef(cls.id))}

    def _through_attributes(self, function: Function, home: Class) -> Iterator[Start]:
        """Methods of a class that a framework class names in an attribute (`serializer_class`)."""
        for base, pairs in sorted(self.packs.trigger_bases.items()):
            for _, entry in pairs:
                for attribute, methods in entry.attributes.items():
                    if function.name in methods:
                        yield from self._naming(function, home, base, entry, attribute)

    def _naming(self, function: Function, home: Class, base: str, entry: v.Trigger, attribute: str) -> Iterator[Start]:
        hierarchy = self.evaluator.hierarchy
        wanted = {home.id, *(cls.id for cls in hierarchy.subclasses(home.id))}
        for name in sorted({self.program.cls(id).name for id in wanted}):
            for file in self.program.index.files_with(name, attribute):
                module = self.program.module_of(file)
                views = [cls for cls in module.classes.values() if attribute in cls.scope] if module else []
                for cls in [one for view in views for one in (view, *hierarchy.subclasses(view.id))]:
                    if base not in hierarchy.external_bases(cls.id):
                        continue
                    given = self.evaluator.resolve(Attr(ClassRef(cls.id), attribute))
                    named = [one for one in options(given) if isinstance(one, ClassRef) and one.id in wanted]
                    for one in named:
                        if self.program.method(hierarchy.mro(one.id), function.name) is function:
                            yield self._named_by(function, self.program.cls(one.id), cls, entry)

    def _named_by(self, function: Function, cls: Class, view: Class, entry: v.Trigger) -> Start:
        routes = [self.detail(one) for one in self.registry.by_class.get(view.id, ())]
        place = Place(view.module.path, view.node.name_at[0], view.node.name_at[1])
        trigger = Trigger(place, entry.kind, view.id, routes[0] if routes else "")
        return Start(trigger, function.id, (), self._self_binding(function, cls), view, entry)

    def _listed(self, function: Function) -> Iterator[Start]:
        """A function that a framework class names in a list (`actions = [invite]` of an admin)."""
        for base, pairs in sorted(self.packs.trigger_bases.items()):
            for _, entry in pairs:
                for attribute in entry.lists:
                    for cls in self._with_attribute(function.name, attribute):
                        known = base in self.evaluator.hierarchy.external_bases(cls.id)
                        if known and self._lists(Attr(Some(ClassRef(cls.id)), attribute), function):
                            yield Start(self._trigger(entry.kind, function, ""), function.id, entry=entry)

    def _with_attribute(self, word: str, attribute: str) -> Iterator[Class]:
        """The classes whose body binds an attribute, in files that have a word."""
        for file in self.program.index.files_with(word, attribute):
            module = self.program.module_of(file)
            yield from (cls for cls in module.classes.values() if attribute in cls.scope) if module is not None else ()

    # ------------------------------------------------------------------ conventions, settings, schedules

    def _conventions(self, function: Function) -> Iterator[Start]:
        for pattern, pairs in sorted(self.packs.trigger_functions.items()):
            glob, _, name = pattern.partition("::")
            qualified = function.dotted.removeprefix(f"{function.module.key}.")
            if fnmatch.fnmatchcase(qualified, name) and fnmatch.fnmatchcase(
                f"/{function.module.path}", f"*/{glob}".replace("*/*/", "*/")
            ):
                for _, entry in pairs:
                    yield Start(
                        self._trigger(entry.kind, function, _file_name(function)),
                        function.id, entry=entry,
                    )  # fmt: skip

    def _settings(self, function: Function) -> Iterator[Start]:
        """Handlers named in a table of the settings (`CELERY_BEAT_SCHEDULE`)."""
        for pack in self.packs.packs:
            for entry in pack.trigger:
                for path in entry.settings:
                    for detail, name in self._named_in(path, entry):
                        if self.means(name, function):
                            yield Start(self._trigger(entry.kind, function, detail), function.id, entry=entry)
                    if function.cls is not None and function.name in entry.methods and path.endswith("/*"):
                        yield from self._listed_class(function, function.cls, path, entry)

    def _listed_class(self, function: Function, cls: Class, path: str, entry: v.Trigger) -> Iterator[Start]:
        """A method of a class that a setting lists (`MIDDLEWARE`)."""
        setting = path.partition("/")[0]
        for one in (cls, *self.evaluator.hierarchy.subclasses(cls.id)):
            name = f"{one.module.file.module}.{one.name}"
            if any(name in self._texts(value) for value in self.evaluator.by_name.settings(setting)):
                yield Start(self._trigger(entry.kind, function, "", one), function.id, entry=entry)
                return

    def _texts(self, value: Value) -> list[object]:
        """The texts of a list."""
        found = self.evaluator.resolve(value)
        return [item.value for item in found.items if isinstance(item, Const)] if isinstance(found, Seq) else []

    def means(self, name: str, function: Function) -> bool:
        """Whether a text that names a job means a function."""
        last = name.replace(":", ".").rpartition(".")[2]
        if last != function.name and function.name not in name:
            return name in self._job_names(function)
        return any(
            edge.target == function.id for ref in self.linker.named(name) for edge in self.linker.handler(ref, None)
        )

    def _job_names(self, function: Function) -> set[str]:
        """Names that a job's decorator gives it."""
        found: set[str] = set()
        for call in self.linker.decorations(function):
            for job, described in self.evaluator.jobs_of(call):
                for given in arguments.given(self.evaluator, described, job.name):
                    constant = self.evaluator.constant(given)
                    if constant is not None:
                        found.add(str(constant.value))
        return found

    def _named_in(self, path: str, entry: v.Trigger) -> list[tuple[str, str]]:
        """The (detail, name) pairs at a path into module constants and assigned attributes."""
        cache: dict[str, list[tuple[str, str]]] = self.__dict__.setdefault("_tables", {})
        if path not in cache:
            head, *keys = path.split("/")
            word = re.split(r"[.()]+", head)[-1]
            found: list[tuple[str, str]] = []
            for file in self.program.index.files_with(word):
                module = self.program.module_of(file)
                if module is not None:
                    for value in self._tables_in(module, word):
                        found.extend(self._at_keys(value, keys, entry))
            cache[path] = found
        return cache[path]

    def _tables_in(self, module: object, word: str) -> Iterator[Value]:
        from sendonce.program.symbols import Module

        assert isinstance(module, Module)
        for cls in module.classes.values():
            if word in cls.scope:
                yield self.evaluator.resolve(Attr(ClassRef(cls.id), word))
        value = self.evaluator.module_attr(module, word)
        if value is not None:
            yield self.evaluator.resolve(value)
        for function in module.functions.values():
            if word in function.words:
                for write in self.flows.of(function).writes:
                    if write.field == word:
                        yield self.evaluator.resolve(write.value)

    def _at_keys(self, value: Value, keys: list[str], entry: v.Trigger) -> Iterator[tuple[str, str]]:
        if len(keys) != 2 or keys[0] != "*":
            return
        for table in self._merged(value):
            yield from self._rows(table, keys[1], entry)

    def _merged(self, value: Value, depth: int = 0) -> Iterator[Table]:
        """The tables that one is made of: `dict(A)`, `A | B`, one of several."""
        for option in options(self.evaluator.resolve(value)) if depth < MAX_WRAPPERS else ():
            match option:
                case Table():
                    yield option
                    for inner in option.values if UNKNOWN in option.keys else ():
                        yield from self._merged(inner, depth + 1)
                case Op(op="|", operands=parts) | Call(func=External(dotted="builtins.dict"), args=parts):
                    for part in parts:
                        yield from self._merged(part, depth + 1)
                case Updated(base=base):
                    yield from self._merged(base, depth + 1)
                case _:
                    pass

    def _rows(self, table: Table, name: str, entry: v.Trigger) -> Iterator[tuple[str, str]]:
        """The (detail, name) pairs of a table of tables."""
        for key, item in zip(table.keys, table.values, strict=True):
            row = self.evaluator.resolve(item)
            if not isinstance(row, Table):
                continue
            given = {str(k.value): v for k, v in zip(row.keys, row.values, strict=True) if isinstance(k, Const)}
            if name in given:
                detail = " ".join(filter(None, (self.shown(given[d]) for d in entry.detail if d in given)))
                task = self.evaluator.constant(given[name])
                if task is not None:
                    yield detail or self.shown(key), str(task.value)

    def _scheduled_jobs(self, function: Function) -> Iterator[Start]:
        """Jobs whose decorator carries a schedule."""
        for call in self.linker.decorations(function):
            for job, described in self.evaluator.jobs_of(call):
                given = list(arguments.given(self.evaluator, described, job.schedule))
                if given:
                    yield Start(self._trigger("cron", function, self.shown(given[0])), function.id)

    def is_job(self, function: Function) -> bool:
        """Whether a queue runs the function."""
        return any(True for call in self.linker.decorations(function) for _ in self.evaluator.jobs_of(call))

    def callback(self, function: Function, detail: str) -> Trigger:
        """The trigger of a function that a model's signal calls."""
        return self._trigger("model_callback", function, detail)

    def job(self, function: Function) -> Start:
        """The trigger of a job that nobody known enqueues."""
        return Start(self._trigger("job", function, ""), function.id)

    def unknown(self, function: Function) -> Start:
        """The trigger of a function that nobody known calls: a framework, if it stands in a class of one."""
        return Start(self._trigger(self._framework_kind(function), function, ""), function.id)

    def _framework_kind(self, function: Function) -> TriggerKind:
        """The kind of trigger that a class of a framework is, for public methods that no entry names (own actions)."""
        if function.cls is None or not function.is_method or function.name.startswith("_"):
            return "unknown"
        for base in self.evaluator.hierarchy.external_bases(function.cls.id):
            for entry in self._entries(base):
                if entry.kind in ("controller", "command", "admin") and any("*" not in one for one in entry.methods):
                    return entry.kind
        return "unknown"

    # ------------------------------------------------------------------ webhooks

    def _webhook(self, start: Start) -> Start:
        """A controller with the signs of a webhook is one."""
        if start.trigger.kind != "controller":
            return start
        function = self.program.function(start.function)
        if self.is_webhook(function, start):
            return replace(start, trigger=replace(start.trigger, kind="webhook"))
        return start

    def is_webhook(self, function: Function, start: Start) -> bool:
        """Whether names, routes, signature checks or headers say that other programs call this handler."""
        names = f"{start.trigger.function} {start.trigger.detail}"
        words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", names)}
        joined = names.lower()
        weak = False
        nearby = tuple(self._nearby(function))
        for _, entry in self.packs.webhooks:
            strong = {word.lower() for word in entry.words}
            if words & strong or any("_" in word and word in joined for word in strong):
                return True
            weak = weak or bool(words & {word.lower() for word in entry.weak_words})
            if self._verifies(nearby, entry):
                return True
        return weak and self._is_exempt(function)

    def _verifies(self, nearby: tuple[Function, ...], entry: v.Webhook) -> bool:
        headers = {_plain(header) for header in entry.headers}
        for one in nearby:
            for site in self.flows.of(one).sites:
                shapes = self.evaluator.shapes(site.call.func)
                if any(self.packs.canonical(verify) in shapes for verify in entry.verifies):
                    return True
            if headers and headers & {_plain(word) for word in one.words}:
                return True
        return False

    def _nearby(self, function: Function) -> Iterator[Function]:
        """The handler, its dependencies and the project functions that it calls itself."""
        yield function
        for ref in injected(self.linker, function):
            yield self.program.function(ref.id)
        for edge in self.linker.edges(function):
            if len(edge.crossings) == 1 and edge.crossings[0].hop == "call":
                yield self.program.function(edge.target)

    def _is_exempt(self, function: Function) -> bool:
        shapes: set[str] = set()
        for call in self.linker.decorations(function):
            shapes |= self.evaluator.shapes(call.func)
        exempts = {self.packs.canonical(one) for _, entry in self.packs.webhooks for one in entry.exempts}
        return bool(shapes & exempts)


_VERBS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})


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


def _plain(header: str) -> str:
    return header.lower().replace("-", "_").removeprefix("http_")


def handler_name(value: Value) -> str:
    """The id of the innermost function of a handler value, for display."""
    while isinstance(value, Call) and value.args:
        value = value.args[-1]
    return value.id if isinstance(value, FunctionRef) else ""
