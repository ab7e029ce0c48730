"""The shape of a rule pack: what can be said about a library, as data.

A pack is one TOML file of `rules/`. `Pack` below is its schema; `packs.py` reads, checks and merges
packs. Two small notations are used everywhere:

*Shape*: how a call looks to the linker, a dotted name in which `()` means "an instance of" or "what
the call returns", `[]` an item of it: `django.core.mail.send_mail`, `smtplib.SMTP().sendmail`,
`celery.Celery().task`. A shape names a class where that class is documented; `alias` maps the other
places it can be imported from, and `bases` names the library's own subclasses. A method shape
also matches on instances of project classes that inherit from the class.

*Argument*: `"name|1"` is the keyword `name` or the positional argument 1 (from 0, the receiver not
counted), `"name"` is keyword only, `"|1"` positional only, `"|*"` every positional argument and `"|1*"` those
from 1 on; `/key/sub` goes into dicts (`"params|0/subject"`), into attributes, and to the arguments of the call
that made an object (`"retry/max"` for `retry=Retry(max=3)`), `/0` to an item and `/*` to every item of a list,
tuple or dict; `"receiver"` is the object before the dot, `"receiver:tasks|0"` an argument of the call that made it.
A list of arguments is tried in order; where several jobs or functions may stand, all of it counts.

*Options* (`when`, `unique`, `retries`, …): a constant that the argument must have; `"*"` is any value but
None and False, `"?"` an absent argument. Where two claims, enqueues or returns match one call, the one with
more conditions wins; triggers and invokes add up.
"""

from __future__ import annotations

from typing import Literal, Union

import msgspec

Scalar = Union[bool, int, str, None]
Win = Literal["truthy", "falsy", "not_none", "is_none", "created", "no_exception", "held", "rows", "first"]
Kind = Literal["controller", "webhook", "model_callback", "cron", "job", "admin", "command", "agent_tool"]
Scope = Literal["shared", "host", "process", "cache"]


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    note: str = ""
    example: str = ""
    """A few lines of Python in which this entry matches (`# hit` ends the line); the packs' tests run it."""


class Content(_Entry, frozen=True, kw_only=True):
    """Where the content of a message stands in the arguments of a call."""

    template: tuple[str, ...] = ()
    """Arguments that name a template file or a provider's template."""
    template_id: tuple[str, ...] = ()
    subject: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    """Bodies: a rendered template inside them names the mail."""
    recipient: tuple[str, ...] = ()
    message: tuple[str, ...] = ()
    """Arguments that hold a message object (see `Message`), or a list of them."""
    default_template: str = ""
    """The library's own template, which names the mail when the call gives none; `{method}` is the called method."""


class Send(Content, frozen=True, kw_only=True):
    """A provider send: a call that hands a message to a mail provider or server."""

    calls: tuple[str, ...]
    when: dict[str, Scalar] = {}
    """Arguments (in argument notation) that must be constants with these values."""
    internal: bool = False
    """Mail to the site's own staff (`mail_admins`)."""
    bulk: bool = False
    delivery: Literal["now", "stored", "after_commit"] = "now"
    """`stored`: a row of the application's own database that a later run sends; `after_commit`: leaves on commit."""
    key: tuple[str, ...] = ()
    """Arguments that take an idempotency key the provider honours."""
    retries: bool = False
    """The SDK itself repeats the request after an error."""
    addresses: tuple[str, ...] = ()
    """The library sends more than mail: a text given to the receiver must start like one of these (`mailto:`)."""


class Message(Content, frozen=True, kw_only=True):
    """A constructor or factory of message objects. `fields` are attributes or items set later that carry content."""

    calls: tuple[str, ...]
    fields: dict[str, Literal["template", "template_id", "subject", "text", "recipient"]] = {}
    """`"template_id" = "template_id"` for `m.template_id = …`; `"[Subject]" = "subject"` for `m["Subject"] = …`."""
    methods: dict[str, Content] = {}
    """Methods that add content: `attach_alternative = {text = ["content|0"]}`."""


class Http(Content, frozen=True, kw_only=True):
    """A provider's HTTP API, as raw posts reach it. Arguments are paths into the body: `"/TemplateId"`."""

    hosts: tuple[str, ...]
    """Host names; a leading `*.` allows any sub-domain."""
    paths: tuple[str, ...] = ()
    """Regular expressions searched in the URL's path; none allows any path. Holes of f-strings read as `{}`."""
    key_header: str = ""
    key: tuple[str, ...] = ()
    """Paths in the body that take an idempotency key."""


class HttpClient(_Entry, frozen=True, kw_only=True):
    """Calls that post to a URL (requests, httpx, aiohttp, urllib …)."""

    calls: tuple[str, ...]
    url: tuple[str, ...]
    body: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    base: tuple[str, ...] = ()
    """Arguments of the client's own constructor that hold a base URL."""
    request: tuple[str, ...] = ()
    """Arguments that may hold a request object made by an entry with `builds`: URL, body and headers are then
    its own."""
    builds: bool = False
    """Only makes a request object, which another call sends."""
    when: dict[str, Scalar] = {}


class Render(_Entry, frozen=True, kw_only=True):
    """A call that renders a template, or returns a template object that does: it names the mail it ends up in."""

    calls: tuple[str, ...]
    template: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    """Arguments that hold the template's text itself: the name of that constant names the mail."""


class Returns(_Entry, frozen=True, kw_only=True):
    """What a call (or, with `attribute`, an attribute) gives.

    Exactly one of: `type` (a class shape without `()`: an instance of it), `value`:
    "receiver": the object itself; "element": an item of the collection; "argument|0": that argument;
    "class:klass|0": an instance of the class given there; "element:klass|0": an item of the class or
    collection given there; "collection:entity|0": a collection of instances of that class; "pair": an item and
    whether it is new; "model": the class of the items; "library:a.B": the library's own class a.B;
    "setting:NAME": the class that a setting names; "named:name|0": the class of that name; "text:message|0": the
    text given there; "never": the call does not return, it raises.
    """

    calls: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    when: dict[str, Scalar] = {}
    type: str = ""
    value: str = ""
    keeps_model: bool = False
    """The result is a collection of the receiver's model (Django querysets, SQLAlchemy results)."""
    binds: bool = False
    """The call's other arguments are bound in front, as `partial` does (`task.s(1)`)."""


class Trigger(_Entry, frozen=True, kw_only=True):
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
    functions: tuple[str, ...] = ()
    """Project functions known by convention: `path glob::name`, such as
    `*/management/commands/*.py::Command.handle`."""
    settings: tuple[str, ...] = ()
    """Paths into values that name handlers: of a module constant (`CELERY_BEAT_SCHEDULE/*/task`) or of an
    assigned attribute (`celery.Celery().conf.beat_schedule/*/task`). `detail` then holds sibling keys."""
    lists: tuple[str, ...] = ()
    """Class attributes of `bases` that list handlers: functions, or names of methods (the admin's `actions`)."""
    marked: tuple[str, ...] = ()
    """Attributes that, set true on a function, make it a handler."""
    starts: tuple[str, ...] = ()
    """Calls that start the scheduler in this process; without one its jobs run nowhere here."""
    blocks: tuple[str, ...] = ()
    """Those of `starts` that never return: they have a process of their own."""
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


class Webhook(_Entry, frozen=True, kw_only=True):
    """Signs that a controller is a webhook. `verifies` and `headers` are sure; `words` need a whole word of name
    or route."""

    verifies: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    weak_words: tuple[str, ...] = ()
    """Words that count only beside a second sign (a raw body read, a csrf exemption)."""
    exempts: tuple[str, ...] = ()
    """Decorators and reads that are that second sign."""
    event_id: tuple[str, ...] = ()


class Job(_Entry, frozen=True, kw_only=True):
    """A decorator (or wrapping call) that makes a function a background job, and what the queue does with it."""

    decorators: tuple[str, ...]
    type: str
    """The class of the job object, whose methods the `Enqueue` entries name."""
    name: tuple[str, ...] = ()
    """Arguments that rename the job."""
    base: tuple[str, ...] = ()
    """Arguments that name the job's class (`base=`, the app's `task_cls=`)."""
    call: Literal["inline", "enqueue"] = "inline"
    """What calling the job object as a function does."""
    bound: tuple[str, ...] = ()
    """Arguments which, when true, put the job object in as first parameter (`bind=True`)."""
    first: int = 0
    """How many leading parameters the queue fills in (arq's `ctx`)."""
    retries: dict[str, Scalar] = {}
    """Options of the decorator that make the queue repeat a failed run; the value is the default."""
    retries_by_default: bool = False
    redelivers: dict[str, Scalar] = {}
    redelivers_by_default: bool = False
    """A run whose worker is lost is run again without being asked to."""
    schedule: tuple[str, ...] = ()
    """Arguments with a schedule: the job is cron (`periodic_task(crontab(…))`)."""
    bases: tuple[str, ...] = ()
    """Classes whose project subclasses are jobs; what runs is `methods`."""
    methods: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    """Methods of the job's class that the queue calls when a run has ended or failed."""
    limit: dict[str, Scalar] = {}
    """Options with the greatest number of repeats; the value is the default. They switch nothing on."""
    endless: dict[str, Scalar] = {}
    """Options that, with this value (`"None"` is None), repeat without end."""
    again: tuple[str, ...] = ()
    """Calls by which a run asks for its own repetition, and exceptions that do so when raised."""
    settings: tuple[str, ...] = ()
    """Paths, as in `Trigger`, to values that list jobs; `Class.attribute` is one of any class of that name."""
    parameters: dict[str, str] = {}
    """As in `Trigger`."""
    after_commit: bool = False
    """Calling the job enqueues it when the open transaction commits."""
    same_database: bool = False


class Enqueue(_Entry, frozen=True, kw_only=True):
    """A call that puts a job on a queue."""

    calls: tuple[str, ...]
    job: tuple[str, ...]
    """The job: `"receiver"`, or an argument with a function, a job object, a dotted string or a job's name."""
    args: tuple[str, ...] = ()
    """Argument with the job's positional arguments as a tuple (`apply_async`); empty: the call's own, after `job`."""
    kwargs: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    """Keyword arguments that belong to the queue, not to the job."""
    retries: dict[str, Scalar] = {}
    unique: dict[str, Scalar] = {}
    """Options which, together, refuse a second job with the same key."""
    after_commit: bool = False
    same_database: bool = False
    """The job is a row of the application's database and rolls back with it."""
    when: dict[str, Scalar] = {}
    limit: dict[str, Scalar] = {}
    """Options with the greatest number of repeats; the value is the default."""
    endless: dict[str, Scalar] = {}
    """Options that, with this value, repeat without end."""
    lasts: Literal["", "waiting", "done", "result", "ever"] = ""
    """How long `unique` refuses: while the job waits, until it is done, while its result is kept, for ever."""
    then: tuple[str, ...] = ()
    """Arguments with jobs or functions that run after this one (`link`, `on_success`, `hook`)."""
    bulk: bool = False
    """One job for each item of the arguments."""
    telling: bool = False
    """The method's name alone tells, where the receiver is unknown."""
    through: tuple[str, ...] = ()
    """Methods of the job's class that the call ends in: a project class that overrides one takes the call."""


class Invoke(_Entry, frozen=True, kw_only=True):
    """A call that calls what it is given: now, in a thread, after the commit, or later in this process.

    `function` is the argument with a callable; `methods` are methods called on the object `on` (default: the
    receiver) instead.
    """

    calls: tuple[str, ...]
    hop: Literal["call", "thread", "defer", "schedule", "signal"] = "call"
    function: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    on: tuple[str, ...] = ()
    """`"receiver"`, an argument, or `"model"`: the model of a manager or query set."""
    args: tuple[str, ...] = ()
    """Argument with the positional arguments as a tuple (`Thread(args=…)`); empty: the call's own, after `function`."""
    kwargs: tuple[str, ...] = ()
    decorator: bool = False
    """May also stand as a decorator that runs the function (`@transaction.on_commit`)."""
    wraps: bool = False
    """Returns a callable that calls the function when it is itself called (`sync_to_async`, `partial`-like)."""
    when: dict[str, Scalar] = {}
    coroutine: bool = False
    """`function` holds calls of coroutine functions, not functions: the calls happen with this hop."""
    items: tuple[str, ...] = ()
    """Arguments with collections whose items are the function's arguments, one call an item (`map`)."""
    injects: bool = False
    """Stands as the default or in the `Annotated` of a parameter: the function runs before the body and the
    parameter holds what it returns or yields; what follows its `yield` runs after the body."""
    lists: tuple[str, ...] = ()
    """Class attributes of the receiver's class that list more functions or methods to call."""


class Signal(_Entry, frozen=True, kw_only=True):
    """Signals and ORM events: how handlers are attached and which calls fire them."""

    signals: tuple[str, ...]
    """Shapes of the signal objects, or event names such as `after_insert`."""
    sends: tuple[str, ...] = ()
    """Calls that fire it; the sender is the model of the receiver."""
    within: tuple[str, ...] = ()
    """Those of `sends` that fire it inside a transaction of their own."""
    row: Literal["new", "loaded", "any"] = "any"
    model_callback: bool = True
    fires: tuple[str, ...] = ()
    """Calls on the signal object itself that fire it (`my_signal.send`)."""
    sender: tuple[str, ...] = ()
    """The argument of `fires` with the sender."""
    object: tuple[str, ...] = ()
    """Arguments of `sends` with the row, where the receiver is not of its model (`session.add(row)`); an object made
    without one (`Form(data)`) saves a new row."""
    when: dict[str, Scalar] = {}
    trigger: Kind | None = None
    """The library fires it by itself: its handlers are triggers of this kind."""
    after_commit: bool = False
    """Its handlers run after the commit."""
    saves: bool = False
    """It fires at every save of a row, not only at the first."""


class Connect(_Entry, frozen=True, kw_only=True):
    """A decorator or call that attaches a handler to a signal."""

    decorators: tuple[str, ...] = ()
    registers: tuple[str, ...] = ()
    signal: tuple[str, ...] = ()
    handler: tuple[str, ...] = ()
    sender: tuple[str, ...] = ()
    uid: tuple[str, ...] = ()
    """Arguments under which a second registration replaces the first."""
    parameters: dict[str, str] = {}
    """As for `Trigger`; "element" is an instance of the sender."""
    dedupes: bool = True
    """The same function object for the same sender is kept once."""
    weak: tuple[str, ...] = ()
    """Arguments without which (or when true) the handler is held weakly: one that nobody else holds is gone at once."""
    hooks: tuple[str, ...] = ()
    """Names of methods which connect by being there, on subclasses of `bases`: pony's `after_insert`."""
    bases: tuple[str, ...] = ()
    defers: tuple[str, ...] = ()
    """Arguments which, when true, make the handler run after the commit."""


class Transaction(_Entry, frozen=True, kw_only=True):
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


class Claim(_Entry, frozen=True, kw_only=True):
    """An atomic claim that one run can win, and the test that tells the winner.

    `win`: "truthy"/"falsy"/"not_none"/"is_none" of the result, "rows" (a count or rowcount that is tested),
    "created" (item 1 of the pair), "no_exception" (the loser gets one of `conflicts`), "held" (a lock held
    around check, send and mark).
    """

    calls: tuple[str, ...]
    win: Win
    when: dict[str, Scalar] = {}
    conflicts: tuple[str, ...] = ()
    unique: Literal["none", "fields", "always"] = "none"
    """"fields": only with a unique constraint over the fields given; "none": atomic by itself."""
    condition: bool = False
    """A conditional update: the fields that it sets must be tested in its filter."""
    scope: Scope = "shared"
    key: tuple[str, ...] = ()
    expiry: tuple[str, ...] = ()
    expires: int = 0
    """Seconds after which the claim is forgotten when `expiry` is not given; 0 is never."""
    matches: dict[str, str] = {}
    """Arguments whose text must match these regular expressions (SQL, condition expressions)."""
    besides: tuple[str, ...] = ()
    """Keyword arguments that are no fields of the claim (`defaults`)."""
    fields: tuple[str, ...] = ()
    """Arguments that hold the fields as a dict or an object; by default the keyword arguments."""
    results: dict[str, Win] = {}
    """Attributes and methods of the result that are tested in its place: `rowcount = "rows"`."""
    runs: tuple[str, ...] = ()
    """The call only builds a statement: these run it, and it is their result that is tested."""
    lasts: Literal["", "waiting", "done", "result", "ever"] = ""
    """For a job's key: how long it refuses, as in `Enqueue`."""
    needs: tuple[str, ...] = ()
    """A held lock counts only inside a context of one of these (a row lock ends with its transaction)."""
    releases: tuple[str, ...] = ()
    """Calls that give the claim back."""
    setting: str = ""
    """Path of the setting that names the backend, for `scope = "cache"`; `scopes` says what each is worth."""
    scopes: dict[str, Literal["shared", "host", "process", "none"]] = {}
    """Backend class to scope; `""` is the backend without the setting, `"none"` is no claim at all."""


class LookAlike(_Entry, frozen=True, kw_only=True):
    """A call that looks like a claim and is none; `why` is told to the user."""

    calls: tuple[str, ...]
    why: str
    when: dict[str, Scalar] = {}
    matches: dict[str, str] = {}


class Unique(_Entry, frozen=True, kw_only=True):
    """How a library declares a unique constraint on the fields of a model."""

    fields: dict[str, Scalar] = {}
    """Keyword arguments of a column or field: `unique = true`, `primary_key = true`."""
    columns: tuple[str, ...] = ()
    """Calls that make a column or field."""
    constraints: tuple[str, ...] = ()
    """Calls that make a constraint over several fields, given by name or in `fields=`."""
    when: dict[str, Scalar] = {}
    meta: tuple[str, ...] = ()
    """Names in `class Meta` or class attributes with field tuples."""
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


class Repeat(_Entry, frozen=True, kw_only=True):
    """A decorator, call or client option that runs its body again after an error."""

    decorators: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    limit: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    default: Scalar = None
    loops: tuple[str, ...] = ()
    """Calls to iterate over: the body of the loop is the attempt (`for attempt in Retrying(…)`)."""
    when: dict[str, Scalar] = {}
    matches: dict[str, str] = {}
    function: tuple[str, ...] = ()
    """Argument of `calls` with the function that is repeated."""
    clients: tuple[str, ...] = ()
    """HTTP clients that repeat by an option: the client's constructor, or the call that puts it in (`mount`)."""
    posts: bool = True
    """The repetition covers requests that may have been accepted, POST among them."""
    names: tuple[str, ...] = ()
    """Arguments with the HTTP methods that are repeated; POST counts only when it is there, or they are None."""


class Setting(_Entry, frozen=True, kw_only=True):
    """A setting that changes how a queue or store behaves."""

    names: tuple[str, ...]
    """Module constants (`CELERY_TASK_ACKS_LATE`) and attributes or keyword arguments
    (`celery.Celery().conf.task_acks_late`); `/` goes into dicts."""
    effect: Literal[
        "redelivers", "retries", "limit", "endless", "lease", "run_time", "inline", "after_commit", "same_database"
    ]
    """`lease`: seconds after which an unacknowledged job is given out again; `run_time`: seconds a run may take."""
    value: Scalar = "*"
    default: Scalar = None


class Relation(_Entry, frozen=True, kw_only=True):
    """A class attribute that leads from one model to another."""

    calls: tuple[str, ...]
    to: tuple[str, ...]
    """Argument with the class, its name, or a setting that names it."""
    many: bool = False
    """The attribute is a collection."""
    type: str = ""
    """The class of that collection."""
    back: tuple[str, ...] = ()
    """Arguments with the name of the attribute on the other model."""
    back_default: str = ""
    """That name without them: `"{model}_set"`, the model's name in lower case."""
    back_many: bool = False


class ModelOf(_Entry, frozen=True, kw_only=True):
    """How classes of a library name the model that they work on: `"receiver"`'s model of the other entries."""

    classes: tuple[str, ...]
    paths: tuple[str, ...]
    """Class attributes in order; `Meta/model` steps into a nested class or into the class that an attribute names."""
    arguments: tuple[str, ...] = ()
    """Arguments of the call that made the object: the class, or a collection or statement about it."""
    decorators: tuple[str, ...] = ()
    """Decorators of the class that do so, and `registers` calls: model in `model`, class in `handler`."""
    registers: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    handler: tuple[str, ...] = ()


class Store(_Entry, frozen=True, kw_only=True):
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
    key: tuple[str, ...] = ()
    object: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    distinct: tuple[str, ...] = ()
    """Calls after which no row comes twice."""
    joins: tuple[str, ...] = ()
    """Calls after which a row may come twice."""


class Change(_Entry, frozen=True, kw_only=True):
    """A test in a save callback that tells a new or a changed row from any other save."""

    tells: Literal["new", "changed"]
    win: Win = "truthy"
    calls: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    """Names of a handler's parameter (`created`)."""


class Unstable(_Entry, frozen=True, kw_only=True):
    """Values that differ on every attempt and so make no key; `rounds` are what makes a period of them."""

    calls: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    why: Literal["random", "time", "process", "attempt", "order"]
    rounds: tuple[str, ...] = ()
    when: dict[str, Scalar] = {}


class Approval(_Entry, frozen=True, kw_only=True):
    """A step at which a person releases what an agent wants to do, and values the framework puts in, not the model."""

    calls: tuple[str, ...] = ()
    options: dict[str, Scalar] = {}
    """Options of the tool's decorator or constructor."""
    injected: tuple[str, ...] = ()
    """Annotations of parameters that the framework fills in."""


class Answer(_Entry, frozen=True, kw_only=True):
    """Calls that make an HTTP response or end the request; `status` is its argument, `default` without it."""

    calls: tuple[str, ...]
    status: tuple[str, ...] = ()
    default: int = 200


class RequestKey(_Entry, frozen=True, kw_only=True):
    """Request headers with a client's idempotency key."""

    headers: tuple[str, ...]


class Probe(_Entry, frozen=True, kw_only=True):
    """What a test of one message uses: outboxes that count, calls that run a trigger, words of its name."""

    outboxes: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    clears: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


class Log(_Entry, frozen=True, kw_only=True):
    """Calls that write a log line or bind context to later ones."""

    calls: tuple[str, ...] = ()
    binds: tuple[str, ...] = ()
    """Calls whose keyword arguments stand in every later line."""
    correlation: tuple[str, ...] = ()
    """Names of a field or attribute that identify the run."""
    entity: tuple[str, ...] = ()
    """Names that identify the object."""
    what: tuple[str, ...] = ()
    """Names that say which mail or event it was."""


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
    setting: tuple[Setting, ...] = ()
    relation: tuple[Relation, ...] = ()
    model: tuple[ModelOf, ...] = ()
    store: tuple[Store, ...] = ()
    change: tuple[Change, ...] = ()
    unstable: tuple[Unstable, ...] = ()
    approval: tuple[Approval, ...] = ()
    answer: tuple[Answer, ...] = ()
    request_key: tuple[RequestKey, ...] = ()
    probe: tuple[Probe, ...] = ()
    log: tuple[Log, ...] = ()
