"""Which calls are claims by themselves: the entry of a pack that fits, what is claimed, and whether it can be won once.

A claim is looked at here without what stands around it: `outcomes.py` says what a test of its
result means, `claims.py` which claims dominate a send.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from sendonce import vocabulary as v
from sendonce.findings import Confidence, weakest
from sendonce.program import arguments
from sendonce.program.backends import Backends
from sendonce.program.conditions import Conditions
from sendonce.program.constraints import plain
from sendonce.program.evaluate import Evaluator
from sendonce.program.fields import Fields, Given, Model
from sendonce.program.matching import Matched, Matching
from sendonce.program.stability import Stability
from sendonce.program.uniques import Uniques
from sendonce.program.values import (
    UNKNOWN,
    Attr,
    Call,
    ClassRef,
    Const,
    Param,
    Text,
    Updated,
    Value,
    options,
    substitute,
    walk,
)

Part = tuple[str, Value]
Flaw = Literal["not_unique", "process", "host", "unstable", "uncommitted"]
"""What keeps a claim from being a reservation: no constraint behind it, a store that not all workers share, a key
that differs on every attempt, a transaction that is rolled back."""


@dataclass(frozen=True)
class Reservation:
    """A claim that one run can win: its statement, what it claims in words, and the parts of its key."""

    path: str
    line: int
    function: str
    note: str
    prefix: str
    parts: tuple[Part, ...] = ()
    confidence: Confidence = "high"
    assumes: tuple[str, ...] = ()
    rows: bool = False
    """Only the rows that the claim gave are claimed, not the run that made it."""
    inside: bool = False
    """It is taken back if a transaction that is still open rolls back."""
    implied: bool = False
    """An insert whose conflict nobody catches."""
    stored: bool = False
    """It is kept in a database whose transactions are known."""
    call: Call | None = None
    """The call that was made."""
    row: Call | None = None
    """The constructor's call of the row that was inserted."""
    model: Model | None = None
    """Of an insert: the model or table."""
    fresh: bool = False
    """Its key holds a row that the same run has made: it keeps apart what follows, not two runs of one event."""
    flaw: Flaw | None = None
    """Why it reserves nothing, where such claims are asked for."""
    given: tuple[Value, ...] = ()
    """The values of the key as they stand at the claim."""

    @property
    def key(self) -> str:
        """The identity of the claim: two runs with one key cannot both win."""
        return key_of(self.prefix, self.parts)

    def bound(self, binding: Mapping[Param, Value]) -> Reservation:
        """The claim with parameters put in."""
        parts = tuple((name, substitute(value, binding)) for name, value in self.parts)
        return replace(self, parts=parts, given=tuple(substitute(value, binding) for value in self.given))


def key_of(prefix: str, parts: tuple[Part, ...]) -> str:
    """A claim's identity as text: what is not constant is a hole."""
    shown = ", ".join(f"{name}={as_text(value)}" for name, value in parts)
    return f"{prefix}({shown})"


def as_text(value: Value) -> str:
    """A part of a key as text: constants, and holes for the rest."""
    match value:
        case Const(value=constant):
            return repr(constant)
        case Text(pieces=pieces):
            return "".join(str(piece.value) if isinstance(piece, Const) else "{}" for piece in pieces)
        case _:
            return "{}"


SHARED = frozenset(["shared", ""])
"""What must be known of a claim for it to count between hosts; "" where nothing is known."""
ON_ONE_HOST = SHARED | {"host"}


class Reservations:
    """Answers for calls, memoised. Claims with one of the flaws `forgiven` are given too, and say so."""

    def __init__(
        self,
        evaluator: Evaluator,
        uniques: Uniques,
        stability: Stability,
        scopes: frozenset[str] = SHARED,
        forgiven: frozenset[Flaw] = frozenset(),
    ) -> None:
        self.scopes = scopes
        self.forgiven = forgiven
        self.evaluator = evaluator
        self.packs = evaluator.packs
        self.stability = stability
        self.uniques = uniques
        self.fields = Fields(evaluator)
        self.conditions = Conditions(evaluator, self.fields)
        self.backends = Backends(evaluator)
        contexts = (shape for pack in self.packs.packs for entry in pack.transaction for shape in _opening(entry))
        self._transactional = frozenset(shape.partition(".")[0] for shape in contexts)
        self.matching = Matching(evaluator, self.fields, self.conditions)

    def matched(self, call: Call) -> Matched | None:
        """The claim that making this call is, if it is one; whether it can be won once is another question."""
        return self.matching.matched(call)

    def reservation(self, matched: Matched) -> Reservation | None:
        """The reservation that a claim is; None if two runs can win it."""
        entry, call = matched.entry, matched.call
        scope, assumes, sure = self.backends.scope(entry, call)
        passes = entry.lasts not in ("", "ever")
        if not self.counts(scope) or entry.win == "held" or passes:
            return None
        confidence: Confidence = "high" if sure and matched.sure else "medium"
        base = Reservation(
            call.at[0],
            call.at[1],
            "",
            "",
            "",
            (),
            confidence,
            assumes,
            inside=self._in_database(entry),
            stored=self._in_database(entry) and self._is_transactional(entry),
            call=matched.run,
            flaw=flaw_of(scope),
        )
        if entry.condition:
            return self._conditional(matched, base)
        if entry.unique == "fields":
            return self._unique(matched, base)
        return self._keyed(matched, base)

    def counts(self, scope: str) -> bool:
        """Whether a claim in a store of this scope is given."""
        return scope in self.scopes or flaw_of(scope) in self.forgiven

    @staticmethod
    def _in_database(entry: v.Claim) -> bool:
        return entry.condition or entry.unique != "none" or bool(entry.runs or entry.matches)

    def _is_transactional(self, entry: v.Claim) -> bool:
        """Whether the library of a claim is one whose transactions packs describe."""
        return any(call.partition(".")[0] in self._transactional for call in entry.calls)

    def _keyed(self, matched: Matched, base: Reservation) -> Reservation | None:
        """A claim under a key."""
        keys = tuple(arguments.given(self.evaluator, matched.call, matched.entry.key))
        unstable = self.stability.any_unstable(keys)
        if unstable and "unstable" not in self.forgiven:
            return None
        name = self._call_name(matched.call)
        parts = tuple(("key", self.evaluator.resolve(key)) for key in keys)
        prefix = "key" if keys else self._deleted(matched.call) or name
        note = f"{name} on {_named(parts)}" if parts else f"{name} on {prefix}"
        return replace(
            base, note=note, prefix=prefix, parts=parts, given=keys, flaw="unstable" if unstable else base.flaw
        )

    def _deleted(self, call: Call) -> str:
        target = self.fields.model(call)
        return "" if target is None else f"row of {self.fields.id_of(target)}"

    def _conditional(self, matched: Matched, base: Reservation) -> Reservation | None:
        """An update of rows that no longer meet its condition afterwards."""
        found = self.conditions.used_up(matched.call, matched.run)
        if not found:
            return None
        model = self.fields.model(matched.call)
        name = ", ".join(sorted(found))
        note = f"conditional update of {self.fields.name_of(model)}.{name}"
        return replace(base, note=note, prefix=f"{self.fields.id_of(model)}.{name}")

    def inserted_row(self, row: Value, matched: Matched | None) -> Reservation | None:
        """The reservation of a row that was made here and inserted, if a unique constraint lets only one run do so."""
        made = self.fields.made(row)
        model = None if made is None else self.evaluator.resolve(made.func)
        if made is None or not isinstance(model, ClassRef):
            return self._form_row(row, matched)
        base = Reservation(made.at[0], made.at[1], "", "", "", inside=True, stored=True, call=made, row=made)
        if matched is not None:
            base = replace(base, path=matched.run.at[0], line=matched.run.at[1], call=matched.run)
        return self._covered(self.fields.of_row(row), model, frozenset(), base)

    def _form_row(self, row: Value, matched: Matched | None) -> Reservation | None:
        """The reservation of a row that a form has made without saving it (`commit=False`)."""
        for option in options(self.evaluator.resolve(row)):
            while isinstance(option, Updated):
                option = option.base
            entries = self.evaluator.lookup(self.packs.claims, option.func) if isinstance(option, Call) else ()
            for _, entry in entries:
                if isinstance(option, Call) and entry.declared and matched is not None:
                    at = matched.run.at
                    return self._of_form(entry, option, Reservation(at[0], at[1], "", "", "", inside=True, stored=True))
        return None

    def _unique(self, matched: Matched, base: Reservation) -> Reservation | None:
        """An insert that a unique constraint lets only one run make."""
        if not self.fields.is_filled(matched.entry, matched.call):
            return None
        if matched.entry.declared:
            return self._of_form(matched.entry, matched.call, base)
        given = self.fields.given(matched.entry, matched.call, matched.run)
        target = self.fields.conflict_target(matched.entry, matched.call, matched.run)
        return self._covered(given, self.fields.model(matched.call), target, base)

    def _of_form(self, entry: v.Claim, call: Call, base: Reservation) -> Reservation | None:
        """The new row of a form or serializer."""
        names = self.fields.forms.filled(entry, call)
        if not names:
            return None
        return self._covered(
            Given(dict.fromkeys(sorted(names), UNKNOWN)), self.fields.forms.model(entry, call), frozenset(), base
        )

    def _covered(
        self, given: Given, model: Model | None, target: frozenset[str], base: Reservation
    ) -> Reservation | None:
        """The reservation that inserting these fields is; `target` are the columns of `ON CONFLICT (…)`."""
        drawn = frozenset(name for name, value in given.fields.items() if self.stability.fresh(value) is not None)
        names = None if given.whole else frozenset(given.fields)
        cover = self.uniques.cover(model, names, drawn)
        if names is not None and given.open and cover.answer in ("no", "unknown") and not self._draws(base):
            cover = self.uniques.cover(model, names | self.uniques.required(model), drawn)
            base = replace(base, confidence="medium")
        answer, covered = cover.answer, cover.fields
        if answer == "unknown" and "_id" in given.fields:  # a document's own key
            answer, covered = "yes", frozenset(("id",))
        if answer == "no" and given.open:
            answer = "unknown"
        if target and answer in ("no", "unknown"):
            # The database itself refuses ON CONFLICT (a, b) where a and b are not unique together.
            answer, covered = "yes", frozenset(map(plain, target))
        if answer == "no" and "not_unique" not in self.forgiven:
            return None
        every = answer in ("no", "unknown") or given.whole
        values = [value for name, value in given.fields.items() if every or plain(name) in covered]
        unstable = self.stability.any_unstable(values)
        if unstable and "unstable" not in self.forgiven:
            return None
        flaw: Flaw | None = "not_unique" if answer == "no" else ("unstable" if unstable else base.flaw)
        parts = self._parts(given.fields, covered, every)
        name = self.fields.name_of(model)
        shown = ", ".join(part for part, _ in parts if not part.startswith("#")) or ", ".join(sorted(covered))
        confidence = base.confidence if answer == "yes" else weakest(base.confidence, "medium")
        return replace(
            base,
            note=f"unique insert into {name} ({shown or 'its key'})",
            model=model,
            fresh=any(map(self._is_fresh, values)),
            prefix=self.fields.id_of(model),
            parts=parts,
            given=tuple(values),
            confidence=confidence,
            assumes=(*base.assumes, *_assumed(answer, name, shown)),
            flaw=flaw,
        )

    def _draws(self, base: Reservation) -> bool:
        """Whether something among the fields that a row is given from elsewhere is drawn anew by each run."""
        made = base.row or base.call
        pairs = zip(made.names, made.args, strict=True) if made is not None else ()
        given = [value for name, value in pairs if name == "**"]
        parts = [part for value in given for one in (value, self.evaluator.resolve(value)) for part in walk(one)]
        return self.stability.any_unstable(part for part in parts if isinstance(part, Call))

    def _is_fresh(self, value: Value) -> bool:
        """Whether a value is, or holds the key of, a row that this run has made: no other run has that key."""
        for option in options(value):
            while isinstance(option, Updated) or (isinstance(option, Attr) and plain(option.name) == "id"):
                option = option.base
            if isinstance(option, Text) and any(map(self._is_fresh, option.pieces)):
                return True
            if isinstance(option, Call):
                cls = self.evaluator.resolve(option.func)
                if isinstance(cls, ClassRef) and self.fields.is_model(cls):
                    return True
                matched = self.matched(option)
                if matched is not None and matched.entry.win == "no_exception" and matched.run is matched.call:
                    return True
        return False

    def _parts(self, given: Mapping[str, Value], covered: frozenset[str], every: bool) -> tuple[Part, ...]:
        named = {plain(name): self.evaluator.resolve(value) for name, value in sorted(given.items())}
        return tuple((name, value) for name, value in named.items() if every or name in covered)

    def _call_name(self, call: Call) -> str:
        names = sorted(self.evaluator.shapes(call.func))
        if isinstance(call.func, Attr):
            owner = names[0].rpartition("().")[0].rpartition(".")[2] if names else ""
            return f"{owner}.{call.func.name}()" if owner else f"{call.func.name}()"
        return f"{names[0].rpartition('.')[2]}()" if names else "a claim"


def _opening(entry: v.Transaction) -> tuple[str, ...]:
    return (*entry.contexts, *entry.decorators, *entry.statements)


def flaw_of(scope: str) -> Flaw | None:
    """The flaw that a store's scope is."""
    return "process" if scope == "process" else ("host" if scope == "host" else None)


def _assumed(answer: str, name: str, shown: str) -> tuple[str, ...]:
    if answer == "unknown":
        return (f"{shown or 'the key'} is unique in the database table of {name}",)
    if answer == "partly":
        return (f"the partial unique constraint on {shown} of {name} covers these rows",)
    return ()


def _named(parts: tuple[Part, ...]) -> str:
    return ", ".join(as_text(value) for _, value in parts)
