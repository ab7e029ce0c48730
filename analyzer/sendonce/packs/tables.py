"""The look-up tables of packs: from a shape (or another key) to the entries that name it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from sendonce import vocabulary as v

Entry = TypeVar("Entry")
Table = Mapping[str, tuple[tuple[v.Pack, Entry], ...]]
"""Key to the entries that name it, each with its pack, in the order of the packs and of their entries."""


class Lookup(Generic[Entry]):
    """A table over the keys in some fields of one kind of entry, made when it is first read.

    Shapes are put in their documented place, other keys (`verbatim`) are kept as written.
    """

    def __init__(self, entries: str, *fields: str, verbatim: bool = False) -> None:
        self.entries = entries
        self.fields = fields
        self.verbatim = verbatim

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, packs: Tables, owner: type | None = None) -> Table[Entry]:
        table: dict[str, tuple[tuple[v.Pack, Entry], ...]] = {}
        for pack in packs.packs:
            for entry in getattr(pack, self.entries):
                for key in dict.fromkeys(self._keys(entry, packs)):
                    table[key] = (*table.get(key, ()), (pack, entry))
        packs.__dict__[self.name] = table
        return table

    def _keys(self, entry: Entry, packs: Tables) -> Iterator[str]:
        for field in self.fields:
            for key in getattr(entry, field):
                yield key if self.verbatim else packs.canonical(key)


class Tables:
    """One table for each kind of question; the names say the entry and its field."""

    @property
    def packs(self) -> tuple[v.Pack, ...]:
        """The packs, by section and name."""
        raise NotImplementedError

    def canonical(self, dotted: str) -> str:
        """A name or shape in its documented place."""
        raise NotImplementedError

    sends: Lookup[v.Send] = Lookup("send", "calls")
    messages: Lookup[v.Message] = Lookup("message", "calls")
    renders: Lookup[v.Render] = Lookup("render", "calls")
    https: Lookup[v.Http] = Lookup("http", "hosts", verbatim=True)
    http_clients: Lookup[v.HttpClient] = Lookup("http_client", "calls")
    effects: Lookup[v.Effect] = Lookup("effect", "calls")
    returns: Lookup[v.Returns] = Lookup("returns", "calls")
    returned_attributes: Lookup[v.Returns] = Lookup("returns", "attributes")

    trigger_decorators: Lookup[v.Trigger] = Lookup("trigger", "decorators")
    trigger_registers: Lookup[v.Trigger] = Lookup("trigger", "registers")
    trigger_bases: Lookup[v.Trigger] = Lookup("trigger", "bases")
    trigger_functions: Lookup[v.Trigger] = Lookup("trigger", "functions", verbatim=True)
    trigger_settings: Lookup[v.Trigger] = Lookup("trigger", "settings", verbatim=True)
    trigger_starts: Lookup[v.Trigger] = Lookup("trigger", "starts")

    job_decorators: Lookup[v.Job] = Lookup("job", "decorators")
    job_bases: Lookup[v.Job] = Lookup("job", "bases")
    job_again: Lookup[v.Job] = Lookup("job", "again")
    enqueues: Lookup[v.Enqueue] = Lookup("enqueue", "calls")
    invokes: Lookup[v.Invoke] = Lookup("invoke", "calls")
    signals: Lookup[v.Signal] = Lookup("signal", "signals")
    signal_sends: Lookup[v.Signal] = Lookup("signal", "sends")
    signal_fires: Lookup[v.Signal] = Lookup("signal", "fires")
    connect_decorators: Lookup[v.Connect] = Lookup("connect", "decorators")
    connect_registers: Lookup[v.Connect] = Lookup("connect", "registers")
    connect_hooks: Lookup[v.Connect] = Lookup("connect", "hooks", verbatim=True)

    transaction_contexts: Lookup[v.Transaction] = Lookup("transaction", "contexts")
    transaction_decorators: Lookup[v.Transaction] = Lookup("transaction", "decorators")
    transaction_begins: Lookup[v.Transaction] = Lookup("transaction", "begins")
    transaction_writes: Lookup[v.Transaction] = Lookup("transaction", "writes")
    transaction_statements: Lookup[v.Transaction] = Lookup("transaction", "statements")
    transaction_commits: Lookup[v.Transaction] = Lookup("transaction", "commits")
    transaction_rollbacks: Lookup[v.Transaction] = Lookup("transaction", "rollbacks")
    transaction_savepoints: Lookup[v.Transaction] = Lookup("transaction", "savepoints")
    transaction_covers: Lookup[v.Transaction] = Lookup("transaction", "covers")
    transaction_exempts: Lookup[v.Transaction] = Lookup("transaction", "exempts")
    transaction_settings: Lookup[v.Transaction] = Lookup("transaction", "settings", verbatim=True)
    transaction_includes: Lookup[v.Transaction] = Lookup("transaction", "includes", verbatim=True)

    claims: Lookup[v.Claim] = Lookup("claim", "calls")
    claim_runs: Lookup[v.Claim] = Lookup("claim", "runs")
    claim_releases: Lookup[v.Claim] = Lookup("claim", "releases")
    look_alikes: Lookup[v.LookAlike] = Lookup("look_alike", "calls")
    uniques: Lookup[v.Unique] = Lookup("unique", "columns", "constraints", "foreign")
    stores: Lookup[v.Store] = Lookup(
        "store", "reads", "selects", "excludes", "inserts", "updates", "saves", "deletes", "distinct", "joins"
    )
    store_reads: Lookup[v.Store] = Lookup("store", "reads")
    store_finds: Lookup[v.Store] = Lookup("store", "finds")
    store_selects: Lookup[v.Store] = Lookup("store", "selects")
    store_excludes: Lookup[v.Store] = Lookup("store", "excludes")
    store_inserts: Lookup[v.Store] = Lookup("store", "inserts")
    store_updates: Lookup[v.Store] = Lookup("store", "updates")
    store_saves: Lookup[v.Store] = Lookup("store", "saves")
    store_deletes: Lookup[v.Store] = Lookup("store", "deletes")
    store_distinct: Lookup[v.Store] = Lookup("store", "distinct")
    store_groups: Lookup[v.Store] = Lookup("store", "groups")
    store_joins: Lookup[v.Store] = Lookup("store", "joins")
    store_makes: Lookup[v.Store] = Lookup("store", "makes")
    store_collections: Lookup[v.Store] = Lookup("store", "collections")
    relations: Lookup[v.Relation] = Lookup("relation", "calls")
    model_classes: Lookup[v.ModelOf] = Lookup("model", "classes")
    model_decorators: Lookup[v.ModelOf] = Lookup("model", "decorators")
    model_registers: Lookup[v.ModelOf] = Lookup("model", "registers")
    changes: Lookup[v.Change] = Lookup("change", "calls", "attributes")
    unstables: Lookup[v.Unstable] = Lookup("unstable", "calls", "attributes")

    repeats: Lookup[v.Repeat] = Lookup("repeat", "decorators", "calls")
    repeat_loops: Lookup[v.Repeat] = Lookup("repeat", "loops")
    repeat_clients: Lookup[v.Repeat] = Lookup("repeat", "clients")
    settings: Lookup[v.Setting] = Lookup("setting", "names", verbatim=True)
    approvals: Lookup[v.Approval] = Lookup("approval", "calls")
    answers: Lookup[v.Answer] = Lookup("answer", "calls")
    logs: Lookup[v.Log] = Lookup("log", "calls")
    log_binds: Lookup[v.Log] = Lookup("log", "binds")

    @property
    def webhooks(self) -> tuple[tuple[v.Pack, v.Webhook], ...]:
        """All signs of webhooks."""
        return tuple((pack, entry) for pack in self.packs for entry in pack.webhook)

    @property
    def probes(self) -> tuple[tuple[v.Pack, v.Probe], ...]:
        """All signs of tests of one message."""
        return tuple((pack, entry) for pack in self.packs for entry in pack.probe)
