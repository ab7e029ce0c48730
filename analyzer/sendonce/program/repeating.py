"""Everything that makes a part of a path again after an error, and the loops of sends inside that part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sendonce import facts
from sendonce.findings import Place
from sendonce.program import held as h
from sendonce.program.escapes import Escapes
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.link import Linker
from sendonce.program.paths import Path
from sendonce.program.redelivery import Redelivery
from sendonce.program.repeats import Repeats, Repetition
from sendonce.program.retries import Retries
from sendonce.program.runs import JobRun, Run, job_runs
from sendonce.program.selections import Selections


@dataclass(frozen=True, eq=False)
class Batch:
    """A loop of sends: the call in the loop that leads to the mail."""

    site: Site
    loop: h.Loop


@dataclass(frozen=True, eq=False)
class Repeated:
    """A repetition of a part of a path; `job` is the job that it repeats, None for any other code."""

    path: Path
    repetition: Repetition
    run: Run
    job: JobRun | None = None
    batch: Batch | None = None


class Repeating:
    """Answers for paths, each once."""

    def __init__(self, evaluator: Evaluator, flows: Flows, linker: Linker, selections: Selections) -> None:
        self.program = evaluator.program
        self.selections = selections
        self.escapes = Escapes(evaluator, flows, linker)
        self.repeats = Repeats(evaluator, flows, linker, self.escapes)
        self.retries = Retries(evaluator, flows, linker, self.escapes)
        self.redelivery = Redelivery(evaluator, self.repeats)
        self._known: dict[Path, tuple[Repeated, ...]] = {}

    def of(self, path: Path) -> tuple[Repeated, ...]:
        """The repetitions of parts of a path in which no claim keeps the second send back."""
        if path not in self._known:
            self._known[path] = tuple(self._found(path))
        return self._known[path]

    def every(self, path: Path) -> Iterator[Repeated]:
        """The repetitions of parts of a path, those too in which a claim keeps the second send back."""
        return self._found(path, guarded=True)

    def _found(self, path: Path, guarded: bool = False) -> Iterator[Repeated]:
        for job in job_runs(path):
            if guarded or not job.run.guarded:
                for repetition in self.repeats.of_job(job):
                    yield Repeated(path, repetition, job.run, job, self._batch(path, job.run))
                    break
        for repetition, run in self.retries.around(path):
            if guarded or not run.guarded:
                yield Repeated(path, repetition, run, None, self._batch(path, run))

    def redelivered(self, path: Path, by_default: bool = False) -> Iterator[Repeated]:
        """What has the sending job of a path run again after its worker was lost, or before its run has ended."""
        for job in job_runs(path):
            if job.run.send is not None and not job.run.guarded:
                found = self.redelivery.by_default(job) if by_default else self.redelivery.asked_for(job)
                for repetition in found:
                    yield Repeated(path, repetition, job.run, job, self._batch(path, job.run))

    def _batch(self, path: Path, run: Run) -> Batch | None:
        """The loop of sends in a run whose repetition begins with the first of them again."""
        batch = self.batch(run)
        return None if batch is None or self._goes_on(path, batch) else batch

    def _goes_on(self, path: Path, batch: Batch) -> bool:
        """Whether each item leaves the selection before the next one's turn: then a repetition finds what is left."""
        selection = self.selections.on(path)
        if selection is None:
            return False
        consumed = self.selections.consumed(path, selection)
        return consumed.always and all(self._is_in_turn(mark.at, batch) for mark in consumed.marks)

    def _is_in_turn(self, mark: Place, batch: Batch) -> bool:
        """Whether a mark is set inside the loop: in its lines, or in a function that is called there."""
        node = self.program.function(batch.site.function).node
        here = isinstance(node, facts.ModuleFacts) or node.at[0] <= mark.line <= node.at[2]
        if mark.path != batch.site.path or not here:
            return True
        return batch.loop.at[0] <= mark.line <= batch.loop.at[2]

    def batch(self, run: Run) -> Batch | None:
        """The innermost loop of sends inside a run: over things, not over attempts."""
        if run.send is None:
            return None
        for number in range(len(run.sites) - 1, -1, -1):
            site = run.sites[number]
            for fact in h.newest_first(site.held):
                if fact is run.loop and number == 0:
                    break
                if isinstance(fact, h.Loop) and self.escapes.is_batch(fact, site):
                    return Batch(site, fact)
        return None
