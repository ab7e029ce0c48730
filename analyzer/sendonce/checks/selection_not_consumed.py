"""SO408 selection-not-consumed.

## What it finds
A scheduled run that selects rows by something the mail should use up (an unset mark, a state, a date that has come)
and mails each, while on some way through the run nothing changes what the selection reads.

## Why it doubles
The rows stay in the selection. Every run finds them again and mails them again, with no error and no overlap.

## Bad
```python
@shared_task
def warn():
    for domain in Domain.objects.filter(warned_at__isnull=True, expires_on__lt=soon()):
        send_mail("Your domain expires", domain.name, None, [domain.email])
        domain.noticed_at = now()
        domain.save(update_fields=["noticed_at"])
```

## Good
```python
@shared_task
def warn():
    for domain in Domain.objects.filter(warned_at__isnull=True, expires_on__lt=soon()):
        if Domain.objects.filter(pk=domain.pk, warned_at__isnull=True).update(warned_at=now()):
            send_mail("Your domain expires", domain.name, None, [domain.email])
```

## When it is silent
Each row leaves the selection on every way to its mail, or a row that the run inserts excludes it. An audience that is
mailed on every run by intent (`active=True`) and a period that passes by itself (`due_on=today()`) are no such thing.

## Repair by framework
Write the field that the selection reads, in the run and before the mail: `filter(pk=…, mark=None).update(mark=now())`.
Select by the mark as well as by the state or the date, and set it on every branch that mails.
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, fault, named, send_place, severity_of, worst
from sendonce.checks.selecting import Run, by_selection, runs
from sendonce.findings import Place, Related
from sendonce.program.analysis import Analysis
from sendonce.program.conditions import Tested
from sendonce.program.paths import Path

CODE, NAME = "SO408", "selection-not-consumed"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault a selection, over all mails that its rows get."""
    found: dict[Run, Tested] = {}
    for run in runs(analysis, explained):
        spent = None if run.consumed.always else analysis.selections.spent(run.selection, run.consumed)
        if spent is not None and not _is_passed_by(analysis, run.path):
            found[run] = spent
    for place, group in by_selection(list(found)).items():
        yield _fault(analysis, place, group, found[group[0]])


def _is_passed_by(analysis: Analysis, path: Path) -> bool:
    """Whether a test in the run passes by what an earlier run has mailed: the run itself writes what it asks for."""
    about = analysis.records.about
    return any(one.confidence == "high" and about.is_about(path, one) for one in analysis.memory.guards(path))


def _fault(analysis: Analysis, place: Place, group: list[Run], spent: Tested) -> Fault:
    shown = min(group, key=lambda run: run.path.length)
    marks = shown.consumed.marks
    way = (
        f"only some ways through the run change {spent.field}" if marks else f"nothing in the run changes {spent.field}"
    )
    message = (
        f"the scheduled job {shown.path.trigger.function} selects rows by {spent.field} and sends {named(shown.path)} "
        f"for each, but {way}: the rows stay in the selection, and every run mails them again"
    )
    help = (
        f"let every mailed row leave the selection: write {spent.field} (or a mark that the query also reads) before "
        f"the mail, by a conditional update whose count is tested"
    )
    related = [Related(send_place(run.path), "sends here") for run in group]
    related += [Related(one.place, "the mark of some rows") for run in group for one in run.consumed.marks]
    related += [
        Related(one.place, "a mark that the query does not read") for run in group for one in run.consumed.others
    ]
    related += [Related(inner, "the query") for run in group for inner in run.selection.inner]
    function = analysis.program.function(shown.selection.site.function).dotted
    paths = [run.path for run in group]
    return fault(
        analysis, (CODE, NAME), paths, place, function, worst(map(severity_of, paths)), message, help, related
    )  # fmt: skip


RULE = Rule(CODE, NAME, __doc__, check, replaces=("SO301", "SO302", "SO303", "SO311", "SO404"))
