"""Where runs start: the triggers of functions, as packs describe them."""

from sendonce.program.starts.registry import Registry
from sendonce.program.starts.start import Registration, Start
from sendonce.program.starts.starts import Starts

__all__ = ["Registration", "Registry", "Start", "Starts"]
