"""What a call site leads to: edges into functions, calls that are still open, handlers handed to frameworks.

An edge is a list of crossings, innermost first: a plain call is one, a call through a helper that
is given the function (a decorator's wrapper, `after_commit(f)`) has one for each site on the way.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sendonce import vocabulary as v
from sendonce.findings import Confidence, HopKind, Why, weakest
from sendonce.program.held import Site
from sendonce.program.values import Attr, Call, Op, Param, Value


@dataclass(frozen=True, eq=False)
class Crossing:
    """One step from a function into what it calls. `binding` says what the callee's parameters are."""

    site: Site
    hop: HopKind
    binding: dict[Param, Value] = field(default_factory=dict)
    confidence: Confidence = "high"
    enqueue: v.Enqueue | None = None
    within: str = ""
    """The library call in whose own transaction the callee runs (signals of `get_or_create`)."""
    unique: bool = False
    """The queue refuses a second job with the same key."""
    method: Attr | None = None
    """A method call on an object whose class may be known better further out."""
    test: Value | None = None
    """What must be true for this callee to be the one: the key of a table that it was taken from."""
    callee: str = ""
    """The id of the function that the crossing leads into, where it leads into one of the project."""
    why: Why = "exact"
    stored: bool = False
    """The callee runs once the call at the site has put a new row into the database."""


@dataclass(frozen=True, eq=False)
class Edge:
    """`crossings`, innermost first, lead from the function of the last site into `target`."""

    target: str
    crossings: tuple[Crossing, ...]

    @property
    def site(self) -> Site:
        return self.crossings[-1].site


@dataclass(frozen=True, eq=False)
class Open:
    """A call of something that the function was given: it can be told only where the function is called."""

    callee: Value
    names: tuple[str, ...]
    args: tuple[Value, ...]
    site: Site
    hop: HopKind
    outer: tuple[Crossing, ...] = ()
    """Crossings between that call and the function that has this open call, innermost first."""
    enqueue: v.Enqueue | None = None
    register: Register | None = None
    test: Value | None = None
    """What must be true for this callee to be the one: see `Crossing`."""


@dataclass(frozen=True, eq=False)
class Register:
    """A call that hands a handler to a framework: the entry of the pack, and the call with its options."""

    entry: v.Trigger | v.Connect
    call: Call


@dataclass(frozen=True, eq=False)
class Handed:
    """A handler that a helper (a decorator of the project) hands to a framework, where the helper is called."""

    site: Site
    register: Register
    handler: Value


@dataclass
class Reached:
    """What one site leads to."""

    edges: list[Edge] = field(default_factory=list)
    opens: list[Open] = field(default_factory=list)
    handed: list[Handed] = field(default_factory=list)

    def waiting(self, inner: Reached) -> None:
        """Adds what a job's own enqueueing method leads to.

        If it can wait for a commit, it does where one is to come.
        """
        edges = inner.edges
        if any(crossing.hop == "defer" for edge in edges for crossing in edge.crossings):
            edges = [e for e in edges if any(c.hop == "defer" for c in e.crossings) or e.crossings[0].hop != "enqueue"]
        self.add(replace(inner, edges=edges))

    def one_of(self, number: int) -> Reached:
        """The same where it is one of several possible callees: none of them is sure."""
        if number == 1:
            return self
        edges = []
        for edge in self.edges:
            first, *rest = edge.crossings
            unsure = replace(first, confidence=weakest(first.confidence, "medium"), why="table")
            edges.append(replace(edge, crossings=(unsure, *rest)))
        return Reached(edges, self.opens, self.handed)

    def tested(self, test: Value) -> Reached:
        """The same where a call is only made if a test holds at its own site."""

        def both(own: Value | None) -> Value:
            return test if own is None else Op("and", (test, own))

        edges = []
        for edge in self.edges:
            first, *rest = edge.crossings
            edges.append(replace(edge, crossings=(replace(first, test=both(first.test)), *rest)))
        return Reached(edges, [replace(one, test=both(one.test)) for one in self.opens], self.handed)

    def add(self, inner: Reached) -> None:
        """Adds all of what was found apart."""
        self.edges.extend(inner.edges)
        self.opens.extend(inner.opens)
        self.handed.extend(inner.handed)


@dataclass(frozen=True, eq=False)
class Way:
    """How a call is come to: the site, the kind of hop, the crossings around it; `found` takes what it leads to."""

    found: Reached
    site: Site
    hop: HopKind = "call"
    outer: tuple[Crossing, ...] = ()
    by_library: bool = False
    """A library calls what it is given."""

    def apart(self) -> Way:
        """The same way, with what is found kept apart."""
        return replace(self, found=Reached())

    @property
    def around(self) -> tuple[Crossing, ...]:
        """The crossings around one more at the same site: the way's own hop is one if it is more than a call."""
        return self.outer if self.hop == "call" else (Crossing(self.site, self.hop), *self.outer)


def with_outer(edge: Edge, outer: Crossing) -> Edge:
    """The edge inside one more crossing."""
    return replace(edge, crossings=(*edge.crossings, outer))
