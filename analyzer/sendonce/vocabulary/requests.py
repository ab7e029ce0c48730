"""HTTP requests and logs: keys of clients, answers, lines that say what happened."""

from __future__ import annotations

from sendonce.vocabulary.entry import Entry


class Validation(Entry, frozen=True, kw_only=True):
    """Methods that classes below `bases` have called before what they were given is taken for good."""

    bases: tuple[str, ...]
    methods: tuple[str, ...]
    """Their names; `*` is a wildcard at the end."""
    asked: tuple[str, ...] = ()
    """Methods of the library that run them (`is_valid`)."""
    refuses: tuple[str, ...] = ()
    """Methods of the library by which they refuse without raising (`add_error`)."""


class Answer(Entry, frozen=True, kw_only=True):
    """Calls that make an HTTP response or end the request; `status` is its argument, `default` without it."""

    calls: tuple[str, ...]
    status: tuple[str, ...] = ()
    default: int = 200


class Effect(Entry, frozen=True, kw_only=True):
    """Calls that reach another service, which can fail: text messages, pushes, posts to a chat, payments."""

    calls: tuple[str, ...]


class RequestKey(Entry, frozen=True, kw_only=True):
    """Request headers with a client's idempotency key."""

    headers: tuple[str, ...]


class Log(Entry, frozen=True, kw_only=True):
    """Calls that write a log line or bind context to later ones."""

    calls: tuple[str, ...] = ()
    binds: tuple[str, ...] = ()
    """Calls whose keyword arguments stand in every later line."""
    correlation: tuple[str, ...] = ()
    """Names of a field or attribute that identify the run."""
    event: tuple[str, ...] = ()
    """Those of them that a second run for the same event has again."""
    recipient: tuple[str, ...] = ()
    """Names that say whom the mail goes to."""
    entity: tuple[str, ...] = ()
    """Names that identify the object."""
    what: tuple[str, ...] = ()
    """Names that say which mail or event it was."""
    template: tuple[str, ...] = ()
    """Names of what holds the template of the mail: a line with another one there is of another mail."""
