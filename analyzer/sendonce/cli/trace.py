"""`sendonce trace`: the ways of one mail, or over one line, as timelines."""

from __future__ import annotations

import re
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
from sendonce.cli.streams import on_terminal, write
from sendonce.discovery import Sources
from sendonce.errors import UsageError
from sendonce.report import TRACE_FORMATS, TraceFormat, View
from sendonce.target import Target, target_of

_LINE = re.compile(r"(.+\.pyw?):(\d+)(?::\d+)?$")


@click.command("trace")
@click.argument("what")
@click.argument("path", type=GivenPath(), default=Path())
@click.option("--output-format", type=click.Choice(TRACE_FORMATS), default="text", show_default=True)
@click.option("--output-file", type=GivenPath(), help="Write the timelines to this file.")
@click.option("--log", type=GivenPath(), help="Lay the lines of this log (JSON or key=value) over the ways.")
@analysis_options
def command(
    what: str, path: Path, output_format: TraceFormat, output_file: Path | None, log: Path | None, **common_options: Any
) -> int:
    """Show every way from a trigger to a mail as a timeline.

    WHAT is the name of a mail (its template, as `sendonce inventory` lists it, or a part of that) or FILE:LINE,
    which means all ways over that line. With --log it is told which way each attempt in a log took, which attempts
    are for one event, and where the second came from.
    """
    from sendonce.report import render_incident, render_timelines
    from sendonce.run import incident, timelines

    common = Common(**common_options)
    target = target_of([path])
    if target.only:
        raise UsageError(f"{path} is a file: timelines are of a whole tree, give its folder")
    settings = common.settings(target, start_of([path], target))
    with progress(common.quiet):
        traced = timelines(target, settings, _meant(what, target))
    tell_problems(traced.problems)
    require_files(traced.files, target, settings)
    view = View(Sources(target.root).lines, common.colored(output_file is None and on_terminal()))
    if log is None:
        write(render_timelines(output_format, traced.timelines, view), output_file)
        return 0
    try:
        with log.open(encoding="utf-8", errors="replace") as lines:
            told = incident(traced, lines)
    except OSError as error:
        raise UsageError(f"--log: {log} cannot be read: {error.strerror}") from error
    write(render_incident(output_format, told, traced.timelines, view), output_file)
    return 0


def _meant(what: str, target: Target) -> str | tuple[str, int]:
    """The name of a mail, or the file (relative to the tree, also where it is given from here) and the line."""
    found = _LINE.match(what)
    if found is None:
        return what
    file, line = Path(found[1]), int(found[2])
    for base in (target.root, Path.cwd()):
        full = (base / file).resolve()
        if full.is_file() and full.is_relative_to(target.root):
            return full.relative_to(target.root).as_posix(), line
    raise UsageError(f"{found[1]} is no file below {target.root}")
