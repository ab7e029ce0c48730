"""Which entry of a pack a call fits: a claim that it makes, or runs, or only looks like."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program.byname import ByName
from sendonce.program.conditions import Conditions
from sendonce.program.evaluate import Evaluator
from sendonce.program.fields import Fields, text_of
from sendonce.program.values import Attr, Call, External, Value, options


@dataclass(frozen=True)
class Matched:
    """A call that an entry describes: `call` is the one described, `run` the one that is made."""

    entry: v.Claim
    pack: str
    call: Call
    run: Call
    sure: bool = True


class Matching:
    """Answers for calls, memoised."""

    def __init__(self, evaluator: Evaluator, fields: Fields, conditions: Conditions) -> None:
        self.evaluator = evaluator
        self.packs = evaluator.packs
        self.fields = fields
        self.conditions = conditions
        self._matched: dict[Call, Matched | None] = {}
        self._names = ByName(evaluator, evaluator.packs.claims)
        self._runners = frozenset(run.rpartition(".")[2] for run in self.packs.claim_runs)

    def matched(self, call: Call) -> Matched | None:
        """The claim that making this call is, if it is one; whether it can be won once is another question."""
        if call not in self._matched:
            self._matched[call] = None
            self._matched[call] = self._match(call)
        return self._matched[call]

    def _match(self, call: Call) -> Matched | None:
        runs = self._runs(call)
        for statement in self._statements(call) if runs else ():
            found = self._entry(statement)
            if isinstance(found, v.LookAlike):
                return None
            if found is not None and any(found is entry for entry in runs):
                return Matched(found, "", statement, call)
        found = self._entry(call)
        if isinstance(found, v.Claim) and not found.runs:
            return Matched(found, "", call, call)
        return None if found is not None else self._by_its_name(call)

    def _runs(self, call: Call) -> tuple[v.Claim, ...]:
        """The statements that a call can run."""
        found: tuple[tuple[object, v.Claim], ...] = self.evaluator.lookup(self.packs.claim_runs, call.func)
        return tuple(entry for _, entry in found)

    def _statements(self, call: Call) -> Iterator[Call]:
        """The calls that built the statements among the arguments, outermost first."""
        for arg in call.args[:2]:
            yield from self.fields.chain(arg)
        if isinstance(call.func, Attr):  # `Model.update(…).where(…).execute()`
            yield from self.fields.chain(call.func.base)

    def _entry(self, call: Call) -> v.Claim | v.LookAlike | None:
        """The entry that fits a call with the most conditions; a look-alike wins over a claim that says no more."""
        claims: tuple[tuple[object, v.Claim], ...] = self.evaluator.lookup(self.packs.claims, call.func)
        alike: tuple[tuple[object, v.LookAlike], ...] = self.evaluator.lookup(self.packs.look_alikes, call.func)
        entries: list[v.Claim | v.LookAlike] = [entry for _, entry in claims]
        entries.extend(entry for _, entry in alike)
        best: v.Claim | v.LookAlike | None = None
        most = -1
        for entry in entries:
            count = len(entry.when) + len(entry.matches)
            more = count > most or (count == most and isinstance(entry, v.LookAlike) and count > 0)
            if more and self._fits(entry, call):
                best, most = entry, count
        return best

    def _fits(self, entry: v.Claim | v.LookAlike, call: Call) -> bool:
        return all(self._meets(call, name, wanted) for name, wanted in entry.when.items()) and all(
            self._reads(call, name, pattern) for name, pattern in entry.matches.items()
        )

    def _meets(self, call: Call, name: str, wanted: v.Scalar) -> bool:
        given = arguments.argument(self.evaluator, call, name)
        if wanted == "?":
            return given is None or self._is_off(given)
        if given is None:
            return False
        constant = self.evaluator.constant(given)
        if wanted == "*":
            return constant is None or constant.value not in (None, False)
        return constant is not None and constant.value == wanted

    def _is_off(self, given: Value) -> bool:
        constant = self.evaluator.constant(given)
        return constant is not None and not constant.value

    def _reads(self, call: Call, name: str, pattern: str) -> bool:
        given = arguments.argument(self.evaluator, call, name)
        text = None if given is None else text_of(self.evaluator, given)
        return text is not None and _compiled(pattern).search(text) is not None

    def _by_its_name(self, call: Call) -> Matched | None:
        """A method of an object of which nothing is known, where name and arguments tell enough."""
        if not isinstance(call.func, Attr) or self._is_known(call.func):
            return None
        if call.func.name in self._runners:
            for statement in self._statements(call):
                found = self._entry(statement)
                if isinstance(found, v.LookAlike):
                    return None
                if found is not None and found.runs:
                    return Matched(found, "", statement, call, False)
        for entry in self._names.having(call.func):
            telling = bool(entry.matches) or any(wanted != "?" for wanted in entry.when.values())
            telling = telling or self._names.tells(entry, call.func)
            if entry.condition and not entry.matches:
                telling = self.conditions.has_filter(call)
            if telling and not entry.runs and self._fits(entry, call):
                return Matched(entry, "", call, call, False)
        return None

    def _is_known(self, func: Attr) -> bool:
        """Whether the object is of a known class, or the method resolves to something of the tree."""
        found = self.evaluator.resolve(func)
        if any(not isinstance(option, Attr | External) for option in options(found)):
            return True
        return bool(self.evaluator.types(func.base))


def _compiled(pattern: str) -> re.Pattern[str]:
    found = _PATTERNS.get(pattern)
    if found is None:
        found = _PATTERNS[pattern] = re.compile(pattern)
    return found


_PATTERNS: dict[str, re.Pattern[str]] = {}
