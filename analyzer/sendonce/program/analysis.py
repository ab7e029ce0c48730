"""The analysis of a tree: provider sends, the paths that lead to them, and the inventory of both."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from sendonce.config import Settings
from sendonce.discovery import Sources
from sendonce.findings import (
    Inventory,
    Problem,
    Related,
    Stats,
    Trigger,
)
from sendonce.index import WordIndex
from sendonce.packs import Packs
from sendonce.program.acks import Acks
from sendonce.program.approvals import Approvals
from sendonce.program.awaits import Awaits
from sendonce.program.callers import Callers
from sendonce.program.changes import Changes, is_of_new_row
from sendonce.program.claims import Claims
from sendonce.program.durable import Durable
from sendonce.program.evaluate import Evaluator
from sendonce.program.files import Files
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.holding import Holding
from sendonce.program.idempotency import Idempotency
from sendonce.program.inventory import inventory
from sendonce.program.link import Linker
from sendonce.program.loglines import LogLines
from sendonce.program.mail import Guard, Mail
from sendonce.program.memory import Memory
from sendonce.program.paths import Path
from sendonce.program.processes import Processes
from sendonce.program.program import Program
from sendonce.program.proofs import Proofs
from sendonce.program.providers import Providers
from sendonce.program.records import Records
from sendonce.program.repeating import Repeating
from sendonce.program.replays import Replays
from sendonce.program.schedulers import Schedulers
from sendonce.program.selections import Selections
from sendonce.program.starts import Start, Starts
from sendonce.program.summaries import Summaries
from sendonce.program.symbols import Function
from sendonce.program.templates import Templates
from sendonce.program.transactions import Transactions
from sendonce.program.values import Attr, walk
from sendonce.program.ways import Entry

DEEPEST = 4000
"""Frames that one question may take."""


@dataclass
class Analysis:
    """All that the checks may read. `paths` are sorted by send, trigger and length."""

    program: Program
    evaluator: Evaluator
    flows: Flows
    linker: Linker
    callers: Callers
    new_rows: Changes
    summaries: Summaries
    transactions: Transactions
    claims: Claims
    memory: Memory
    selections: Selections
    records: Records
    starts: Starts
    repeating: Repeating
    awaits: Awaits
    acks: Acks
    schedulers: Schedulers
    approvals: Approvals
    idempotency: Idempotency
    holding: Holding
    replays: Replays
    log_lines: LogLines
    proofs: Proofs
    settings: Settings
    paths: tuple[Path, ...] = ()
    inventory: Inventory = field(default_factory=Inventory)
    problems: tuple[Problem, ...] = ()
    stats: Stats = field(default_factory=Stats)
    unresolved: tuple[Related, ...] = ()
    files: Files | None = None

    def keep(self) -> None:
        """Leaves what was read to the next run. Called last: checks may read more files."""
        if self.files is not None:
            self.files.save()

    def exclusive(self, left: Site, right: Site) -> bool:
        """Whether two calls of one function cannot both be made in one run."""
        return self.flows.of(self.program.function(left.function)).exclusive(left.held, right.held)

    def again(self, path: Path) -> Iterator[Path]:
        """Paths that differ from one in a single function: by another call there that leads to the same mail."""
        for other in self.summaries.others(path.entry):
            yield from _from_start(self, path.start, other)


def analyse(sources: Sources, packs: Packs, settings: Settings, whole: bool = False) -> Analysis:
    """Finds every provider send of a tree and every path that leads to one.

    With `whole`, every file is parsed and every function linked beforehand, instead of those that the
    search from the sends asks for: the answer must be the same, and the tests compare the two.
    """
    with _deeply():
        return _analysed(sources, packs, settings, whole)


def linked(sources: Sources, packs: Packs, settings: Settings) -> Analysis:
    """A tree with every application function linked, whether it leads to mail or not; no mail is looked for."""
    files = Files(sources, settings.cache_dir)
    index = WordIndex(sources)
    with _deeply():
        analysis = _prepared(Program(sources, index, packs, files.facts), settings)
        analysis.callers.link_all()
        analysis.callers.link_fired()
    analysis.files = files
    analysis.problems = tuple(sorted({*files.problems, *index.problems}))
    analysis.stats = Stats(files=len(sources.files), lines=index.lines)
    return analysis


@contextmanager
def _deeply() -> Iterator[None]:
    """Code that calls deeply is followed deeply."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _analysed(sources: Sources, packs: Packs, settings: Settings, whole: bool) -> Analysis:
    """The steps of an analysis in their order."""
    files = Files(sources, settings.cache_dir)
    index = WordIndex(sources)
    program = Program(sources, index, packs, files.facts)
    analysis = _prepared(program, settings)
    templates = Templates(analysis.evaluator)
    providers = Providers(analysis.evaluator, analysis.flows, templates, analysis.linker)
    analysis.summaries = Summaries(
        analysis.evaluator, analysis.callers, providers, templates, analysis.transactions, analysis.claims
    )
    if whole:
        analysis.callers.link_all()
    analysis.summaries.run()
    analysis.paths = tuple(sorted(_guarded_by_callers(list(_paths(analysis))), key=_order))
    analysis.records = Records(analysis.memory, analysis.selections, analysis.claims.uniques, analysis.paths)
    analysis.inventory = inventory(program, providers, analysis.summaries.entries.values(), analysis.paths)
    for file in program.unparsed():  # what is no Python is told, although no mail leads through it
        files.check(file)
    analysis.files = files
    analysis.unresolved = tuple(sorted(_unresolved(analysis), key=lambda one: (one.place, one.note)))
    analysis.problems = tuple(sorted({*files.problems, *index.problems}))
    analysis.stats = _stats(analysis, index)
    return analysis


def _unresolved(analysis: Analysis) -> Iterator[Related]:
    """Method calls on unknown objects that may lead to a mail, and where a limit left something out."""
    leading = [analysis.program.function(id) for id in sorted(analysis.summaries.entries)]
    yield from analysis.callers.loose.unresolved(leading)
    for id in analysis.summaries.ways.full:
        analysis.program.cuts.of(analysis.program.function(id), "leads to mail in more ways than are followed")
    yield from analysis.program.cuts.all()


def _prepared(program: Program, settings: Settings) -> Analysis:
    evaluator = Evaluator(program)
    flows = Flows(evaluator)
    linker = Linker(evaluator, flows)
    callers = Callers(evaluator, flows, linker)
    transactions = Transactions(evaluator, flows, linker)
    claims = Claims(evaluator, flows, linker, transactions)
    memory = Memory(evaluator, flows, linker, claims.outcomes)
    selections = Selections(memory, claims.stability)
    starts = Starts(evaluator, linker, callers.registry, flows)
    awaits = Awaits(program)
    repeating = Repeating(evaluator, flows, linker, selections)
    durable = Durable(evaluator, flows, linker, claims, memory)
    return Analysis(
        program,
        evaluator,
        flows,
        linker,
        callers,
        Changes(evaluator, flows, linker, callers.connections, only_new=True),
        None,  # type: ignore[arg-type]  # made by `analyse`, from all of these
        transactions,
        claims,
        memory,
        selections,
        None,  # type: ignore[arg-type]  # made when the paths are known
        starts,
        repeating,
        awaits,
        Acks(durable, awaits, repeating.escapes),
        Schedulers(Processes(callers, starts, flows), linker, flows),
        Approvals(linker, flows, memory.spots),
        Idempotency(linker, flows, claims, memory),
        Holding(evaluator, flows),
        Replays(evaluator, flows),
        LogLines(evaluator, flows, linker),
        Proofs(program),
        settings,
    )


# ---------------------------------------------------------------------- paths


def _paths(analysis: Analysis) -> Iterator[Path]:
    entries = analysis.summaries.entries
    starts = {id: _starts(analysis, analysis.program.function(id)) for id in sorted(entries)}
    for id, found in (*starts.items(), *_unreached(analysis, starts)):
        for start in found:
            for entry in entries[id]:
                yield from _from_start(analysis, start, entry)


def _unreached(analysis: Analysis, starts: dict[str, list[Start]]) -> Iterator[tuple[str, list[Start]]]:
    """Triggers for functions that only call each other, or themselves: a job that enqueues itself again."""
    called: dict[str, set[str]] = {}
    for id in starts:
        for edge in analysis.callers.into(id):
            if edge.site.function in starts:
                called.setdefault(edge.site.function, set()).add(id)
    reached: set[str] = set()

    def reach(first: list[str]) -> None:
        while first:
            id = first.pop()
            if id not in reached:
                reached.add(id)
                first.extend(called.get(id, ()))

    reach([id for id, found in starts.items() if found])
    inside = {callee for callees in called.values() for callee in callees}
    for id in sorted(inside - reached):
        function = analysis.program.function(id)
        if id not in reached and function.parent is None:
            job = analysis.starts.is_job(function)
            yield id, [analysis.starts.job(function) if job else analysis.starts.unknown(function)]
            reach([id])


def _starts(analysis: Analysis, function: Function) -> list[Start]:
    """The triggers of a function: those of packs, a job that nobody enqueues, else unknown if nobody calls it."""
    found = [*analysis.starts.of(function), *_callbacks(analysis, function)]
    if found:
        return found
    edges = analysis.callers.into(function.id)
    if analysis.starts.is_job(function):
        enqueued = any(crossing.hop == "enqueue" for edge in edges for crossing in edge.crossings)
        return [] if enqueued else [analysis.starts.job(function)]
    called = any(edge.site.function != function.id for edge in edges)
    return [] if called or function.parent is not None else [analysis.starts.unknown(function)]


def _callbacks(analysis: Analysis, function: Function) -> Iterator[Start]:
    """A function attached to a signal of the ORM is a trigger of its own."""
    seen: set[Trigger] = set()
    for connection in analysis.callers.connections.of(function.id):
        entries = [entry for name in connection.names for _, entry in analysis.program.packs.signals.get(name, ())]
        if not any(entry.model_callback for entry in entries):
            continue
        detail = ", ".join(name.rpartition(".")[2] for name in connection.names)
        trigger = analysis.starts.callback(function, detail)
        if trigger not in seen:
            seen.add(trigger)
            edge = next(edge for edge in connection.edges if edge.target == function.id)
            saves = any(entry.saves for entry in entries)
            creates = all(entry.row == "new" for entry in entries)
            inside = all(entry.sends and set(entry.sends) <= set(entry.within) for entry in entries)
            yield Start(
                trigger, function.id, edge.crossings, site=connection.site, saves=saves, creates=creates, inside=inside
            )


def _from_start(analysis: Analysis, start: Start, entry: Entry) -> Iterator[Path]:
    """The paths of one trigger over one entry, if what the framework passes allows it."""
    summaries = analysis.summaries
    for mail in summaries.started(entry.mail, start):
        if mail.guard is None:
            mail = replace(mail, guard=_won_before(analysis, start))
        if mail.transaction is None and not mail.escaped:
            mail = replace(mail, transaction=analysis.transactions.request_at(start, entry, mail))
        path = Path(start, mail, entry, to_staff=_is_to_staff(analysis, mail))
        if start.trigger.kind == "model_callback":
            is_new = is_of_new_row(analysis.new_rows, path)
            changed = not is_new and is_of_new_row(analysis.new_rows.with_changed, path)
            path = replace(path, of_new_row=is_new, of_change=changed)
        yield path


def _is_to_staff(analysis: Analysis, mail: Mail) -> bool:
    """Whether the recipients are taken from what holds the addresses of the site's own staff."""
    staff = {name for pack in analysis.program.packs.packs for name in pack.staff}
    found = walk(mail.recipient) if mail.recipient is not None else ()
    return any(isinstance(one, Attr) and not staff.isdisjoint(analysis.evaluator.shapes(one)) for one in found)


def _won_before(analysis: Analysis, start: Start) -> Guard | None:
    """The reservation that the framework, or a dependency that it calls first, has won before a handler runs."""
    if start.entry is not None and start.entry.reserves:
        place, what = start.trigger.place, start.entry.reserves
        return Guard(place.path, place.line, start.function, what, what, stored=True)
    return analysis.claims.injected(analysis.program.function(start.function))


def _guarded_by_callers(paths: list[Path]) -> Iterator[Path]:
    """The paths, those of callbacks with the reservation that all known callers have won before they save."""
    open_ones = {(path.send, path.start.function) for path in paths if _is_open_callback(path)}
    guards: dict[tuple[Site, str], list[Guard | None]] = {}
    for path in paths:
        for function in path.functions()[1:] if open_ones else ():
            if (path.send, function) in open_ones:
                guards.setdefault((path.send, function), []).append(path.mail.guard)
    for path in paths:
        found = guards.get((path.send, path.start.function), []) if _is_open_callback(path) else []
        first = found[0] if found and all(found) else None
        guard = None if first is None else replace(first, confidence="medium")
        yield path if guard is None else replace(path, mail=replace(path.mail, guard=guard))


def _is_open_callback(path: Path) -> bool:
    return path.trigger.kind == "model_callback" and path.mail.guard is None


def _order(path: Path) -> tuple[object, ...]:
    send = path.send
    return (send.path, send.at, path.trigger, path.length, path.mail.provider.site.at)


def _stats(analysis: Analysis, index: WordIndex) -> Stats:
    inventory = analysis.inventory
    return Stats(
        files=len(analysis.program.sources.files),
        files_parsed=sum(1 for _ in analysis.program.parsed()),
        lines=index.lines,
        sends=len(inventory.sends),
        templates=len({send.template.value for send in inventory.sends}),
        triggers=len(inventory.triggers),
        unresolved=len(analysis.unresolved),
    )
