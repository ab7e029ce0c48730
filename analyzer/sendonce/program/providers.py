"""Every call that hands a mail to a provider.

The search starts at files that mention a provider's words and widens over names that carry mail
objects: subclasses of message classes, module variables and functions that give a message or a
connection.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.mail import Hole, ProviderSend
from sendonce.program.symbols import Class, Function, Module
from sendonce.program.templates import Templates
from sendonce.program.values import Attr, Call, ClassRef, Const, External, Text, Value, options, walk

MAX_ROUNDS = 6
"""How often the search may widen over names that carry mail objects."""

_URL = re.compile(r"^(?:https?:)?//([^/:?#]*)(?::\d+)?([^?#]*)")


@dataclass(frozen=True, eq=False)
class Seed:
    """A provider send with the places that may name its template, and its recipient."""

    send: ProviderSend
    holes: tuple[Hole, ...]
    recipient: Value | None


class Providers:
    """Finds provider sends in application code."""

    def __init__(self, evaluator: Evaluator, flows: Flows, templates: Templates) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.flows = flows
        self.templates = templates

    def found(self) -> tuple[Seed, ...]:
        """All provider sends, by path and place."""
        seeds: dict[Site, Seed] = {}
        seen_words: set[str] = set()
        seen_functions: set[str] = set()
        words = set(self.packs.words)
        for _ in range(MAX_ROUNDS):
            fresh = sorted(words - seen_words)
            seen_words.update(fresh)
            if not fresh:
                break
            words = set()
            for module in self._modules(fresh):
                for function in module.functions.values():
                    if function.id not in seen_functions and (
                        len(seen_words) == len(fresh) or not function.words.isdisjoint(fresh)
                    ):
                        seen_functions.add(function.id)
                        for seed in self._in(function):
                            seeds.setdefault(seed.send.site, seed)
                words.update(self._carriers(module))
        return tuple(seeds[site] for site in sorted(seeds, key=lambda site: (site.path, site.at, site.index)))

    def _modules(self, words: list[str]) -> Iterator[Module]:
        files = {file for word in words for file in self.program.index.files_with(word)}
        for file in sorted(files):
            module = self.program.module_of(file)
            if module is not None:
                yield module

    # ------------------------------------------------------------------ names that carry mail objects

    def _carriers(self, module: Module) -> Iterator[str]:
        """Names of a module that give a message, a connection or a client that can send."""
        for cls in module.classes.values():
            if self._is_mail_class(cls):
                yield cls.name
        for name in module.scope:
            value = self.evaluator.module_attr(module, name)
            if isinstance(value, Call | Attr) and self._can_send(value):
                yield name
        for function in module.functions.values():
            if function.parent is None and not function.name.startswith("<") and self._gives_mail(function):
                yield function.name

    def _is_mail_class(self, cls: Class) -> bool:
        shapes = [f"{base}()" for base in self.evaluator.hierarchy.external_bases(cls.id)]
        return any(shape in self._senders for shape in shapes)

    def _gives_mail(self, function: Function) -> bool:
        if not any("mail" in word.lower() or "smtp" in word.lower() or word in self._names for word in function.words):
            return False
        return self._can_send(self.flows.of(function).returned)

    def _can_send(self, value: Value) -> bool:
        return any(shape in self._senders for option in options(value) for shape in self.evaluator.shapes(option))

    @property
    def _senders(self) -> frozenset[str]:
        """Shapes of objects that have a sending method."""
        known = self.__dict__.get("_sender_shapes")
        if known is None:
            shapes = [shape.rpartition(".")[0] for shape in self.packs.sends if "()" in shape]
            known = self.__dict__["_sender_shapes"] = frozenset(shapes)
        return known

    @property
    def _names(self) -> frozenset[str]:
        known = self.__dict__.get("_sender_names")
        if known is None:
            names = (re.split(r"[.(]", shape.removesuffix("()"))[-1] for shape in self._senders)
            known = self.__dict__["_sender_names"] = frozenset(names)
        return known

    # ------------------------------------------------------------------ sends

    def _in(self, function: Function) -> Iterator[Seed]:
        for site in self.flows.of(function).sites:
            call = self.evaluator.direct(site.call)
            seed = self._library_send(site, call) or self._http_send(site, call)
            if seed is not None:
                yield seed

    def _library_send(self, site: Site, call: Call) -> Seed | None:
        for pack, entry in self.evaluator.lookup(self.packs.sends, call.func):
            assert isinstance(entry, v.Send) and isinstance(pack, v.Pack)
            if self._is_overridden(call) or not arguments.holds(self.evaluator, call, entry.when):
                continue
            keyed = any(True for _ in arguments.given(self.evaluator, call, entry.key))
            api = self._api(call, entry)
            send = ProviderSend(site, api, pack.name, entry.internal, entry.delivery, keyed)
            holes = self.templates.holes(call, entry)
            return Seed(send, holes, self.templates.recipient(call, entry))
        return None

    def _api(self, call: Call, entry: v.Send) -> str:
        shapes = self.evaluator.shapes(call.func)
        canonical = sorted(self.packs.canonical(call) for call in entry.calls)
        found = next((call for call in canonical if call in shapes), canonical[0])
        return found.replace("()", "")

    def _is_overridden(self, call: Call) -> bool:
        """A project class's own `send` is a helper; what it calls on its base is the provider send."""
        func = call.func
        if not isinstance(func, Attr):
            return False
        for cls in self.evaluator.types(func.base):
            if isinstance(cls, ClassRef) and self.evaluator.hierarchy.method_of(cls, func.name) is not None:
                resolved = self.evaluator.resolve(func)
                return resolved is not func
        return False

    def _http_send(self, site: Site, call: Call) -> Seed | None:
        for _, client in self.evaluator.lookup(self.packs.http_clients, call.func):
            assert isinstance(client, v.HttpClient)
            if not arguments.holds(self.evaluator, call, client.when):
                continue
            url = self._url(call, client)
            found = self._provider_of(url) if url is not None else None
            if found is None:
                continue
            pack, entry = found
            body = next(arguments.given(self.evaluator, call, client.body), None)
            content = _in_body(entry, client.body) if body is not None else v.Content()
            keyed = bool(entry.key_header) and self._has_header(call, client, entry.key_header)
            send = ProviderSend(site, f"POST {entry.hosts[0]}", pack.name, key=keyed)
            return Seed(
                send, self.templates.holes(call, content), self.templates.recipient(call, content)
            )
        return None

    def _url(self, call: Call, client: v.HttpClient) -> str | None:
        """The URL with `{}` for what is not known, the client's base URL in front of a relative one."""
        given = arguments.first_argument(self.evaluator, call, client.url)
        if given is None:
            return None
        for option in options(self.evaluator.resolve(given)):
            url = self._text(option)
            if url.startswith(("http", "//", "{}")) or "://" in url:
                return self._with_holes(url, option)
            base = self._base(call, client)
            if base:
                return f"{base.rstrip('/')}/{url.lstrip('/')}"
        return None

    def _with_holes(self, url: str, value: Value) -> str:
        return url

    def _base(self, call: Call, client: v.HttpClient) -> str:
        if not (client.base and isinstance(call.func, Attr)):
            return ""
        made = self.evaluator.resolve(call.func.base)
        for option in options(made):
            inner = getattr(option, "base", option)
            inner = self.evaluator.resolve(inner) if isinstance(inner, Value) else option
            for candidate in (option, inner):
                if isinstance(candidate, Call):
                    found = arguments.first_argument(self.evaluator, candidate, client.base)
                    if found is not None:
                        return self._text(self.evaluator.resolve(found))
        return ""

    def _text(self, value: Value) -> str:
        """A value as text, `{}` for the parts that are not known."""
        match self.evaluator.resolve(value):
            case Const(value=str() as found):
                return found
            case Text(pieces=pieces):
                return "".join(self._text(piece) for piece in pieces)
            case Call(func=func, args=args) if args:
                # urljoin(a, b), str(url), os.environ.get(name, default)
                if isinstance(func, External) and func.dotted.endswith(("urljoin", "str")):
                    return "".join(self._text(arg) for arg in args)
                last = self.evaluator.resolve(args[-1])
                if isinstance(last, Const) and isinstance(last.value, str) and "://" in last.value:
                    return last.value
                return "{}"
            case _:
                return "{}"

    def _provider_of(self, url: str) -> tuple[v.Pack, v.Http] | None:
        match = _URL.match(url)
        if match is None:
            return None
        host, path = match[1].lower(), match[2]
        for pattern, pairs in sorted(self.packs.https.items()):
            if _host_matches(pattern, host):
                for pack, entry in pairs:
                    if not entry.paths or any(re.search(one, path) for one in entry.paths):
                        return pack, entry
        return None

    def _has_header(self, call: Call, client: v.HttpClient, name: str) -> bool:
        for given in arguments.given(self.evaluator, call, client.headers):
            for part in walk(self.evaluator.resolve(given)):
                if isinstance(part, Const) and str(part.value).lower() == name.lower():
                    return True
        return False


def _host_matches(pattern: str, host: str) -> bool:
    if pattern.startswith("*."):
        return host == pattern[2:] or host.endswith(pattern[1:])
    return host == pattern


def _in_body(entry: v.Http, body: tuple[str, ...]) -> v.Content:
    """The paths into the body as arguments of the call: every body argument is tried with every path."""

    def put(paths: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(f"{argument}{path if path.startswith('/') else '/' + path}" for path in paths for argument in body)

    return v.Content(
        template=put(entry.template),
        template_id=put(entry.template_id),
        subject=put(entry.subject),
        text=put(entry.text),
        recipient=put(entry.recipient),
    )
