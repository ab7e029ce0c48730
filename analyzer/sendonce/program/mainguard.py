"""What runs only where a file itself is run."""

from __future__ import annotations

from sendonce.program import held as h
from sendonce.program.held import Held
from sendonce.program.values import Const, Op, Value, walk


def is_script(held: Held | None) -> bool:
    """Whether a point is only reached where the file itself is run: `if __name__ == "__main__"`."""
    return any(isinstance(fact, h.Test) and fact.holds and _asks_for_main(fact.value) for fact in h.newest_first(held))


def _asks_for_main(test: Value) -> bool:
    return isinstance(test, Op) and test.op == "==" and any(part is Const("__main__") for part in walk(test))
