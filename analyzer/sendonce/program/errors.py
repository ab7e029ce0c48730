"""Which errors a retry waits for, and whether a message may have been accepted when they are raised."""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.program.evaluate import Evaluator
from sendonce.program.values import Attr, Call, ClassRef, Const, External, Op, Seq, Value

_BEFORE = frozenset(
    [
        "builtins.ConnectionRefusedError",
        "socket.gaierror",
        "httpx.ConnectError",
        "httpx.ConnectTimeout",
        "httpx.PoolTimeout",
        "requests.exceptions.ConnectTimeout",
        "requests.ConnectTimeout",
        "urllib3.exceptions.NewConnectionError",
        "urllib3.exceptions.ConnectTimeoutError",
        "smtplib.SMTPConnectError",
        "smtplib.SMTPHeloError",
        "aiosmtplib.SMTPConnectError",
        "aiosmtplib.SMTPConnectTimeoutError",
        "aiosmtplib.SMTPConnectRefusedError",
        "aiohttp.ClientConnectorError",
        "django.core.exceptions.ObjectDoesNotExist",
        "django.db.OperationalError",
        "django.db.utils.OperationalError",
        "sqlalchemy.exc.OperationalError",
        "sqlalchemy.exc.NoResultFound",
        "sqlalchemy.orm.exc.NoResultFound",
        "builtins.KeyError",
        "builtins.LookupError",
        "builtins.FileNotFoundError",
    ]
)
"""Errors of making a connection, and of work that is no send."""


def before_acceptance(evaluator: Evaluator, given: Value) -> bool:
    """Whether every error class that a value names is raised only where no message can have been accepted."""
    named = [verdict for part in _classes(evaluator, given) if (verdict := _verdict(evaluator, part)) is not None]
    return bool(named) and all(named)


def _classes(evaluator: Evaluator, given: Value) -> Iterator[Value]:
    """The values in a tuple of error classes, or among the arguments of what describes them (`retry_if(E)`)."""
    found = evaluator.resolve(given)
    if isinstance(found, Seq | Op | Call):
        for part in found.args if isinstance(found, Call) else found.parts():
            yield from _classes(evaluator, part)
    else:
        yield found


def _verdict(evaluator: Evaluator, part: Value) -> bool | None:
    """Of one error class; None for a value that is none."""
    match part:
        case External(dotted=dotted):
            last = dotted.rpartition(".")[2]
            return dotted in _BEFORE if last[:1].isupper() else None
        case Attr(base=ClassRef(), name="DoesNotExist"):
            return True
        case ClassRef(id=id) if evaluator.hierarchy.external_bases(id):
            return any(base in _BEFORE for base in evaluator.hierarchy.external_bases(id))
        case Const(value=str() as name):
            return name in _BEFORE
        case _:
            return None
