"""`sendonce init`: writes the configuration, the pre-commit entry and the CI workflow."""

from __future__ import annotations

from pathlib import Path

import click

from sendonce.cli.options import GivenPath
from sendonce.cli.streams import tell, write
from sendonce.errors import UsageError
from sendonce.setup import CI_SERVICES, Change, changes, detected_ci, requirement


@click.command("init")
@click.argument("path", type=GivenPath(), default=Path())
@click.option(
    "--ci",
    type=click.Choice(["auto", *CI_SERVICES, "none"]),
    default="auto",
    help="The CI service (default: by its files, else GitHub).",
)
@click.option(
    "--from",
    "source",
    metavar="REQUIREMENT",
    help="What pip installs in CI (default: what runs now); renews files that are there.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
def command(path: Path, ci: str, source: str | None, dry_run: bool) -> int:
    """Set up the project at PATH: the configuration, the pre-commit entry and the CI workflow.

    Nothing that is already there is changed beyond what is added; what has to be added by hand is shown.
    """
    if not path.is_dir():
        raise UsageError(f"{path} is no folder: give the folder of the project")
    service = detected_ci(path) if ci == "auto" else ci
    wanted = source or requirement()
    for change in changes(path, service, wanted, renew=source is not None):
        _make(change, dry_run)
    if "file:" in wanted:
        tell(
            f"sendonce: pre-commit and CI install {wanted!r}, which is on this machine only: put sendonce where"
            " pip finds it (a git URL, an index, a wheel in the project) and run `sendonce init --from REQUIREMENT`"
        )
    tell("sendonce: next, run `sendonce check`; for a code base with findings of long standing, `sendonce baseline`")
    return 0


def _make(change: Change, dry_run: bool) -> None:
    """Writes a file, or shows what is to be added by hand."""
    if change.why_not:
        tell(f"sendonce: {change.file}: {change.why_not}")
        if change.text:
            click.echo(f"# {change.file}\n{change.text}")
        return
    if dry_run:
        click.echo(f"# {change.file}\n{change.text}")
        return
    change.file.parent.mkdir(parents=True, exist_ok=True)
    write(change.text, change.file)
    tell(f"sendonce: {change.file}: {'written' if change.is_new else 'sendonce added'}")
