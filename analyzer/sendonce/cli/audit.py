"""`sendonce audit`: everything about the mail of a tree in one file."""

from __future__ import annotations

import webbrowser
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
from sendonce.cli.streams import tell, write
from sendonce.discovery import Sources
from sendonce.errors import UsageError
from sendonce.report import AUDIT_FORMATS, AuditFormat, View
from sendonce.target import target_of

_BY_ENDING: dict[str, AuditFormat] = {
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".json": "json",
}


@click.command("audit")
@click.argument("path", type=GivenPath(), default=Path())
@click.option("--output", "--output-file", "-o", type=GivenPath(), required=True, help="Write the audit to this file.")
@click.option("--output-format", type=click.Choice(AUDIT_FORMATS), help="Instead of what the file's ending says.")
@click.option("--open", "open_", is_flag=True, help="Show it in the browser when it is written.")
@analysis_options
def command(path: Path, output: Path, output_format: AuditFormat | None, open_: bool, **common_options: Any) -> int:
    """Write the audit of the tree at PATH: summary, plan, matrix, every mail with its picture, checklist.

    The file is HTML, Markdown (.md) or JSON (.json) by its ending. The HTML needs no other file and no network.
    """
    from sendonce.report import render_audit
    from sendonce.run import audit

    common = Common(**common_options)
    target = target_of([path])
    if target.only:
        raise UsageError(f"{path} is a file: an audit is of a whole tree, give its folder")
    form = output_format or _BY_ENDING.get(output.suffix.lower())
    if form is None:
        raise UsageError(f"--output: {output} ends in none of {', '.join(_BY_ENDING)}; say which by --output-format")
    settings = common.settings(target, start_of([path], target))
    with progress(common.quiet):
        made = audit(target, settings)
    tell_problems(made.problems)
    require_files(made.measured.files, target, settings)
    write(render_audit(form, made, View(Sources(target.root).lines)), output)
    if not common.quiet:
        tell(f"sendonce: {output} has {len(made.mails)} mails, {len(made.findings)} findings, {len(made.plan)} steps")
    if open_:
        webbrowser.open(output.resolve().as_uri())
    return 0
