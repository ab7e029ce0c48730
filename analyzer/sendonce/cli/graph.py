"""`sendonce graph`: the call graph, for other programs and for pictures."""

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
)
from sendonce.cli.streams import write
from sendonce.errors import UsageError
from sendonce.report import GRAPH_FORMATS, GraphFormat
from sendonce.target import target_of


@click.command("graph")
@click.argument("path", type=GivenPath(), default=Path())
@click.option("--format", "format_", type=click.Choice(GRAPH_FORMATS), default="json", show_default=True)
@click.option("--all", "whole", is_flag=True, help="Every function, whether it leads to mail or not.")
@click.option("--output-file", type=GivenPath(), help="Write the graph to this file.")
@analysis_options
def command(path: Path, format_: GraphFormat, whole: bool, output_file: Path | None, **common_options: Any) -> int:
    """Show the call graph of the tree at PATH: what leads to mail, or all of it."""
    from sendonce.report import render_graph
    from sendonce.run import call_graph

    common = Common(**common_options)
    target = target_of([path])
    if target.only:
        raise UsageError(f"{path} is a file: a call graph is of a whole tree, give its folder")
    settings = common.settings(target, start_of([path], target))
    with progress(common.quiet):
        graphed = call_graph(target, settings, whole)
    tell_problems(graphed.problems)
    require_files(graphed.files, target, settings)
    write(render_graph(format_, graphed.graph), output_file)
    return 0
