"""What one walk over a function finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from sendonce import facts
from sendonce.program.exclusion import Exclusion
from sendonce.program.held import Held, Site, Test, newest_first
from sendonce.program.symbols import Function
from sendonce.program.values import (
    NONE,
    Const,
    Op,
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

    _parted: tuple[tuple[Value, tuple[Test, ...]], ...] | None = None

    @property
    def returned(self) -> Value:
        """One of the returned values (for a generator: yielded), None left out if there are others."""
        exits = self.yields or self.returns
        known = [exit.value for exit in exits if exit.value is not NONE]
        return union(known) if known else NONE

    @property
    def parted(self) -> tuple[tuple[Value, tuple[Test, ...]], ...]:
        """The returned values with the tests of single parameters that lead to each; empty if no such test parts them.

        `return partial(…)` under `if function is None:` is one, what is returned after it another.
        """
        if self._parted is None or not self.done:
            exits = () if self.yields or len(self.returns) < 2 else self.returns
            found = tuple((one.value, tuple(_tests_of_parameters(one.held))) for one in exits)
            self._parted = found if any(tests for _, tests in found) else ()
        return self._parted

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


def _tests_of_parameters(held: Held | None) -> Iterator[Test]:
    """The tests of one parameter that hold at a point: as it is, or against a constant."""
    for fact in newest_first(held):
        match fact:
            case Test(value=Param() | Op(operands=(Param(),)) | Op(operands=(Param(), Const()))):
                yield fact
            case _:
                pass


def root(value: Value) -> Value:
    while isinstance(value, Updated):
        value = value.base
    return value
