"""Calls that put jobs on a queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program.link.edges import Crossing, Open, Way
from sendonce.program.link.given import Given, job_arguments
from sendonce.program.link.jobs import plain_enqueue
from sendonce.program.values import Attr, Call, FunctionRef, Op, Seq, Value, options

if TYPE_CHECKING:
    from sendonce.program.link.linker import Linker


class Enqueues:
    """Follows a call that enqueues into the functions of its jobs. Each method says whether the call is one."""

    def __init__(self, linker: Linker) -> None:
        self.linker = linker
        self.evaluator = linker.evaluator
        self.packs = linker.packs

    def overridden(self, way: Way, call: Call) -> bool:
        """`delay()` of a job whose project class overrides what `delay()` ends in (`apply_async`)."""
        if not isinstance(call.func, Attr) or not isinstance(self.evaluator.resolve(call.func.base), Call):
            return False
        for _, entry in self.evaluator.lookup(self.packs.enqueues, call.func):
            for cls in self.evaluator.types(call.func.base):
                for name in (call.func.name, *entry.through):
                    method = self.evaluator.hierarchy.method_of(cls, name)
                    if method is None:
                        continue
                    given = (call.names, call.args) if name == call.func.name else self._positional(call, entry)
                    inner = way.apart()
                    self.linker.enter(inner, FunctionRef(method.id, call.func.base), *given)
                    way.found.waiting(inner.found)
                    return True
        return False

    def _positional(self, call: Call, entry: v.Enqueue) -> Given:
        """The job's positional arguments as one tuple, as the method that a call ends in gets them."""
        names, args = job_arguments(self.evaluator, call, entry)
        return ("",), (Seq("tuple", tuple(a for n, a in zip(names, args, strict=True) if n == "")),)

    def called_job(self, way: Way, call: Call) -> bool:
        """Calling a job object as a function, where the queue makes that an enqueue."""
        for option in options(self.evaluator.resolve(call.func)):
            if isinstance(option, Call):
                for job, _ in self.evaluator.jobs_of(option):
                    if job.call == "enqueue":
                        self.job(way, way.around, plain_enqueue(job), option, (call.names, call.args))
                        return True
        return False

    def enqueued(self, way: Way, call: Call) -> bool:
        """A call of the queue's own that is given jobs, or is a method of one."""
        entries = [e for e in self._entries(call.func) if arguments.holds(self.evaluator, call, e.when)]
        for entry in sorted(entries, key=lambda entry: -len(entry.when)):
            jobs = self._given_jobs(call, entry.job)
            if not jobs:
                continue
            given = job_arguments(self.evaluator, call, entry)
            for job in jobs:
                self.job(way, way.around, entry, job, given)
            for job in self._given_jobs(call, entry.then):
                self.job(way, way.around, entry, job, ((), ()))
            return True
        return False

    def _given_jobs(self, call: Call, notations: tuple[str, ...]) -> list[Value]:
        """All jobs that a call names, those in lists and groups one by one."""
        found: dict[Value, None] = {}
        todo = list(arguments.given(self.evaluator, call, notations))
        while todo:
            value = todo.pop(0)
            inner = self.evaluator.resolve(value)
            if isinstance(inner, Seq):
                todo[:0] = inner.items
            elif isinstance(inner, Op) and inner.op == "|":
                todo[:0] = inner.operands
            elif inner not in map(self.evaluator.resolve, found):
                found[value] = None
        return list(found)

    def _entries(self, callee: Value) -> list[v.Enqueue]:
        """The entries for an enqueueing call; a telling method name is enough where the receiver is unknown."""
        found = [entry for _, entry in self.evaluator.lookup(self.packs.enqueues, callee)]
        if found or not isinstance(callee, Attr) or self.evaluator.types(callee.base):
            return found
        given = self._is_given_job(callee.base)
        if not given and not all(_is_attribute_of_object(shape) for shape in self.evaluator.shapes(callee.base)):
            return []
        if isinstance(self.evaluator.resolve(callee), FunctionRef):
            return []
        entries = (entry for pack in self.packs.packs for entry in pack.enqueue)
        told = [
            entry
            for entry in entries
            if (entry.telling or (given and entry.job == ("receiver",))) and callee.name in _last_names(entry)
        ]
        # Whether a queue that nobody knows keeps its jobs beside the rows cannot be told.
        return [msgspec.structs.replace(entry, same_database=True) for entry in told] if given else told

    def _is_given_job(self, value: Value) -> bool:
        """Whether an unknown call is given one function of the project and nothing else: `request.task(f)` in
        `request.task(f).delay(…)`, a decorator of a library that no pack describes."""
        found = self.evaluator.resolve(value)
        if not (isinstance(found, Call) and found.names == ("",)):
            return False
        given = self.evaluator.resolve(found.args[0])
        return isinstance(given, FunctionRef) and given.receiver is None

    def job(self, way: Way, around: tuple[Crossing, ...], entry: v.Enqueue, job: Value, given: Given) -> None:
        """Adds what running a job leads to; where nobody knows the job yet, that is open."""
        unique = bool(entry.unique) and arguments.holds(self.evaluator, way.site.call, entry.unique)
        targets = list(self.linker.jobs(job))
        names, args = given
        outer = (Crossing(way.site, "defer"), *around) if entry.after_commit else around
        for callee in targets:
            queues = self.linker.queues
            first = queues.filled_in(callee.ref) or queues.left_out(callee.ref, (*callee.names, *names))
            self.linker.enter(
                Way(way.found, way.site, "enqueue", outer),
                callee.ref,
                (*("",) * len(first), *callee.names, *names),
                (*first, *callee.args, *args),
                confidence=callee.sure,
                enqueue=entry,
                unique=unique,
            )
        if not targets and job.free:
            way.found.opens.append(Open(job, names, args, way.site, "enqueue", around, entry))


def _is_attribute_of_object(shape: str) -> bool:
    """Whether a shape is an attribute of some library object (`Request().app.state.queue`): anything may be there."""
    return "()." in shape and not shape.endswith("()")


def _last_names(entry: v.Enqueue) -> frozenset[str]:
    return frozenset(call.rpartition(".")[2] for call in entry.calls)
