"""The schema of a pack: all that one TOML file may hold."""

from __future__ import annotations

import msgspec

from sendonce.vocabulary.claims import Claim, LookAlike
from sendonce.vocabulary.jobs import Enqueue, Error, Invoke, Job, Repeat, Setting
from sendonce.vocabulary.mail import Http, HttpClient, Message, Render, Send
from sendonce.vocabulary.requests import Answer, Effect, Log, RequestKey, Validation
from sendonce.vocabulary.signals import Change, Connect, Signal
from sendonce.vocabulary.stores import Store, Transaction, Unique
from sendonce.vocabulary.triggers import Approval, Probe, Trigger, Webhook
from sendonce.vocabulary.values import ModelOf, Relation, Returns, Service, Unstable


class Pack(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One library."""

    name: str
    packages: tuple[str, ...] = ()
    """Distributions it comes from; empty for the standard library and conventions."""
    words: tuple[str, ...] = ()
    """Import roots that show the library is used; by default the first part of every shape."""
    verified: str = ""
    """Where the facts were read: package and versions, or documentation."""
    notes: tuple[str, ...] = ()
    alias: dict[str, str] = {}
    """Dotted prefix (or prefix of a shape, `flask_sqlalchemy.SQLAlchemy().Column`) to the documented place of the same
    thing."""
    bases: dict[str, tuple[str, ...]] = {}
    """Library class to its base classes, where a rule needs them."""
    transport: tuple[str, ...] = ()
    """Import roots of the packages whose errors its sends let through."""
    schedules: tuple[str, ...] = ()
    """Calls that make a schedule (`crontab(minute=0)`): a function under a decorator that is given one runs then."""
    implied: dict[str, str] = {}
    """Prefix of calls that give a class its attributes (`django.db.models.`) to the library class that it then
    inherits from, where no pack knows its bases."""
    staff: tuple[str, ...] = ()
    """Values that hold addresses of the site's own staff (`django.conf.settings.ADMINS`)."""
    implements: tuple[str, ...] = ()
    """Class decorators whose arguments are further bases (`zope.interface.implementer`)."""
    send: tuple[Send, ...] = ()
    message: tuple[Message, ...] = ()
    http: tuple[Http, ...] = ()
    http_client: tuple[HttpClient, ...] = ()
    render: tuple[Render, ...] = ()
    returns: tuple[Returns, ...] = ()
    trigger: tuple[Trigger, ...] = ()
    webhook: tuple[Webhook, ...] = ()
    job: tuple[Job, ...] = ()
    enqueue: tuple[Enqueue, ...] = ()
    invoke: tuple[Invoke, ...] = ()
    signal: tuple[Signal, ...] = ()
    connect: tuple[Connect, ...] = ()
    transaction: tuple[Transaction, ...] = ()
    claim: tuple[Claim, ...] = ()
    look_alike: tuple[LookAlike, ...] = ()
    unique: tuple[Unique, ...] = ()
    repeat: tuple[Repeat, ...] = ()
    error: tuple[Error, ...] = ()
    setting: tuple[Setting, ...] = ()
    service: tuple[Service, ...] = ()
    relation: tuple[Relation, ...] = ()
    model: tuple[ModelOf, ...] = ()
    store: tuple[Store, ...] = ()
    change: tuple[Change, ...] = ()
    unstable: tuple[Unstable, ...] = ()
    validation: tuple[Validation, ...] = ()
    approval: tuple[Approval, ...] = ()
    answer: tuple[Answer, ...] = ()
    effect: tuple[Effect, ...] = ()
    request_key: tuple[RequestKey, ...] = ()
    probe: tuple[Probe, ...] = ()
    log: tuple[Log, ...] = ()
