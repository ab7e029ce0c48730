"""What an idempotency layer keeps of an answer, and to whom it gives that answer again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program import held as h
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Exit, Flows
from sendonce.program.held import Held, Site
from sendonce.program.idempotency import Access, Layer, answers_after
from sendonce.program.statuses import Statuses
from sendonce.program.symbols import Function
from sendonce.program.values import (
    Attr,
    Call,
    ClassRef,
    Const,
    External,
    ModuleRef,
    Op,
    Seq,
    Table,
    Text,
    Value,
    unchanged,
    walk,
)

_BODIES = frozenset(
    ["data", "body", "content", "get_data", "get_json", "json", "text", "rendered_content", "render", "getvalue"]
)
"""Attributes and methods that give the body of a response."""
_PRINTS = ("hash", "finger", "digest", "payload", "body", "checksum")


@dataclass(frozen=True, eq=False)
class Loss:
    """A result that is stored so that its replay differs from it, and why."""

    store: Access
    why: str


@dataclass(frozen=True, eq=False)
class _Answer:
    """The parts of an answer: its body, its status (None: the framework's), or a response of unknown make."""

    body: tuple[Value, ...]
    status: Value | None = None
    response: Value | None = None


class Replays:
    """Answers for layers."""

    def __init__(self, evaluator: Evaluator, flows: Flows) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.flows = flows
        self.statuses = Statuses(evaluator)

    def losses(self, layer: Layer) -> Iterator[Loss]:
        """What is wrong with the results that a layer stores behind its work."""
        replays = list(self._replayed(layer))
        stores = [one for one in layer.of("store", "claim", after=True) if one.site is not None]
        if not replays or not stores:
            return
        kept = tuple(value for one in stores for value in one.stored)
        last = stores[-1]
        for why in dict.fromkeys(self._lost(layer, last, kept, replays)):
            yield Loss(last, why)
        cached = next((one for one in stores if self._is_cached_error(one, layer)), None)
        if cached is not None:
            yield Loss(cached, "keeps a failure of the work as a success")
        if not self._asks_payload(layer):
            yield Loss(last, "is given to the same key with another payload, which nothing compares")

    # ------------------------------------------------------------------ status and body

    def _lost(self, layer: Layer, store: Access, kept: tuple[Value, ...], replays: list[Exit]) -> Iterator[str]:
        assert store.site is not None
        flow = self.flows.of(self.program.function(store.site.function))
        for exit in answers_after(flow, store.site):
            answer = self._taken_apart(self._outward(layer, store.site, exit.value))
            if not self._keeps_body(answer, kept):
                yield "lacks the body of the answer"
            elif not self._keeps_status(answer, kept, replays):
                yield "lacks the status of the answer"

    @staticmethod
    def _outward(layer: Layer, site: Site, value: Value) -> Value:
        """A value of a layer's function in terms of its first function, as what is stored is given."""
        path = layer.paths[0]
        functions = [one.function for one in path.sites()]
        return path.outward(functions.index(site.function), value) if site.function in functions else value

    def _taken_apart(self, value: Value) -> _Answer:
        value = unchanged(value)
        if isinstance(value, Seq) and value.kind == "tuple" and len(value.items) > 1:
            first, second, *_ = value.items
            if self.statuses.code(first) is not None:
                return _Answer((second,), first)
            inner = self._taken_apart(first)
            plain = isinstance(self.evaluator.resolve(second), Table | Seq)
            return inner if plain else _Answer(inner.body, second)
        if isinstance(value, Call):
            found: tuple[tuple[object, v.Answer], ...] = self.evaluator.lookup(self.packs.answers, value.func)
            for _, entry in found:
                status = arguments.first_argument(self.evaluator, value, entry.status)
                return _Answer(tuple(arg for arg in value.args if arg is not status), status)
        resolved = self.evaluator.resolve(value)
        plain = isinstance(resolved, Table | Const | Text | Seq)
        return _Answer((value,), None, None if plain else value)

    def _keeps_body(self, answer: _Answer, kept: tuple[Value, ...]) -> bool:
        wanted = {leaf for value in answer.body for leaf in self._leaves(value)}
        given = {part for value in kept for part in self._shown(value, True)}
        return not wanted or not wanted.isdisjoint(given)

    def _leaves(self, value: Value) -> Iterator[Value]:
        """What in an answer differs from one request to the next: its parts, and the objects that it is made of."""
        match value:
            case Const():
                return
            case Table(values=parts) | Seq(items=parts) | Text(pieces=parts) | Op(operands=parts):
                for part in parts:
                    yield from self._leaves(part)
            case Call(func=External(), args=args):
                yield value
                for arg in args:
                    yield from self._leaves(arg)
            case _:
                yield value
                resolved = self.evaluator.resolve(value)
                if isinstance(resolved, Table | Seq | Text):
                    yield from self._leaves(resolved)

    def _keeps_status(self, answer: _Answer, kept: tuple[Value, ...], replays: list[Exit]) -> bool:
        shown = {part for value in kept for part in self._shown(value, False)}
        if answer.status is not None:
            code = self.statuses.code(answer.status)
            if code is None:
                return answer.status in shown or self._is_status_of(answer.status, shown)
            again = {one for exit in replays for one in self.statuses.statuses(exit.value)}
            return again <= {code, None} or any(self.statuses.code(part) == code for part in shown)
        response = answer.response
        if response is None or response in shown:
            return True
        if any(isinstance(part, Attr) and part.base is response and "status" in part.name for part in shown):
            return True
        return not any(self._is_body_of(part, response) for part in shown)

    @staticmethod
    def _is_status_of(status: Value, shown: set[Value]) -> bool:
        """Whether the response whose status it is was stored as a whole."""
        return isinstance(status, Attr) and status.base in shown

    @staticmethod
    def _is_body_of(part: Value, response: Value) -> bool:
        func = part.func if isinstance(part, Call) else part
        return isinstance(func, Attr) and func.base is response and func.name in _BODIES

    def _shown(self, value: Value, bases: bool) -> Iterator[Value]:
        """What a value holds; with `bases`, the objects whose attributes and methods it is read from as well."""
        seen: set[Value] = set()
        todo = [value, self.evaluator.resolve(value)]
        for one in todo:
            if one in seen:
                continue
            seen.add(one)
            yield one
            match one:
                case Call(func=func, args=args):
                    todo += args
                    if bases and isinstance(func, Attr):
                        todo.append(func.base)
                case Attr(base=base, name=name):
                    todo += [base] if bases and "status" not in name else []
                case Table(values=values):
                    todo += values
                case _:
                    todo += one.parts()

    # ------------------------------------------------------------------ errors

    def _is_cached_error(self, store: Access, layer: Layer) -> bool:
        """Whether what is stored, and answered as a success, may be what a failure of the work left."""
        assert store.site is not None
        tried = {fact.at for site in layer.work for fact in h.newest_first(site.held) if isinstance(fact, h.Trying)}
        if not any(fact.trying.at in tried for fact in _caught(h.newest_first(store.site.held))):
            return False
        flow = self.flows.of(self.program.function(store.site.function))
        exits = answers_after(flow, store.site)
        return bool(exits) and all(self.statuses.succeeds(exit.value) for exit in exits)

    # ------------------------------------------------------------------ the same key with another payload

    def _replayed(self, layer: Layer) -> Iterator[Exit]:
        """The returns of a layer's functions that give what was read under the key."""
        for function in layer.functions:
            read = _read_in(layer, function)
            behind = layer.work[layer.functions.index(function)]
            for exit in self.flows.of(function).returns:
                late = any(isinstance(fact, h.Done) and fact.site is behind for fact in h.newest_first(exit.held))
                if not late and _holds(exit.value, read):
                    yield exit

    def _asks_payload(self, layer: Layer) -> bool:
        """Whether what was read under the key is compared with something of the new request."""
        if any(self._is_narrowed(one) for one in layer.of("read", "claim")):
            return True
        functions = {one.id: one for one in layer.functions}
        for access in layer.of("read"):
            functions.update((site.function, self.program.function(site.function)) for site in access.chain)
        return any(
            _compares(test, _read_in(layer, function))
            for function in functions.values()
            for test in self._tests(function)
        )

    def _is_narrowed(self, access: Access) -> bool:
        """Whether the key itself, or the query, holds a fingerprint of the payload."""
        names = (name for part in walk(access.call) if isinstance(part, Call) for name in part.names)
        read = access.how == "read" and any(word in name.lower() for name in names for word in _PRINTS)
        keys = access.call.args[:1]
        return read or any(_is_print(part) for key in keys for part in walk(self.evaluator.resolve(key)))

    def _tests(self, function: Function) -> Iterator[Value]:
        flow = self.flows.of(function)
        ends = (*flow.returns, *flow.raises)
        helds: Iterable[Held | None] = (*(site.held for site in flow.sites), *(exit.held for exit in ends))
        seen: set[h.Fact] = set()
        for held in helds:
            for fact in h.newest_first(held):
                if isinstance(fact, h.Test) and fact not in seen:
                    seen.add(fact)
                    yield fact.value


def _read_in(layer: Layer, function: Function) -> frozenset[Value]:
    """The calls of a function that give what is stored under the key."""
    return frozenset(
        site.call
        for access in layer.of("read", "claim", "store")
        if access.how != "store" or not access.after
        for site in access.chain
        if site.function == function.id
    )


def _holds(value: Value, read: frozenset[Value]) -> bool:
    return any(part in read for part in walk(value))


def _compares(test: Value, read: frozenset[Value]) -> bool:
    """Whether a test asks something that was read for something else that is no constant."""
    for part in walk(test):
        sides: tuple[Value, ...] = ()
        if isinstance(part, Op) and part.op in ("==", "!=", "is", "is not", "in", "not in"):
            sides = part.operands
        elif isinstance(part, Call):
            sides = (*part.args, part.func.base) if isinstance(part.func, Attr) else part.args
        known = [_holds(side, read) for side in sides]
        other = [not _is_fixed(side) for side, one in zip(sides, known, strict=True) if not one]
        if any(known) and any(other) and part not in read:
            return True
    return False


def _is_fixed(value: Value) -> bool:
    """Whether a value is the same for every request: a constant, a setting, or a choice of such."""
    if isinstance(value, Seq) and value.kind != "each":
        return all(map(_is_fixed, value.items))
    return isinstance(value, Const | External | ModuleRef | ClassRef)


def _is_print(value: Value) -> bool:
    """Whether a part of a key is a hash."""
    name = value.func.name if isinstance(value, Call) and isinstance(value.func, Attr) else ""
    return name in ("hexdigest", "digest", "b64digest")


def _caught(passed: Iterable[h.Fact]) -> Iterator[h.Caught]:
    for fact in passed:
        if isinstance(fact, h.Caught):
            yield fact
        elif isinstance(fact, h.Either):
            for branch in fact.branches:
                yield from _caught(branch)
