"""From call sites to the functions that run: the edges of the call graph."""

from sendonce.program.link.choices import is_by_given_name
from sendonce.program.link.edges import Crossing, Edge, Handed, Open, Reached, Register, with_outer
from sendonce.program.link.linker import Linker

__all__ = ["Crossing", "Edge", "Handed", "Linker", "Open", "Reached", "Register", "is_by_given_name", "with_outer"]
