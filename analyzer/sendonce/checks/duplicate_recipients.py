"""SO106 duplicate-recipients.

## What it finds
A loop of sends over a query or list in which one person can stand twice: a join over a to-many relation without
`distinct`, `to` and `cc` drawn from the same people and put together, several roles of one object.

## Why it doubles
A join gives a row once for each match: a user in two teams of the project comes back twice. A person who holds two
roles stands twice in the list. Each time the loop comes to them, they are mailed.

## Bad
```python
def announce(project):
    for user in User.objects.filter(teams__project=project):
        send_mail("News", "x", None, [user.email])
```

## Good
```python
def announce(project):
    for user in User.objects.filter(teams__project=project).distinct():
        send_mail("News", "x", None, [user.email])
```

## When it is silent
`.distinct()`, a `set`, a dict keyed by address, `Exists` in place of the join, a test in the loop that passes over
those who were mailed before, or a claim for each person. A column of addresses that is merely not unique is no finding.

## Repair by framework
Django: `.distinct()`, or `filter(Exists(…))`. SQLAlchemy: `.distinct()`, `.unique()` on the result, or `.any()` in
place of the join. Lists: `dict.fromkeys(addresses)` keeps the order and drops what repeats.
"""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule, fault, named, send_place, severity_of, worst
from sendonce.findings import Place, Related
from sendonce.program import held as h
from sendonce.program.analysis import Analysis
from sendonce.program.held import Site
from sendonce.program.paths import Path, place_of
from sendonce.program.repeated import Repeated
from sendonce.program.runs import run_from
from sendonce.program.values import Call, Element, Op, Value, walk

CODE, NAME = "SO106", "duplicate-recipients"

Loop = tuple[Place, h.Loop, str]
"""The call in a loop, the loop, and why what it goes over can repeat."""


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """One fault for each call in a loop that leads to mail, over what can give one person twice."""
    repeated = Repeated(analysis.evaluator, analysis.claims.uniques)
    found: dict[Place, tuple[h.Loop, str, list[Path]]] = {}
    for path in (one for shown in analysis.paths for one in (shown, *analysis.again(shown))):
        for place, loop, why in _loops(repeated, path):
            found.setdefault(place, (loop, why, []))[2].append(path)
    for place in sorted(found):
        yield _fault(analysis, place, *found[place])


def _loops(repeated: Repeated, path: Path) -> Iterator[Loop]:
    """The loops on a path that may send to one person twice: a claim before the loop does not keep its items apart."""
    for index, site in enumerate(path.sites()):
        for loop in _around(site):
            assert loop.over is not None
            if run_from(path, index, loop).guarded:
                continue
            why = repeated.why(loop.over) or repeated.why(path.outward(index, loop.over))
            if why:
                yield place_of(site), loop, why


def _around(site: Site) -> Iterator[h.Loop]:
    """The loops around a call that gives it an item, and in which no test passes over items that came before."""
    for fact in h.newest_first(site.held):
        if isinstance(fact, h.Test) and _passes_over(fact):
            return
        if isinstance(fact, h.Loop) and fact.over is not None and _uses_item(site.call, fact.over):
            yield fact


def _uses_item(call: Call, over: Value) -> bool:
    return any(isinstance(part, Element) and part.base is over for part in walk(call))


def _passes_over(test: h.Test) -> bool:
    """`if address in told: continue`."""
    value = test.value
    return isinstance(value, Op) and ((value.op == "in" and not test.holds) or (value.op == "not in" and test.holds))


def _fault(analysis: Analysis, place: Place, loop: h.Loop, why: str, paths: list[Path]) -> Fault:
    shown = min(paths, key=lambda path: path.length)
    message = f"{named(shown)} is sent once for each item of this loop, and one person can come twice: {why}"
    help = "make the recipients distinct before the loop: .distinct() on the query, or dict.fromkeys() over addresses"
    over = loop.over
    related = [Related(Place(place.path, loop.at[0]), "the loop")]
    if isinstance(over, Call):
        related.append(Related(Place(over.at[0], over.at[1]), "what it goes over"))
    related += [Related(send_place(path), "sent here") for path in paths]
    site = next(site for path in paths for site in path.sites() if place_of(site) == place)
    function = analysis.program.function(site.function).dotted
    severity = worst(severity_of(path) for path in paths)
    return fault(analysis, (CODE, NAME), paths, place, function, severity, message, help, related)


RULE = Rule(CODE, NAME, __doc__, check)
