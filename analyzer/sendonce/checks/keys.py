"""What the rules about keys share."""

from __future__ import annotations

from sendonce.findings import Place
from sendonce.program.unsteady import Unsteady

_WHY = {
    "random": "it holds a value that is drawn anew",
    "time": "it holds the moment at which it is made",
    "process": "it holds a value that differs from process to process",
    "attempt": "it holds the number of the attempt",
}


def differs(key: Unsteady) -> str:
    """In words, why a key is another one each time."""
    entry = key.origin.entry
    assert entry is not None
    name = next(iter(sorted(entry.calls or entry.attributes)), "")
    shown = next((one for one in _names(key) if one), name.rpartition(".")[2])
    return f"{_WHY[entry.why]} ({shown})"


def _names(key: Unsteady) -> list[str]:
    value = key.origin.value
    func = getattr(value, "func", value)
    return [f"{getattr(func, 'dotted', '').removeprefix('builtins.')}()" if hasattr(func, "dotted") else ""]


def place_of_key(key: Unsteady) -> Place:
    """The expression that makes a key, else the call whose value differs."""
    return key.made.place if key.made is not None else Place(*key.source)
