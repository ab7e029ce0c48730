"""Who may call a function: candidates by the words of the index, edges by linking them.

The search is what makes the slice: only functions that mention the name of something that leads to
mail (or a call by which a framework leads there) are linked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sendonce import facts
from sendonce.discovery import SourceFile
from sendonce.program.connections import Connections
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.link import Edge, Linker
from sendonce.program.loose import Loose, last_word
from sendonce.program.mentions import mentions
from sendonce.program.namedjobs import NamedJobs
from sendonce.program.ongiven import OnGiven
from sendonce.program.starts import Registry
from sendonce.program.symbols import Class, Function, Module
from sendonce.program.values import Attr, Call, ClassRef, FunctionRef, Value, walk

COMMON = 25
"""A method whose name stands in more files than this needs its class, or a name that carries it, beside it."""


_HIDDEN = frozenset(
    ["__enter__", "__exit__", "__aenter__", "__aexit__", "__call__", "__iter__", "__next__", "__aiter__", "__anext__"]
)
"""Methods that are called without their name."""

MAX_GIVING = 3
"""Through how many functions that return it something is followed."""


class Callers:
    """The edges found so far, by target, and the search for more."""

    def __init__(self, evaluator: Evaluator, flows: Flows, linker: Linker) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.flows = flows
        self.linker = linker
        self.connections = Connections(evaluator, flows, linker)
        self.loose = Loose(evaluator, linker)
        self.on_given = OnGiven(evaluator, flows, linker)
        self.named_jobs = NamedJobs(linker, flows)
        self.registry = Registry(evaluator, flows, linker)
        self.registry.into = self.into
        self._into: dict[str, list[Edge]] = {}
        self._fresh: list[Edge] = []
        self._passed_on: set[str] = set()
        self._unlinked: dict[str, list[Site]] = {}
        self._carriers: dict[str, frozenset[str]] = {}
        self._named: dict[tuple[str, str, str], tuple[Function, ...]] = {}

    def into(self, function: str) -> tuple[Edge, ...]:
        """The edges known to lead to a function."""
        return tuple(self._into.get(function, ()))

    def edges(self) -> Iterator[Edge]:
        """All edges known."""
        for _, found in sorted(self._into.items()):
            yield from found

    def linked(self) -> Iterator[Function]:
        """The functions of all application files, which are parsed for it."""
        for file in self.program.sources.files:
            module = self.program.module_of(file) if file.role == "application" else None
            yield from module.functions.values() if module is not None else ()

    def link_all(self) -> None:
        """Parses every application file and links every function in it."""
        for function in self.linked():
            self._link(function)

    def link_fired(self) -> None:
        """Adds the edges that no call site shows: from what fires signals, ends jobs or names them by a text.

        All functions must be linked.
        """
        for function in self.linked():
            self._indirect(function)

    def search(self, id: str) -> list[Edge]:
        """Links everything that may call a function; gives the new edges, whatever they lead to."""
        function = self.program.function(id)
        self._link_callers(function)
        self._indirect(function)
        fresh, self._fresh = self._fresh, []
        return fresh

    def _indirect(self, function: Function) -> None:
        """Adds the edges into a function that no call site of its own shows."""
        for edge in self.loose.wanted(function):
            self._add(edge)
        for edge in self.connections.firing(function, self._link):
            self._add(edge)
        for edge in (*self._after_jobs(function), *self.named_jobs.enqueuing(function, self._link)):
            if all(one.site is not edge.site for one in self.into(function.id)):
                self._add(edge)

    def _link_callers(self, function: Function) -> None:
        """Links the candidates for a function's callers, and for those of one that calls it on what it was given."""
        for candidate, words in self._candidates(function):
            self._link(candidate, words)
            passed_on = self.on_given.may_call(candidate, function) or self.on_given.registers(candidate, function)
            if candidate.id not in self._passed_on and passed_on:
                self._passed_on.add(candidate.id)
                self._link_callers(candidate)

    def _after_jobs(self, function: Function) -> Iterator[Edge]:
        """The edges from jobs into a method that the queue calls when they have ended (`on_failure`)."""
        if function.cls is None or function.name not in self.linker.after_methods:
            return
        homes = (function.cls, *self.evaluator.hierarchy.subclasses(function.cls.id))
        for job in dict.fromkeys(one for home in homes for one in self.program.mentioning(home.name)):
            self._link(job)
        for home in homes:
            for body in self.program.mentioning(home.name):
                for site in self.flows.of(body).sites:
                    yield from self.linker.ended(site, function, home)

    def _link(self, function: Function, words: frozenset[str] | None = None) -> None:
        """Links the calls of a function in which one of some words stands, else all of them."""
        rest = self._unlinked.get(function.id)
        if rest is None:
            flow = self.flows.of(function)
            for site in flow.sites:
                self.connections.note(site)
                self.registry.note(site)
            rest = self._unlinked[function.id] = [*flow.sites, *flow.hidden]
        meant = [site for site in rest if words is None or not words.isdisjoint(mentions(site.call))]
        if not meant:
            return
        self._unlinked[function.id] = [site for site in rest if site not in meant]
        for site in meant:
            reached = self.linker.reached(site)
            for edge in (*reached.edges, *self.loose.note(site, reached)):
                self._add(edge)
            for handed in reached.handed:
                self.connections.handed(handed)
                self.registry.handed(handed)

    def _add(self, edge: Edge) -> None:
        self._into.setdefault(edge.target, []).append(edge)
        self._fresh.append(edge)

    # ------------------------------------------------------------------ candidates

    def _candidates(self, function: Function) -> Iterator[tuple[Function, frozenset[str] | None]]:
        """Functions that may lead to this one, in a fixed order, each with the words of the calls that may.

        No words stand for all calls.
        """
        found: dict[str, Function] = {}
        words: dict[str, set[str] | None] = {}
        for candidate, own in self._unordered(function):
            found.setdefault(candidate.id, candidate)
            before = words.setdefault(candidate.id, set())
            words[candidate.id] = None if own is None or before is None else before | own
        for id in sorted(found):
            known = words[id]
            yield found[id], None if known is None else frozenset(known)

    def _unordered(self, function: Function) -> Iterator[tuple[Function, set[str] | None]]:
        """The candidates as they are found: what mentions the function, holds it, or looks it up by name."""
        asked: set[tuple[str, str, str]] = set()
        yield function.module.body, None
        yield from self._enclosing(function)
        for one, words in self._mentioning(function):
            yield one, words
            yield from self._asking(one, function, asked)
            if isinstance(one.node, facts.ModuleFacts):
                yield from self._holders(one, function)
            else:
                yield from self._given_by(one, function)
        if "register" in function.decorator_words:  # what dispatches by type leads here
            for word in sorted(function.decorator_words - {"register"}):
                yield from ((user, {word}) for user in self._by_name(function, word))
        for other in self._looking_up(function):
            yield other, {"getattr"}
            yield from self._mentioning(other)

    def _enclosing(self, function: Function) -> Iterator[tuple[Function, set[str] | None]]:
        """The functions around an inner one, and those that use what these give."""
        parent = function.parent
        while parent is not None:
            yield parent, None
            for one, words in self._mentioning(parent):
                yield one, words
                if one is one.module.body:
                    yield from self._decorated_callers(one.module, parent.name)
                    yield from self._holders(one, function)
            parent = parent.parent

    def _holders(self, body: Function, function: Function) -> Iterator[tuple[Function, set[str] | None]]:
        """Functions that mention a module variable which holds the function (a table, a partial, an instance)."""
        for name in body.module.aliases.get(function.name, ()):
            for one in self._by_name(body, name):
                yield one, {name, function.name}

    def _asking(
        self, one: Function, function: Function, asked: set[tuple[str, str, str]]
    ) -> Iterator[tuple[Function, set[str] | None]]:
        """Functions that mention a registry into which one puts the function (or its class), or hands it to be put.

        `asked` are the registries that were asked for before, by the functions that filled them.
        """
        cls = function.cls.id if function.cls is not None else ""
        for name in sorted(self._registries(one, function.id, cls)):
            registry = (one.module.path, one.name, name)
            if registry in asked:
                continue
            asked.add(registry)
            for asking in self._by_name(one, name):
                yield asking, {name}
                if asking.gives_something and isinstance(asking.node, facts.Def):
                    yield from ((user, {asking.name}) for user in self._by_name(asking, asking.name))

    def _registries(self, one: Function, function: str, cls: str) -> set[str]:
        """The names of the containers that get a function or class in some function, directly or by what it calls."""
        filled = self.evaluator.filled
        found = {put.name for put in filled.puts(one) if _has(put.value, function, cls)}
        for site in self.flows.of(one).sites:
            if any(_has(arg, function, cls) for arg in site.call.args):
                for callee in self.linker.callables(site.call.func):
                    found |= filled.keeping(self.program.function(callee.ref.id))
        return found

    def _given_by(self, giver: Function, given: Function, depth: int = 0) -> Iterator[tuple[Function, set[str] | None]]:
        """Functions that mention one which returns what is sought, a job or a signature of it for example."""
        if depth < MAX_GIVING and giver.gives_something and _holds(self.flows.of(giver).returned, given.id):
            for one, words in self._mentioning(giver):
                yield one, words
                if one is not giver:
                    yield from self._given_by(one, giver, depth + 1)

    def _looking_up(self, function: Function) -> Iterator[Function]:
        """Functions that look attributes up by a name that is not written out, where this one may be meant."""
        modules = {function.module.path: function.module}
        if function.cls is not None:
            for cls in self.evaluator.hierarchy.mro(function.cls.id):
                modules[cls.module.path] = cls.module
                files = self.program.index.files_with("getattr", cls.name)
                for file in files if len(files) <= COMMON else ():
                    module = self.program.module_of(file)
                    if module is not None:
                        modules[file.path] = module
        for path in sorted(modules):
            yield from (one for one in modules[path].mentioning("getattr") if one is not function)
        if function.cls is None:
            yield from self._looking_into(function.module)

    def _looking_into(self, module: Module) -> Iterator[Function]:
        """Functions of other modules that look up attributes of this one."""
        name = module.key.rpartition(".")[2]
        for file in self.program.index.files_with("getattr", name):
            other = self.program.module_of(file)
            if other is not None and other is not module:
                names = {name, *other.aliases.get(name, ())}
                yield from (one for one in other.mentioning("getattr") if not names.isdisjoint(one.words))

    def _decorated_callers(self, module: Module, decorator: str) -> Iterator[tuple[Function, set[str] | None]]:
        """Functions that mention one which this decorator wraps: calling that runs the wrapper."""
        for function in module.functions.values():
            if decorator in function.decorator_words:
                yield from self._mentioning(function)

    def _registering(self, cls: Class) -> Iterator[tuple[Function, set[str] | None]]:
        """Module bodies that mention a class or a subclass: a framework may be handed it there."""
        for one in (cls, *self.evaluator.hierarchy.subclasses(cls.id)):
            files = self.program.index.files_with(one.name)
            for file in files if len(files) <= COMMON else ():
                module = self.program.module_of(file)
                if module is not None and one.name in module.body.words:
                    yield module.body, {one.name}

    def _mentioning(self, function: Function) -> Iterator[tuple[Function, set[str] | None]]:
        if isinstance(function.node, facts.ModuleFacts | facts.Lambda):
            return
        if function.cls is not None:
            yield from self._registering(function.cls)
            yield from self._method_mentions(function, function.cls)
            return
        for one in self._by_name(function, function.name):
            yield one, {function.name}

    def _by_name(self, function: Function, name: str) -> tuple[Function, ...]:
        """Functions that mention a name which stands for something at the home of a function."""
        key = (function.module.path, function.name, name)
        if key not in self._named:
            self._named[key] = tuple(self._found_by_name(function, name))
        return self._named[key]

    def _found_by_name(self, function: Function, name: str) -> Iterator[Function]:
        files = self.program.index.files_with(name)
        if len(files) <= COMMON:
            yield from self.program.mentioning(name)
            return
        for file in files:
            if file.path == function.module.path or self._may_import(file, function):
                module = self.program.module_of(file)
                yield from module.mentioning(name) if module is not None else ()

    def _may_import(self, file: SourceFile, function: Function) -> bool:
        """Whether a file imports the function's module, its package or something of that name."""
        home = function.module.file.module
        tail = home.rpartition(".")[2]
        imported = self.program.index.imported(file)
        return imported.touches(home) or imported.ends_in(function.name, tail) or self.program.index.has(file, tail)

    def _method_mentions(self, function: Function, cls: Class) -> Iterator[tuple[Function, set[str] | None]]:
        words = [function.name]
        if function.name == "__init__":
            words = [cls.name, *(below.name for below in self.evaluator.hierarchy.subclasses(cls.id))]
        elif function.name in _HIDDEN:
            words = sorted(self._carriers_of(cls))
        words += self._implicit(function.name)
        for word in words:
            files = self.program.index.files_with(word)
            carriers = self._carriers_of(cls) | self._telling(function) if len(files) > COMMON else None
            for file in files:
                if carriers is not None and not any(self.program.index.has(file, name) for name in carriers):
                    continue
                module = self.program.module_of(file)
                for one in module.mentioning(word) if module is not None else ():
                    yield one, set(words)

    def _telling(self, function: Function) -> frozenset[str]:
        """Names beside which a common method may be meant: those of its parameters, of an object like its classes."""
        names = [param.name for param in function.params[1:] if "_" in param.name]
        kin = self.evaluator.hierarchy.mro(function.cls.id) if function.cls is not None else ()
        words = {last_word(one.name) for one in kin} if len(kin) > 1 else ()
        names += [f"{word}{end}" for word in words for end in ("", "s")]
        return frozenset(name for name in names if len(self.program.index.files_with(name)) <= COMMON * 2)

    def _implicit(self, name: str) -> list[str]:
        """The last names of library calls that lead to a method of this name (`create` to `save`)."""
        found = {
            re.split(r"[.]", shape)[-1].removesuffix("()")
            for shape, pairs in self.packs.invokes.items()
            for _, entry in pairs
            if name in entry.methods
        }
        return sorted(found - {name, "*"})

    def _carriers_of(self, cls: Class) -> frozenset[str]:
        """Names beside which an instance of a class may be meant: the class, those above and below, what gives one."""
        if cls.id not in self._carriers:
            classes = [*self.evaluator.hierarchy.mro(cls.id), *self.evaluator.hierarchy.subclasses(cls.id)]
            found = {one.name for one in classes}
            for _ in range(2):
                found |= {name for word in sorted(found) for name in self._giving(word)}
                if len(found) > 200:
                    break
            self._carriers[cls.id] = frozenset(found)
        return self._carriers[cls.id]

    def _giving(self, word: str) -> Iterator[str]:
        """Names of functions and variables whose definition mentions a word."""
        files = self.program.index.files_with(word)
        if len(files) > COMMON * 4:
            return
        for file in files:
            module = self.program.module_of(file)
            if module is None:
                continue
            for function in module.mentioning(word):
                if function.gives_something and not _is_plain_name(function.name):
                    yield function.name
            for name in module.body.words & module.scope.keys():
                if word in module.body.words and any(word in binding.words for binding in module.scope[name]):
                    yield name
            for cls in module.classes.values() if word in module.body.words else ():
                if any(word in binding.words for bindings in cls.scope.values() for binding in bindings):
                    yield cls.name


def _is_plain_name(name: str) -> bool:
    return name in {"get", "post", "put", "save", "send", "run", "handle", "__init__", "create", "update", "delete"}


def _has(value: Value, function: str, cls: str) -> bool:
    """Whether a value has a function or a class in it."""
    words = mentions(value)
    return (_last(function) in words or (cls != "" and _last(cls) in words)) and any(
        (isinstance(part, FunctionRef) and part.id == function) or (isinstance(part, ClassRef) and part.id == cls)
        for part in walk(value)
    )


def _last(id: str) -> str:
    """The last part of an id, as `mentions` has it."""
    return id.rpartition(".")[2].partition("#")[0]


def _holds(value: Value, function: str) -> bool:
    """Whether a value has a function in it, not only what calling it gives."""
    if isinstance(value, FunctionRef):
        return value.id == function
    parts = value.parts()
    if isinstance(value, Call) and not isinstance(value.func, Attr):
        parts = value.args
    return any(_holds(part, function) for part in parts)
