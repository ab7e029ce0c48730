"""The command line: one file a command, imported only when it is used."""

from __future__ import annotations

from sendonce.cli.main import main

__all__ = ["main"]
