"""Tests that run something twice and assert one message."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from sendonce import facts
from sendonce.discovery import Role, SourceFile
from sendonce.program.paths import Path
from sendonce.program.program import Program
from sendonce.program.symbols import Function, own_nodes, words_of

_TESTS: tuple[Role, ...] = ("test",)
_GENERIC = frozenset(
    ["post", "get", "put", "patch", "delete", "handle", "execute", "run", "dispatch", "process", "main", "create",
     "perform", "call", "do", "work", "job", "task", "forward", "index", "receive", "send", "save", "update", "webhook"]
)  # fmt: skip
"""Names that say nothing of what is run."""
_SETS_UP = ("setUp", "setup")
_ROUTE = re.compile(r"[\w/.-]*[a-z]{3,}[\w/.-]*")


@dataclass(frozen=True, eq=False)
class Used:
    """What a test uses, itself and in its fixtures and helpers: words and texts."""

    words: frozenset[str]
    texts: tuple[str, ...]


class Proofs:
    """Answers for paths."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._modules: dict[str, tuple[Used, ...]] = {}

    def is_proven(self, path: Path) -> bool:
        """Whether a test runs the trigger of a path, or a job on it, twice and asserts one message."""
        names = list(self._names(path))
        if any(not used.words.isdisjoint(names) for name in names for used in self._near(name)):
            return True
        return any(route in text for route in _routes(path) for used in self._near(route) for text in used.texts)

    def _names(self, path: Path) -> Iterator[str]:
        """The names by which a test may run a path: the handler, its class, the jobs on the way."""
        functions = [self.program.function(path.start.function)]
        functions += [
            self.program.function(one.callee) for one in path.crossings() if one.hop == "enqueue" and one.callee
        ]
        names = [name for one in functions for name in (one.name, one.cls.name if one.cls is not None else "")]
        names += [path.trigger.function.rpartition(".")[2], path.start.cls.name if path.start.cls is not None else ""]
        words = dict.fromkeys(name.strip("<>") for name in names)
        return (name for name in words if len(name) > 3 and name not in _GENERIC and name != "lambda")

    def _near(self, text: str) -> Iterator[Used]:
        """The tests of files that hold the words of a name or a route, or that use a helper that does."""
        words = re.findall(r"\w+", text)
        for file in self.program.index.files_with(*words, roles=_TESTS):
            yield from self._proofs(file)
            for helper in self._helpers(file, words):
                for other in self.program.index.files_with(helper, roles=_TESTS):
                    yield from self._proofs(other)

    def _helpers(self, file: SourceFile, words: list[str]) -> list[str]:
        """The names of functions that mention words, in a file that helps tests and has none."""
        if "test" in file.path.rpartition("/")[2] and not file.path.endswith("conftest.py"):
            return []
        module = self.program.module_of(file)
        functions = module.functions.values() if module is not None else ()
        return sorted({one.name for one in functions if isinstance(one.node, facts.Def) and _mentions(one, words)})

    # ------------------------------------------------------------------ tests

    @cached_property
    def _counting(self) -> frozenset[SourceFile]:
        """The test files that look at what was sent."""
        names = sorted(
            {_last(one) for _, probe in self.program.packs.probes for one in (*probe.outboxes, *probe.counts)}
        )
        return frozenset(file for name in names for file in self.program.index.files_with(name, roles=_TESTS))

    def _proofs(self, file: SourceFile) -> tuple[Used, ...]:
        """The tests of a file that run something twice and assert one message."""
        if file.path not in self._modules:
            module = self.program.module_of(file) if file in self._counting else None
            functions = list(module.functions.values()) if module is not None else []
            found = (one for one in functions if self._proves(one, functions))
            self._modules[file.path] = tuple(_used(one, [*functions, *self._elsewhere(one)]) for one in found)
        return self._modules[file.path]

    def _elsewhere(self, test: Function) -> Iterator[Function]:
        """The fixtures that a test is given and the helpers that it imports, as other test files have them."""
        scope = test.module.scope
        imported = {
            name for name in test.words if any(isinstance(one.node, facts.ImportFrom) for one in scope.get(name, ()))
        }
        for name in sorted(imported | {param.name for param in test.params}):
            for file in self.program.index.defining(name, roles=_TESTS):
                module = self.program.module_of(file)
                if module is not None and module is not test.module:
                    yield from (one for one in module.functions.values() if one.name == name and one.cls is None)

    def _proves(self, function: Function, beside: list[Function]) -> bool:
        if not function.name.startswith("test"):
            return False
        nodes = list(own_nodes(function.node))
        return self._asserts_one(nodes) and self._runs_twice(nodes, function, beside)

    def _asserts_one(self, nodes: list[object]) -> bool:
        """Whether a test asserts that there is one message, or none more."""
        clears = any(_called(node) in self._clears for node in nodes)
        for node in nodes:
            if isinstance(node, facts.Assert) and _is_count(node.test, clears):
                return True
            name = _called(node)
            if name in self._once or (clears and name.endswith("not_called")):
                return True
            if isinstance(node, facts.Call) and name.startswith("assert") and _counts(node.args, clears):
                return True
        return False

    def _runs_twice(self, nodes: list[object], function: Function, beside: list[Function]) -> bool:
        """Whether something that may run the application is called twice, or in a loop."""
        helpers = {
            one.name
            for one in (*beside, *self._elsewhere(function))
            if one is not function and not one.name.startswith("test")
        }
        seen: set[str] = set()
        for node in nodes:
            if isinstance(node, facts.For | facts.While | facts.Comprehension):
                inner = own_nodes(node.body if isinstance(node, facts.For | facts.While) else node.element)
                if any(self._is_run(one, helpers) for one in inner):
                    return True
            if isinstance(node, facts.Call) and len(handed := self._handed(node)) > len(set(handed)):
                return True  # `at_once(digest, digest)`
            if isinstance(node, facts.Call) and self._is_run(node, helpers):
                text = _dotted(node.func)
                if text in seen:
                    return True
                seen.add(text)
        return False

    def _is_run(self, node: object, helpers: set[str]) -> bool:
        """Whether a call may run the application: a client's request, a job, a function under test."""
        name = _called(node)
        if not name or name in self._clears or name.startswith(("assert", "len")):
            return False
        return name in self._runs or name in helpers or self._is_of_project(name) or bool(self._handed(node))

    def _handed(self, node: object) -> list[str]:
        """The functions of the project that a call is given: `Thread(target=digest)`."""
        given = [arg.value for arg in node.args] if isinstance(node, facts.Call) else []
        names = (value.attr if isinstance(value, facts.Attribute) else getattr(value, "id", "") for value in given)
        return [name for name in names if self._is_of_project(name)]

    def _is_of_project(self, name: str) -> bool:
        return len(name) > 3 and bool(self.program.index.defining(name)) and not name[:1].isupper()

    @cached_property
    def _runs(self) -> frozenset[str]:
        return frozenset(_last(one) for _, probe in self.program.packs.probes for one in probe.runs)

    @cached_property
    def _once(self) -> frozenset[str]:
        names = (_last(one) for _, probe in self.program.packs.probes for one in probe.counts)
        return frozenset(name for name in names if "once" in name)

    @cached_property
    def _clears(self) -> frozenset[str]:
        return frozenset(_last(one) for _, probe in self.program.packs.probes for one in probe.clears)


def _used(test: Function, beside: list[Function]) -> Used:
    """What a test uses: its own words, and those of what it calls, is given, and of what is set up before it."""
    given = {param.name for param in test.params} | test.words
    helpers = [one for one in beside if one.name in given or (one.cls is test.cls and one.name.startswith(_SETS_UP))]
    used = (test, *helpers)
    nodes = (node for one in used for node in own_nodes(one.node))
    texts = tuple(node.value for node in nodes if isinstance(node, facts.Constant) and isinstance(node.value, str))
    return Used(frozenset(word for one in used for word in one.words), texts)


def _routes(path: Path) -> list[str]:
    """The routes of a trigger, without the verb."""
    found = (one.strip("/^$") for one in _ROUTE.findall(path.trigger.detail) if not one.isupper())
    return [one for one in found if len(one) > 4]


def _is_count(test: facts.Expr, clears: bool) -> bool:
    """Whether a test compares something with one (or, behind a clearing, with nothing)."""
    for node in own_nodes(test):
        sides = (node.left, node.right) if isinstance(node, facts.Compare) and node.op in ("==", "is") else ()
        if any(_is_number(side, clears) for side in sides):
            return True
        if clears and isinstance(node, facts.Not):
            return True
    return False


def _counts(args: Iterable[facts.Arg], clears: bool) -> bool:
    return any(_is_number(arg.value, clears) for arg in args)


def _is_number(node: facts.Expr, clears: bool) -> bool:
    """Whether it is one or, behind a clearing, nothing: a number, or a list of so many."""
    if isinstance(node, facts.Sequence):
        known = not any(isinstance(item, facts.Starred) for item in node.items)
        return known and (len(node.items) == 1 or (clears and not node.items))
    value = node.value if isinstance(node, facts.Constant) else None
    return value is not True and (value == 1 or (clears and value == 0 and value is not False))


def _called(node: object) -> str:
    """The last name of what a call calls."""
    if not isinstance(node, facts.Call):
        return ""
    return node.func.attr if isinstance(node.func, facts.Attribute) else getattr(node.func, "id", "")


def _mentions(function: Function, words: Iterable[str]) -> bool:
    texts = [node.value for node in own_nodes(function.node) if isinstance(node, facts.Constant)]
    return all(word in function.words or any(word in str(text) for text in texts) for word in words)


def _dotted(node: facts.Expr) -> str:
    if isinstance(node, facts.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return getattr(node, "id", "") or " ".join(sorted(words_of(node)))


def _last(shape: str) -> str:
    return shape.rpartition(".")[2].removesuffix("()")
