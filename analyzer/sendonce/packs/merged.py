"""The merged packs: names in their documented place, ancestors of library classes, words for the index."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from sendonce import vocabulary as v
from sendonce.packs.checking import shapes_of
from sendonce.packs.tables import Entry, Table, Tables

_COMMON = frozenset(
    {
        "AbstractModel",
        "Account",
        "BaseModel",
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
        "Service",
        "Template",
        "TransientModel",
        "User",
        "api",
        "client",
        "email",
        "emails",
        "mail",
        "mailbox",
        "message",
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
    own: bool = False
    """Whether it is the user's, not a shipped one."""


@dataclass(frozen=True)
class Packs(Tables):
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

    @cached_property
    def implements(self) -> frozenset[str]:
        """Class decorators whose arguments are further bases."""
        return frozenset(self.canonical(name) for pack in self.packs for name in pack.implements)

    @cached_property
    def schedules(self) -> frozenset[str]:
        """Calls that make a schedule."""
        return frozenset(self.canonical(shape) for pack in self.packs for shape in pack.schedules)

    @cached_property
    def schedule_names(self) -> frozenset[str]:
        """The names under which decorators of jobs take a schedule."""
        found = (one.partition("|")[0] for pack in self.packs for job in pack.job for one in job.schedule)
        return frozenset(filter(None, found))

    @cached_property
    def implied(self) -> dict[str, str]:
        """Prefix of calls in the body of a class to the library class that it must be."""
        return {prefix: self.canonical(base) for pack in self.packs for prefix, base in pack.implied.items()}

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

    @cached_property
    def declared(self) -> frozenset[str]:
        """What the user's packs speak of: where the tree defines it, it is taken as declared and not looked into."""
        own = (shape for file in self.files if file.own for shape in shapes_of(file.pack))
        return frozenset(map(self.canonical, own))

    @cached_property
    def declared_classes(self) -> frozenset[str]:
        """The classes of which the user's packs name a method."""
        return frozenset(shape.partition("()")[0] for shape in self.declared if "()." in shape)

    # -------------------------------------------------------------- words

    @cached_property
    def words(self) -> frozenset[str]:
        """Identifiers of which a file mentions at least one if it names a provider: seeds for the index.

        Those are the names in the shapes of sends, without the words that everybody uses; a shape
        of nothing but such words gives the import root it starts with. A host gives its own names.
        """
        hosts = {_host_word(host) for host in self.https}
        return frozenset(hosts).union(*map(_shape_words, self.sends), self._sender_words)

    @property
    def _sender_words(self) -> frozenset[str]:
        """Other names of classes with a sending method: subclasses and aliases."""
        senders = {shape.partition("()")[0] for shape in self.sends if "()" in shape}
        names = {name for name in self._parents if not senders.isdisjoint(self.bases(name))}
        names |= {name for name, target in self.alias.items() if self.canonical(target) in senders}
        last = (name.rpartition(".")[2] for name in names)
        return frozenset(name for name in last if name not in _COMMON and _TELLING.search(name))

    @staticmethod
    def roots(pack: v.Pack) -> frozenset[str]:
        """Import roots that show that a library is used."""
        dotted = [name for name in (*shapes_of(pack), *pack.alias) if "." in name]
        return frozenset(pack.words or (name.partition(".")[0] for name in dotted))


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
