"""One walk over a function's body: its calls with what holds at each, what it returns and writes.

The walk is flow-sensitive for local variables and resolves nearly nothing: values stay symbolic,
so that walking one function never depends on another.
"""

from sendonce.program.flow.flows import Flows
from sendonce.program.flow.found import Exit, Flow, Write

__all__ = ["Exit", "Flow", "Flows", "Write"]
