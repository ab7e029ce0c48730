"""Idempotency keys that a call passes to a mail provider."""

from __future__ import annotations

from collections.abc import Iterator

from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program.evaluate import Evaluator
from sendonce.program.values import Call, Const, Table, Updated, Value, options


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
