"""Whether a database transaction is open at a call: a block, a decorator, a whole request, a unit of work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from sendonce.facts import NOWHERE, Span
from sendonce.findings import Place
from sendonce.program import held as h
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.held import Held, Site
from sendonce.program.link import Linker
from sendonce.program.mail import Mail, Transaction
from sendonce.program.queues import Queues
from sendonce.program.requests import Requests, decorators_in
from sendonce.program.starts import Start
from sendonce.program.symbols import Function
from sendonce.program.units import Event, Units
from sendonce.program.values import Attr, Call, FunctionRef, ModuleRef, Value, options
from sendonce.vocabulary import Enqueue

if TYPE_CHECKING:
    from sendonce.program.ways import Entry

_STACKS = frozenset({"contextlib.ExitStack().enter_context", "contextlib.AsyncExitStack().enter_async_context"})


class Transactions:
    """Answers for sites, memoised."""

    def __init__(self, evaluator: Evaluator, flows: Flows, linker: Linker) -> None:
        self.evaluator = evaluator
        self.packs = evaluator.packs
        self.program = evaluator.program
        self.flows = flows
        self.linker = linker
        self.queues = Queues(evaluator)
        self.units = Units(evaluator, flows, linker, self.is_transaction)
        self.requests = Requests(evaluator, flows, linker, lambda site: self.open_at(site) is not None)
        self._decorated: dict[str, tuple[int, str] | None] = {}
        self._open: dict[Site, Transaction | None] = {}

    def at(self, mail: Mail, site: Site) -> Mail:
        """The mail with the transaction that a site on its way adds, or what it adds to a unit of work."""
        block = self.open_at(site)
        if block is not None:
            return replace(mail, transaction=block)
        return self._in_unit(mail, site)

    # ------------------------------------------------------------------ blocks

    def open_at(self, site: Site) -> Transaction | None:
        """The transaction that the function of a call has open around it."""
        if site not in self._open:
            self._open[site] = self._found_open(site)
        return self._open[site]

    def _found_open(self, site: Site) -> Transaction | None:
        function = self.program.function(site.function)
        inside = self.block_at(site.held)
        if inside is not None:
            line, name, start = inside.at[0], self._context_name(inside.value), inside.at
        else:
            decorated = self.decorator_of(function)
            if decorated is None:
                return self._wrapped(site, function)
            line, name, start = *decorated, NOWHERE
        if self._committed_since(start, site):
            return None
        return Transaction("block", site.path, line, function.dotted, site, name)

    def _wrapped(self, site: Site, function: Function) -> Transaction | None:
        """The transaction around a call of what a decorator was applied to by hand: `pay = atomic(_pay)`."""
        called = site.call.func
        home = self.evaluator.resolve(called.base) if isinstance(called, Attr) else None
        module = self.program.module_named(home.name) if isinstance(home, ModuleRef) else None
        if isinstance(called, Attr) and module is not None:
            called = self.evaluator.module_attr(module, called.name) or called
        if not isinstance(called, Call) or not self.evaluator.lookup(self.packs.transaction_decorators, called.func):
            return None
        inner = called.args[-1] if called.args else None
        if isinstance(inner, FunctionRef) and self.decorator_of(self.program.function(inner.id)) is not None:
            return None  # a decorator on the function itself: the function opens it
        name = min(self.evaluator.shapes(called.func))
        return Transaction("block", called.at[0], called.at[1], function.dotted, site, name)

    def block_at(self, held: Held | None) -> h.Inside | None:
        """The innermost `with` block among the facts that holds a transaction open."""
        facts = list(h.newest_first(held))
        entered = [self.evaluator.resolve(fact.value) for fact in facts if isinstance(fact, h.Inside)]
        for fact in facts:
            if isinstance(fact, h.Inside) and self.is_transaction(fact.value):
                return fact
            if isinstance(fact, h.Done):
                stacked = self._stacked(fact.site, entered)
                if stacked is not None and self.is_transaction(stacked):
                    return h.Inside(stacked, fact.site.at, fact.site)
        return None

    def _stacked(self, site: Site, entered: list[Value]) -> Value | None:
        """The context that a call puts on an exit stack whose own block is still open."""
        func = site.call.func
        if not (entered and isinstance(func, Attr) and site.call.args):
            return None
        if self.evaluator.shapes(func).isdisjoint(_STACKS):
            return None
        stack = self.evaluator.resolve(func.base)
        return site.call.args[0] if any(one is stack for one in entered) else None

    def _committed_since(self, start: Span, site: Site) -> bool:
        """Whether a transaction was committed by hand before a call in it, with nothing written since."""
        event = self.units.before(site)
        return event is not None and event.kind == "commits" and event.at > start

    def is_transaction(self, context: Value) -> bool:
        """Whether entering a context manager opens a transaction, of a library or of a project's own manager."""
        for option in options(self.evaluator.resolve(context)):
            for shape in (option, option.func) if isinstance(option, Call) else (option,):
                if self.evaluator.lookup(self.packs.transaction_contexts, shape):
                    return True
        made_by = self.linker.callables(context.func) if isinstance(context, Call) else ()
        if any(self._yields_inside(ref) for ref, *_ in made_by):
            return True
        enter = self.evaluator.hierarchy.method_of_instance(self.evaluator.types(context), "__enter__", "__aenter__")
        return enter is not None and self._enters(enter)

    def _yields_inside(self, ref: FunctionRef) -> bool:
        flow = self.flows.of(self.program.function(ref.id))
        return bool(flow.yields) and all(self.block_at(exit.held) is not None for exit in flow.yields)

    def _enters(self, method: Function) -> bool:
        """Whether a class's own `__enter__` enters a transaction that it keeps open."""
        for site in self.flows.of(method).sites:
            func = site.call.func
            if isinstance(func, Attr) and func.name in ("__enter__", "__aenter__") and self.is_transaction(func.base):
                return True
            stacks = site.call.args and not self.evaluator.shapes(func).isdisjoint(_STACKS)
            if stacks and self.is_transaction(site.call.args[0]):
                return True
        return False

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
            for shape in decorators_in(call.func):
                if self.evaluator.lookup(self.packs.transaction_decorators, shape):
                    yield call.at[1], min(self.evaluator.shapes(shape))

    def rolls_back(self, entry: Enqueue | None) -> bool:
        """Whether an enqueued job is a row of the application's database, which goes when a transaction rolls back."""
        return entry is not None and (entry.same_database or self.queues.has(entry, "same_database"))

    # ------------------------------------------------------------------ whole requests

    def request_at(self, start: Start, entry: Entry, mail: Mail) -> Transaction | None:
        """The transaction that a framework opens around the whole run of a trigger."""
        opened = self.requests.around(start)
        if opened is None:
            return None
        site = entry.edge.site if entry.edge is not None else entry.mail.provider.site
        event = self.units.before(site) if mail.written is None else None
        if mail.clean or (event is not None and event.kind == "commits"):
            return None
        function = self.program.function(start.function)
        return Transaction("request", opened.path, opened.line, function.dotted, site, opened.note)

    # ------------------------------------------------------------------ units of work

    def _in_unit(self, mail: Mail, site: Site) -> Mail:
        """What a function adds to a unit of work around a mail: a write before it, a commit after it, or both."""
        event = self.units.before(site) if mail.written is None and not mail.clean else None
        written = mail.written or (event.place if event is not None and event.kind == "writes" else None)
        clean = mail.clean or (event is not None and event.kind != "writes")
        commit = mail.commit or self._commit_after(site, event if written is not None else None)
        mail = replace(mail, written=written, clean=clean, commit=commit)
        if written is None or commit is None:
            return mail
        function = self.program.function(site.function)
        note = f"written at {_shown(written, site)}, committed at {_shown(commit, site)}"
        return replace(mail, transaction=Transaction("unit", commit.path, commit.line, function.dotted, site, note))

    def _commit_after(self, site: Site, written: Event | None) -> Place | None:
        """The commit that follows a call: in its function, when a block around it ends, or when the request ends."""
        found = (
            self.units.after(site, written)
            or self.units.around(site)
            or self.units.on_exit(self.program.function(site.function))
        )
        return Place(found.path, *found.at) if found is not None else None

    def effect(self, site: Site) -> Literal["writes", "commits", ""]:
        """What a call does to a unit of work; a rollback or close ends it as a commit does."""
        kind = self.units.kind(site)
        return "commits" if kind == "ends" else kind


def _shown(place: Place, site: Site) -> str:
    return f"line {place.line}" if place.path == site.path else f"line {place.line} of {place.path}"
