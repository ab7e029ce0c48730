"""The inventory: every send with its template, provider call and triggers, and every provider call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sendonce.findings import Inventory, ProviderCall, Route, Send, TemplateName, Trigger
from sendonce.program.held import Site
from sendonce.program.mail import Bound
from sendonce.program.paths import Path, place_of, trace
from sendonce.program.program import Program
from sendonce.program.providers import Providers, Seed
from sendonce.program.ways import Entry


@dataclass
class _Group:
    """The ways that reach one provider call through one send of one template."""

    provider: Site
    paths: list[Path] = field(default_factory=list)


def inventory(
    program: Program, providers: Providers, entries: Iterable[list[Entry]], paths: tuple[Path, ...]
) -> Inventory:
    """All sends, provider calls (those of tests, migrations and vendored code marked) and triggers, sorted."""
    seeds = providers.found()
    calls = {seed.send.site: _call(program, seed, "") for seed in seeds}
    marked = [_call(program, seed, role) for seed, role in providers.marked()]
    groups = _groups(seeds, entries, paths)
    sends = [_send(program, site, template, group, calls[group.provider]) for (site, template), group in groups.items()]
    return Inventory(
        tuple(sorted(sends, key=lambda send: (send.place, send.template.value or "", send.call.place))),
        tuple(sorted([*calls.values(), *marked], key=lambda call: call.place)),
        tuple(sorted({path.trigger for path in paths})),
    )


_Key = tuple[Site | Bound, TemplateName | None]


def _groups(seeds: tuple[Seed, ...], entries: Iterable[list[Entry]], paths: tuple[Path, ...]) -> dict[_Key, _Group]:
    """The sends: those on paths, those that no trigger is known for, and each provider call that has none."""
    groups: dict[_Key, _Group] = {}
    for path in paths:
        group = groups.setdefault((path.mail.bound or path.send, path.mail.template), _Group(path.mail.provider.site))
        group.paths.append(path)
    for listed in entries:
        for entry in listed:
            if entry.mail.send is not None:
                groups.setdefault(
                    (entry.mail.bound or entry.mail.send, entry.mail.template), _Group(entry.mail.provider.site)
                )
    reached = {group.provider for group in groups.values()}
    for seed in seeds:
        if seed.send.site not in reached:
            groups[(seed.send.site, None)] = _Group(seed.send.site)
    return groups


def _call(program: Program, seed: Seed, marked: str) -> ProviderCall:
    site = seed.send.site
    function = program.function(site.function).dotted
    return ProviderCall(place_of(site), function, seed.send.api, seed.send.provider, marked)


def _send(
    program: Program, site: Site | Bound, template: TemplateName | None, group: _Group, call: ProviderCall
) -> Send:
    place = site.place if isinstance(site, Bound) else place_of(site)
    function = site.function if isinstance(site, Bound) else program.function(site.function).dotted
    name = template or TemplateName(function, "function", "low")
    return Send(place, function, name, call, tuple(_routes(program, group.paths)))


def _routes(program: Program, paths: list[Path]) -> Iterator[Route]:
    """One route a trigger, the shortest; in a transaction if any way is, guarded only if every way is."""
    by_trigger: dict[Trigger, list[Path]] = {}
    for path in paths:
        by_trigger.setdefault(path.trigger, []).append(path)
    for trigger in sorted(by_trigger):
        ways = by_trigger[trigger]
        shortest = min(ways, key=lambda path: path.length)
        yield Route(
            trigger,
            trace(shortest, program),
            any(way.mail.transaction is not None for way in ways),
            all(way.mail.guard is not None for way in ways),
        )
