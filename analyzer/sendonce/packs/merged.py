"""The merged packs: one look-up table for each kind of entry, keyed by shape."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from sendonce import vocabulary as v
from sendonce.packs.checking import shapes_of

Entry = TypeVar("Entry")
Table = Mapping[str, tuple[tuple[v.Pack, Entry], ...]]
"""Shape to the entries that name it, each with its pack, in the order of the packs."""

_COMMON = frozenset(
    {
        "Client",
        "Connection",
        "Email",
        "Emails",
        "Environment",
        "Mail",
        "Mailer",
        "Message",
        "Model",
        "Notification",
        "Template",
        "api",
        "client",
        "email",
        "emails",
        "mail",
        "messages",
        "notify",
        "send",
        "send_async",
        "transactional",
    }
)
"""Words that half of all programs use: by themselves they do not point to a mail library."""

_TELLING = re.compile("^[A-Z]|mail|send|smtp|messag|notif")
"""A name that may point to a mail library: a class, or a word of the trade."""


@dataclass(frozen=True)
class PackFile:
    """Where a pack came from."""

    section: str
    path: Path
    pack: v.Pack


@dataclass(frozen=True)
class Packs:
    """All packs in force and what the linker looks up in them. Tables are made when first asked for."""

    files: tuple[PackFile, ...]
    digest: str = ""
    """Changes whenever a pack does; part of the cache keys of what was derived from packs."""
    _canonical: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)
    _bases: dict[str, tuple[str, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def packs(self) -> tuple[v.Pack, ...]:
        """The packs, by section and name."""
        return tuple(file.pack for file in self.files)

    # -------------------------------------------------------------- names

    @cached_property
    def alias(self) -> dict[str, str]:
        """Dotted prefix to the documented place of the same thing."""
        return {name: target for pack in self.packs for name, target in pack.alias.items()}

    def canonical(self, dotted: str) -> str:
        """`dotted` (a name or a shape) with its longest known prefix put in the documented place."""
        known = self._canonical.get(dotted)
        if known is None:
            known = self._canonical[dotted] = self._resolved(dotted)
        return known

    def _resolved(self, dotted: str) -> str:
        seen = {dotted}
        while True:
            for end in [len(dotted), *(match.start() for match in reversed([*re.finditer(r"[.(\[]", dotted)]))]:
                target = self.alias.get(dotted[:end])
                if target is not None:
                    break
            else:
                return dotted
            dotted = target + dotted[end:]
            if dotted in seen:
                return dotted
            seen.add(dotted)

    @cached_property
    def _parents(self) -> dict[str, tuple[str, ...]]:
        merged: dict[str, dict[str, None]] = {}
        for pack in self.packs:
            for name, parents in pack.bases.items():
                merged.setdefault(self.canonical(name), {}).update((self.canonical(one), None) for one in parents)
        return {name: tuple(parents) for name, parents in merged.items()}

    def bases(self, dotted: str) -> tuple[str, ...]:
        """All known ancestors of a library class, nearest first, without itself."""
        name = self.canonical(dotted)
        known = self._bases.get(name)
        if known is None:
            found = [one for one in self._descend(name, frozenset()) if one != name]
            # A shared ancestor comes after all classes that lead to it, as in Python's own order.
            known = self._bases[name] = tuple(reversed(dict.fromkeys(reversed(found))))
        return known

    def _descend(self, name: str, above: frozenset[str]) -> Iterator[str]:
        for parent in self._parents.get(name, ()):
            if parent not in above:
                yield parent
                yield from self._descend(parent, above | {name, parent})

    def find(self, table: Table[Entry], shape: str) -> tuple[tuple[v.Pack, Entry], ...]:
        """The entries for a shape. Those of a method may stand at `Class().*` or at a base class; the nearest win."""
        shape = self.canonical(shape)
        owner, dot, member = shape.rpartition("().")
        if not dot:
            return table.get(shape, ())
        for name in (owner, *self.bases(owner)):
            found = table.get(f"{name}().{member}", ()) + table.get(f"{name}().*", ())
            if found:
                return found
        return ()

    # ------------------------------------------------------------- tables

    def _table(
        self, entries: Callable[[v.Pack], Iterable[Entry]], shapes: Callable[[Entry], Iterable[str]]
    ) -> Table[Entry]:
        table: dict[str, tuple[tuple[v.Pack, Entry], ...]] = {}
        for pack in self.packs:
            for entry in entries(pack):
                for shape in dict.fromkeys(map(self.canonical, shapes(entry))):
                    table[shape] = (*table.get(shape, ()), (pack, entry))
        return table

    @cached_property
    def sends(self) -> Table[v.Send]:
        return self._table(lambda pack: pack.send, lambda e: e.calls)

    @cached_property
    def messages(self) -> Table[v.Message]:
        return self._table(lambda pack: pack.message, lambda e: e.calls)

    @cached_property
    def renders(self) -> Table[v.Render]:
        return self._table(lambda pack: pack.render, lambda e: e.calls)

    @cached_property
    def returns(self) -> Table[v.Returns]:
        return self._table(lambda pack: pack.returns, lambda e: e.calls)

    @cached_property
    def returned_attributes(self) -> Table[v.Returns]:
        return self._table(lambda pack: pack.returns, lambda e: e.attributes)

    @cached_property
    def http_clients(self) -> Table[v.HttpClient]:
        return self._table(lambda pack: pack.http_client, lambda e: e.calls)

    @cached_property
    def trigger_decorators(self) -> Table[v.Trigger]:
        return self._table(lambda pack: pack.trigger, lambda e: e.decorators)

    @cached_property
    def trigger_registers(self) -> Table[v.Trigger]:
        return self._table(lambda pack: pack.trigger, lambda e: e.registers)

    @cached_property
    def trigger_bases(self) -> Table[v.Trigger]:
        return self._table(lambda pack: pack.trigger, lambda e: e.bases)

    @cached_property
    def job_decorators(self) -> Table[v.Job]:
        return self._table(lambda pack: pack.job, lambda e: e.decorators)

    @cached_property
    def enqueues(self) -> Table[v.Enqueue]:
        return self._table(lambda pack: pack.enqueue, lambda e: e.calls)

    @cached_property
    def invokes(self) -> Table[v.Invoke]:
        return self._table(lambda pack: pack.invoke, lambda e: e.calls)

    @cached_property
    def signals(self) -> Table[v.Signal]:
        return self._table(lambda pack: pack.signal, lambda e: e.signals)

    @cached_property
    def signal_sends(self) -> Table[v.Signal]:
        return self._table(lambda pack: pack.signal, lambda e: e.sends)

    @cached_property
    def connect_decorators(self) -> Table[v.Connect]:
        return self._table(lambda pack: pack.connect, lambda e: e.decorators)

    @cached_property
    def connect_registers(self) -> Table[v.Connect]:
        return self._table(lambda pack: pack.connect, lambda e: e.registers)

    @cached_property
    def transaction_contexts(self) -> Table[v.Transaction]:
        return self._table(lambda pack: pack.transaction, lambda e: e.contexts)

    @cached_property
    def transaction_decorators(self) -> Table[v.Transaction]:
        return self._table(lambda pack: pack.transaction, lambda e: e.decorators)

    @cached_property
    def transaction_begins(self) -> Table[v.Transaction]:
        return self._table(lambda pack: pack.transaction, lambda e: e.begins)

    @cached_property
    def transaction_writes(self) -> Table[v.Transaction]:
        return self._table(lambda pack: pack.transaction, lambda e: e.writes)

    @cached_property
    def transaction_commits(self) -> Table[v.Transaction]:
        return self._table(lambda pack: pack.transaction, lambda e: e.commits)

    @cached_property
    def transaction_rollbacks(self) -> Table[v.Transaction]:
        return self._table(lambda pack: pack.transaction, lambda e: e.rollbacks)

    @cached_property
    def transaction_covers(self) -> Table[v.Transaction]:
        return self._table(lambda pack: pack.transaction, lambda e: e.covers)

    @cached_property
    def transaction_exempts(self) -> Table[v.Transaction]:
        return self._table(lambda pack: pack.transaction, lambda e: e.exempts)

    @cached_property
    def claims(self) -> Table[v.Claim]:
        return self._table(lambda pack: pack.claim, lambda e: e.calls)

    @cached_property
    def look_alikes(self) -> Table[v.LookAlike]:
        return self._table(lambda pack: pack.look_alike, lambda e: e.calls)

    @cached_property
    def uniques(self) -> Table[v.Unique]:
        return self._table(lambda pack: pack.unique, lambda e: e.columns + e.constraints + e.foreign)

    @cached_property
    def repeats(self) -> Table[v.Repeat]:
        return self._table(lambda pack: pack.repeat, lambda e: e.decorators + e.calls)

    @cached_property
    def logs(self) -> Table[v.Log]:
        return self._table(lambda pack: pack.log, lambda e: e.calls)

    @cached_property
    def trigger_functions(self) -> Table[v.Trigger]:
        """Keyed by `path glob::name`, as written."""
        return _verbatim((pack, entry, entry.functions) for pack in self.packs for entry in pack.trigger)

    @cached_property
    def transaction_includes(self) -> Table[v.Transaction]:
        """Keyed by call with its literal argument, as written: `pyramid.config.Configurator().include(pyramid_tm)`."""
        return _verbatim((pack, entry, entry.includes) for pack in self.packs for entry in pack.transaction)

    @cached_property
    def transaction_settings(self) -> Table[v.Transaction]:
        """Keyed by the path of a setting."""
        return _verbatim((pack, entry, entry.settings) for pack in self.packs for entry in pack.transaction)

    @cached_property
    def https(self) -> Table[v.Http]:
        """Keyed by host name, as written (a leading `*.` stands for any sub-domain)."""
        return _verbatim((pack, entry, entry.hosts) for pack in self.packs for entry in pack.http)

    @cached_property
    def webhooks(self) -> tuple[tuple[v.Pack, v.Webhook], ...]:
        """All signs of webhooks."""
        return tuple((pack, entry) for pack in self.packs for entry in pack.webhook)

    # -------------------------------------------------------------- words

    @cached_property
    def words(self) -> frozenset[str]:
        """Identifiers of which a file mentions at least one if it names a provider: seeds for the index.

        Those are the names in the shapes of sends, without the words that everybody uses; a shape
        of nothing but such words gives the import root it starts with. A host gives its own names.
        """
        shapes = {shape for pack in self.packs for entry in pack.send for shape in entry.calls}
        hosts = {_host_word(host) for pack in self.packs for entry in pack.http for host in entry.hosts}
        return frozenset(hosts).union(*map(_shape_words, shapes))

    @staticmethod
    def roots(pack: v.Pack) -> frozenset[str]:
        """Import roots that show that a library is used."""
        dotted = [name for name in (*shapes_of(pack), *pack.alias) if "." in name]
        return frozenset(pack.words or (name.partition(".")[0] for name in dotted))


def _verbatim(entries: Iterable[tuple[v.Pack, Entry, Iterable[str]]]) -> Table[Entry]:
    table: dict[str, tuple[tuple[v.Pack, Entry], ...]] = {}
    for pack, entry, keys in entries:
        for key in keys:
            table[key] = (*table.get(key, ()), (pack, entry))
    return table


def _shape_words(shape: str) -> frozenset[str]:
    root, _, rest = shape.partition(".")
    # Modules in front of the class or function say nothing that its own name does not.
    first = re.search(r"(?:^|\.)(\w+)(?:[(\[]|$)", rest)
    names = re.findall(r"\w+", rest[first.start() :]) if first else []
    telling = frozenset(name for name in names if name not in _COMMON and _TELLING.search(name))
    return telling or frozenset({root.partition("(")[0]})


def _host_word(host: str) -> str:
    """The name that was registered: `postmarkapp` of `api.postmarkapp.com`."""
    return host.split(".")[-2]
