"""`sendonce inventory`: every send, what it sends and what leads to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sendonce.cli.options import (
    Common,
    GivenPath,
    analysis_options,
    progress,
    require_files,
    start_of,
    tell_problems,
    tell_unresolved,
)
from sendonce.cli.streams import on_terminal, write
from sendonce.discovery import Sources
from sendonce.errors import UsageError
from sendonce.report import INVENTORY_FORMATS, InventoryFormat, View
from sendonce.target import target_of


@click.command("inventory")
@click.argument("path", type=GivenPath(), default=Path())
@click.option("--output-format", type=click.Choice(INVENTORY_FORMATS), default="text", show_default=True)
@click.option("--output-file", type=GivenPath(), help="Write the inventory to this file.")
@analysis_options
def command(path: Path, output_format: InventoryFormat, output_file: Path | None, **common_options: Any) -> int:
    """List every send of the tree at PATH with its mail, provider and triggers."""
    from sendonce.remembered import analyze
    from sendonce.report import render_inventory

    common = Common(**common_options)
    target = target_of([path])
    if target.only:
        raise UsageError(f"{path} is a file: an inventory is of a whole tree, give its folder")
    settings = common.settings(target, start_of([path], target))
    with progress(common.quiet):
        report = analyze(target, settings)
    tell_problems(report.problems)
    require_files(report.stats.files, target, settings)
    if common.verbose:
        tell_unresolved(report)
    view = View(Sources(target.root).lines, common.colored(output_file is None and on_terminal()))
    write(render_inventory(output_format, report, view), output_file)
    return 0
