"""What a queue adds to the functions that it runs: parameters that it fills in, methods that it calls afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program.evaluate import Evaluator
from sendonce.program.held import Site
from sendonce.program.link.callables import Callables
from sendonce.program.link.edges import Crossing, Edge
from sendonce.program.symbols import Class, Function
from sendonce.program.values import UNKNOWN, Attr, ClassRef, FunctionRef, Param, Seq, Value


class Jobs:
    """Answers about jobs as packs describe them."""

    def __init__(self, evaluator: Evaluator, callables: Callables) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.callables = callables

    @cached_property
    def after_methods(self) -> frozenset[str]:
        """Names of methods that queues call when a job has ended."""
        return frozenset(name for pack in self.packs.packs for job in pack.job for name in job.after)

    def ended(self, site: Site, method: Function, home: Class) -> Iterator[Edge]:
        """The edge from a job, decorated at `site` with the class `home`, into a method that runs when it has ended."""
        for job, described in self.evaluator.jobs_of(site.call):
            if method.name not in job.after or not site.call.args:
                continue
            for given in arguments.given(self.evaluator, described, job.base):
                if self.evaluator.resolve(given) is not ClassRef(home.id):
                    continue
                for ref, *_ in self.callables.callables(site.call.args[-1]):
                    own = Site(ref.id, site.path, 0, site.at, site.call, None)
                    binding = {Param(method.id, method.params[0].name): site.call} if method.params else {}
                    yield Edge(method.id, (Crossing(own, "call", dict(binding), callee=method.id),))

    def filled_in(self, ref: FunctionRef) -> tuple[Value, ...]:
        """The leading parameters that the queue itself fills in (`bind=True`, arq's `ctx`)."""
        function = self.program.function(ref.id)
        for call in self.callables.decorations(function):
            for job, described in self.evaluator.jobs_of(call):
                for given in arguments.given(self.evaluator, described, job.bound):
                    constant = self.evaluator.constant(given)
                    if constant is not None and constant.value:
                        return (call,)
                return (UNKNOWN,) * job.first
        return (UNKNOWN,) * self._listed_first(ref)

    def left_out(self, ref: FunctionRef, names: tuple[str, ...]) -> tuple[Value, ...]:
        """The leading parameters that an enqueue leaves out: a queue of the project's own fills them in."""
        function = self.program.function(ref.id)
        is_job = any(True for call in self.callables.decorations(function) for _ in self.evaluator.jobs_of(call))
        if is_job or ref.receiver is not None or "*" in names or "**" in names:
            return ()
        plain = [p for p in function.params if p.kind in ("positional", "any")]
        required = sum(1 for p in plain if p.default is None and p.name not in names)
        return (UNKNOWN,) * max(0, required - names.count(""))

    def _listed_first(self, ref: FunctionRef) -> int:
        """How many parameters the queue fills in for a function that a settings class lists as a job."""
        for pack in self.packs.packs:
            for job in pack.job:
                for path in job.settings if job.first else ():
                    if any(one.id == ref.id for one in self._listed_at(path)):
                        return job.first
        return 0

    def _listed_at(self, path: str) -> Iterator[FunctionRef]:
        """The functions that classes list at a path (`WorkerSettings.functions`)."""
        owner, _, attribute = path.partition("/")[0].rpartition(".")
        for file in self.program.index.files_with(owner, attribute):
            module = self.program.module_of(file)
            cls = module.classes.get(f"{module.key}.{owner}") if module is not None else None
            listed = self.evaluator.resolve(Attr(ClassRef(cls.id), attribute)) if cls is not None else None
            for item in listed.items if isinstance(listed, Seq) else ():
                yield from (callee.ref for callee in self.callables.callables(item))


def plain_enqueue(job: v.Job) -> v.Enqueue:
    """The entry for calling a job object as a function, where the queue makes that an enqueue."""
    return v.Enqueue(calls=(), job=("receiver",), after_commit=job.after_commit, same_database=job.same_database)
