"""The command line: `main` runs it."""

from __future__ import annotations

import click

from sendonce import __version__


@click.group()
@click.version_option(__version__, prog_name="sendonce")
def main() -> None:
    """Finds where one business event can send the same e-mail twice."""
