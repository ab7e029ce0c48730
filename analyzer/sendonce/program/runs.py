"""Runs: the part of a path that one execution of a job, or of a repeated function or loop, makes by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from sendonce.program import held as h
from sendonce.program.held import Site
from sendonce.program.link import Crossing
from sendonce.program.mail import Guard, ProviderSend
from sendonce.program.paths import Path
from sendonce.program.ways import Entry

_ELSEWHERE = ("enqueue", "thread", "schedule")
"""Hops behind which an error does not come back to the caller."""


@dataclass(frozen=True, eq=False)
class Run:
    """Calls of a path, outermost first, up to the provider's call or the one by which the mail leaves the run.

    `send` is None where it leaves: another job or thread sends. `loop` is the loop of attempts in the
    first call's function, where that alone is repeated; `guarded` tells that a claim inside keeps a
    repetition from sending.
    """

    sites: tuple[Site, ...]
    send: ProviderSend | None
    guarded: bool
    loop: h.Loop | None = None
    request: bool = False
    """Only the provider's request is made again, as it was."""


@dataclass(frozen=True, eq=False)
class JobRun:
    """The run of a job on a path: its function, and the crossing that enqueues it, if a known one does.

    `inner` are the functions that it leads to by plain calls: where a decorator of the project wraps the job,
    the function with the queue's own decorator is one of them.
    """

    job: str
    crossing: Crossing | None
    run: Run
    inner: tuple[str, ...] = ()


def job_runs(path: Path) -> Iterator[JobRun]:
    """The jobs that run on a path, outermost first."""
    crossings = list(path.crossings())
    if path.trigger.kind in ("job", "cron"):
        yield JobRun(path.start.function, None, run_from(path, 0), _called(crossings))
    for number, crossing in enumerate(crossings):
        if crossing.hop == "enqueue" and crossing.callee:
            yield JobRun(crossing.callee, crossing, run_from(path, number + 1), _called(crossings[number + 1 :]))


def _called(crossings: list[Crossing]) -> tuple[str, ...]:
    """The functions that a chain of crossings leads to while it only calls."""
    called = takewhile(lambda one: one.hop == "call" and bool(one.callee), crossings)
    return tuple(one.callee for one in called)


def run_from(path: Path, first: int, loop: h.Loop | None = None) -> Run:
    """The run that begins with one of the calls of a path, or with the body of a loop around it."""
    crossings = list(path.crossings())
    sites = list(path.sites())
    last = next((n for n, one in enumerate(crossings) if n >= first and one.hop in _ELSEWHERE), len(sites) - 1)
    inside = tuple(sites[first : last + 1])
    send = path.mail.provider if last + 1 == len(sites) else None
    return Run(inside, send, _is_guarded(path, first, inside, loop), loop)


def call_run(path: Path, request: bool = False) -> Run:
    """The provider's call alone, as a client repeats it: only a key that the provider honours keeps that apart."""
    site = path.mail.provider.site
    guards = [entry.mail.guard for entry, _ in _entries(path) if entry.next is None]
    keyed = any(one is not None and one.function == site.function and _spans(site, one.line) for one in guards)
    return Run((site,), path.mail.provider, keyed, request=request)


def _spans(site: Site, line: int) -> bool:
    return site.at[0] <= line <= site.at[2]


def _is_guarded(path: Path, first: int, inside: tuple[Site, ...], loop: h.Loop | None) -> bool:
    """Whether the claim of a path is made inside a run, so that its repetition loses it."""
    functions = {site.function for site in inside[1:] if loop is None or site.function != inside[0].function}
    if not _is_kept(path, first):
        return False
    for entry, number in _entries(path):
        guard = entry.mail.guard if entry is not path.entry else path.mail.guard
        if guard is not None and not guard.passing:
            within = number > first or (number == first and loop is None)
            if within or guard.function in functions or _stands_in(guard, inside[0], loop):
                return True
    return False


def _is_kept(path: Path, first: int) -> bool:
    """Whether a claim further in still is one where the run begins: with the key that it is given there."""
    known = [
        entry.mail if entry is not path.entry else path.mail for entry, number in _entries(path) if number <= first
    ]
    return not known or known[-1].guard is not None


def _stands_in(guard: Guard, site: Site, loop: h.Loop | None) -> bool:
    """Whether a claim stands in the function of a run's first call, and in the loop that is repeated."""
    if guard.function != site.function:
        return False
    return loop is None or loop.at[0] <= guard.line <= loop.at[2]


def _entries(path: Path) -> Iterator[tuple[Entry, int]]:
    """The entries of a path with the number of the first call that each makes, outermost first."""
    number = len(path.start.crossings[:-1])
    entry: Entry | None = path.entry
    while entry is not None:
        yield entry, number
        if entry.edge is not None:
            number += len(entry.edge.crossings)
        entry = entry.next
