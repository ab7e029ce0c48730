"""What applications remember: transactions, rows, keys and unique constraints."""

from __future__ import annotations

from typing import Literal

from sendonce.vocabulary.entry import Entry, Kind, Scalar


class Transaction(Entry, frozen=True, kw_only=True):
    """What opens a database transaction: a context manager, a decorator, a pair of calls, or a whole request."""

    contexts: tuple[str, ...] = ()
    decorators: tuple[str, ...] = ()
    begins: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    """Calls after which a unit of work has something to commit (`session.add`, `flush`)."""
    rows: tuple[str, ...] = ()
    """Classes of rows: an attribute set on a loaded one is such a write."""
    statements: tuple[str, ...] = ()
    """Calls that run a statement, such as `session.execute`: they are such a write if the statement writes."""
    commits: tuple[str, ...] = ()
    rollbacks: tuple[str, ...] = ()
    settings: dict[str, Scalar] = {}
    """Settings that put every request in a transaction: `"DATABASES/*/ATOMIC_REQUESTS" = true`."""
    includes: tuple[str, ...] = ()
    """Calls with a literal argument that do so: `pyramid.config.Configurator().include(pyramid_tm)`."""
    covers: tuple[str, ...] = ()
    """Methods of framework classes that run in the framework's own transaction: `Class().method`."""
    exempts: tuple[str, ...] = ()
    """Decorators that take one view out of it."""
    kinds: tuple[Kind, ...] = ()
    """Kinds of trigger that `settings` and `includes` wrap; none is controllers and webhooks."""
    savepoints: tuple[str, ...] = ()
    """Contexts that only save a point inside an open transaction: their end commits nothing."""
    autocommits: tuple[str, ...] = ()
    """Options or attributes which, when true, leave every statement its own transaction."""


class Store(Entry, frozen=True, kw_only=True):
    """How a library reads and writes what the application remembers: rows of a model, or values under a key."""

    kind: Literal["rows", "keys"] = "rows"
    reads: tuple[str, ...] = ()
    """Plain reads, with no claim: `exists()`, `first()`, `cache.get`."""
    selects: tuple[str, ...] = ()
    """Calls whose arguments narrow a query; what they test is what a mark must change."""
    excludes: tuple[str, ...] = ()
    inserts: tuple[str, ...] = ()
    """Make a row: its fields are the keyword arguments, or those of the object in `object`."""
    updates: tuple[str, ...] = ()
    """Change fields of the rows selected."""
    saves: tuple[str, ...] = ()
    """Write the attributes of the receiver (or `object`); `only` names the argument that limits them."""
    deletes: tuple[str, ...] = ()
    finds: tuple[str, ...] = ()
    """Those of `reads` that raise, or leave the function, where there is no such row."""
    named: tuple[str, ...] = ()
    """Methods among the above that tell by their names alone, on an object of which nothing is known."""
    key: tuple[str, ...] = ()
    object: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    distinct: tuple[str, ...] = ()
    """Calls after which no row comes twice."""
    groups: tuple[str, ...] = ()
    """Calls on chosen columns (`values_list("state").distinct`) that give what the rows have in them, each once."""
    joins: tuple[str, ...] = ()
    """Calls after which a row may come twice."""
    makes: tuple[str, ...] = ()
    """Methods of a model's class that make a row as its constructor does, from dicts or objects with its fields."""
    collections: tuple[str, ...] = ()
    """Objects that stand for the rows of one table, under whose name they are reached: `pymongo.Collection()`."""


class Unique(Entry, frozen=True, kw_only=True):
    """How a library declares a unique constraint on the fields of a model."""

    fields: dict[str, Scalar] = {}
    """Keyword arguments of a column or field: `unique = true`, `primary_key = true`."""
    columns: tuple[str, ...] = ()
    """Calls that make a column or field."""
    optional: tuple[str, ...] = ()
    """Arguments of such a call with which a row need not be given the column: `default`, `nullable`."""
    constraints: tuple[str, ...] = ()
    """Calls that make a constraint over several fields, given by name or in `fields=`."""
    when: dict[str, Scalar] = {}
    nested: tuple[str, ...] = ()
    """Classes inside a model whose attributes are its options: `Meta`."""
    meta: tuple[str, ...] = ()
    """Names in such a class with field tuples."""
    options: tuple[str, ...] = ()
    """Class attributes of a model in which constraints stand: `__table_args__`."""
    mappings: tuple[str, ...] = ()
    """Such attributes with dicts inside: one that has what `when` says is a constraint over the fields in `names`."""
    keyed: tuple[str, ...] = ()
    """Base classes whose models have a primary key `id` that they need not declare."""
    foreign: tuple[str, ...] = ()
    """Calls whose one field is unique by itself (`OneToOneField`)."""
    names: tuple[str, ...] = ()
    """Arguments of `constraints` with the field names; text that names no field does not count."""
    model: tuple[str, ...] = ()
    """Argument with the model's or table's name, where the call stands outside the model (migrations)."""
    statement: tuple[str, ...] = ()
    """Argument of `constraints` with SQL text (`CREATE UNIQUE INDEX … ON table (a, b)`)."""
    table: tuple[str, ...] = ()
    """Class attributes that name the model's table."""
    partial: tuple[str, ...] = ()
    """Arguments that limit the constraint to some rows."""
