"""What log lines tell: which run or object they speak of, and which mail or event."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from sendonce.program import held as h
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.link import Linker
from sendonce.program.paths import Path
from sendonce.program.values import Attr, Call, Const, Item, Op, Param, Seq, Table, Text, Updated, Value

MAX_DEPTH = 2
_WORD = re.compile(r"[a-z]{3,}")
_ID = re.compile(r"(?:^|_)(?:id|pk|uuid|uid|guid|sid|number|reference)$")
_PLAIN = frozenset(
    ["send", "sends", "sending", "sent", "mail", "mails", "mailing", "mailed", "mailer", "email", "emails", "message",
     "messages", "notify", "notifying", "notified", "notification", "the", "and", "for", "from", "with", "has", "have",
     "been", "was", "were", "about", "now", "via", "smtp", "user", "users", "object", "done", "start", "starting",
     "started", "processing", "will", "this", "that", "person", "people", "recipient", "recipients", "address"]
)  # fmt: skip
"""Words that name no mail or event."""


@dataclass(frozen=True)
class Told:
    """Whether a log line (or what is bound to the lines behind it) names a run or object, and a mail or event."""

    who: bool = False
    what: bool = False

    def __or__(self, other: Told) -> Told:
        return Told(self.who or other.who, self.what or other.what)


@dataclass(frozen=True)
class Names:
    """What the log calls on a path name: the ids of runs and of objects (sorted), and whether the mail or event."""

    runs: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    what: bool = False


class LogLines:
    """Answers for paths."""

    def __init__(self, evaluator: Evaluator, flows: Flows, linker: Linker) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.flows = flows
        self.linker = linker

    def names(self, calls: Iterable[Call]) -> Names:
        """What some log calls name, the loggers' bindings included."""
        runs: set[str] = set()
        objects: set[str] = set()
        what = False
        for call in calls:
            shown = [name.lower() for name in self._named(call)]
            runs.update(name for name in shown if name in self._of("correlation"))
            objects.update(name for name in shown if name in self._of("entity") or _ID.search(name) is not None)
            what = what or (self._told(call) | self._bound_before(call.func)).what
        return Names(tuple(sorted(runs)), tuple(sorted(objects - runs)), what)

    def is_traced(self, path: Path) -> bool:
        """Whether a log line that is surely written before the send, in the run that sends, can be traced."""
        bound = Told()
        for site in self._last_run(path):
            for call, inner in self._made(site):
                bound |= self._binds(call)
                line = self._line(call, inner, MAX_DEPTH)
                if line is not None and (line | bound) == Told(True, True):
                    return True
        return False

    @staticmethod
    def _last_run(path: Path) -> list[Site]:
        """The calls of a path in the run that sends: behind the last job."""
        sites = list(path.sites())
        hops = [crossing.hop for crossing in path.crossings()]
        last = max((number for number, hop in enumerate(hops) if hop == "enqueue"), default=-1)
        return sites[last + 1 :]

    @staticmethod
    def _made(site: Site) -> Iterator[tuple[Call, Site | None]]:
        """The calls that were surely made when a function comes to a call, and the contexts around it, oldest first."""
        for fact in h.oldest_first(site.held):
            if isinstance(fact, h.Done):
                yield fact.site.call, fact.site
            elif isinstance(fact, h.Inside) and isinstance(fact.value, Call):
                yield fact.value, None

    def _line(self, call: Call, site: Site | None, depth: int) -> Told | None:
        """What a log line tells; that of a helper which writes one, if the call does not."""
        if self.evaluator.lookup(self.packs.logs, call.func):
            bound = self._bound_before(call.func)
            return bound | self._told(call)
        if depth <= 0 or site is None:
            return None
        found: Told | None = None
        for ref, *_ in self.linker.callables(call.func):
            for inner in self.flows.of(self.program.function(ref.id)).sites:
                line = self._line(inner.call, inner, depth - 1)
                if line is not None:
                    found = line | (found or Told())
        return found

    def _binds(self, call: Call) -> Told:
        if self.evaluator.lookup(self.packs.log_binds, call.func):
            return self._told(call)
        return Told()

    def _bound_before(self, func: Value) -> Told:
        """What a logger was bound to: `log.bind(order_id=…).info(…)`, kept in a variable or not."""
        found = Told()
        while isinstance(func, Attr):
            base = self.evaluator.resolve(func.base)
            while isinstance(base, Updated):
                base = self.evaluator.resolve(base.base)
            if not isinstance(base, Call):
                return found
            found |= self._binds(base)
            func = base.func
        return found

    # ------------------------------------------------------------------ what it says

    def _told(self, call: Call) -> Told:
        lower = [name.lower() for name in self._named(call)]
        who = any(name in self._ids or _ID.search(name) is not None for name in lower)
        what = any(name in self._whats for name in lower)
        return Told(who, what or any(self._says_what(text) for arg in call.args[:2] for text in _texts(arg)))

    def _named(self, call: Call) -> list[str]:
        """The names of what a log call shows: of its arguments and of what they are."""
        names = [name for name in call.names if name not in ("", "*", "**", "extra", "exc_info", "stack_info")]
        return names + [name for arg in call.args for name in self._names(arg)]

    def _says_what(self, text: str) -> bool:
        """Whether the written part of a line has a word that names more than that something is sent."""
        words = _WORD.findall(text.lower().replace("e-mail", "email"))
        return any(word not in _PLAIN and word not in self._entities for word in words)

    def _names(self, value: Value) -> Iterator[str]:
        """The names of what a line shows: attributes, parameters, keys."""
        match value:
            case Attr(name=name) | Param(name=name):
                yield name
            case Item(base=base, index=Const(value=str() as key)):
                yield key
                yield from self._names(base)
            case Table(keys=keys, values=values):
                yield from (str(key.value) for key in keys if isinstance(key, Const))
                for one in values:
                    yield from self._names(one)
            case Text() | Seq() | Op():
                for part in value.parts():
                    yield from self._names(part)
            case Call(func=func, args=args):
                yield from self._names(func) if isinstance(func, Attr) and func.name != "get" else ()
                for arg in args:
                    yield from (str(arg.value),) if isinstance(arg, Const) else self._names(arg)
            case _:
                return

    @cached_property
    def _ids(self) -> frozenset[str]:
        return self._of("correlation") | self._of("entity")

    @cached_property
    def _whats(self) -> frozenset[str]:
        return self._of("what")

    @cached_property
    def _entities(self) -> frozenset[str]:
        """The words of objects in the names of their ids: `order` of `order_id`."""
        return frozenset(word for name in self._of("entity") for word in _WORD.findall(name))

    def _of(self, field: str) -> frozenset[str]:
        found: Iterable[tuple[str, ...]] = (getattr(one, field) for pack in self.packs.packs for one in pack.log)
        return frozenset(name for names in found for name in names)


def _texts(value: Value) -> Iterator[str]:
    if isinstance(value, Const) and isinstance(value.value, str):
        yield value.value
    elif isinstance(value, Text | Op):
        for part in value.parts():
            yield from _texts(part)
