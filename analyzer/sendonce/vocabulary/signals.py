"""Signals and events of an ORM."""

from __future__ import annotations

from typing import Literal

from sendonce.vocabulary.entry import Entry, Kind, Scalar, Win


class Signal(Entry, frozen=True, kw_only=True):
    """Signals and ORM events: how handlers are attached and which calls fire them."""

    signals: tuple[str, ...]
    """Shapes of the signal objects, or event names such as `after_insert`."""
    sends: tuple[str, ...] = ()
    """Calls that fire it; the sender is the model of the receiver."""
    within: tuple[str, ...] = ()
    """Those of `sends` that fire it inside a transaction of their own."""
    row: Literal["new", "loaded", "any"] = "any"
    stored: tuple[str, ...] = ()
    """Those of `signals` that are fired once the row is in the database, so that a conflict would have been raised."""
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


class Connect(Entry, frozen=True, kw_only=True):
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


class Change(Entry, frozen=True, kw_only=True):
    """A test in a save callback that tells a new or a changed row from any other save."""

    tells: Literal["new", "changed"]
    win: Win = "truthy"
    calls: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    """Names of a handler's parameter (`created`)."""
