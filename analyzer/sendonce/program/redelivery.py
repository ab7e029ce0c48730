"""What gives a job to a second worker after the first may have mailed: late acknowledgement, leases that end early."""

from __future__ import annotations

from collections.abc import Iterator

from sendonce import vocabulary as v
from sendonce.findings import Place
from sendonce.program.evaluate import Evaluator
from sendonce.program.queuesettings import Given
from sendonce.program.repeats import Known, Repeats, Repetition
from sendonce.program.runs import JobRun

_LATE = "the job is acknowledged only after it has run: when its worker is lost, another one runs it again"
_DEFAULT = "the queue runs a job again whose worker was lost"


class Redelivery:
    """Answers for jobs."""

    def __init__(self, evaluator: Evaluator, repeats: Repeats) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.repeats = repeats
        self.settings = repeats.settings

    def asked_for(self, job: JobRun) -> Iterator[Repetition]:
        """The options and settings that have a job delivered again."""
        known = self.repeats.entries(job)
        for one in known:
            option = self._option(one)
            if option:
                yield Repetition(one.place, f"{option}: {_LATE}")
            elif option is None:
                yield from self._by_settings(self._pack(one.entry))
        if not known:
            yield from self._by_settings(self.repeats.pack_of(job))

    def by_default(self, job: JobRun) -> Iterator[Repetition]:
        """What a queue does by itself when a worker is lost."""
        for one in self.repeats.entries(job):
            if one.entry.redelivers_by_default:
                yield Repetition(one.place, _DEFAULT)

    def _option(self, known: Known) -> str | None:
        """The option that acknowledges late, in words; empty where one says the contrary, None where none does."""
        for name in known.entry.redelivers:
            given = self.repeats.option(known.options, known.decorated, name)
            constant = None if given is None else self.evaluator.constant(given)
            if constant is not None:
                return name if constant.value else ""
        return None

    def _by_settings(self, pack: v.Pack | None) -> Iterator[Repetition]:
        if pack is None:
            return
        late = [one for one in self.settings.given(pack, "redelivers") if one.value is True]
        acknowledges_late = late or not any(entry.effect == "redelivers" for entry in pack.setting)
        short = self._short_lease(pack) if acknowledges_late else None
        if short is not None:
            lease, limit = short
            note = (
                f"a run may take {limit.value} s, and after {lease[0]} s without an acknowledgement another worker "
                f"runs the job again"
            )
            yield Repetition(lease[1] or limit.place, note)
        elif late:
            yield Repetition(late[0].place, f"a setting of {pack.name}: {_LATE}")

    def _short_lease(self, pack: v.Pack) -> tuple[tuple[int, Place | None], Given] | None:
        """A lease that ends before the run's own limit, and that limit."""
        limits = [one for one in self.settings.given(pack, "run_time") if _is_number(one.value)]
        leases: list[tuple[int, Place | None]]
        leases = [
            (int(one.value or 0), one.place) for one in self.settings.given(pack, "lease") if _is_number(one.value)
        ]
        if not leases and not any(entry.effect == "redelivers" for entry in pack.setting):
            defaults = [entry.default for entry in pack.setting if entry.effect == "lease"]
            leases = [(int(one), None) for one in defaults if isinstance(one, int)]
        for limit in limits:
            for lease in leases:
                if lease[0] < int(limit.value or 0):
                    return lease, limit
        return None

    def _pack(self, entry: v.Job) -> v.Pack | None:
        for pack in self.packs.packs:
            if any(one is entry for one in pack.job):
                return pack
        return None


def _is_number(value: v.Scalar) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
