"""The notations of `vocabulary` as regular expressions, and which field of an entry is written in which."""

from __future__ import annotations

import re
from typing import Literal

Notation = Literal["shape", "argument", "free"]

_NAME = r"[A-Za-z_]\w*"
_STEP = rf"{_NAME}(?:\(\)|\[\])*"
_ARGUMENT = rf"(?:receiver:)?(?:{_NAME})?(?:\|(?:\d+\*?|\*))?(?:/[^/]+)*"

DOTTED = re.compile(rf"{_NAME}(?:\.{_NAME})*")
SHAPE = re.compile(rf"{_STEP}(?:\.{_STEP})*(?:(?<=[)\]])\.\*)?")
INCLUDE = re.compile(rf"{_STEP}(?:\.{_STEP})*\([\w.]+\)")
ARGUMENT = re.compile(_ARGUMENT)
METHOD = re.compile(rf"(?:{_NAME})?\*?")
HOST = re.compile(r"(?:\*\.)?[\w-]+(?:\.[\w-]+)+")
VALUE = re.compile(
    r"receiver|element|pair|model|never|argument\|\d+"
    rf"|(?:element|collection|class|argument|named|text|setting|library):{_ARGUMENT}(?:\.{_NAME})*"
)

_SHAPES = """
    calls attributes decorators registers bases starts blocks verifies signs people exempts again signals sends within
    fires
    contexts begins writes rows statements commits rollbacks savepoints covers columns constraints foreign conflicts
    needs
    releases reads selects excludes inserts updates saves deletes distinct groups joins loops clients classes injected
    outboxes
    counts clears binds finds keyed collections makes Signal.stored Claim.runs Probe.runs
"""
_ARGUMENTS = """
    template template_id subject text recipient message key url body request source HttpClient.headers base
    handler detail when name bound schedule job args kwargs function on items signal sender object uid then expiry
    Repeat.limit only Unique.names Repeat.names model statement partial Claim.fields Store.fields arguments to back
    Unique.optional milliseconds moments later loaded
    status defers spares silent weak register_key register_name factory shares Approval.names
"""
_FREE = """
    parameters through Trigger.attributes Message.fields Unique.fields Claim.results matches options retries unique
    limit endless waits doubles longest redelivers scopes methods functions settings kinds lists after autocommits words
    weak_words managing gates event_id Webhook.headers RequestKey.headers hooks includes hosts paths meta table besides
    rounds
    Setting.names correlation Log.event Log.recipient Log.template entity what addresses modules by every asked nested
    mappings named
    refuses
"""
_NOTATIONS: dict[str, Notation] = {
    **dict.fromkeys(_FREE.split(), "free"),
    **dict.fromkeys(_SHAPES.split(), "shape"),
    **dict.fromkeys(_ARGUMENTS.split(), "argument"),
}


def notation_of(entry: str, field: str) -> Notation | None:
    """How a field of an entry's class is written; None for a field that is not listed above."""
    return _NOTATIONS.get(f"{entry}.{field}", _NOTATIONS.get(field))
