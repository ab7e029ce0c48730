"""Posts to a provider's HTTP API by a plain HTTP client: is this URL a provider's, and what does the body say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from sendonce import facts
from sendonce import vocabulary as v
from sendonce.discovery import SourceFile
from sendonce.program import arguments
from sendonce.program.evaluate import Evaluator
from sendonce.program.symbols import own_nodes
from sendonce.program.values import Attr, Call, Const, Element, External, Text, Updated, Value, options, walk

MAX_URLS = 12
"""How many values of one URL are tried."""

_URL = re.compile(r"^(?:https?:)?//([^/:?#]*)(?::\d+)?([^?#]*)")


@dataclass(frozen=True, eq=False)
class Post:
    """A post to a provider: the call that has URL and body, and where the body says what."""

    call: Call
    pack: v.Pack
    entry: v.Http
    content: v.Content
    keyed: bool


class Posts:
    """Finds posts to the hosts that packs know."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.packs = evaluator.packs
        self.index = evaluator.program.index

    # ------------------------------------------------------------------ where to look

    @cached_property
    def host_words(self) -> frozenset[str]:
        """The registered names of all hosts: `postmarkapp` of `api.postmarkapp.com`."""
        return frozenset(host.split(".")[-2] for host in self.packs.https)

    def files(self) -> Iterator[SourceFile]:
        """Files that have a client's method and a provider's name in one of their words, and files with its host."""
        for host in self.packs.https:
            yield from self.index.files_with(*host.removeprefix("*.").split("."))
        methods = {re.findall(r"\w+", shape)[-1] for shape in self.packs.http_clients}
        posting = {file for method in methods for file in self.index.files_with(method)}
        for word in self.index.words_with(*sorted(self.host_words - _EVERYDAY)):
            yield from posting.intersection(self.index.files_with(word))

    def mentions_host(self, node: facts.Node) -> bool:
        """Whether an expression has a provider's host in one of its texts."""
        for inner in own_nodes(node):
            if isinstance(inner, facts.Constant) and isinstance(inner.value, str) and "." in inner.value:
                match = _URL.match(inner.value if "//" in inner.value else f"//{inner.value}")
                if match is not None and any(_host_matches(host, match[1].lower()) for host in self.packs.https):
                    return True
        return False

    @cached_property
    def _clients(self) -> dict[str, tuple[str, ...]]:
        """Shapes of client objects, and the arguments of their constructor that hold a base URL."""
        clients = self.packs.http_clients
        return {shape.rpartition(".")[0]: entry.base for shape in clients for _, entry in clients[shape] if entry.base}

    def is_client(self, value: Value) -> bool:
        """Whether a value is a client that was made for a provider's address."""
        if not isinstance(value, Call):
            return False
        for shape in self._clients.keys() & self.evaluator.shapes(value):
            for given in arguments.given(self.evaluator, value, self._clients[shape]):
                if any(self._provider(url, "") is not None for url in self._texts(given)):
                    return True
        return False

    # ------------------------------------------------------------------ posts

    def of(self, call: Call) -> Post | None:
        """The post to a provider that a call is."""
        for _, client in self.evaluator.lookup(self.packs.http_clients, call.func):
            assert isinstance(client, v.HttpClient)
            if client.builds or not arguments.holds(self.evaluator, call, client.when):
                continue
            found = self._post(call, client) or next(self._requested(call, client), None)
            if found is not None:
                return found
        return None

    def _requested(self, call: Call, client: v.HttpClient) -> Iterator[Post]:
        """The posts of request objects that were made by another call."""
        for given in arguments.given(self.evaluator, call, client.request):
            for option in options(self.evaluator.resolve(given)):
                made = self.evaluator.seen_through(option)
                for _, built in self.evaluator.lookup(self.packs.http_clients, getattr(made, "func", made)):
                    assert isinstance(built, v.HttpClient)
                    if built.builds and isinstance(made, Call) and arguments.holds(self.evaluator, made, built.when):
                        found = self._post(made, built)
                        if found is not None:
                            yield found

    def _post(self, call: Call, client: v.HttpClient) -> Post | None:
        has_body = any(True for _ in arguments.given(self.evaluator, call, client.body))
        if not has_body and not (client.when or _is_post(call.func)):
            return None
        for given in arguments.given(self.evaluator, call, client.url):
            hints = _hints(self.evaluator.resolve(given))
            for url in self._texts(given):
                found = self._provider(self._absolute(url, call, client), hints)
                if found is not None:
                    pack, entry = found
                    content = _in_body(entry, client.body) if has_body else v.Content()
                    return Post(call, pack, entry, content, self._is_keyed(call, client, entry))
        return None

    def _absolute(self, url: str, call: Call, client: v.HttpClient) -> str:
        """The URL with the client's own base in front, if it is relative."""
        if url.startswith(("http", "//", "{}")) or "://" in url or not isinstance(call.func, Attr):
            return url
        for option in options(self.evaluator.resolve(call.func.base)):
            while isinstance(option, Updated | Element):
                option = self.evaluator.resolve(option.base)
            if isinstance(option, Call):
                for base in arguments.given(self.evaluator, option, client.base):
                    return f"{self._texts(base)[0].rstrip('/')}/{url.lstrip('/')}"
        return url

    def _is_keyed(self, call: Call, client: v.HttpClient, entry: v.Http) -> bool:
        """Whether the request carries an idempotency key that the provider honours."""
        for given in arguments.given(self.evaluator, call, client.headers) if entry.key_header else ():
            for part in walk(self.evaluator.resolve(given)):
                if isinstance(part, Const) and str(part.value).lower() == entry.key_header.lower():
                    return True
        keys = _in_body(v.Http(hosts=(), subject=entry.key), client.body).subject
        return any(True for _ in arguments.given(self.evaluator, call, keys))

    # ------------------------------------------------------------------ URLs

    def _texts(self, value: Value) -> list[str]:
        """The texts that a value may be, `{}` for the parts that are not known; never empty."""
        found: list[str] = []
        for option in options(self.evaluator.resolve(value)):
            found.extend(self._text(option))
        return list(dict.fromkeys(found))[:MAX_URLS]

    def _text(self, value: Value) -> list[str]:
        match value:
            case Const(value=str() as text):
                return [text]
            case Text(pieces=pieces):
                parts = (self._texts(piece)[:3] for piece in pieces)
                return ["".join(one) for _, one in zip(range(MAX_URLS), product(*parts), strict=False)]
            case Call(func=func, args=args) if args:
                return self._called(func, args)
            case _:
                return ["{}"]

    def _called(self, func: Value, args: tuple[Value, ...]) -> list[str]:
        """`urljoin(a, b)`, `str(url)`, `URL(url)`, `os.environ.get(name, default)`."""
        name = func.dotted.rpartition(".")[2] if isinstance(func, External) else ""
        if name == "urljoin" and len(args) > 1:
            return [f"{self._texts(args[0])[0].rstrip('/')}/{self._texts(args[1])[0].lstrip('/')}"]
        if name in ("str", "URL"):
            return self._texts(args[0])
        defaults = (self.evaluator.constant(arg) for arg in args)
        found = [str(default.value) for default in defaults if default is not None]
        return [next((text for text in found if "://" in text), "{}")]

    def _provider(self, url: str, hints: str) -> tuple[v.Pack, v.Http] | None:
        """The provider that a URL belongs to. A host that is not known is told by the names it was made from."""
        match = _URL.match(url if not url.startswith("{}") else f"//{url}")
        if match is None:
            return None
        host, path = match[1].lower(), match[2]
        for pattern, pairs in sorted(self.packs.https.items()):
            named = host.strip("{}.") == "" and _is_hinted(pattern, hints)
            if not (named or _host_matches(pattern, host)):
                continue
            for pack, entry in pairs:
                if any(re.search(one, path) for one in entry.paths) or not (entry.paths or named):
                    return pack, entry
        return None


_EVERYDAY = frozenset(["amazonaws", "azure", "customer", "googleapis", "loops", "microsoft"])
"""Registered names that stand for more than mail: only the whole host tells."""


def _is_post(func: Value) -> bool:
    name = func.name if isinstance(func, Attr) else func.dotted.rpartition(".")[2] if isinstance(func, External) else ""
    return name == "post"


def _is_hinted(pattern: str, hints: str) -> bool:
    name = pattern.split(".")[-2]
    return name in hints and name not in _EVERYDAY


def _hints(url: Value) -> str:
    """The names and texts that a URL was made from, in lower case."""
    found: list[str] = []
    for part in walk(url):
        if isinstance(part, Attr):
            found.append(part.name)
        elif isinstance(part, Const) and isinstance(part.value, str):
            found.append(part.value)
        elif isinstance(part, External):
            found.append(part.dotted.rpartition(".")[2])
    return " ".join(found).lower()


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
