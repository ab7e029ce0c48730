"""Where runs start, and what tells one kind of run from another."""

from __future__ import annotations

from sendonce.vocabulary.entry import Entry, Kind, Scalar


class Trigger(Entry, frozen=True, kw_only=True):
    """Where a run starts. One of `decorators`, `registers`, `bases`, `functions`."""

    kind: Kind
    decorators: tuple[str, ...] = ()
    registers: tuple[str, ...] = ()
    """Calls that are given the handler in `handler` (a function, a class, `View.as_view()`, a dotted string)."""
    handler: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    """Methods of subclasses of `bases` (or of a registered or decorated class) that the framework calls; `*` is
    a wildcard at the end."""
    attributes: dict[str, tuple[str, ...]] = {}
    """Class attributes that name a class whose methods the framework calls:
    `serializer_class = ["create", "update"]`."""
    gates: dict[str, tuple[str, ...]] = {}
    """Class attributes that list classes which decide whether a request may pass, and the methods that do it:
    `permission_classes = ["has_permission"]`."""
    functions: tuple[str, ...] = ()
    """Project functions known by convention: `path glob::name`, such as
    `*/management/commands/*.py::Command.handle`."""
    settings: tuple[str, ...] = ()
    """Paths into values that name handlers: of a module constant (`CELERY_BEAT_SCHEDULE/*/task`) or of an
    assigned attribute (`celery.Celery().conf.beat_schedule/*/task`). `detail` then holds sibling keys."""
    lists: tuple[str, ...] = ()
    """Class attributes of `bases` that list handlers: functions, or names of methods (the admin's `actions`)."""
    starts: tuple[str, ...] = ()
    """Calls that start the scheduler in this process; without one its jobs run nowhere here."""
    blocks: tuple[str, ...] = ()
    """Those of `starts` that never return: they have a process of their own."""
    shares: tuple[str, ...] = ()
    """Arguments of `starts` (`"receiver:data_store|0"`) with a store through which schedulers take turns."""
    around: bool = False
    """Runs around the handlers of requests (middleware): outside a transaction that a setting puts them in."""
    decided: bool = True
    """A language model decides that it runs (`agent_tool`)."""
    startup: bool = False
    """Runs once in every process of the web application, when it starts."""
    parameters: dict[str, str] = {}
    """What the handler's parameters (`"obj|1"`, `self` not counted) are: "element" or "collection" of the model,
    "class:receiver/form_class" (with `()`: made without a row, with `(instance)`: made with one as that argument;
    after " or " a library's class that stands in, working on the model), or an instance, `library.Class()`."""
    saves: tuple[str, ...] = ()
    """Those of `methods` that run at every save of a row, not only at the first."""
    detail: tuple[str, ...] = ()
    """Arguments of the decorator or register call that say which route, schedule or event."""
    when: dict[str, Scalar] = {}
    per_process: bool = False
    reserves: str = ""
    """What the framework stores under a unique key before it calls the handler, and leaves if it is there."""


class Webhook(Entry, frozen=True, kw_only=True):
    """Signs that a controller is a webhook. `verifies` and `headers` are sure; `words` need a whole word of name
    or route."""

    verifies: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    weak_words: tuple[str, ...] = ()
    """Words that count only beside a second sign (a raw body read, a csrf exemption)."""
    signs: tuple[str, ...] = ()
    """Calls that make a signature: in what decides whether a request may pass they are as sure as `verifies`.
    Beside `verifies` they are needed too, but in what decides so."""
    people: tuple[str, ...] = ()
    """Decorators, base classes and gates that let a logged-in person pass: such a page only manages webhooks."""
    managing: tuple[str, ...] = ()
    """Words beside `words` in a name that say so too (`test_webhook`, `WebhookListView`)."""
    exempts: tuple[str, ...] = ()
    """Decorators and reads that are that second sign."""
    event_id: tuple[str, ...] = ()


class Approval(Entry, frozen=True, kw_only=True):
    """A step at which a person releases what an agent wants to do, and values the framework puts in, not the model."""

    calls: tuple[str, ...] = ()
    options: dict[str, Scalar] = {}
    """Options of the tool's decorator or constructor."""
    injected: tuple[str, ...] = ()
    """Annotations of parameters that the framework fills in."""
    names: tuple[str, ...] = ()
    """Arguments of `calls` that name the tools before which a person is asked: keys of a dict, items of a list."""
    every: tuple[str, ...] = ()
    """Names among these that stand for all tools."""
    words: tuple[str, ...] = ()
    """Parts of names of what a test asks, by which a person's word is told."""


class Probe(Entry, frozen=True, kw_only=True):
    """What a test of one message uses: outboxes that count, calls that run a trigger, words of its name."""

    outboxes: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    clears: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
