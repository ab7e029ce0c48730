"""Whether a database transaction is open at a call: a block, a decorator, a unit of work before its commit."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from sendonce import facts
from sendonce.findings import Place
from sendonce.program import arguments
from sendonce.program import held as h
from sendonce.program.evaluate import Evaluator
from sendonce.program.exclusion import exclusive as exclusive
from sendonce.program.flow import Flow, Flows
from sendonce.program.held import Held, Site
from sendonce.program.link import Linker
from sendonce.program.mail import Mail, Transaction
from sendonce.program.reader import Reader
from sendonce.program.starts import Start
from sendonce.program.symbols import Class, Function, Module, own_nodes
from sendonce.program.values import Call, ClassRef, Const, FunctionRef, Updated, Value, options, walk

if TYPE_CHECKING:
    from sendonce.program.summaries import Entry


class Transactions:
    """Answers for sites, memoised."""

    def __init__(self, evaluator: Evaluator, flows: Flows, linker: Linker) -> None:
        self.evaluator = evaluator
        self.packs = evaluator.packs
        self.program = evaluator.program
        self.flows = flows
        self.linker = linker
        self._left: dict[str, str] = {}
        self._decorated: dict[str, tuple[int, str] | None] = {}
        self._settings_known = False
        self._setting_found: tuple[str, int, str] | None = None

    def open_at(self, site: Site) -> Transaction | None:
        """The transaction that the function of a call has open around it."""
        function = self.program.function(site.function)
        inside = self.block_at(site.held)
        if inside is not None:
            line, name = inside.at[0], self._context_name(inside.value)
            return Transaction("block", site.path, line, function.dotted, site, name)
        decorated = self.decorator_of(function)
        if decorated is not None:
            return Transaction("block", site.path, decorated[0], function.dotted, site, decorated[1])
        return None

    def block_at(self, held: Held | None) -> h.Inside | None:
        """The innermost `with` block among the facts that holds a transaction open."""
        for fact in h.newest_first(held):
            if isinstance(fact, h.Inside) and self.is_transaction(fact.value):
                return fact
        return None

    def is_transaction(self, context: Value) -> bool:
        """Whether entering a context manager opens a transaction, of a library or of a project's own generator."""
        for option in options(self.evaluator.resolve(context)):
            shape = option.func if isinstance(option, Call) else option
            if self.evaluator.lookup(self.packs.transaction_contexts, shape):
                return True
        if isinstance(context, Call):
            return any(self._yields_inside(ref) for ref, *_ in self.linker.callables(context.func))
        return False

    def _yields_inside(self, ref: FunctionRef) -> bool:
        flow = self.flows.of(self.program.function(ref.id))
        return bool(flow.yields) and all(self.block_at(exit.held) is not None for exit in flow.yields)

    def _context_name(self, context: Value) -> str:
        shape = context.func if isinstance(context, Call) else context
        names = sorted(self.evaluator.shapes(shape))
        return names[0] if names else "a transaction"

    def decorator_of(self, function: Function) -> tuple[int, str] | None:
        """Line and name of the library decorator that runs a function in a transaction."""
        if function.id not in self._decorated:
            self._decorated[function.id] = next(self._decorators(function), None)
        return self._decorated[function.id]

    def _decorators(self, function: Function) -> Iterator[tuple[int, str]]:
        for call in self.linker.decorations(function):
            for shape in (call.func, call.func.func if isinstance(call.func, Call) else call.func):
                if self.evaluator.lookup(self.packs.transaction_decorators, shape):
                    yield call.at[1], min(self.evaluator.shapes(shape))

    # ------------------------------------------------------------------ whole requests

    def request_at(self, start: Start, entry: Entry, mail: Mail) -> Transaction | None:
        """The transaction that a framework opens around the whole run of a trigger."""
        function = self.program.function(start.function)
        site = entry.edge.site if entry.edge is not None else entry.mail.provider.site
        covered = self._covered(start, function)
        if covered:
            return Transaction("request", site.path, site.at[0], function.dotted, site, covered)
        if start.trigger.kind in ("controller", "webhook") and not self._is_exempt(start, function):
            setting = self._setting()
            if setting is not None:
                path, line, note = setting
                return Transaction("request", path, line, function.dotted, site, note)
        return None

    def _covered(self, start: Start, function: Function) -> str:
        """The framework method in whose transaction the handler runs (the admin's `save_model`, an atomic `dispatch`)."""
        cls = start.cls or function.cls
        if cls is None:
            return ""
        for base in self.evaluator.hierarchy.external_bases(cls.id):
            shape = f"{base}().{function.name}"
            if shape in self.packs.transaction_covers:
                return f"{base}.{function.name} runs in a transaction"
        return self._class_decorator(cls)

    def _class_decorator(self, cls: Class) -> str:
        if any(self._class_decorators(cls, self.packs.transaction_decorators)):
            return "a class decorator makes each request a transaction"
        return ""

    def _class_decorators(self, cls: Class, table: object) -> Iterator[Value]:
        """Arguments of a class's decorators (`method_decorator(x, name="dispatch")`), or the decorators, in a table."""
        for one in self.evaluator.hierarchy.mro(cls.id):
            for site in self.flows.of(one.module.body).sites:
                if site.call.args and site.call.args[-1] is ClassRef(one.id):
                    func = site.call.func
                    for value in (func, *(func.args if isinstance(func, Call) else ())):
                        if self.evaluator.lookup(table, value):
                            yield value

    def _is_exempt(self, start: Start, function: Function) -> bool:
        cls = start.cls or function.cls
        if cls is not None and any(self._class_decorators(cls, self.packs.transaction_exempts)):
            return True
        return any(
            self.evaluator.lookup(self.packs.transaction_exempts, call.func)
            for call in self.linker.decorations(function)
        )

    def _setting(self) -> tuple[str, int, str] | None:
        """Where a setting or a call puts every request in a transaction."""
        if not self._settings_known:
            self._settings_known = True
            self._setting_found = next(self._settings(), None)
        return self._setting_found

    def _settings(self) -> Iterator[tuple[str, int, str]]:
        for path in sorted(self.packs.transaction_settings):
            name = path.split("/")[-1] if "/" in path else path
            for file in self.program.index.files_with(name):
                module = self.program.module_of(file)
                if module is not None and file.role == "application":
                    yield from self._switched_on(module, path, name)
        for shape in sorted(self.packs.transaction_includes):
            yield from self._included(shape)

    def _switched_on(self, module: Module, path: str, name: str) -> Iterator[tuple[str, int, str]]:
        for node in own_nodes(module.facts):
            if isinstance(node, facts.Dict):
                for key, value in node.items:
                    if isinstance(key, facts.Constant) and key.value == name and _is_true(value):
                        yield module.path, key.at[0], f"{name} makes each request a transaction"
            if isinstance(node, facts.Assign) and node.value is not None and _is_true(node.value):
                for target in node.targets:
                    if isinstance(target, facts.Subscript) and isinstance(target.index, facts.Constant):
                        if target.index.value == name:
                            yield module.path, node.at[0], f"{name} makes each request a transaction"

    def _included(self, shape: str) -> Iterator[tuple[str, int, str]]:
        call, _, literal = shape.rstrip(")").rpartition("(")
        for function in self.program.mentioning(literal.strip("\"'").split(".")[-1]):
            for site in self.flows.of(function).sites:
                if call in self.evaluator.shapes(site.call.func) and any(
                    isinstance(arg, Const) and arg.value == literal.strip("\"'") for arg in site.call.args
                ):
                    yield site.path, site.at[0], f"{literal} makes each request a transaction"

    # ------------------------------------------------------------------ units of work

    def written_at(self, site: Site, inner: Place | None) -> Place | None:
        """The last write of a unit of work that is not yet committed when a call is made.

        `inner` is that of the functions further in on the same path: it came later than anything here.
        """
        if inner is not None:
            return inner
        written: Place | None = None
        flow = self.flows.of(self.program.function(site.function))
        for at, effect in self._effects(flow, site.index, site.held):
            written = at if effect == "writes" else None
        return written

    def committed_after(self, site: Site, written: Place) -> Transaction | None:
        """The commit, after a call and in its function, of what was written before it."""
        function = self.program.function(site.function)
        for other in self.flows.of(function).sites[site.index + 1 :]:
            if not exclusive(site.held, other.held) and self.effect(other) == "commits":
                note = f"written at line {written.line}, committed at line {other.at[0]}"
                return Transaction("unit", other.path, other.at[0], function.dotted, site, note)
        exit = self._committed_on_exit(function)
        if exit is not None:
            note = f"written at line {written.line}, committed by a dependency when the request ends"
            return Transaction("unit", exit.path, exit.at[0], function.dotted, site, note)
        return None

    def _effects(self, flow: Flow, before: int, held: Held | None) -> Iterator[tuple[Place, str]]:
        """Writes and commits ahead of a site (by index), in order, on branches that can lead to it."""
        events: list[tuple[facts.Span, Place, str]] = []
        for other in flow.sites[:before]:
            effect = self.effect(other)
            if effect and not exclusive(other.held, held):
                events.append((other.at, Place(other.path, *other.at), effect))
        limit = flow.sites[before].at if before < len(flow.sites) else (1 << 30, 0, 0, 0)
        for write in flow.writes:
            if write.at < limit and not exclusive(write.held, held) and self._is_row(write.base):
                path = flow.function.module.path
                events.append((write.at, Place(path, *write.at), "writes"))
        yield from ((place, effect) for _, place, effect in sorted(events))

    def _is_row(self, value: Value) -> bool:
        """Whether a value is a row that a session loaded: what is set on it is written with the next commit."""
        while isinstance(value, Updated):
            value = value.base
        if isinstance(value, Call) and isinstance(self.evaluator.resolve(value.func), ClassRef):
            return False  # made here: it is written when it is added
        bases = {
            base
            for cls in self.evaluator.types(value)
            if isinstance(cls, ClassRef)
            for base in self.evaluator.hierarchy.external_bases(cls.id)
        }
        return not bases.isdisjoint(self._rows)

    @cached_property
    def _rows(self) -> frozenset[str]:
        entries = (entry for pack in self.packs.packs for entry in pack.transaction)
        return frozenset(self.packs.canonical(row) for entry in entries for row in entry.rows)

    def effect(self, site: Site) -> str:
        """What a call does to a unit of work: "writes", "commits" (a rollback ends it as well) or nothing."""
        for table in (self.packs.transaction_commits, self.packs.transaction_rollbacks):
            if self._matches(table, site):
                return "commits"
        if self._matches(self.packs.transaction_writes, site):
            return "writes"
        calls = (e for e in self.linker.reached(site).edges if all(c.hop == "call" for c in e.crossings))
        effects = {self._function_effect(edge.target) for edge in calls}
        return "commits" if "commits" in effects else ("writes" if "writes" in effects else "")

    def _function_effect(self, id: str) -> str:
        """What a function leaves behind when it returns: its last write or commit."""
        if id not in self._left:
            self._left[id] = ""
            flow = self.flows.of(self.program.function(id))
            for _, effect in self._effects(flow, len(flow.sites), None):
                self._left[id] = effect
        return self._left[id]

    def _committed_on_exit(self, function: Function) -> Site | None:
        """The commit after the `yield` of a dependency that the framework injects into a function."""
        for declared in function.params:
            for ref in self._dependencies(function, declared):
                flow = self.flows.of(self.program.function(ref.id))
                ends = [exit.at for exit in flow.yields]
                for site in flow.sites:
                    if ends and site.at > min(ends) and self.effect(site) == "commits":
                        if not self._matches(self.packs.transaction_rollbacks, site):
                            return site
        return None

    def _dependencies(self, function: Function, declared: facts.Param) -> Iterator[FunctionRef]:
        """The functions behind `Depends(f)` in a parameter's annotation or default."""
        reader = Reader(self.evaluator, function.module.body, function.cls)
        given = [reader.read(declared.default)] if declared.default is not None else []
        if declared.annotation is not None:
            given += walk(self.evaluator.resolve(reader.annotation(declared.annotation)))
        for value in given:
            if isinstance(value, Call):
                for _, entry in self.evaluator.lookup(self.packs.invokes, value.func):
                    if entry.injects:
                        for inner in arguments.given(self.evaluator, value, entry.function):
                            yield from (ref for ref, *_ in self.linker.callables(inner))

    def _matches(self, table: object, site: Site) -> bool:
        return bool(self.evaluator.lookup(table, site.call.func))


def _is_true(value: facts.Expr) -> bool:
    """A literal True, or a call with a default of True (`env.bool("X", default=True)`)."""
    if isinstance(value, facts.Constant):
        return value.value is True
    return isinstance(value, facts.Call) and any(_is_true(arg.value) for arg in value.args)
