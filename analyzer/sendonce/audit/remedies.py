"""What is done about the findings of each rule: the kinds of repair of the plan, and the checklist of good practice."""

from __future__ import annotations

from dataclasses import dataclass

from sendonce.audit.model import Effort


@dataclass(frozen=True)
class Remedy:
    """A kind of repair: its title (with `{where}`), how it is done, what it costs, the rules whose findings it closes.

    One that `guards` belongs where all ways of the mail meet, any other where the finding stands.
    """

    title: str
    how: str
    effort: Effort
    codes: frozenset[str]
    guards: bool = False


def _remedy(title: str, how: str, effort: Effort, codes: str, guards: bool = False) -> Remedy:
    return Remedy(title, how, effort, frozenset(f"SO{code}" for code in codes.split()), guards)


REMEDIES = (
    _remedy(
        "Reserve the event before the mail leaves, in {where}",
        "Insert a row under a unique key made from the business event (mail and the id of what happened, e.g."
        " `receipt:order:42`), commit it, and send only if the insert won. Who loses leaves without sending. One helper"
        " that does so at this place guards every way that leads over it, those too that are written later.",
        "medium",
        "101 103 301 302 303 401 402 403 404 405 407 408 601 603",
        guards=True,
    ),
    _remedy(
        "Enqueue and send after the commit, in {where}",
        "Hand the mail over when the transaction has ended: the framework's own hook (`transaction.on_commit`,"
        " `delay_on_commit`, an `after_commit` event), or the call after the `commit()`.",
        "small",
        "201 202 203 307",
    ),
    _remedy(
        "Let one place send, in {where}",
        "Keep one of the calls and take the others away, register the handler once, mail only for what is new or has"
        " changed, and give each address once.",
        "small",
        "102 104 105 106",
    ),
    _remedy(
        "Make the key from the event, in {where}",
        "Take what stays the same in every attempt and differs between events: the id of the row, the mail's name, and"
        " its period where it comes again. Make it before the part that is retried.",
        "small",
        "304 305 308 602",
    ),
    _remedy(
        "Make the claim hold, in {where}",
        "There is a claim, and it does not keep the second run back: give its fields a unique constraint, keep it until"
        " the mail has left, let its failure stop the send, and one mark stand for one effect.",
        "small",
        "306 309 310 311 312",
    ),
    _remedy(
        "Record the delivery, then answer, in {where}",
        "Store the event's id under a unique constraint and leave unless that insert won; answer, and let a job send.",
        "medium",
        "501 502 503",
    ),
    _remedy(
        "Start the scheduler in one process, not in {where}",
        "Run it as a process of its own, or take a lock that covers each run.",
        "medium",
        "406",
    ),
    _remedy(
        "Claim the key atomically and keep the whole answer, in {where}",
        "One atomic claim (`SET NX` with an expiry longer than the work, or a unique insert), the stored answer with"
        " status and body, errors not kept as success, the same key with another payload refused.",
        "large",
        "611 612 613",
    ),
    _remedy(
        "Log each attempt before the provider is called, in {where}",
        "One line with the id of the event or request and the name of the mail, right before the call.",
        "small",
        "701",
    ),
    _remedy(
        "Test that the second run sends nothing, for {where}",
        "Run the trigger or the job twice with the same event and assert one message in the outbox.",
        "small",
        "702",
    ),
)


@dataclass(frozen=True)
class Check:
    """One line of the checklist: the rules that say whether it is kept, and the triggers that it is asked of."""

    title: str
    why: str
    codes: frozenset[str]
    asked_of: frozenset[str] = frozenset()
    """Kinds of trigger, or `queue` for all that runs in a queue; empty: of every mail."""


def _check(title: str, why: str, codes: str, asked_of: str = "") -> Check:
    return Check(title, why, frozenset(f"SO{code}" for code in codes.split()), frozenset(asked_of.split()))


CHECKS = (
    _check("One subscription", "a handler attached twice mails twice for one event", "104", "model_callback webhook"),
    _check(
        "One trigger for a mail", "two places that send for one event know nothing of each other", "101 102 103 105 106"
    ),
    _check("Event id stored", "providers deliver a webhook again until they are sure", "501", "webhook"),
    _check("Answer after recording", "an answer that comes late is asked for again", "502 503", "webhook"),
    _check("Enqueue and send after commit", "a rollback cannot call a mail back", "201 202 203 307"),
    _check("Unique job key", "a queue takes the same job twice", "405", "queue"),
    _check(
        "Reserve before send", "a run that breaks off or comes twice finds the claim", "301 302 303 309 310 311 312"
    ),
    _check("Claims that hold", "a claim without a unique constraint is none", "306"),
    _check("Retries limited and guarded", "an attempt that timed out may have been accepted", "401 402 403 407"),
    _check("Key from the business event", "a key that changes with each attempt never matches", "304 305 601 602"),
    _check("A window for what comes again", "each run of a schedule has its own event", "308 404 406 408", "cron"),
    _check("Tools ask before they mail", "a model calls a tool again when it sees no answer", "603", "agent_tool"),
    _check("A log line with event and mail", "without it nobody can tell which run sent the second one", "701"),
    _check("A test that runs it twice", "what is not tested comes back", "702"),
)
