"""`sendonce scaffold`: the table, the helper and the test that a project needs to send each mail once."""

from __future__ import annotations

from pathlib import Path

import click

from sendonce.cli.options import GivenPath
from sendonce.errors import UsageError
from sendonce.scaffold import FRAMEWORKS, NAME, Framework, scaffold


@click.command("scaffold")
@click.argument("framework", type=click.Choice(FRAMEWORKS))
@click.argument("path", type=GivenPath(), default=Path())
@click.option("--name", default=NAME, show_default=True, help="What the app or module is called.")
def command(framework: Framework, path: Path, name: str) -> int:
    """Write a table of deliveries, a helper that reserves and then sends, and its tests into the project at PATH.

    Nothing that exists is changed.
    """
    if not path.is_dir():
        raise UsageError(f"{path} is not a folder")
    made = scaffold(framework, path, name)
    for file, text in made.files:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise UsageError(f"{file} cannot be written: {error.strerror}") from error
        click.echo(f"wrote {file}")
    click.echo("\nNext:")
    for number, step in enumerate(made.next, 1):
        click.echo(f"  {number}. {step}")
    return 0
