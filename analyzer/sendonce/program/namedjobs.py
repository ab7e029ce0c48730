"""Jobs that a project's own queue finds by a name: `@actor("mail.send")` and, elsewhere, `enqueue("mail.send", …)`.

The name is a text of its own, given to a decorator of the project that makes the function a job. A call that
is given the same text first puts the job on the queue, however the queue looks inside.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from sendonce import facts
from sendonce import vocabulary as v
from sendonce.program import arguments
from sendonce.program.flow import Flows
from sendonce.program.held import Site
from sendonce.program.link import Crossing, Edge, Linker
from sendonce.program.link.given import Given, job_arguments
from sendonce.program.reader import Reader
from sendonce.program.symbols import Function, own_nodes
from sendonce.program.values import Const, External, FunctionRef, options

Link = Callable[[Function, frozenset[str]], None]
MAX_STEPS = 3
"""Through how many functions of the project a decorator or a queue is looked into."""
ENQUEUE = v.Enqueue(calls=(), job=("name|0",))


class JobDecorators:
    """Tells which decorators make a function a job: those of libraries, and the project's that hand on to one."""

    def __init__(self, linker: Linker, flows: Flows) -> None:
        self.linker = linker
        self.evaluator = linker.evaluator
        self.program = linker.program
        self.packs = linker.packs
        self.flows = flows

    def of(self, function: Function) -> bool:
        """Whether one of a function's decorators makes it a job."""
        node = function.node
        decorators = node.decorators if isinstance(node, facts.Def) and function.parent is None else ()
        return any(isinstance(one, facts.Call) and self.make(one, function) for one in decorators)

    def make(self, decorator: facts.Call, function: Function) -> bool:
        """Whether a decorator is a library's for jobs, or one of the project that hands on to such a one."""
        made = Reader(self.evaluator, function.module.body).read(decorator.func)
        if self.evaluator.lookup(self.packs.job_decorators, made):
            return True
        refs = [one for one in options(self.evaluator.resolve(made)) if isinstance(one, FunctionRef)]
        return any(self._hands_on(self.program.function(ref.id), MAX_STEPS) for ref in refs)

    def _hands_on(self, function: Function, steps: int) -> bool:
        """Whether a function, or one inside it, calls a library's decorator of jobs."""
        inside = [one for one in function.module.functions.values() if one is function or is_within(one, function)]
        sites = [site for one in inside for site in self.flows.of(one).sites]
        if any(True for site in sites for _ in self.evaluator.jobs_of(site.call)):
            return True
        edges = (edge for site in sites for edge in self.linker.reached(site).edges) if steps else ()
        return any(self._hands_on(self.program.function(edge.target), steps - 1) for edge in edges)


class NamedJobs:
    """Finds the calls that enqueue a job of the project by its name."""

    def __init__(self, linker: Linker, flows: Flows) -> None:
        self.linker = linker
        self.evaluator = linker.evaluator
        self.program = linker.program
        self.packs = linker.packs
        self.flows = flows
        self.decorators = JobDecorators(linker, flows)

    def enqueuing(self, function: Function, link: Link) -> Iterator[Edge]:
        """The edges into a job from calls that are given its name."""
        for name in sorted(self._names(function)):
            for candidate in self._mentioning(name):
                link(candidate, frozenset(_parts(name)))
                decorators = _decorators(candidate)
                for site in self.flows.of(candidate).sites:
                    if site.at not in decorators and self._is_given(site, name):
                        yield self._edge(function, site)

    def _names(self, function: Function) -> set[str]:
        """The names that decorators of the project give a function which they make a job."""
        node = function.node
        found: set[str] = set()
        for decorator in node.decorators if isinstance(node, facts.Def) and function.parent is None else ():
            if isinstance(decorator, facts.Call):
                texts = [arg.value.value for arg in decorator.args if isinstance(arg.value, facts.Constant)]
                names = {text for text in texts if isinstance(text, str) and _tells(text)}
                if names and self.decorators.make(decorator, function):
                    found |= names
        return found

    def _mentioning(self, name: str) -> Iterator[Function]:
        """The functions in which a text stands as a whole."""
        for file in self.program.index.files_with(*re.findall(r"\w+", name)):
            module = self.program.module_of(file) if file.role == "application" else None
            for function in module.functions.values() if module is not None else ():
                if function.words.issuperset(_parts(name)) and _has_text(function, name):
                    yield function

    def _is_given(self, site: Site, name: str) -> bool:
        """Whether a call of a queue, of the project or of something unknown is given a job's name first."""
        call = site.call
        if not call.args or call.names[0] != "" or call.args[0] is not Const(name):
            return False
        known = any(isinstance(one, External) for one in options(self.evaluator.resolve(call.func)))
        return not known or self._entry(site) is not None

    def _entry(self, site: Site) -> v.Enqueue | None:
        """What packs say of a library's call that enqueues by name."""
        found = self.evaluator.lookup(self.packs.enqueues, site.call.func)
        return next((entry for _, entry in found if "receiver" not in entry.job), None)

    def _edge(self, function: Function, site: Site) -> Edge:
        """The edge into the job, with the arguments that it has a parameter for."""
        entry = self._entry(site)
        if entry is not None:
            names, args = job_arguments(self.evaluator, site.call, entry)
        else:
            names, args = self._own_arguments(function, site)
        first = self.linker.queues.left_out(FunctionRef(function.id), names)
        binding = arguments.bind(
            self.evaluator, FunctionRef(function.id), (*("",) * len(first), *names), (*first, *args)
        )
        crossing = Crossing(site, "enqueue", binding, "medium", entry or ENQUEUE, callee=function.id, why="framework")
        later = () if entry is not None or self._enqueues_now(site) else (Crossing(site, "defer"),)
        return Edge(function.id, (crossing, *later))

    @staticmethod
    def _own_arguments(function: Function, site: Site) -> Given:
        """The arguments of a call of the project's own queue that the job has parameters for."""
        known = {param.name for param in function.params}
        takes_all = any(param.kind == "**" for param in function.params)
        pairs = zip(site.call.names[1:], site.call.args[1:], strict=True)
        kept = [(name, value) for name, value in pairs if takes_all or name in known or name in ("", "*", "**")]
        return tuple(name for name, _ in kept), tuple(value for _, value in kept)

    def _enqueues_now(self, site: Site) -> bool:
        """Whether the call that is given the name reaches a library's queue; else it is only noted for later."""
        return any(
            self._reaches_queue(self.program.function(edge.target), MAX_STEPS)
            for edge in self.linker.reached(site).edges
        )

    def _reaches_queue(self, function: Function, steps: int) -> bool:
        sites = self.flows.of(function).sites
        if any(self.evaluator.lookup(self.packs.enqueues, site.call.func) for site in sites):
            return True
        edges = (edge for site in sites for edge in self.linker.reached(site).edges) if steps else ()
        return any(self._reaches_queue(self.program.function(edge.target), steps - 1) for edge in edges)


def _parts(name: str) -> list[str]:
    """The words under which a function knows a text."""
    return name.replace(":", ".").split(".")


def _tells(text: str) -> bool:
    """Whether a text is the name of one thing: of several words, not a sentence and no path of a URL."""
    return len(text) < 100 and any(sign in text for sign in "._:-") and not any(sign in text for sign in " /%{")


def _decorators(candidate: Function) -> set[facts.Span]:
    """Where decorators stand in a function's module: they give a name, they do not enqueue."""
    nodes = (one.node for one in candidate.module.functions.values())
    return {decorator.at for node in nodes if isinstance(node, facts.Def) for decorator in node.decorators}


def is_within(inner: Function, outer: Function) -> bool:
    """Whether one function stands inside another."""
    parent = inner.parent
    while parent is not None:
        if parent is outer:
            return True
        parent = parent.parent
    return False


def _has_text(function: Function, text: str) -> bool:
    return any(isinstance(node, facts.Constant) and node.value == text for node in own_nodes(function.node))
