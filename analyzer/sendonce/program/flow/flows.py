"""The walks of a program."""

from __future__ import annotations

from sendonce.program.evaluate import Evaluator
from sendonce.program.flow.found import Flow
from sendonce.program.flow.walk import Walk
from sendonce.program.symbols import Function


class Flows:
    """The walks of a program's functions, each done once."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._known: dict[str, Flow] = {}
        evaluator.flow_of = self.of

    def of(self, function: Function) -> Flow:
        """The walk over a function; empty for one that is being walked just now."""
        found = self._known.get(function.id)
        if found is None:
            found = self._known[function.id] = Flow(function)
            with self._evaluator.memo.afresh():
                try:
                    Walk(self._evaluator, function, found).run()
                except RecursionError:  # what was found before stays
                    self._evaluator.program.cuts.of(function, "nests too deeply to be read to its end")
            found.done = True
        return found
