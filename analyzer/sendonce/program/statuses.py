"""The HTTP status that a handler's returned value is, as far as the code tells."""

from __future__ import annotations

import re
from http import HTTPStatus

from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program.evaluate import Evaluator
from sendonce.program.values import NONE, Attr, Call, Const, External, Seq, Table, Text, Value, options, unchanged

_CODES = range(100, 600)
_KEYS = ("statusCode", "status_code", "status")
MAX_DEPTH = 4


class Statuses:
    """Answers for values."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.packs = evaluator.packs

    def statuses(self, value: Value, depth: int = MAX_DEPTH) -> frozenset[int | None]:
        """The statuses that an answer can have; None among them where one cannot be told."""
        if depth <= 0:
            return frozenset((None,))
        known = self._of_call(value) if isinstance(value, Call) else None
        if known is not None:
            return frozenset((known,))
        resolved = self.evaluator.resolve(value)
        if resolved is not value and not isinstance(resolved, Const | Seq | Table | Text):
            return frozenset(one for part in options(resolved) for one in self.statuses(part, depth - 1))
        return frozenset(one for part in options(resolved) for one in self._plain(part, depth))

    def succeeds(self, value: Value) -> bool:
        """Whether an answer tells the client, for sure, that all went well."""
        return all(one is not None and 200 <= one < 300 for one in self.statuses(value))

    def _plain(self, value: Value, depth: int) -> frozenset[int | None]:
        """The status of what frameworks make an answer of: a text, a dict, a pair of body and status."""
        match value:
            case Seq(kind="tuple", items=items) if items:
                return self._of_tuple(items, depth)
            case Table(keys=keys, values=values):
                for key, given in zip(keys, values, strict=True):
                    if isinstance(key, Const) and key.value in _KEYS and (code := self.code(given)) is not None:
                        return frozenset((code,))
                return frozenset((200,))
            case Const(value=int() as code) if code in _CODES and code is not True:
                return frozenset((code,))
            case Const() | Text() | Seq():
                return frozenset((200,))
            case Call():
                return frozenset((self._of_call(value),))
            case _:
                below = unchanged(value)
                return frozenset((None,)) if below is value else self.statuses(below, depth - 1)

    def _of_tuple(self, items: tuple[Value, ...], depth: int) -> frozenset[int | None]:
        """The status of a pair of body and status, or of status and body; headers say nothing."""
        if self.code(items[0]) is not None:
            return frozenset((self.code(items[0]),))
        told = self.evaluator.resolve(items[1]) if len(items) > 1 else NONE
        if told is NONE or isinstance(told, Table | Seq):
            return self.statuses(items[0], depth - 1)
        return frozenset(self.code(one) for one in options(told))

    def _of_call(self, call: Call) -> int | None:
        """The status of a response that a call makes."""
        found: tuple[tuple[object, v.Answer], ...] = self.evaluator.lookup(self.packs.answers, call.func)
        for _, entry in found:
            given = arguments.first_argument(self.evaluator, call, entry.status)
            if given is None or given is NONE:
                inner = call.args[0] if call.args and entry.default == 200 else NONE
                of_inner = self._of_call(inner) if isinstance(inner, Call) else None
                return of_inner or entry.default
            return self.code(given)
        return None

    def code(self, value: Value) -> int | None:
        """A status given as a number or by its name (`HTTPStatus.OK`, `status.HTTP_200_OK`)."""
        found = self.evaluator.resolve(value)
        if isinstance(found, Const):
            return found.value if isinstance(found.value, int) and found.value in _CODES else None
        name = found.name if isinstance(found, Attr) else ""
        if isinstance(found, External):
            name = found.dotted.rpartition(".")[2]
        if isinstance(found, Attr) and name == "value":
            return self.code(found.base)
        numbered = re.fullmatch(r"HTTP_(\d{3})_\w+", name)
        if numbered:
            return int(numbered[1])
        return HTTPStatus[name].value if name in HTTPStatus.__members__ else None
