"""The shape of a rule pack: what can be said about a library, as data.

A pack is one TOML file of `rules/`. `Pack` is its schema; `packs` reads, checks and merges
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

from sendonce.vocabulary.claims import Claim, LookAlike
from sendonce.vocabulary.entry import Entry, Kind, Scalar, Scope, Win
from sendonce.vocabulary.jobs import Enqueue, Error, Invoke, Job, Repeat, Setting
from sendonce.vocabulary.mail import Content, Http, HttpClient, Message, Render, Send
from sendonce.vocabulary.pack import Pack
from sendonce.vocabulary.requests import Answer, Effect, Log, RequestKey, Validation
from sendonce.vocabulary.signals import Change, Connect, Signal
from sendonce.vocabulary.stores import Store, Transaction, Unique
from sendonce.vocabulary.triggers import Approval, Probe, Trigger, Webhook
from sendonce.vocabulary.values import ModelOf, Relation, Returns, Service, Unstable

__all__ = [
    "Answer",
    "Approval",
    "Change",
    "Claim",
    "Connect",
    "Content",
    "Effect",
    "Enqueue",
    "Entry",
    "Error",
    "Http",
    "HttpClient",
    "Invoke",
    "Job",
    "Kind",
    "Log",
    "LookAlike",
    "Message",
    "ModelOf",
    "Pack",
    "Probe",
    "Relation",
    "Render",
    "Repeat",
    "RequestKey",
    "Returns",
    "Scalar",
    "Scope",
    "Send",
    "Service",
    "Setting",
    "Signal",
    "Store",
    "Transaction",
    "Trigger",
    "Unique",
    "Unstable",
    "Validation",
    "Webhook",
    "Win",
]
