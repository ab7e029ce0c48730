"""SO101 multiple-trigger-paths."""

from __future__ import annotations

from collections.abc import Iterator

from sendonce.checks.base import Fault, Rule
from sendonce.program.analysis import Analysis
from sendonce.program.paths import Path

CODE, NAME = "SO101", "multiple-trigger-paths"


def check(analysis: Analysis, explained: frozenset[Path]) -> Iterator[Fault]:
    """Not yet."""
    return iter(())


RULE = Rule(CODE, NAME, __doc__, check)
