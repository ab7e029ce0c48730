"""Idempotency keys that a call passes to a mail provider."""

from __future__ import annotations

from collections.abc import Iterator

from sendonce import facts
from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program import held as h
from sendonce.program.evaluate import Evaluator
from sendonce.program.held import Site
from sendonce.program.symbols import own_nodes
from sendonce.program.values import NONE, Attr, Call, Const, Table, Updated, Value, options, walk


def shown(keys: tuple[str, ...]) -> str:
    """The first of some arguments that take a key, by the name that a person would write."""
    return keys[0].rpartition("/")[2].partition("|")[0] if keys else ""


class ProviderKeys:
    """Answers for calls."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.packs = evaluator.packs
        self._headers = frozenset(
            entry.key_header.lower() for pack in self.packs.packs for entry in pack.http if entry.key_header
        )
        self._body = tuple(sorted({key for pack in self.packs.packs for entry in pack.http for key in entry.key}))

    def of(self, call: Call) -> Value | None:
        """The key that a call passes to the provider: an argument of the library, a header, a part of the body."""
        sends: tuple[tuple[object, v.Send], ...] = self.evaluator.lookup(self.packs.sends, call.func)
        for _, send in sends:
            found = arguments.first_argument(self.evaluator, call, send.key)
            if found is not None:
                return found
        clients: tuple[tuple[object, v.HttpClient], ...] = self.evaluator.lookup(self.packs.http_clients, call.func)
        for _, client in clients:
            for headers in arguments.given(self.evaluator, call, client.headers):
                for name, value in self._entries(headers):
                    if name.lower() in self._headers:
                        return value
            for body in client.body:
                found = arguments.first_argument(self.evaluator, call, tuple(f"{body}{key}" for key in self._body))
                if found is not None:
                    return found
        return None

    def lacks(self, site: Site, call: Call) -> bool:
        """Whether the call at a site (`call` as it is on one path) surely passes no key.

        It does not if all that could hold a key is seen, and none is there, or the key is None.
        """
        key = self.of(call)
        if key is not None:
            return self.evaluator.resolve(key) is NONE
        if "**" in call.names or any(self._mentions(part) for part in (*self._sent(call), *self._done(site))):
            return False
        if any(self._is_name(node.value) for node in self._in_making(site)):
            return False
        return all(self._is_seen(holder) for holder in self._holders(call))

    def _sent(self, call: Call) -> Iterator[Value]:
        """What a call is given, and the client that it is a method of."""
        yield from call.args
        if isinstance(call.func, Attr):
            yield call.func.base

    def _done(self, site: Site) -> Iterator[Value]:
        """What was set on something, or done to it, before a call: `session.headers["Idempotency-Key"] = key`."""
        for fact in h.newest_first(site.held):
            if isinstance(fact, h.Wrote):
                yield Const(fact.field.strip("[]"))
            elif isinstance(fact, h.Done):
                yield from fact.site.call.args

    def _in_making(self, site: Site) -> Iterator[facts.Constant]:
        """The constants in what made the object whose method a call stands in."""
        function = self.evaluator.program.function(site.function)
        methods = function.cls.methods if function.cls is not None else {}
        for name in ("__init__", "__post_init__", "__enter__", "__aenter__"):
            for node in own_nodes(methods[name].node) if name in methods else ():
                if isinstance(node, facts.Constant):
                    yield node

    def _mentions(self, value: Value) -> bool:
        """Whether the name of a key stands in a value: set on a request or a client beforehand."""
        return any(self._is_name(part.value) for part in walk(self.evaluator.resolve(value)) if isinstance(part, Const))

    def _is_name(self, text: object) -> bool:
        names = self._headers | {key.rpartition("/")[2].lower() for key in self._body}
        return isinstance(text, str) and text.lower() in names

    def _holders(self, call: Call) -> Iterator[Value]:
        """The arguments in which a key would stand."""
        sends: tuple[tuple[object, v.Send], ...] = self.evaluator.lookup(self.packs.sends, call.func)
        heads = tuple(key.partition("/")[0] for _, send in sends for key in send.key if "/" in key)
        yield from arguments.given(self.evaluator, call, heads)
        clients: tuple[tuple[object, v.HttpClient], ...] = self.evaluator.lookup(self.packs.http_clients, call.func)
        for _, client in clients:
            yield from arguments.given(self.evaluator, call, client.headers)
            for request in arguments.given(self.evaluator, call, client.request):
                made = self.evaluator.seen_through(request)
                if isinstance(made, Call) and made is not call:
                    yield from self._holders(made)

    def _is_seen(self, value: Value) -> bool:
        """Whether all entries of a dict are seen."""
        for option in options(self.evaluator.resolve(value)):
            while isinstance(option, Updated) and not option.field.endswith("()"):
                option = self.evaluator.resolve(option.base)
            known = isinstance(option, Table) and all(map(self.evaluator.constant, option.keys))
            if not known and option is not NONE:
                return False
        return True

    def _entries(self, value: Value) -> Iterator[tuple[str, Value]]:
        """The entries of a dict, later ones first."""
        for option in options(self.evaluator.resolve(value)):
            while isinstance(option, Updated):
                yield option.field.strip("[]"), option.value
                option = self.evaluator.resolve(option.base)
            if isinstance(option, Table):
                for key, one in zip(option.keys, option.values, strict=True):
                    constant = self.evaluator.constant(key)
                    if isinstance(constant, Const) and isinstance(constant.value, str):
                        yield constant.value, one
