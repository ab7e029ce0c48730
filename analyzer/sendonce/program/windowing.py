"""Keys without a window: recurring mails claimed without their period, claims that end before what repeats the run."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from sendonce.findings import Place
from sendonce.program.durations import Durations, period
from sendonce.program.memory import Memory
from sendonce.program.origins import Origin
from sendonce.program.pathkeys import KeyUse, PathKeys
from sendonce.program.paths import Path
from sendonce.program.persons import Persons, words
from sendonce.program.repeating import Repeating
from sendonce.program.selections import Selections
from sendonce.program.values import FALSE, TRUE, Attr, Const, Item, Param, Value

WEEK = 7 * 86400
MONTH = 31 * 86400
HOUR = 3600
_RECURRING = re.compile(
    r"daily|weekly|monthly|yearly|annual|quarterly|hourly|nightly|every_|digest|newsletter|summary|statement|report"
    r"|round_?up|recap|bulletin|birthday|anniversary",
    re.IGNORECASE,
)
_PERIODS = frozenset(
    """date day week month year period quarter hour today edition issue season cycle term when on at since until start
    end due window slot bucket run""".split()
)


@dataclass(frozen=True, eq=False)
class Short:
    """A claim that ends before the run may be repeated: after how long, until when runs come, and what repeats them."""

    use: KeyUse
    expiry: float
    until: float
    place: Place
    why: str
    assumes: str = ""


class Windows:
    """Answers for paths."""

    def __init__(self, keys: PathKeys, repeating: Repeating, selections: Selections, memory: Memory) -> None:
        self.keys = keys
        self.claims = keys.claims
        self.program = keys.program
        self.repeating = repeating
        self.selections = selections
        self.memory = memory
        self.origins = keys.claims.stability.origins
        self.persons = Persons(keys.evaluator)
        self.durations = Durations(keys.claims, repeating.repeats)

    # ------------------------------------------------------------------ recurring mails

    def without_period(self, path: Path) -> KeyUse | None:
        """The key of a scheduled mail that comes again, without the period that it comes in."""
        if path.trigger.kind != "cron" or path.mail.guard is None or path.mail.guard.passing:
            return None
        use = next(self.keys.uses(path), None)
        if use is None or not use.values or self._ends_in_time(path, use):
            return None
        parts = [one for value in (*use.values, *self.keys.outward(path, use)) for one in self.origins.of(value)]
        if any(one.entry is not None or self._names_period(one.value) for one in parts):
            return None
        told = [one for one in parts if not isinstance(one.value, Const)]
        return use if not told or self._recurs(path, use, told) else None

    def _ends_in_time(self, path: Path, use: KeyUse) -> bool:
        """Whether a claim is forgotten before the next run that should mail, or nobody can tell."""
        if use.claim is None:
            return True
        expiry = self.durations.expiry(use.claim)
        if expiry is None:
            return True
        return not math.isinf(expiry) and expiry <= (period(path.trigger.detail) or MONTH) * 1.05

    def _names_period(self, value: Value) -> bool:
        """Whether a value is called a date, a week or the like."""
        match value:
            case Attr(name=name) | Param(name=name) | Item(index=Const(value=str() as name)):
                return not _PERIODS.isdisjoint(words(name))
            case _:
                return False

    def _recurs(self, path: Path, use: KeyUse, told: list[Origin]) -> bool:
        """Whether a mail goes to an audience again and again: its name says so, or a schedule of weeks or months."""
        if not self._is_audience(path):
            return False
        if any(_RECURRING.search(text) for text in self._names(path, use)):
            return True
        rare = (period(path.trigger.detail) or 0) >= WEEK
        return rare and all(self.persons.tells_person(one.value) for one in told)

    def _names(self, path: Path, use: KeyUse) -> Iterator[str]:
        template = path.mail.template
        yield template.value or "" if template is not None else ""
        yield path.trigger.function.rpartition(".")[2]
        yield path.trigger.detail
        yield from (self.program.function(site.function).name for site in path.sites())
        for value in use.values:
            yield from (str(one.value.value) for one in self.origins.of(value) if isinstance(one.value, Const))

    def _is_audience(self, path: Path) -> bool:
        """Whether the rows that are mailed are chosen by nothing that the mail, or time, uses up."""
        selection = self.selections.on(path)
        if selection is None:
            return True
        if self.selections.consumed(path, selection).marks:
            return False
        return all(test.how in ("exact", "in") and not test.op and _lasts(test.value) for test in selection.tests)

    # ------------------------------------------------------------------ claims that end too soon

    def ends_early(self, path: Path) -> Short | None:
        """The claim of a mail that ends before the run which it is in is repeated for the last time."""
        if path.mail.guard is None or path.mail.guard.passing or path.trigger.kind == "cron":
            return None
        lasting = [(use, self.durations.expiry(use.claim)) for use in self.keys.uses(path) if use.claim is not None]
        if not lasting or any(True for _ in self.memory.guards(path)):
            return None
        return self._of_jobs(path, lasting) or self._of_webhook(path, lasting)

    def _of_jobs(self, path: Path, lasting: list[tuple[KeyUse, float | None]]) -> Short | None:
        """What is won once before the job starts keeps none of its repetitions back."""
        for one in self.repeating.every(path):
            inside = [(use, expiry) for use, expiry in lasting if any(site is use.site for site in one.run.sites)]
            found = _longest(inside) if one.job is not None else None
            until = self.durations.repetitions(one.job) if found is not None and one.job is not None else None
            if found is not None and until is not None and until > found[1]:
                return Short(*found, until, one.repetition.place, one.repetition.note)
        return None

    def _of_webhook(self, path: Path, lasting: list[tuple[KeyUse, float | None]]) -> Short | None:
        """A sender repeats an event for hours or days; only what is claimed in the handler's own run counts."""
        found = _longest(lasting)
        if path.trigger.kind != "webhook" or found is None or found[1] > HOUR:
            return None
        use, expiry = found
        if any(crossing.hop != "call" for crossing in list(path.crossings())[: use.number]):
            return None
        why = "the sender delivers an event again until it is answered"
        return Short(use, expiry, math.inf, path.trigger.place, why, "the sender delivers again for hours")


def _longest(lasting: list[tuple[KeyUse, float | None]]) -> tuple[KeyUse, float] | None:
    """The claim that stands longest, if all of them end and it is known when."""
    known = [(use, one) for use, one in lasting if one is not None and not math.isinf(one)]
    return max(known, key=lambda one: one[1]) if known and len(known) == len(lasting) else None


def _lasts(value: Value) -> bool:
    """Whether a value that rows are chosen by is no state that passes: not false, nothing of the clock."""
    return value is TRUE or (isinstance(value, Const) and value is not FALSE and value.value is not None)
