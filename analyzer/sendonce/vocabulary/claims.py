"""Atomic claims, and what only looks like one."""

from __future__ import annotations

from typing import Literal

from sendonce.vocabulary.entry import Entry, Scalar, Scope, Win


class Claim(Entry, frozen=True, kw_only=True):
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
    milliseconds: tuple[str, ...] = ()
    """Those of `expiry` that count milliseconds."""
    moments: tuple[str, ...] = ()
    """Those of `expiry` that are points in time."""
    expires: int = 0
    """Seconds after which the claim is forgotten when `expiry` is not given; 0 is never."""
    matches: dict[str, str] = {}
    """Arguments whose text must match these regular expressions (SQL, condition expressions)."""
    besides: tuple[str, ...] = ()
    """Keyword arguments that are no fields of the claim (`defaults`)."""
    fields: tuple[str, ...] = ()
    """Arguments that hold the fields as a dict or an object; by default the keyword arguments."""
    declared: str = ""
    """Where the class of a form or serializer names the fields that it fills (`Meta/fields`).
    `fields` is the argument that holds the form, where it is not the receiver."""
    loaded: tuple[str, ...] = ()
    """With `declared`: arguments of its constructor with which it changes a row that is there."""
    results: dict[str, Win] = {}
    """Attributes and methods of the result that are tested in its place: `rowcount = "rows"`."""
    runs: tuple[str, ...] = ()
    """The call only builds a statement: these run it, and it is their result that is tested."""
    named: tuple[str, ...] = ()
    """Methods that are this claim on an object of which nothing is known, by their names alone: `setnx`,
    `objects.create`."""
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


class LookAlike(Entry, frozen=True, kw_only=True):
    """A call that looks like a claim and is none; `why` is told to the user."""

    calls: tuple[str, ...]
    why: str
    when: dict[str, Scalar] = {}
    matches: dict[str, str] = {}
