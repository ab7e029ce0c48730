"""What one walk over a function finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from sendonce import facts
from sendonce.program.exclusion import Exclusion
from sendonce.program.held import Held, Site
from sendonce.program.symbols import Function
from sendonce.program.values import (
    NONE,
    Param,
    Updated,
    Value,
    union,
)


@dataclass(frozen=True, eq=False)
class Exit:
    """One way out of a function (return, raise) or one yield: the value, where, and what holds."""

    value: Value
    at: facts.Span
    held: Held | None


@dataclass(frozen=True, eq=False)
class Write:
    """One assignment to an attribute or item."""

    base: Value
    field: str
    value: Value
    at: facts.Span
    held: Held | None
    key: Value | None = None
    """The key of an item that is written."""


@dataclass
class Flow:
    """All that one walk found, in the order of the source."""

    function: Function
    sites: list[Site] = field(default_factory=list)
    hidden: list[Site] = field(default_factory=list)
    """Calls that the language makes: of `__enter__` and `__exit__`, of `__iter__` and `__next__`, of a raised class."""
    returns: list[Exit] = field(default_factory=list)
    raises: list[Exit] = field(default_factory=list)
    yields: list[Exit] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    assigned: dict[str, list[Value]] = field(default_factory=dict)
    done: bool = False
    """Whether the walk is over: until then more is to come."""
    end: dict[str, Value] = field(default_factory=dict)
    """What the variables of a module hold when all of it has run."""
    choices: dict[Value, list[tuple[Value, Value, Value]]] = field(default_factory=dict)
    """For the value of each `a if t else b`: the test and the two values."""

    @property
    def returned(self) -> Value:
        """One of the returned values (for a generator: yielded), None left out if there are others."""
        exits = self.yields or self.returns
        known = [exit.value for exit in exits if exit.value is not NONE]
        return union(known) if known else NONE

    def binding(self, name: str) -> Value | None:
        """One of the values that a local variable gets; the parameter of that name; None for other names."""
        if name in self.assigned:
            return union(self.assigned[name])
        if any(param.name == name for param in self.function.params):
            return Param(self.function.id, name)
        return None

    def exclusive(self, left: Held | None, right: Held | None) -> bool:
        """Whether two points of the function cannot both be passed in one run."""
        return self._exclusion.exclusive(left, right)

    def may_follow(self, held: Held | None, site: Site) -> bool:
        """Whether a call was made on a way to a point."""
        return self._exclusion.done(held, site)

    @cached_property
    def _exclusion(self) -> Exclusion:
        exits = (*self.returns, *self.raises, *self.yields)
        points: tuple[Site | Exit | Write, ...] = (*self.sites, *exits, *self.writes)
        return Exclusion([point.held for point in points])

    def written(self, attr: str) -> tuple[Value, ...]:
        """The values assigned to an attribute of the first parameter."""
        if not self.function.params:
            return ()
        first = Param(self.function.id, self.function.params[0].name)
        return tuple(write.value for write in self.writes if write.field == attr and root(write.base) is first)


def root(value: Value) -> Value:
    while isinstance(value, Updated):
        value = value.base
    return value
