"""A trigger of a function, and a registration that makes one."""

from __future__ import annotations

from dataclasses import dataclass

from sendonce import vocabulary as v
from sendonce.findings import Trigger
from sendonce.program.held import Site
from sendonce.program.link import Crossing, Edge
from sendonce.program.symbols import Class
from sendonce.program.values import (
    Call,
    Param,
    Value,
)


@dataclass(frozen=True, eq=False)
class Start:
    """A trigger of a function. `crossings` lead from the function out to the framework (wrappers on the way)."""

    trigger: Trigger
    function: str
    crossings: tuple[Crossing, ...] = ()
    binding: dict[Param, Value] | None = None
    cls: Class | None = None
    """The class whose instance the framework makes for the run."""
    entry: v.Trigger | None = None
    site: Site | None = None
    saves: bool = False
    """It runs at every save of a row, not only at the first."""
    creates: bool = False
    """It runs only when a row is stored for the first time."""
    inside: bool = False
    """It always runs inside the transaction that saves the row."""


@dataclass(frozen=True, eq=False)
class Registration:
    """A site that hands a handler (a function's edges, or a class) to a framework."""

    site: Site
    entry: v.Trigger
    call: Call
    edges: tuple[Edge, ...] = ()
    cls: Class | None = None
