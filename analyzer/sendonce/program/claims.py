"""Reservations that dominate a call: recognises them among the facts that hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property

from sendonce.findings import weakest
from sendonce.program import held as h
from sendonce.program.dependencies import injected, run_of
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.handlers import Handlers
from sendonce.program.held import Held, Site
from sendonce.program.inserts import Inserts
from sendonce.program.kept import Kept
from sendonce.program.keys import ProviderKeys
from sendonce.program.link import Crossing, Linker
from sendonce.program.locks import Locks
from sendonce.program.mail import Condition, Guard, Transaction
from sendonce.program.outcomes import Outcomes
from sendonce.program.releases import Releases
from sendonce.program.reservations import ON_ONE_HOST, SHARED, Flaw, Part, Reservation, Reservations, key_of
from sendonce.program.rows import Rows
from sendonce.program.scene import Scene
from sendonce.program.stability import Stability
from sendonce.program.symbols import Function
from sendonce.program.transactions import Transactions
from sendonce.program.unique_jobs import UniqueJobs
from sendonce.program.uniques import Uniques
from sendonce.program.values import NONE, Attr, Call, Param, Value, walk

MAX_PENDING = 3
MAX_PENDING_SIZE = 40
PROVIDER = "provider"
"""The prefix of keys that a mail provider is given."""


class Claims:
    """Answers for sites, memoised."""

    def __init__(
        self,
        evaluator: Evaluator,
        flows: Flows,
        linker: Linker,
        transactions: Transactions,
        scopes: frozenset[str] = SHARED,
        forgiven: frozenset[Flaw] = frozenset(),
        handlers: Handlers | None = None,
    ) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.packs = evaluator.packs
        self.flows = flows
        self.linker = linker
        self.transactions = transactions
        self.scopes = scopes
        self.stability = Stability(evaluator, flows)
        self.uniques = Uniques(evaluator, flows)
        self.reservations = Reservations(evaluator, self.uniques, self.stability, scopes, forgiven)
        self.outcomes = Outcomes(evaluator, flows, linker, self.reservations, handlers)
        self.outcomes.dominating = self.dominating
        self.rows = Rows(evaluator, self.outcomes, transactions)
        self.inserts = Inserts(self.rows, self.uniques)
        self.releases = Releases(evaluator, flows, self.outcomes)
        self.kept = Kept(evaluator, flows, linker, transactions)
        self.forgiven = forgiven
        self.outcomes.given_back = self.releases.given_back
        self.provider_keys = ProviderKeys(evaluator)
        self.jobs = UniqueJobs(evaluator, self.stability)
        self.locks = Locks(evaluator, flows, linker, self.outcomes, transactions)
        self._known: dict[Site, Guard | None] = {}
        self._at: dict[Site, Reservation | None] = {}
        self._won: dict[tuple[Value, bool, Site], Guard | None] = {}
        self._alone: dict[Site, bool] = {}
        self._lenient: dict[frozenset[Flaw], Claims] = {}
        self._injected: dict[str, Guard | None] = {}
        self._made: dict[Call, Reservation | None] = {}
        self._pending: dict[Held, tuple[Condition, ...]] = {}
        self._nearest: dict[Held, Held | None] = {}
        self._claims: dict[Held, Reservation] = {}

    # ------------------------------------------------------------------ what others ask

    @cached_property
    def on_one_host(self) -> Claims:
        """The same questions, with claims counted that only one host sees (a database in a file)."""
        return Claims(self.evaluator, self.flows, self.linker, self.transactions, ON_ONE_HOST)

    def guard_at(self, site: Site) -> Guard | None:
        """The reservation that every way to a site within its function has won."""
        if site not in self._known:
            self._known[site] = None
            self._known[site] = self._guard_at(site)
        return self._known[site]

    def _guard_at(self, site: Site) -> Guard | None:
        key = self._provider_key(site)
        if key is not None:
            return key
        found = self.claim_at(site)
        return None if found is None else self._guard(found, site)

    def claim_at(self, site: Site) -> Reservation | None:
        """The claim that every way to a site within its function has won, or the lock that is held there."""
        if site not in self._at:
            scene = Scene(h.oldest_first(site.held), function=site.function)
            self._at[site] = self._newest_claim(site, scene) or self._held(site, scene)
        return self._at[site]

    def _held(self, site: Site, scene: Scene) -> Reservation | None:
        """The lock that is held at a site around a check and a mark that stays."""
        found = self.locks.held_at(site, scene, self._given_back(scene))
        return None if found is None else self._standing(found, scene, len(scene.facts))

    def _given_back(self, scene: Scene) -> Iterator[tuple[Reservation, int]]:
        """The claims that are given back when the run ends, each with its fact: they hold as a lock does."""
        within = any(isinstance(fact, h.Inside) for fact in scene.facts)
        for index in range(len(scene.facts)):
            found = self.of_fact(scene, index)
            if found is not None and self.releases.given_back(found, scene):
                yield found, index
            elif found is None and within:
                found = self._while_held.of_fact(scene, index)
                if found is not None:
                    yield found, index

    @cached_property
    def _while_held(self) -> Claims:
        """The same questions while a context manager is entered: what it gives back when it is left is still held."""
        held = Claims(self.evaluator, self.flows, self.linker, self.transactions, self.scopes)
        held.outcomes.given_back = lambda claim, scene: False
        return held

    def stored_at(self, site: Site) -> Guard | None:
        """The reservation that the new row is which the call at a site has made."""
        scene = Scene(h.oldest_first(site.held), function=site.function)
        matched = self.reservations.matched(site.call)
        if matched is None or matched.entry.win not in ("created", "no_exception"):
            return None
        found = self.rows.inserted(matched, scene)
        if found is None or found.fresh or self.rows.cleared(found, scene):
            return None
        if found.assumes and matched.entry.win != "created":
            return None
        return self._guard(found, site)

    def added_at(self, site: Site) -> Guard | None:
        """The reservation of rows that were put into a session before a site, for a mail that waits for the commit."""
        found = self.rows.added(Scene(h.oldest_first(site.held), function=site.function))
        return None if found is None or found.assumes or found.fresh else _made(found, site.function, False)

    def leniently(self, forgiven: frozenset[Flaw] = frozenset(), handlers: Handlers | None = None) -> Claims:
        """The same answers for claims that have a flaw, or as if these handlers ended the run."""
        if handlers is not None:
            return Claims(self.evaluator, self.flows, self.linker, self.transactions, self.scopes, forgiven, handlers)
        if forgiven not in self._lenient:
            lenient = Claims(self.evaluator, self.flows, self.linker, self.transactions, self.scopes, forgiven)
            self._lenient[forgiven] = lenient
        return self._lenient[forgiven]

    def pending_at(self, site: Site) -> tuple[Condition, ...]:
        """The tests before a site that ask a function or object which the function is given."""
        new: list[Held] = []
        held = site.held
        while held is not None and held not in self._pending:
            new.append(held)
            held = held.before
        found = self._pending[held] if held is not None else ()
        for one in reversed(new):
            fact = one.fact
            if isinstance(fact, h.Test) and fact.value.size <= MAX_PENDING_SIZE and self._asks(fact.value):
                found = tuple(dict.fromkeys((Condition(fact.value, fact.holds), *found)))[:MAX_PENDING]
            self._pending[one] = found
        return found

    def _asks(self, value: Value) -> bool:
        """Whether a test calls something of which only a caller knows what it is."""
        for part in walk(value):
            if isinstance(part, Call) and part.func.free:
                head = part.func
                while isinstance(head, Attr):
                    head = head.base
                if isinstance(head, Param) and not any(True for _ in self.linker.callables(part.func)):
                    return True
        return False

    def injected(self, function: Function) -> Guard | None:
        """The reservation that a dependency of a handler has won before the handler runs."""
        if function.id not in self._injected:
            self._injected[function.id] = self._of_dependencies(function)
        return self._injected[function.id]

    def _of_dependencies(self, function: Function) -> Guard | None:
        for ref in injected(self.linker, function):
            found = self._raising(run_of(self.linker, ref), Scene(function=function.id))
            if found is not None:
                return _made(found, ref.id, False)
        return None

    def won(self, value: Value, holds: bool, site: Site) -> Guard | None:
        """The reservation that was won if `value`, an argument of the call at `site`, is true (`holds`) or false."""
        key = (value, holds, site)
        if key not in self._won:
            found = self.outcomes.won(value, holds, Scene(h.oldest_first(site.held), function=site.function))
            self._won[key] = None if found is None else self._guard(found, site)
        return self._won[key]

    def bound(self, guard: Guard | None, put: Callable[[Value], Value]) -> Guard | None:
        """A guard in terms of a caller; None if the key that the caller gives differs on every attempt."""
        if guard is None or not guard.parts:
            return guard
        put_in = tuple((name, put(value)) for name, value in guard.parts)
        if put_in == guard.parts:
            return guard
        parts = tuple((name, self.evaluator.resolve(value)) for name, value in put_in)
        if self.stability.any_unstable(value for _, value in parts) or (guard.prefix == PROVIDER and _is_none(parts)):
            return None
        return replace(guard, parts=parts, key=key_of(guard.prefix, parts))

    def alone_at(self, site: Site) -> bool:
        """Whether one run at a time gets to a site: under a lock, or a claim that may be given back when it ends."""
        if site not in self._alone:
            self._alone[site] = self._is_alone(site)
        return self._alone[site]

    def _is_alone(self, site: Site) -> bool:
        scene = Scene(h.oldest_first(site.held), function=site.function)
        if any(lock.end is None for lock in self.locks.taken(scene)):
            return True
        if self._nearest_claim(site.held, site.function) is not None:
            return True
        if any(True for _ in self._given_back(scene)):
            return True
        decorated = self.evaluator.decorated(self.program.function(site.function))
        return any(self.locks.is_lock(part) for part in walk(decorated) if isinstance(part, Call))

    def unique_job(self, site: Site) -> Guard | None:
        """The reservation that an enqueue under a unique key is; None if the key differs on every attempt."""
        return self.jobs.guard(site)

    def library_transaction(self, crossing: Crossing) -> Transaction:
        """The transaction that a library call opens around the callbacks that it fires."""
        site = crossing.site
        name = crossing.within.replace("()", "")
        return Transaction("library", site.path, site.at[0], site.function, site, f"{name} runs in a transaction")

    # ------------------------------------------------------------------ guards

    def _guard(self, found: Reservation, site: Site) -> Guard:
        inside = found.inside and self.transactions.block_at(site.held) is not None
        return _made(found, site.function, inside)

    def _provider_key(self, site: Site) -> Guard | None:
        """The idempotency key that a provider call passes, if it is the same on every attempt."""
        key = self.provider_keys.of(site.call)
        if key is None or self.evaluator.constant(key) is not None or self.stability.unstable(key) is not None:
            return None
        note, parts = "idempotency key that the provider honours", (("key", key),)
        return Guard(
            site.path, site.at[0], site.function, note, key_of(PROVIDER, parts), prefix=PROVIDER, parts=parts
        )  # fmt: skip

    # ------------------------------------------------------------------ facts

    def _newest_claim(self, site: Site, scene: Scene) -> Reservation | None:
        """As `dominating`, for the facts before a site: sites of one function share most of them."""
        held = self._nearest_claim(site.held, site.function)
        while held is not None:
            found = self._standing(self._claims[held], scene, held.depth - 1)
            if found is not None:
                return found
            held = self._nearest_claim(held.before, site.function)
        return self._marked(scene)

    def _nearest_claim(self, held: Held | None, function: str) -> Held | None:
        """The newest fact of a chain that is a claim (in `_claims`), worked out once for each fact."""
        new: list[Held] = []
        while held is not None and held not in self._nearest:
            new.append(held)
            held = held.before
        nearest = None if held is None else self._nearest[held]
        for one in reversed(new):
            found = self.of_fact(Scene(h.oldest_first(one), function=function), one.depth - 1)
            if found is not None:
                self._claims[one] = found
                nearest = one
            self._nearest[one] = nearest
        return nearest

    def dominating(self, scene: Scene) -> Reservation | None:
        """The newest claim among the facts of a scene."""
        for index in range(len(scene.facts) - 1, -1, -1):
            found = self.of_fact(scene, index)
            found = None if found is None else self._standing(found, scene, index)
            if found is not None:
                return found
        return self._marked(scene)

    def _marked(self, scene: Scene) -> Reservation | None:
        """A check and a mark under a lock, where the mark stays."""
        found = self.locks.committed(scene)
        return None if found is None else self._standing(found, scene, len(scene.facts))

    def _standing(self, claim: Reservation, scene: Scene, index: int) -> Reservation | None:
        """A claim that the fact at `index` is, if the function of the scene neither gives it back nor loses it."""
        if self.releases.given_back(claim, scene):
            return None
        if not self.kept.lost(claim, scene, index):
            return claim
        return replace(claim, flaw="uncommitted") if "uncommitted" in self.forgiven else None

    def of_fact(self, scene: Scene, index: int) -> Reservation | None:
        """The claim that one of the facts of a scene is."""
        before = scene.before(index)
        match scene.facts[index]:
            case h.Test(value=value, holds=holds):
                return self.outcomes.won(value, holds, before)
            case h.Loop(over=Value() as over):
                found = self.outcomes.won(over, True, before) or self._entered(over, before)
                return found or self._among(over, before)
            case h.Done(site=site):
                return self._done(site, before)
            case h.Inside(value=value):
                return self._entered(value, before)
            case h.Left(inside=inside):
                return self.rows.committed(inside, before) or self._entered(inside.value, before)
            case h.Either(branches=branches):
                return self._either(scene, index, branches)
            case _:
                return None

    def _among(self, over: Value, before: Scene) -> Reservation | None:
        """A loop over the rows whose keys are among those that were claimed: `filter(pk__in=claimed)`."""
        tests = self.reservations.conditions.tests(over) if isinstance(over, Call) else ()
        asked = (test.value for test in tests if test.how == "in" and not test.negated)
        return next((won for value in asked if (won := self.outcomes.won(value, True, before)) is not None), None)

    def _either(self, scene: Scene, index: int, branches: tuple[tuple[h.Fact, ...], ...]) -> Reservation | None:
        """A claim in every branch."""
        found: list[Reservation] = []
        for branch in branches:
            if self.outcomes.handlers.end(self.outcomes.path_of(scene), branch):
                continue
            inner = replace(scene, facts=(*scene.facts[:index], *branch))
            if not self.outcomes.possible(inner):
                continue
            one = next((c for i in range(len(inner.facts) - 1, index - 1, -1) if (c := self.of_fact(inner, i))), None)
            if one is None:
                return None
            found.append(one)
        return replace(found[0], confidence=weakest(*(one.confidence for one in found))) if found else None

    def _done(self, site: Site, before: Scene) -> Reservation | None:
        """A call that would have raised, had another run made it before."""
        if not self.outcomes.potential.may(site.call):
            return None
        call = before.put(site.call)
        if not isinstance(call, Call):
            call = site.call
        matched = self.reservations.matched(call)
        if matched is not None:
            return self.inserts.made(matched, site, before)
        if call not in self._made:
            self._made[call] = None
            self._made[call] = self._raising(call, before)
        return self._made[call]

    def _raising(self, call: Call, before: Scene) -> Reservation | None:
        """A project function that returns normally only if it has won a claim."""
        exits = self.outcomes.exits(call, before)
        if not exits:
            return None
        found: list[Reservation] = []
        for _, inside in exits:
            if not self.outcomes.possible(inside):
                continue
            one = self.dominating(inside)
            if one is None or one.rows:
                return None
            found.append(one)
        return found[0] if found else None

    def _entered(self, value: Value, before: Scene) -> Reservation | None:
        """A context manager of the tree that lets only the winner in."""
        made = isinstance(value, Call) and self.outcomes.makes(value)
        if isinstance(value, Call) and not made and not self.outcomes.potential.may(value):
            return None
        put = before.put(value)
        if not isinstance(put, Call):
            return None
        exits = self.outcomes.exits(put, before, yields=True) or self.outcomes.entering(put, before)
        found = [self.dominating(inside) for _, inside in exits or () if self.outcomes.possible(inside)]
        return found[0] if found and all(found) else None


def _made(found: Reservation, function: str, inside: bool) -> Guard:
    """The guard that a reservation is; `function` where it stands if that is not told."""
    return Guard(
        found.path,
        found.line,
        found.function or function,
        found.note,
        found.key,
        found.confidence,
        inside,
        found.assumes,
        found.prefix,
        found.parts,
        implied=found.implied,
        stored=found.stored,
    )


def _is_none(parts: tuple[Part, ...]) -> bool:
    return any(value is NONE for _, value in parts)
