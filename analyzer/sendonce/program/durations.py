"""How long things last: the expiry of a claim, the time until a job's last repetition, the period of a schedule."""

from __future__ import annotations

import math
import re

from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program.claims import Claims
from sendonce.program.repeats import Known, Repeats, counts
from sendonce.program.reservations import Reservation
from sendonce.program.runs import JobRun
from sendonce.program.values import NONE, TRUE, Attr, Call, Const, Op, Seq, Value

_UNITS = {"weeks": 604800.0, "days": 86400.0, "hours": 3600.0, "minutes": 60.0, "seconds": 1.0, "milliseconds": 0.001}
_ORDER = ("days", "seconds", "microseconds", "milliseconds", "minutes", "hours", "weeks")
_CALLS = ("int", "float", "round", "total_seconds", "abs", "ceil", "floor")

Option = dict[str, v.Scalar]


class Durations:
    """Answers for claims and jobs, in seconds; None where it cannot be told, infinity for what does not end."""

    def __init__(self, claims: Claims, repeats: Repeats) -> None:
        self.claims = claims
        self.evaluator = claims.evaluator
        self.repeats = repeats

    # ------------------------------------------------------------------ claims

    def expiry(self, claim: Reservation) -> float | None:
        """How long a claim stands."""
        matched = self.claims.reservations.matched(claim.call) if claim.call is not None else None
        if matched is None or not (matched.entry.expiry or matched.entry.expires):
            return math.inf
        entry = matched.entry
        for name in entry.expiry:
            given = arguments.argument(self.evaluator, matched.call, name)
            if given is not None and name in entry.moments:
                return None
            if given is not None:
                found = self.seconds(given)
                return found / 1000 if found is not None and name in entry.milliseconds else found
        return self._by_default(entry)

    def _by_default(self, entry: v.Claim) -> float | None:
        if not entry.expires:
            return math.inf
        told = entry.scope == "cache" and bool(self.evaluator.program.index.files_with("TIMEOUT"))
        return None if told else float(entry.expires)

    # ------------------------------------------------------------------ jobs

    def repetitions(self, job: JobRun) -> float | None:
        """The seconds from a job's first run to its last repetition."""
        asked = self._asked(job)
        if asked is not None:
            return asked
        for known in self.repeats.entries(job):
            if known.entry.waits or known.entry.doubles:
                return self._total(known)
        entry = job.crossing.enqueue if job.crossing is not None else None
        if entry is None or not entry.waits or job.crossing is None:
            return None
        count = self._count(entry.limit, job.crossing.site.call, None)
        return None if count is None else self._fixed(entry.waits, job.crossing.site.call, None, count)

    def _asked(self, job: JobRun) -> float | None:
        """The same for a job that asks for its own repetition after a time that it names."""
        again = self.repeats.escapes.again()
        for known in self.repeats.entries(job):
            for site in job.run.sites if known.entry.later else ():
                flow = self.repeats.flows.of(self.repeats.program.function(site.function))
                for asked in flow.sites:
                    given = arguments.first_argument(self.evaluator, asked.call, known.entry.later)
                    if given is not None and again & self.evaluator.shapes(asked.call.func) and not counts(asked):
                        wait = self.seconds(given)
                        own = self._count({"max_retries": None}, asked.call, None)
                        count = own or self._count(known.entry.limit, known.options, known.decorated)
                        return None if wait is None or count is None else wait * count
        return None

    def _total(self, known: Known) -> float | None:
        entry = known.entry
        count = self._count(entry.limit, known.options, known.decorated)
        if count is None:
            return None
        first = self._first(entry.doubles, known)
        if first is None:
            return self._fixed(entry.waits, known.options, known.decorated, count)
        longest = self._given(entry.longest, known.options, known.decorated)
        top = math.inf if longest is None else self.seconds(longest)
        unit = 0.001 if entry.milliseconds else 1.0
        if top is None or not first:
            return None
        return sum(min(first * 2.0**number, top) * unit for number in range(int(min(count, 50))))

    def _first(self, doubles: Option, known: Known) -> float | None:
        """The first of waits that double; None where they do not, 0 where it cannot be told."""
        given = self._given(doubles, known.options, known.decorated)
        if given is None or self.evaluator.constant(given) in (Const(False), Const(0), NONE):
            return None
        if self.evaluator.resolve(given) is TRUE:
            return 1.0
        return self.seconds(given) or 0.0

    def _fixed(self, waits: Option, options: Call, decorated: Call | None, count: float) -> float | None:
        given = self._given(waits, options, decorated)
        found = self.evaluator.resolve(given) if given is not None else None
        if isinstance(found, Seq) and found.items and found.kind != "each":
            each = [self.seconds(item) for item in found.items]
            known = [one for one in each if one is not None]
            last = known[-1] if known else 0.0
            rest = max(0.0, count - len(known))
            return sum(known[: int(min(count, 50))]) + last * rest if len(known) == len(each) else None
        wait = None if found is None else self.seconds(found)
        return None if wait is None else wait * count

    def _count(self, limit: Option, options: Call, decorated: Call | None) -> float | None:
        """How many repetitions there are at most."""
        given = self._given(limit, options, decorated)
        if given is None:
            return None
        found = self.evaluator.resolve(given)
        if found is NONE or found is Const("None"):
            return math.inf
        return self.seconds(found)

    def _given(self, options: Option, described: Call, decorated: Call | None) -> Value | None:
        """The value of the first of some options that is given, else the first default."""
        for name in options:
            given = self.repeats.option(described, decorated, name)
            if given is not None:
                return given
        return next((Const(default) for default in options.values() if default is not None), None)

    # ------------------------------------------------------------------ numbers

    def seconds(self, value: Value) -> float | None:
        """A number, a product or sum of numbers, a `timedelta`; None is no end."""
        found = self.evaluator.resolve(value)
        match found:
            case Const(value=None):
                return math.inf
            case Const(value=bool()):
                return None
            case Const(value=int() | float() as number):
                return float(number)
            case Op(op="*" | "+" | "-" | "/" | "//" as op, operands=(left, right)):
                return _calculated(op, self.seconds(left), self.seconds(right))
            case Call(func=func, args=args) if _name(func) in _CALLS:
                return self.seconds(args[0] if args else func.base if isinstance(func, Attr) else NONE)
            case Call(func=func) if "datetime.timedelta" in self.evaluator.shapes(func):
                return self._delta(found)
            case _:
                return None

    def _delta(self, call: Call) -> float | None:
        total = 0.0
        for index, (name, arg) in enumerate(zip(call.names, call.args, strict=True)):
            unit = _UNITS.get(name or (_ORDER[index] if index < len(_ORDER) else ""))
            number = self.seconds(arg)
            if unit is None or number is None:
                return None
            total += unit * number
        return total


def _name(func: Value) -> str:
    dotted = getattr(func, "dotted", "")
    return func.name if isinstance(func, Attr) else str(dotted).rpartition(".")[2]


def _calculated(op: str, left: float | None, right: float | None) -> float | None:
    if left is None or right is None:
        return None
    if op in ("/", "//"):
        return left / right if right else None
    return {"*": left * right, "+": left + right, "-": left - right}[op]


_MONTH = re.compile(r"day_of_month|month|\bday=|@monthly|\b\d+ \d+ \d+ \* \*")
_WEEK = re.compile(r"day_of_week|week|\b(?:mon|tue|wed|thu|fri|sat|sun)\b|@weekly|\d+ \d+ \* \* [\w,-]+")
_DAY = re.compile(r"\bhour|daily|day|@daily|\d+ \d+ \* \* \*")


def period(detail: str) -> float | None:
    """The seconds between two runs of a schedule as it is written, roughly; None where that does not tell."""
    text = detail.lower()
    for pattern, seconds in ((_MONTH, 28 * 86400.0), (_WEEK, 7 * 86400.0), (_DAY, 86400.0)):
        if pattern.search(text):
            return seconds
    return None
