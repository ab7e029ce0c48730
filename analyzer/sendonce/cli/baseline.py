"""`sendonce baseline`: writes down the findings of today, so that `check` reports only what comes on top."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
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
from sendonce.cli.streams import tell, write
from sendonce.config import Settings
from sendonce.findings import CONFIDENCES, Confidence, Report
from sendonce.target import Target, target_of

_PATH = GivenPath()


@click.command("baseline")
@click.argument("path", type=_PATH, default=Path())
@click.option(
    "--output-file", "--output", type=_PATH, help="Where to write (default: as configured, else in the tree's root)."
)
@click.option("--prune", is_flag=True, help="Only take out of the file what is no longer found; add nothing.")
@click.option("--pedantic", is_flag=True, help="Write down notes too.")
@click.option("--min-confidence", type=click.Choice(CONFIDENCES), help="Leave out what is less sure (default: medium).")
@analysis_options
def command(
    path: Path,
    output_file: Path | None,
    prune: bool,
    pedantic: bool,
    min_confidence: Confidence | None,
    **common_options: Any,
) -> int:
    """Write today's findings in the tree at PATH to a file that `check --baseline FILE` subtracts.

    The file is sorted and has no line numbers and no dates: keep it under version control.
    """
    from sendonce.policy.baseline import FILE_NAME

    common = Common(**common_options)
    target = target_of([path])
    settings = common.settings(target, start_of([path], target))
    file = output_file or settings.baseline or target.root / FILE_NAME
    settings = replace(
        settings,
        pedantic=settings.pedantic or pedantic or prune,  # what is pruned may have been written with other options
        min_confidence="low" if prune else min_confidence or settings.min_confidence,
    )
    counts = _write(file, target, settings, common, prune)
    _tell(counts, file, settings)
    return 0


def _write(file: Path, target: Target, settings: Settings, common: Common, prune: bool) -> int:
    """Writes the file; how many findings it knows now."""
    from sendonce.discovery import Sources
    from sendonce.policy import Baseline, baseline_of, load_baseline

    old = load_baseline(file, "--prune") if prune else None
    report = _analyzed(target, replace(settings, baseline=None), common)
    lines = Sources(target.root).lines
    new = baseline_of(report.findings, file, target.root, lines)
    if old is not None:
        _, unused = old.subtract(report.findings, target.root, lines)
        new = Baseline(file, Counter(old.counts) - unused)
    write(new.dumped(), file)
    return new.counts.total()


def _analyzed(target: Target, settings: Settings, common: Common) -> Report:
    from sendonce.run import analyze

    with progress(common.quiet):
        report = analyze(target, settings)
    tell_problems(report.problems)
    require_files(report.stats.files, target, settings)
    if common.verbose:
        tell_unresolved(report)
    return report


def _tell(count: int, file: Path, settings: Settings) -> None:
    from sendonce.report.text import plural

    configured = settings.baseline is not None and settings.baseline.resolve() == file.resolve()
    option = "" if configured else f" --baseline {file}"
    tell(f"sendonce: {file} knows {plural(count, 'finding')}; `sendonce check{option}` reports what comes on top")
    if not configured:
        tell(f'sendonce: with `baseline = "{file.name}"` in the configuration every check, in CI too, leaves them out')
