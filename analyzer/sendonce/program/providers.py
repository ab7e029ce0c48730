"""Every call that hands a mail to a provider.

The search starts at files that mention a provider's words and widens over the project's own names
that carry what sends: subclasses of message classes, variables and functions that give a message
or a connection, attributes that keep one. A helper that is *given* such an object is looked into
with what it is given.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sendonce import vocabulary as v
from sendonce.discovery import Role
from sendonce.program import arguments
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.keys import shown
from sendonce.program.link import Linker
from sendonce.program.mail import Hole, ProviderSend
from sendonce.program.posts import Posts
from sendonce.program.search import Carrier, Search
from sendonce.program.symbols import Function, Module
from sendonce.program.templates import Templates
from sendonce.program.values import (
    Attr,
    Call,
    ClassRef,
    Const,
    Element,
    External,
    FunctionRef,
    Param,
    Seq,
    Some,
    Value,
    options,
    substitute,
    union,
    walk,
)

MAX_ROUNDS = 6
"""How often the search may widen over names that carry what sends."""

MAX_GIVEN = 4
"""How many kinds of what a helper is given are tried."""

OTHER_ROLES: tuple[Role, ...] = ("test", "migration", "vendored")


@dataclass(frozen=True, eq=False)
class Seed:
    """A provider send with the places that may name its template, and its recipient."""

    send: ProviderSend
    holes: tuple[Hole, ...]
    recipient: Value | None


class Providers:
    """Finds provider sends."""

    def __init__(self, evaluator: Evaluator, flows: Flows, templates: Templates, linker: Linker) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.flows = flows
        self.templates = templates
        self.linker = linker
        self.posts = Posts(evaluator)
        self.search = Search(evaluator, flows, self.posts)
        self._found: tuple[Seed, ...] | None = None
        self._seeds: dict[Site, Seed] = {}
        self._examined: set[str] = set()
        self._given: dict[Param, Value] = {}
        """What sends and is passed to a parameter."""
        self._kept: dict[tuple[str, str], Value] = {}
        """What sends and is kept in an attribute, by class and name."""
        self._open: dict[Param | str, list[Site]] = {}
        """Calls that may be sends once more is known of a parameter or of attributes of a name."""
        self._told: deque[Param | str] = deque()

    def found(self) -> tuple[Seed, ...]:
        """All provider sends of application code, by path and place."""
        if self._found is None:
            self._search()
            self._found = _sorted(self._seeds)
        return self._found

    def marked(self) -> tuple[tuple[Seed, Role], ...]:
        """The provider sends of tests, migrations and vendored code, which are listed and never reported."""
        self.found()
        marked: list[tuple[Seed, Role]] = []
        for role in OTHER_ROLES:
            self._seeds = {}
            for file in self.search.files_of_role(role):
                module = self.program.module_of(file)
                if module is not None:
                    self._examine(module)
            marked.extend((seed, role) for seed in _sorted(self._seeds))
        return tuple(marked)

    def _search(self) -> None:
        files = self.search.first_files()
        for _ in range(MAX_ROUNDS):
            carriers: list[Carrier] = []
            for file in files:
                module = self.program.module_of(file)
                if module is not None:
                    carriers.extend(self.search.new_carriers(module))
                    self._examine(module)
            self._tell()
            if not carriers:
                return
            files = sorted({file for carrier in carriers for file in self.search.files_of(carrier)})

    def _examine(self, module: Module) -> None:
        """Looks at the functions of a module that may matter, again at those that carry what was not known before."""
        for function in module.functions.values():
            if self.search.may_matter(function):
                self._look_at(function)

    def _look_at(self, function: Function) -> None:
        if self._is_declared(function):
            return
        if function.id not in self._examined:
            self._examined.add(function.id)
            self._overriding(function)
            for site in self.flows.of(function).sites:
                if self.search.may_send(site.call.func):
                    self._try(site)
        for site in self.flows.of(function).sites:
            if self.search.mentions_sender(function.module, site.call, self._given):
                self._pass_on(function.module, site)

    # ------------------------------------------------------------------ what helpers are given

    def _is_declared(self, function: Function) -> bool:
        """Whether the user's packs call a function of the tree a send: what stands in it is no further one."""
        owner = f"{function.cls.id}()." if function.cls is not None else ""
        shape = f"{owner}{function.name}" if owner else function.dotted
        return shape in self.packs.declared and shape in self.packs.sends

    def _overriding(self, function: Function) -> None:
        """A method that overrides a library's sending method (a mail backend's) is given what that is given."""
        if function.cls is None or not function.is_method or function.name not in self.search.names.methods:
            return
        for base in self.evaluator.hierarchy.external_bases(function.cls.id):
            for pack, entry in self.packs.find(self.packs.sends, f"{base}().{function.name}"):
                for notation in entry.message:
                    position = notation.partition("|")[2]
                    message = _message_class(pack)
                    if position.isdigit() and int(position) + 1 < len(function.params) and message is not None:
                        param = Param(function.id, function.params[int(position) + 1].name)
                        self._note(param, (Seq("each", (Some(External(message)),)),))

    def _pass_on(self, module: Module, site: Site) -> None:
        """Notes what a call gives to a helper of the project, if that can send."""
        for edge in self.linker.reached(site).edges:
            target = self.program.function(edge.target)
            own = target.params[0].name if target.is_method and target.params else ""
            for param, value in edge.crossings[0].binding.items():
                if param.function != edge.target or param.name == own:
                    continue
                if self.search.mentions_sender(module, value, self._given):
                    self._note(param, self.search.sending(substitute(value, self._given)))

    def _note(self, param: Param, values: Iterable[Value]) -> None:
        """Notes what a parameter is given, and the attributes of the class in which its method keeps it."""
        known = self._given.get(param)
        self._given[param] = _joined(known, values)
        if self._given[param] is known:
            return
        self._told.append(param)
        method = self.program.function(param.function)
        for name in sorted(self.evaluator.hierarchy.assigned(method)) if method.is_method and method.cls else ():
            kept = [value for value in self.flows.of(method).written(name) if param in value.free]
            found = [one for value in kept for one in self.search.sending(substitute(value, self._given))]
            if found and method.cls is not None:
                key = (method.cls.id, name)
                self._kept[key] = _joined(self._kept.get(key), found)
                self._told.append(name)

    def _tell(self) -> None:
        """Looks into the helpers that were given something that sends."""
        while self._told:
            key = self._told.popleft()
            if isinstance(key, Param):
                self._look_at(self.program.function(key.function))
            for site in tuple(self._open.get(key, ())):
                self._try(site)

    def _filled(self, value: Value) -> Value:
        """A receiver with what parameters and attributes are known to be given put in."""
        match value:
            case Attr(base=owner, name=name):
                for cls in self.evaluator.types(owner):
                    for home in self.evaluator.hierarchy.mro(cls.id) if isinstance(cls, ClassRef) else ():
                        if (home.id, name) in self._kept:
                            return self._kept[home.id, name]
            case Element(base=base, entered=entered):
                filled = self._filled(self.evaluator.resolve(base))
                return value if filled is base else Element(filled, entered)
        return substitute(value, self._given)

    # ------------------------------------------------------------------ sends

    def _try(self, site: Site) -> None:
        """Enters the provider send that a site is."""
        if site in self._seeds:
            return
        call = self.evaluator.direct(site.call)
        seed = self._library_send(site, call, call.func) or self._post(site, call)
        if seed is None and isinstance(call.func, Attr):
            seed = self._open_send(site, call, call.func)
        if seed is not None:
            self._seeds[site] = seed

    def _open_send(self, site: Site, call: Call, func: Attr) -> Seed | None:
        """The send that a call is with what its receiver was given; else it waits until more is known."""
        base = self.evaluator.resolve(func.base)
        for part in walk(base):
            if isinstance(part, Param | Attr):
                waiting = self._open.setdefault(part if isinstance(part, Param) else part.name, [])
                if site not in waiting:
                    waiting.append(site)
        filled = self._filled(base)
        return None if filled is base else self._library_send(site, call, Attr(filled, func.name))

    def _library_send(self, site: Site, call: Call, func: Value) -> Seed | None:
        """The send by a library's call; `func` is what is called as far as it is known."""
        for pack, entry in self._entries(func):
            if not arguments.holds(self.evaluator, call, entry.when) or not self._fits(entry, func):
                continue
            keyed = any(True for _ in arguments.given(self.evaluator, call, entry.key))
            name = self._api(func, entry)
            send = ProviderSend(site, name, pack.name, entry.internal, entry.delivery, keyed, shown(entry.key))
            return Seed(send, self.templates.holes(call, entry), self.templates.recipient(call, entry))
        return None

    def _entries(self, func: Value) -> Iterator[tuple[v.Pack, v.Send]]:
        """What packs say of a call. A project's own `send` is a helper: what that calls on its base is the send."""
        resolved = self.evaluator.resolve(func)
        if isinstance(func, Attr) and any(isinstance(one, FunctionRef) for one in options(resolved)):
            yield from self._vendored(func)
        yield from self.evaluator.lookup(self.packs.sends, func)

    def _vendored(self, func: Attr) -> Iterator[tuple[v.Pack, v.Send]]:
        """A copy of a library inside the tree is that library."""
        for cls in self.evaluator.types(func.base):
            if isinstance(cls, ClassRef):
                method = self.evaluator.hierarchy.method_of(cls, func.name)
                if method is not None and method.module.file.role == "vendored":
                    for base in self.evaluator.hierarchy.external_bases(cls.id):
                        yield from self.packs.find(self.packs.sends, f"{base}().{func.name}")

    def _fits(self, entry: v.Send, func: Value) -> bool:
        """Whether the receiver was given an address that makes it mail, where the library sends other things too."""
        if not entry.addresses:
            return True
        receiver = func.base if isinstance(func, Attr) else func
        texts = (part.value for part in walk(self.evaluator.resolve(receiver)) if isinstance(part, Const))
        return any(isinstance(text, str) and text.startswith(entry.addresses) for text in texts)

    def _api(self, func: Value, entry: v.Send) -> str:
        shapes = self.evaluator.shapes(func)
        canonical = sorted(self.packs.canonical(one) for one in entry.calls)
        found = next((one for one in canonical if one in shapes), canonical[0])
        return found.replace("()", "")

    def _post(self, site: Site, call: Call) -> Seed | None:
        post = self.posts.of(call)
        if post is None:
            return None
        takes = post.entry.key_header or shown(post.entry.key)
        send = ProviderSend(site, f"POST {post.entry.hosts[0]}", post.pack.name, key=post.keyed, takes=takes)
        holes = self.templates.holes(post.call, post.content)
        return Seed(send, holes, self.templates.recipient(post.call, post.content))


def _sorted(seeds: dict[Site, Seed]) -> tuple[Seed, ...]:
    return tuple(seeds[site] for site in sorted(seeds, key=lambda site: (site.path, site.at, site.index)))


def _joined(known: Value | None, values: Iterable[Value]) -> Value:
    """What was known and what is new, no more than `MAX_GIVEN` in all."""
    before = options(known) if known is not None else ()
    fresh = [one for one in dict.fromkeys(values) if one not in before][: MAX_GIVEN - len(before)]
    return known if known is not None and not fresh else union((*before, *fresh))


def _message_class(pack: v.Pack) -> str | None:
    """The library's class of message objects that send themselves."""
    for entry in pack.send:
        if "receiver" in entry.message:
            return entry.calls[0].rpartition("()")[0]
    return None
