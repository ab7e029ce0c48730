"""Paths from triggers to sends: what the checks read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from sendonce.findings import Confidence, Place, Step, Trigger, weakest
from sendonce.program.held import Site
from sendonce.program.link import Crossing
from sendonce.program.mail import Mail, Transaction
from sendonce.program.program import Program
from sendonce.program.starts import Start
from sendonce.program.values import Param, Value, substitute
from sendonce.program.ways import Entry


@dataclass(frozen=True, eq=False)
class Path:
    """One way from a trigger to a send. `mail` is what is known of the mail at the trigger."""

    start: Start
    mail: Mail
    entry: Entry
    of_new_row: bool = False
    """It starts in a callback and is gone only for a row that is new: once a row."""

    of_change: bool = False
    """It starts in a callback and is gone only where a field has changed."""

    to_staff: bool = False
    """It goes to addresses of the site's own staff."""

    @property
    def internal(self) -> bool:
        """Whether the mail goes to the site's own staff."""
        return self.to_staff or self.mail.provider.internal

    @property
    def trigger(self) -> Trigger:
        return self.start.trigger

    @property
    def length(self) -> int:
        return self.entry.length + len(self.start.crossings)

    @property
    def send(self) -> Site:
        return self.mail.send or self.mail.provider.site

    def crossings(self) -> tuple[Crossing, ...]:
        """All crossings from the trigger to the provider call, outermost first; wrappers of the handler included."""
        return self._crossings

    def entries(self) -> Iterator[Entry]:
        """The entries on the way, outermost first."""
        entry: Entry | None = self.entry
        while entry is not None:
            yield entry
            entry = entry.next

    def sites(self) -> tuple[Site, ...]:
        """The call sites on the way, outermost first, the provider call last."""
        return self._sites

    def outward(self, index: int, value: Value) -> Value:
        """A value in the function of one of the sites, in terms of the first site's function."""
        for crossing in reversed(self.crossings()[:index] if value.free else ()):
            value = substitute(value, crossing.binding)
        return value

    def known(self) -> Iterator[tuple[Site, Mapping[Param, Value]]]:
        """Each call site with what the parameters of its function are, in terms of the first site's function.

        For many values of a path this takes less than `outward` for each. The mapping changes with the next step.
        """
        found: dict[Param, Value] = {}
        for crossing in self.crossings():
            yield crossing.site, found
            memo: dict[Value, Value] = {}
            found.update([(param, substitute(value, found, memo)) for param, value in crossing.binding.items()])
        yield self.mail.provider.site, found

    def functions(self) -> tuple[str, ...]:
        """The ids of the functions on the way, the trigger's first."""
        return self._functions

    @cached_property
    def _crossings(self) -> tuple[Crossing, ...]:
        found = [*reversed(self.start.crossings[:-1])]
        for entry in self.entries():
            if entry.edge is not None:
                found.extend(reversed(entry.edge.crossings))
        return tuple(found)

    @cached_property
    def _sites(self) -> tuple[Site, ...]:
        return (*(crossing.site for crossing in self._crossings), self.mail.provider.site)

    @cached_property
    def _functions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(site.function for site in self._sites))

    @property
    def confidence(self) -> Confidence:
        found = self.mail.confidence
        if self.mail.template is not None:
            return weakest(found, "medium" if self.mail.template.confidence == "low" else "high")
        return found


def place_of(site: Site) -> Place:
    """The stretch of source of a call."""
    return Place(site.path, *site.at)


def trace(path: Path, program: Program) -> tuple[Step, ...]:
    """The path as steps: the trigger, each hop, transaction and reservation on the way, the send."""
    trigger = path.trigger
    steps = [Step("trigger", trigger.place, trigger.function, " ".join(filter(None, (trigger.kind, trigger.detail))))]
    guard = path.mail.guard
    opened = [one.transaction for one in path.mail.exposed]
    for crossing in path.crossings():
        site = crossing.site
        function = program.function(site.function).dotted
        steps.extend(_opened(opened, site))
        if guard is not None and guard.function == site.function:
            steps.append(Step("reservation", Place(guard.path, guard.line), guard.function, guard.note))
            guard = None
        steps.append(Step(crossing.hop, place_of(site), function))
    provider = path.mail.provider
    site = provider.site
    function = program.function(site.function).dotted
    steps.extend(_opened(opened, site))
    if guard is not None and guard.function == site.function:
        steps.append(Step("reservation", Place(guard.path, guard.line), guard.function, guard.note))
    steps.append(Step("send", place_of(site), function, provider.api))
    return tuple(steps)


def _opened(transactions: list[Transaction], site: Site) -> Iterator[Step]:
    """The transactions of a site as steps; each is told once, where the path first passes its site."""
    for one in [one for one in transactions if one.site is site]:
        transactions.remove(one)
        yield Step("transaction", Place(one.path, one.line), one.function, one.note)
