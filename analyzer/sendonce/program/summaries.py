"""Which mails each function leads to, from the provider sends outwards to the triggers.

A worklist carries entries over the edges of the call graph, callers being looked for only when a
function first leads to mail. First come is shortest, so the links between entries are the path.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

from sendonce import vocabulary as v
from sendonce.findings import weakest
from sendonce.program import held as h
from sendonce.program.callers import Callers
from sendonce.program.claims import Claims
from sendonce.program.evaluate import Evaluator
from sendonce.program.held import Held, Site
from sendonce.program.link import Crossing, Edge
from sendonce.program.mail import Condition, Hole, Mail
from sendonce.program.providers import Providers
from sendonce.program.senders import Senders
from sendonce.program.starts import Start
from sendonce.program.templates import Settled, Templates
from sendonce.program.transactions import Transactions
from sendonce.program.values import Attr, Call, Const, External, Item, Op, Param, Union, Value, substitute
from sendonce.program.ways import Entry, Ways

MAX_SUBJECT = 60
MAX_CONDITIONS = 8
MAX_CONDITION_SIZE = 24


class Summaries:
    """The fixpoint."""

    def __init__(
        self,
        evaluator: Evaluator,
        callers: Callers,
        providers: Providers,
        templates: Templates,
        transactions: Transactions,
        claims: Claims,
    ) -> None:
        self.evaluator = evaluator
        self.callers = callers
        self.providers = providers
        self.templates = templates
        self.senders = Senders(evaluator, templates)
        self.transactions = transactions
        self.claims = claims
        self.ways = Ways()
        self._asked: dict[Held, tuple[Condition, ...] | None] = {}
        self._put: dict[int, tuple[dict[Param, Value], dict[Value, Value]]] = {}
        """By the id of a binding: the binding, so that it stays, and what values have become in its terms."""
        self._others: dict[Entry, tuple[Entry, ...]] = {}
        self._queue: deque[tuple[Edge, Entry]] = deque()

    def run(self) -> None:
        """Finds all provider sends and carries them outwards until nothing new comes."""
        for entry in self._seeds():
            self._insert(entry)
        while self._queue:
            edge, entry = self._queue.popleft()
            for found in self.cross(edge, entry) if self.ways.stands(entry) else ():
                self._insert(found)

    def _seeds(self) -> Iterator[Entry]:
        for seed in self.providers.found():
            subject = next((hole.value for hole in seed.holes if hole.source == "subject"), None)
            kept = subject if subject is not None and subject.size <= MAX_SUBJECT else None
            delivery = seed.send.delivery
            mail = Mail(
                seed.send,
                seed.holes,
                recipient=seed.recipient,
                subject=kept,
                on_commit=delivery == "after_commit",
                escaped=delivery != "now",
            )
            for here in self._at(mail, seed.send.site):
                yield Entry(seed.send.site.function, here)

    def _insert(self, way: Entry) -> None:
        """Adds a way to a mail, and carries it on if it tells something new."""
        if way.function not in self.ways.entries:
            self.ways.entries[way.function] = []
            self._search(way.function)
        entry = self.ways.add(way)
        if entry is not None:
            self._queue.extend((edge, entry) for edge in self.callers.into(entry.function))

    def _search(self, function: str) -> None:
        """Looks for the callers of a function that is now known to lead to mail."""
        for edge in self.callers.search(function):
            for entry in self.entries.get(edge.target, ()):
                self._queue.append((edge, entry))

    @property
    def entries(self) -> dict[str, list[Entry]]:
        """For each function that leads to mail its ways, shortest first."""
        return self.ways.entries

    # ------------------------------------------------------------------ crossing

    def cross(self, edge: Edge, entry: Entry) -> Iterator[Entry]:
        """What a callee's entry becomes in the caller."""
        for mail in self.carried(edge.crossings, entry.mail, edge.target):
            yield Entry(edge.site.function, mail, edge, entry, entry.length + len(edge.crossings))

    def others(self, way: Entry) -> tuple[Entry, ...]:
        """Ways that differ from one in a single function: by another call there that leads to the same mail."""
        chain: list[Entry] = []
        entry: Entry | None = way
        while entry is not None and entry not in self._others:
            chain.append(entry)
            entry = entry.next
        for one in reversed(chain):
            inner = self._others[one.next] if one.next is not None else ()
            carried = (after for other in inner for after in self.cross(one.edge, other)) if one.edge else ()
            self._others[one] = (*self.ways.again.get(one, ()), *carried)
        return self._others[way]

    def carried(self, crossings: tuple[Crossing, ...], mail: Mail, target: str) -> list[Mail]:
        """A mail carried over several crossings, innermost first."""
        mails = [mail]
        for number, crossing in enumerate(crossings):
            last = number + 1 == len(crossings) or crossings[number + 1].site is not crossing.site
            known = crossings[-1].site  # where the object was known whose method an inner call is
            mails = [
                after
                for before in mails
                for after in self._over(
                    before, crossing, target, last, known if self._hangs_on(target, before) else crossing.site
                )
            ]
            target = ""
        return mails

    def started(self, mail: Mail, start: Start) -> list[Mail]:
        """A mail at its trigger: wrappers of the handler crossed, the framework's own object bound."""
        mails = self.carried(start.crossings[:-1], mail, start.function) if start.crossings else [mail]
        binding = dict(start.crossings[-1].binding) if start.crossings else {}
        binding.update(start.binding or {})
        found: list[Mail] = []
        for one in mails:
            bound = self._bound(one, binding)
            if bound is not None:
                found.extend(self._ended(bound))
        return found

    def _ended(self, mail: Mail) -> list[Mail]:
        """Holes that are still open at a trigger stay unknown: the second choice names the mail."""
        if mail.template is not None or mail.send is not None:
            return [mail]
        site = mail.provider.site
        closed = [replace(mail, template=mail.second, holes=(), send=mail.second_at or mail.made_at or site)]
        settled = [m for m in self._settled(mail, site, last=True) if m.template is not None]
        return settled or closed

    def _hangs_on(self, method: str, mail: Mail) -> bool:
        """Whether what names a mail hangs on the object whose method leads to it."""
        function = self.evaluator.program.function(method) if method else None
        if function is None or not function.is_method or not function.params:
            return False
        own = Param(function.id, function.params[0].name)
        return any(own in hole.value.free for hole in mail.holes)

    def _over(self, mail: Mail, crossing: Crossing, target: str, last: bool, names: Site) -> list[Mail]:
        """A mail over one crossing; what the site itself adds comes with the last of the crossings there.

        If it gets its name here, it is sent at `names`.
        """
        bound = self._bound(mail, crossing.binding, crossing.site, crossing.hop == "enqueue")
        if bound is None:
            return []
        if crossing.method is not None and target:
            bound = replace(bound, conditions=(*bound.conditions, Condition(crossing.method, True, target)))
        if crossing.test is not None:
            kept = self._decided(Condition(crossing.test, True))
            if kept is False:
                return []
            if isinstance(kept, Condition):
                bound = replace(bound, conditions=(*bound.conditions, kept))
        bound = bound.having(confidence=weakest(bound.confidence, crossing.confidence))
        hopped = self._hopped(bound, crossing)
        return self._at(hopped, crossing.site, names) if last else [hopped]

    def _hopped(self, mail: Mail, crossing: Crossing) -> Mail:
        """What becomes of the mail at a hop that is more than a call."""
        if crossing.hop == "enqueue":
            mail = _left(mail, crossing.site, self.transactions.rolls_back(crossing.enqueue))
            if self.transactions.queues.has(crossing.enqueue, "after_commit"):
                mail = replace(mail, escaped=True, deferred=True, on_commit=True)
            if crossing.unique and mail.guard is None:
                mail = replace(mail, guard=self.claims.unique_job(crossing.site))
        elif crossing.hop in ("defer", "schedule"):
            on_commit = crossing.hop == "defer" and not self._is_answered(crossing.site)
            mail = replace(mail, escaped=True, deferred=True, on_commit=on_commit)
        if crossing.stored and mail.guard is None:
            mail = replace(mail, guard=self.claims.stored_at(crossing.site))
        if crossing.within and not mail.escaped and mail.transaction is None:
            mail = replace(mail, transaction=self.claims.library_transaction(crossing))
        return mail

    def _is_answered(self, site: Site) -> bool:
        """Whether a call puts work off until a request was answered, not until a commit."""
        found: tuple[tuple[object, v.Invoke], ...] = self.evaluator.lookup(self.evaluator.packs.invokes, site.call.func)
        return any(entry.answered for _, entry in found)

    def _bound(
        self, mail: Mail, binding: dict[Param, Value], site: Site | None = None, enqueued: bool = False
    ) -> Mail | None:
        """The mail in terms of the caller (its call at `site`); None if the caller's arguments rule it out."""
        _, memo = self._put.setdefault(id(binding), (binding, {}))

        def put(value: Value) -> Value:
            return substitute(value, binding, memo)

        if not self._some_choice_fits(mail.conditions, binding):
            return None
        guard = self.claims.bound(mail.guard, partial(self._put_in_job, binding) if enqueued else put)
        conditions: list[Condition] = []
        for condition in mail.conditions:
            asked = replace(condition, value=put(condition.value))
            kept = self._decided(asked)
            if kept is False:
                return None
            if kept is not True:
                conditions.append(kept)
            if guard is None and site is not None and not condition.function:
                guard = self.claims.won(asked.value, asked.holds, site)
        pending = tuple(replace(one, value=put(one.value)) for one in mail.pending)
        for one in pending:
            if guard is None and site is not None:
                guard = self.claims.won(one.value, one.holds, site)
        return mail.having(
            guard=guard,
            pending=tuple(one for one in pending if guard is None and one.value.free),
            holes=tuple(Hole(hole.source, put(hole.value)) for hole in mail.holes),
            recipient=None if mail.recipient is None else put(mail.recipient),
            subject=None if mail.subject is None else put(mail.subject),
            conditions=_strongest(conditions),
        )

    def _some_choice_fits(self, conditions: tuple[Condition, ...], binding: dict[Param, Value]) -> bool:
        """Whether an argument that is one of several values can be one for which all conditions hold together."""
        for param, value in binding.items():
            asked = [one for one in conditions if param in one.value.free and not one.function]
            if len(asked) > 1 and isinstance(value, Union):
                given = [{**binding, param: option} for option in value.options]
                if not any(all(self._may_hold(one, choice) for one in asked) for choice in given):
                    return False
        return True

    def _may_hold(self, condition: Condition, binding: dict[Param, Value]) -> bool:
        return self._decided(replace(condition, value=substitute(condition.value, binding))) is not False

    def _put_in_job(self, binding: dict[Param, Value], value: Value) -> Value:
        return substitute(value, self.claims.stability.kept(binding)) if value.free else value

    def _decided(self, condition: Condition) -> Condition | bool:
        """True for a condition that holds or can no longer be told, False for one that does not hold."""
        if condition.function:
            return self._method_decided(condition)
        value = self.evaluator.resolve(condition.value)
        if isinstance(value, Const):
            return bool(value.value) == condition.holds
        if not value.free or value.size > MAX_CONDITION_SIZE:
            return True
        if _may_lack(condition.value):
            return condition  # its default counts where the object is known to lack it
        return replace(condition, value=value)

    def _method_decided(self, condition: Condition) -> Condition | bool:
        """Whether a method call on a now known object means the function that the path goes through."""
        assert isinstance(condition.value, Attr)
        base = self.evaluator.resolve(condition.value.base)
        if isinstance(base, Param):
            return replace(condition, value=Attr(base, condition.value.name))
        method = self.evaluator.resolve(Attr(base, condition.value.name))
        found = [ref.id for ref, *_ in self.callers.linker.callables(method)]
        if not found or condition.function in found:
            return True
        function = self.evaluator.program.function(condition.function)
        types = self.evaluator.types(base)
        hierarchy = self.evaluator.hierarchy
        below = {cls.id for one in types for cls in hierarchy.subclasses(getattr(one, "id", ""))} if types else set()
        return function.cls is not None and function.cls.id in below

    # ------------------------------------------------------------------ at a site

    def _at(self, mail: Mail, site: Site, names: Site | None = None) -> list[Mail]:
        """What holds at a site, added to a mail that leaves through it; if that names it, it is sent at `names`."""
        conditions = self._conditions(site.held)
        if conditions is None:
            return []
        mail = mail.having(conditions=_strongest((*mail.conditions, *conditions)))
        if mail.guard is None:
            mail = mail.having(guard=self.claims.guard_at(site))
        if mail.guard is None and mail.on_commit:
            mail = mail.having(guard=self.claims.added_at(site))
        if mail.guard is None:
            mail = mail.having(pending=(*mail.pending, *self.claims.pending_at(site))[:MAX_CONDITIONS])
        if mail.transaction is None and not mail.escaped:
            mail = self.transactions.at(mail, site)
        return self._settled(mail, names or site)

    def _settled(self, mail: Mail, site: Site, last: bool = False) -> list[Mail]:
        if mail.template is not None:
            return [mail]
        if not mail.made:
            made = not any(self.senders.is_handed_on(hole.value) for hole in mail.holes)
            mail = replace(mail, made_at=site, made=made)
        return [self._after(mail, outcome, site) for outcome in self.templates.settle(mail.holes, mail.second, last)]

    def _after(self, mail: Mail, outcome: Settled, site: Site) -> Mail:
        """The mail with what its holes said at a site; a second choice names the site where it was seen."""
        seen = mail.second_at if outcome.second == mail.second else site
        settled = outcome.template is not None or not outcome.holes
        named = seen if outcome.template is not None and outcome.template == outcome.second else None
        return replace(
            mail,
            template=outcome.template,
            holes=outcome.holes,
            second=outcome.second,
            second_at=seen,
            send=(mail.send or named or (site if outcome.template else mail.made_at or site)) if settled else None,
            bound=mail.bound if mail.send is not None else self.senders.bound(named or site, outcome.template),
        )

    def _conditions(self, held: Held | None) -> tuple[Condition, ...] | None:
        """The newest tests on parameters that lead to a point; None if one of them can never come out so."""
        new: list[Held] = []
        while held is not None and held not in self._asked:
            new.append(held)
            held = held.before
        found = self._asked[held] if held is not None else ()
        for one in reversed(new):
            found = self._asked[one] = self._with_test(found, one.fact)
        return found

    def _with_test(self, known: tuple[Condition, ...] | None, fact: h.Fact) -> tuple[Condition, ...] | None:
        for value, holds in _told(fact.value, fact.holds) if isinstance(fact, h.Test) else ():
            if isinstance(value, Const) and bool(value.value) is not holds:
                return None  # `if False:`, a switch of the module that is off
            if known is None or not _is_asked(value):
                continue
            kept = self._decided(Condition(value, holds))
            if isinstance(kept, bool):
                known = known if kept else None
            else:
                known = tuple(dict.fromkeys((kept, *known)))[:MAX_CONDITIONS]
        return known


def _is_asked(value: Value) -> bool:
    """Whether a test is one that callers may decide."""
    return bool(value.free) and value.size <= MAX_CONDITION_SIZE and _is_plain(value)


def _left(mail: Mail, enqueue: Site, same_database: bool) -> Mail:
    """The mail outside the job that leads to it: what the job does in its own run is done."""
    return replace(
        mail,
        enqueue=enqueue,
        enqueued=True,
        deferred=False,
        on_commit=False,
        transaction=None,
        written=None,
        clean=False,
        commit=None,
        inner=mail.exposed,
        escaped=same_database,
    )


def _strongest(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """The conditions that are kept: those on the object of a method call first, they rule out most."""
    return tuple(sorted(dict.fromkeys(conditions), key=lambda one: not one.function))[:MAX_CONDITIONS]


def _told(value: Value, holds: bool) -> Iterator[tuple[Value, bool]]:
    """What a test says: all parts of a conjunction that holds, of a disjunction that does not."""
    match value:
        case Op(op="not", operands=(one,)):
            yield from _told(one, not holds)
        case Op(op="and" | "or" as op, operands=operands) if (op == "and") is holds:
            for one in operands:
                yield from _told(one, holds)
        case _:
            yield value, holds


def _may_lack(value: Value) -> bool:
    """Whether a value is an attribute that an object may lack, with a default."""
    return isinstance(value, Call) and value.func is External("builtins.getattr") and len(value.args) == 3


def _is_plain(value: Value) -> bool:
    """A test that constants given by a caller can decide: a parameter, or a comparison of one."""
    match value:
        case Param() | Const():
            return True
        case Attr(base=base):
            return isinstance(base, Param | Attr) and _is_plain(base)
        case Item(base=Param(), index=Const()) | Call(func=Attr(base=Param(), name="get" | "pop"), args=(Const(), *_)):
            return True  # an argument among `**kwargs`, an entry of a dict
        case Op(operands=operands):
            return all(_is_plain(operand) or not operand.free for operand in operands)
        case Call(func=External(dotted="builtins.isinstance"), args=args):
            return _is_plain(args[0])
        case Call(args=(owner, *_)) if _may_lack(value):
            return _is_plain(owner)
        case _:
            return False
