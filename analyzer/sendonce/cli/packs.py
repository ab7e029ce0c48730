"""`sendonce packs`: which libraries are known, and which of them a tree uses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sendonce.cli.options import Common, GivenPath, analysis_options, start_of, tell_problems
from sendonce.target import target_of

if TYPE_CHECKING:
    from sendonce.index import WordIndex


@click.command("packs")
@click.argument("path", type=GivenPath(), default=Path())
@analysis_options
def command(path: Path, **common_options: Any) -> int:
    """List the rule packs in force and how many files of the tree at PATH import their library."""
    from sendonce.index import WordIndex
    from sendonce.packs import load_packs
    from sendonce.report.text import plural, visible

    common = Common(**common_options)
    target = target_of([path])
    settings = common.settings(target, start_of([path], target))
    packs = load_packs(settings.rules, helpers=settings.helpers)
    sources = target.sources(settings)
    tell_problems(sources.problems)
    index = WordIndex(sources)
    for file in packs.files:
        users = importers(index, packs.roots(file.pack))
        match = f"in {plural(users, 'file')}" if users else "-"
        click.echo(f"{file.section:<14} {visible(file.pack.name):<28} {match}")
    return 0


def importers(index: WordIndex, roots: frozenset[str]) -> int:
    """How many application files import something below one of the roots; the tree's own modules are no library."""
    files = {
        file
        for root in roots
        if not index.sources.by_module(root)
        for file in index.files_with(root.partition(".")[0])
        if any(name == root or name.startswith(f"{root}.") for name in index.imports(file))
    }
    return len(files)
