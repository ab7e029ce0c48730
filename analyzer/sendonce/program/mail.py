"""A mail on its way from a provider send outwards: what is known of it at one function.

A `Mail` is immutable. It starts at a provider send and is carried over each crossing towards the
triggers: parameters are bound, the template settles, what is open at the call site is noted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from sendonce.findings import Confidence, Place, TemplateName
from sendonce.program.held import Site
from sendonce.program.values import Value

Source = Literal["template", "template_id", "constant", "subject", "message_class", "text"]


@dataclass(frozen=True)
class ProviderSend:
    """A call that hands a message to a provider: the site, the shape it matched and its pack."""

    site: Site
    api: str
    provider: str
    internal: bool = False
    delivery: Literal["now", "stored", "after_commit"] = "now"
    key: bool = False
    """Whether the call passes an idempotency key that the provider honours."""
    takes: str = ""
    """The argument or header by which the provider takes one; empty for a provider that takes none."""


@dataclass(frozen=True)
class Hole:
    """A place in a message that may still decide its template."""

    source: Source
    value: Value


@dataclass(frozen=True)
class Transaction:
    """A transaction that is open while the mail leaves: where it opens and the call in that function.

    `kind`: a "block" or decorator, a "unit" of work before its commit, a "library" call's own, a whole "request".
    """

    kind: Literal["block", "unit", "library", "request"]
    path: str
    line: int
    function: str
    site: Site
    note: str
    confidence: Confidence = "high"
    assumes: str = ""


@dataclass(frozen=True)
class Exposed:
    """A transaction that is open while something leaves: the job at `enqueue`, or the mail where that is None."""

    transaction: Transaction
    enqueue: Site | None


@dataclass(frozen=True)
class Guard:
    """A reservation that dominates the send: the claim's place, what it claims, how sure that is."""

    path: str
    line: int
    function: str
    note: str
    key: str = ""
    """Model or key prefix: two guards with one key are won only once together."""
    confidence: Confidence = "high"
    held_in_transaction: bool = False
    assumes: tuple[str, ...] = ()
    prefix: str = ""
    parts: tuple[tuple[str, Value], ...] = ()
    """What `key` is made of: a name before the values that a claim names."""
    implied: bool = False
    """An insert whose conflict nobody catches: it ends the loser's run, but was not made for the mail."""
    stored: bool = False
    """It is a row or field of the database in which transactions are opened: an open one can take it back."""
    passing: str = ""
    """What a queue promises for a job's id that it frees again: a later run of the event finds it free."""


@dataclass(frozen=True)
class Condition:
    """A test on parameters that must turn out so for the mail to be sent."""

    value: Value
    holds: bool
    function: str = ""
    """For a method call on `value` (an attribute of a parameter): the function that must be meant."""


@dataclass(frozen=True)
class Bound:
    """Where a sender was given its template beforehand: a `partial`, or the function under a decorator."""

    place: Place
    function: str


@dataclass(frozen=True)
class Mail:
    """One way in which a function leads to a mail."""

    provider: ProviderSend
    holes: tuple[Hole, ...]
    template: TemplateName | None = None
    second: TemplateName | None = None
    """What names the template if no hole settles: the first subject seen."""
    second_at: Site | None = None
    """Where `second` was seen: the send, if nothing better names the mail."""
    made_at: Site | None = None
    """The outermost call seen so far that hands the message on, or (`made`) the one that is given it ready: the send,
    if nothing names the mail."""
    made: bool = False
    send: Site | None = None
    bound: Bound | None = None
    """Where the template was given, if the send is a call of a sender that had it already: there the send stands."""
    recipient: Value | None = None
    subject: Value | None = None
    """What the subject says, kept after the template is known: one layout may wrap different mails."""
    enqueue: Site | None = None
    """The innermost enqueue that is not yet outside a deferral; the job is what leaves early."""
    enqueued: bool = False
    deferred: bool = False
    on_commit: bool = False
    """It leaves only when what was written before it is committed: a conflict that comes then holds it back."""
    escaped: bool = False
    """Nothing further out can be in a transaction with it: it was deferred or stored."""
    transaction: Transaction | None = None
    written: Place | None = None
    """A write of a unit of work that came before the mail and was not yet committed."""
    clean: bool = False
    """All that was written further out is committed right before the mail."""
    commit: Place | None = None
    """A commit of a unit of work that comes after the mail."""
    inner: tuple[Exposed, ...] = ()
    """What is open further in, in the jobs that lead to the mail."""
    guard: Guard | None = None
    loop: Site | None = None
    conditions: tuple[Condition, ...] = ()
    pending: tuple[Condition, ...] = ()
    """Tests that ask what a caller passes: they may be claims, which only the caller can tell."""
    confidence: Confidence = "high"

    def having(self, **changes: Any) -> Mail:
        """The mail with some fields changed; itself where they are so already, as most are at most calls."""
        return replace(self, **changes) if any(getattr(self, name) != new for name, new in changes.items()) else self

    @property
    def exposed(self) -> tuple[Exposed, ...]:
        """All transactions that are open while the mail or one of the jobs that lead to it leaves, innermost first."""
        here = () if self.transaction is None else (Exposed(self.transaction, self.enqueue),)
        return (*self.inner, *here)

    @property
    def key(self) -> tuple[object, ...]:
        """Two mails of one function with equal keys tell the same, each under its conditions."""
        return (
            self.provider.site,
            self.send,
            self.template,
            self.holes,
            self.second,
            self.second_at,
            self.enqueue,
            self.escaped,
            self.transaction is not None,
            self.written is not None,
            self.clean,
            self.commit is not None,
            len(self.inner),
            self.guard is not None and self.guard.key,
            self.pending,
        )
