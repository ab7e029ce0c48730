"""Background jobs, and calls that call what they are given."""

from __future__ import annotations

from typing import Literal

from sendonce.vocabulary.entry import Entry, Scalar


class Job(Entry, frozen=True, kw_only=True):
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
    spares: tuple[str, ...] = ()
    """Arguments with error classes after which a failed run is not repeated."""
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
    later: tuple[str, ...] = ()
    """Arguments of `again` with the seconds until then."""
    waits: dict[str, Scalar] = {}
    """Options with the seconds between a failed run and the next; the value is the default."""
    doubles: dict[str, Scalar] = {}
    """Options with the first of waits that double each time, and (`longest`) with the greatest of them."""
    longest: dict[str, Scalar] = {}
    milliseconds: bool = False
    """`waits`, `doubles` and `longest` count milliseconds."""
    settings: tuple[str, ...] = ()
    """Paths, as in `Trigger`, to values that list jobs; `Class.attribute` is one of any class of that name."""
    parameters: dict[str, str] = {}
    """As in `Trigger`."""
    after_commit: bool = False
    """Calling the job enqueues it when the open transaction commits."""
    same_database: bool = False


class Enqueue(Entry, frozen=True, kw_only=True):
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
    waits: dict[str, Scalar] = {}
    """As in `Job`."""
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


class Invoke(Entry, frozen=True, kw_only=True):
    """A call that calls what it is given: now, in a thread, after the commit, or later in this process.

    `function` is the argument with a callable; `methods` are methods called on the object `on` (default: the
    receiver) instead.
    """

    calls: tuple[str, ...]
    hop: Literal["call", "thread", "defer", "schedule", "signal"] = "call"
    function: tuple[str, ...] = ()
    files: str = ""
    """The end of the path of the file that `function` names, `{}` for the name: a class in it has the methods."""
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
    answered: bool = False
    """The function runs in the same process once the request has been answered."""


class Setting(Entry, frozen=True, kw_only=True):
    """A setting that changes how a queue or store behaves."""

    names: tuple[str, ...]
    """Module constants (`CELERY_TASK_ACKS_LATE`) and attributes or keyword arguments
    (`celery.Celery().conf.task_acks_late`); `/` goes into dicts."""
    effect: Literal[
        "redelivers",
        "retries",
        "gives_up",
        "limit",
        "endless",
        "lease",
        "run_time",
        "inline",
        "after_commit",
        "same_database",
    ]
    """`gives_up`: failed runs are not repeated after all; `lease`: seconds after which an unacknowledged job is given
    out again; `run_time`: seconds a run may take."""
    value: Scalar = "*"
    default: Scalar = None


class Repeat(Entry, frozen=True, kw_only=True):
    """A decorator, call or client option that runs its body again after an error."""

    decorators: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    limit: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    spares: tuple[str, ...] = ()
    """Arguments with error classes after which it is not run again."""
    results: bool = False
    """It is run again for what it returns, not for an error."""
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


class Error(Entry, frozen=True, kw_only=True):
    """Error classes, and which calls raise them."""

    classes: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    """Dotted prefixes: every class below one of them."""
    by: tuple[str, ...] = ()
    """Import roots of the calls that raise them, besides the classes' own."""
    network: bool = False
    """Any call that talks to another machine may raise them."""
    before: bool = False
    """Raised only where no message can have been accepted: no connection was made, or the server refused."""
    base: bool = False
    """Every failing send that raises errors of this package raises one of these: a handler of them misses none."""
