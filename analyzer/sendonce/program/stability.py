"""Whether a key is the same on every attempt: nothing random, no clock, nothing of one process in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sendonce import vocabulary as v
from sendonce.program.evaluate import Evaluator
from sendonce.program.flow import Flows
from sendonce.program.origins import Origin, Origins
from sendonce.program.values import Param, Value


class Stability:
    """Answers for values."""

    def __init__(self, evaluator: Evaluator, flows: Flows) -> None:
        self.origins = Origins(evaluator, flows)

    def fresh(self, value: Value) -> Origin | None:
        """The first part of a key that differs on every attempt; None for a stable key."""
        return next((one for one in self.origins.of(value) if one.fresh), None)

    def unstable(self, value: Value) -> v.Unstable | None:
        """What packs say of the first part of a key that differs on every attempt; None for a stable key."""
        found = self.fresh(value)
        return None if found is None else found.entry

    def any_unstable(self, values: Iterable[Value]) -> bool:
        """Whether one of the parts of a key is unstable."""
        return any(self.fresh(value) is not None for value in values)

    def kept(self, binding: Mapping[Param, Value]) -> dict[Param, Value]:
        """What a job finds in its parameters: what differs on every attempt was put on the queue, and is kept there."""
        return {param: param if self.fresh(value) is not None else value for param, value in binding.items()}
