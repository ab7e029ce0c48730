"""SO105 sends-on-every-save.

## What it finds
A callback that runs at every save of a row (a `post_save` receiver, an overridden `save()`, an event of the
ORM) and mails without a test that the row is new or that a field changed.

## Why it doubles
A row is saved many times in its life: by an edit form, a counter, a login, a migration script. Each save runs
the callback again, and with it the mail. A test of a state that lasts (`if self.assignee`) is true each time.

## Bad
```python
@receiver(post_save, sender=Order)
def order_saved(sender, instance, created, **kwargs):
    if instance.paid:
        send_receipt(instance)
```

## Good
```python
@receiver(post_save, sender=Order)
def order_saved(sender, instance, created, **kwargs):
    if created:
        send_receipt(instance)
```

## When it is silent
`created`, `_state.adding` or an absent primary key dominates the send; so does a comparison with the old value (read
from the store, kept by another hook, or kept by a tracker), a test of `update_fields`, or a reservation. So does a
test of a mark that the callback itself writes: that is a check and a later write, not every save.
The mail is told of once: SO301 is silent on every way through such a callback.

## Repair by framework
Django: `if created`, or keep the old value in `from_db()` or `pre_save` and compare; django-model-utils has
`FieldTracker`. SQLAlchemy: `inspect(row).attrs.field.history.has_changes()`. Or move the mail to where the event is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sendonce.checks.base import Fault, Rule, by_place, fault, named, send_place
from sendonce.findings import Place, Related, Severity
from sendonce.program import held as h
from sendonce.program.analysis import Analysis
from sendonce.program.changes import Changes, outward, read_fields
from sendonce.program.paths import Path, place_of

CODE, NAME = "SO105", "sends-on-every-save"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault for each call in a save callback by which it leads to a mail at every save."""
    changes = Changes(analysis.evaluator, analysis.flows, analysis.linker, analysis.callers.connections)
    callbacks = {path.start.function for path in analysis.paths if path.start.saves}
    found = [
        path
        for path in analysis.paths
        if path.start.saves and path.mail.guard is None and callbacks.isdisjoint(path.functions()[1:])
    ]
    every = [path for path in found if not _is_told(analysis, changes, path)]
    for place, paths in by_place(every, _leaves).items():
        one = _fault(analysis, place, paths)
        yield replace(one, explains=one.explains | _through(analysis, paths))


def _is_told(analysis: Analysis, changes: Changes, path: Path) -> bool:
    """Whether a test on the way tells that the row is new or changed, or asks for a mark that the way writes."""
    marks = {
        write.field for id in path.functions() for write in analysis.flows.of(analysis.program.function(id)).writes
    }
    for index, site in enumerate(path.sites()):
        facts = [outward(path, index, fact) for fact in h.newest_first(site.held)]
        if changes.tell(iter(facts)):
            return True
        if any(not marks.isdisjoint(_asked(analysis, fact)) for fact in facts):
            return True
    return False


def _asked(analysis: Analysis, fact: h.Fact) -> Iterator[str]:
    """The fields that a test reads, or by which the rows of a loop are selected."""
    if isinstance(fact, h.Test):
        yield from read_fields(fact.value)
    elif isinstance(fact, h.Loop) and fact.over is not None:
        for call in analysis.claims.reservations.fields.chain(fact.over):
            yield from (test.field for test in analysis.claims.reservations.conditions.tests(call))


def _through(analysis: Analysis, paths: list[Path]) -> frozenset[Path]:
    """The ways of other triggers that save the row and so come to the same mail."""
    ways = {(path.start.function, path.mail.provider.site, path.send) for path in paths}
    return frozenset(
        path
        for path in analysis.paths
        if any((function, path.mail.provider.site, path.send) in ways for function in path.functions())
    )


def _leaves(path: Path) -> Place:
    """The call in the callback that leads to the send."""
    inside = (site for site in path.sites() if site.function == path.start.function)
    site = next(inside, None)
    return send_place(path) if site is None else place_of(site)


def _fault(analysis: Analysis, place: Place, paths: list[Path]) -> Fault:
    shown = min(paths, key=lambda path: path.length)
    callback = shown.trigger.function
    message = (
        f"{named(shown)} is sent at every save of the row: {callback} runs whenever it is saved, and no test on the "
        f"way asks whether the row is new or a field has changed"
    )
    help = "mail only for a new row (created, _state.adding) or a changed field (compare with the stored old value)"
    sites = {path.start.site for path in paths if path.start.site is not None}
    related = [Related(place_of(site), "the callback is registered here") for site in sites]
    related += [Related(path.trigger.place, f"{path.trigger.kind} {path.trigger.function}") for path in paths]
    related += [Related(send_place(path), "sent here") for path in paths]
    severity: Severity = "note" if all(path.internal for path in paths) else "error"
    return fault(analysis, (CODE, NAME), paths, place, callback, severity, message, help, related)


RULE = Rule(CODE, NAME, __doc__, check, replaces=("SO301",))
