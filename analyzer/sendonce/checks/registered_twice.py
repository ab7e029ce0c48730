"""SO104 registered-twice.

## What it finds
A handler that mails and is attached twice to one event: to every sender beside its own, as a new function object each
time some code runs, as two copies, as two handlers of one webhook event, as one task in two schedules.

## Why it doubles
The signal, registry or scheduler runs everything that is attached. Django and SQLAlchemy keep the same function
for the same sender once, but a nested function or a lambda is a new object each time, and a registration
for all senders is another one than that for `sender=Order`.

## Bad
```python
@receiver(post_save, sender=Order)
def mail_order(sender, instance, created, **kwargs):
    if created:
        send_confirmation(instance)

class ShopConfig(AppConfig):
    name = "shop"

    def ready(self):
        post_save.connect(mail_order)
```

## Good
```python
@receiver(post_save, sender=Order)
def mail_order(sender, instance, created, **kwargs):
    if created:
        send_confirmation(instance)

class ShopConfig(AppConfig):
    name = "shop"

    def ready(self):
        print("ready")
```

## When it is silent
The same function for the same sender, or the same `dispatch_uid`, is kept once. A handler that is taken off before it
is attached again, one handler that claims its mail, two handlers that send different mails or mail different people,
one task scheduled twice with different arguments, or at two times in one table.

## Repair by framework
Django: connect once, at import or in `ready()`, with `dispatch_uid`; keep what a request knows in a context variable
instead of a closure. Celery beat: keep one entry a task.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from sendonce.checks.base import Fault, Rule, fault, named, send_place
from sendonce.findings import Place, Related, Severity
from sendonce.program.analysis import Analysis
from sendonce.program.mail import Mail
from sendonce.program.paths import Path
from sendonce.program.recipients import Recipients
from sendonce.program.registrations import Registrations, Twice
from sendonce.program.schedules import Schedule, known, schedules
from sendonce.program.symbols import Function
from sendonce.program.templates import identity
from sendonce.program.values import Param, Value, substitute

CODE, NAME = "SO104", "registered-twice"

MAX_ABOVE = 5
_OFTEN = frozenset(["controller", "webhook", "job", "cron", "model_callback", "admin", "agent_tool"])
"""Kinds of trigger that run again and again."""


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault for each registration that comes second."""
    leading = [analysis.program.function(id) for id in sorted(analysis.summaries.entries)]
    registrations = Registrations(
        analysis.evaluator, analysis.flows, analysis.linker, analysis.callers, lambda one: _runs_often(analysis, one)
    )
    found: dict[Place, Twice] = {}
    for twice in (*registrations.found(leading), *_scheduled(analysis, leading)):
        if not twice.copies or _send_the_same(analysis, *twice.functions):
            found.setdefault(twice.second, twice)
    for place in sorted(found):
        functions = set(found[place].functions)
        paths = [path for path in analysis.paths if functions & set(path.functions())]
        if any(len(functions) > 1 or path.mail.guard is None for path in paths):  # one function wins its claim once
            yield _fault(analysis, found[place], paths)


def _scheduled(analysis: Analysis, leading: list[Function]) -> Iterator[Twice]:
    """One job in two schedules with the same arguments."""
    for function in leading:
        for one, other in combinations(schedules(analysis.evaluator, analysis.starts, function), 2):
            if one.arguments == other.arguments and known(one.arguments) and not _are_two_times(one, other):
                yield Twice(one.place, other.place, (function.id, function.id), "two schedules run one job")


def _are_two_times(one: Schedule, other: Schedule) -> bool:
    """Two times of one table: whoever wrote the second saw the first."""
    return one.table is not None and one.table == other.table and one.when != other.when


def _runs_often(analysis: Analysis, function: Function) -> bool:
    """Whether a function runs on requests, jobs or saves, not only once when the process starts."""
    todo, seen = [(function, 0)], {function.id}
    for one, depth in todo:
        if any(start.trigger.kind in _OFTEN for start in analysis.starts.of(one)):
            return True
        if depth < MAX_ABOVE:
            analysis.callers.search(one.id)
            for edge in analysis.callers.into(one.id):
                if edge.site.function not in seen:
                    seen.add(edge.site.function)
                    todo.append((analysis.program.function(edge.site.function), depth + 1))
    return False


# ---------------------------------------------------------------------- two copies


def _send_the_same(analysis: Analysis, one: str, other: str) -> bool:
    """Whether two functions send the same mail to the same people for one event."""
    for left in analysis.summaries.entries.get(one, ()):
        for right in analysis.summaries.entries.get(other, ()):
            if _template(left.mail) and _template(left.mail) == _template(right.mail):
                binding = _same_places(analysis, other, one)
                a, b = _told(left.mail, {}), _told(right.mail, binding)
                if Recipients(analysis.evaluator).same(a[0], b[0]) is True and not _contradict(a[1], b[1]):
                    return True
    return False


def _template(mail: Mail) -> str:
    sure = mail.template is not None and mail.template.confidence != "low"
    return identity(mail.template.value) if sure and mail.template is not None and mail.template.value else ""


def _same_places(analysis: Analysis, one: str, other: str) -> dict[Param, Value]:
    """The parameters of one handler as those of another: an event gives both the same, place for place."""
    left, right = analysis.program.function(one).params, analysis.program.function(other).params
    return {Param(one, a.name): Param(other, b.name) for a, b in zip(left, right, strict=False)}


def _told(mail: Mail, binding: dict[Param, Value]) -> tuple[Value | None, dict[Value, bool]]:
    """A mail's recipient and its conditions, with some parameters as others."""
    tests = {substitute(one.value, binding): one.holds for one in mail.conditions if not one.function}
    return None if mail.recipient is None else substitute(mail.recipient, binding), tests


def _contradict(left: dict[Value, bool], right: dict[Value, bool]) -> bool:
    return any(right.get(value, holds) is not holds for value, holds in left.items())


def _fault(analysis: Analysis, twice: Twice, paths: list[Path]) -> Fault:
    shown = min(paths, key=lambda path: path.length)
    message = f"{named(shown)} is sent twice for one event, because its handler is registered twice: {twice.why}"
    help = "register the handler once; where a registration can run again, give it a dispatch_uid or take it off before"
    related = [Related(twice.first, "the first registration")]
    related += [Related(send_place(path), "sent here") for path in paths]
    function = analysis.program.function(twice.functions[1]).dotted
    severity: Severity = "note" if all(path.internal for path in paths) else "error"
    return fault(analysis, (CODE, NAME), paths, twice.second, function, severity, message, help, related)


RULE = Rule(CODE, NAME, __doc__, check)
