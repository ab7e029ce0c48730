"""`sendonce check`: the lint."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import click

from sendonce.cli.options import (
    Common,
    GivenPath,
    analysis_options,
    progress,
    require_files,
    start_of,
    tell_problems,
    tell_remarks,
    tell_unresolved,
)
from sendonce.cli.streams import append, on_terminal, tell, write, write_bytes
from sendonce.config import Settings, nearest
from sendonce.discovery import Sources
from sendonce.errors import UsageError
from sendonce.findings import CONFIDENCES, Confidence, Report, Severity
from sendonce.report import FORMATS, Format, View
from sendonce.target import Target, target_of

_PATH = GivenPath()
_SEVERITIES = click.Choice(get_args(Severity))
_KEYS = tuple("select ignore extend-select fail-on min-confidence pedantic baseline since no-ignores".split())
"""The options that stand for settings."""


class ReportTo(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic from click 8.4 on
    """A format and a file, `sarif=out.sarif`."""

    name = "format=file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, tuple):
            return value
        form, sign, file = str(value).partition("=")
        if not sign or not file:
            self.fail(f"{value!r} is not FORMAT=FILE, for instance sarif=out.sarif", param, ctx)
        if form not in FORMATS:
            self.fail(f"there is no format {form!r}{nearest(form, FORMATS)}", param, ctx)
        return form, Path(file)


@dataclass(frozen=True)
class Choice:
    """The options that only `check` has."""

    select: tuple[str, ...]
    ignore: tuple[str, ...]
    extend_select: tuple[str, ...]
    fail_on: Severity | None
    min_confidence: Confidence | None
    pedantic: bool
    output_format: Format
    output_file: Path | None
    report: tuple[tuple[Format, Path], ...]
    exit_zero: bool
    statistics: bool
    no_ignores: bool
    baseline: Path | None
    since: str | None
    show_settings: bool
    show_files: bool
    allow_empty: bool
    strict: bool
    fix: bool
    unsafe_fixes: bool
    diff: bool

    @property
    def repairs(self) -> bool:
        """Whether repairs are to be made or shown."""
        return self.fix or self.unsafe_fixes or self.diff

    def over(self, settings: Settings) -> Settings:
        """The settings with these options; `--select` sets aside what the file selects and ignores."""
        if self.select:
            settings = replace(settings, ignore=(), extend_select=())
        given = (key for key in _KEYS if getattr(self, key.replace("-", "_")))
        return replace(
            settings,
            select=_words(self.select) or settings.select,
            ignore=settings.ignore + _words(self.ignore),
            extend_select=settings.extend_select + _words(self.extend_select),
            fail_on=self.fail_on or settings.fail_on,
            min_confidence=self.min_confidence or settings.min_confidence,
            pedantic=settings.pedantic or self.pedantic,
            baseline=self.baseline or settings.baseline,
            since=self.since or "",
            ignores=not self.no_ignores,
            options=frozenset(given),
        )


@click.command("check")
@click.argument("paths", nargs=-1, type=_PATH, metavar="[PATH]…")
@click.option("--select", multiple=True, metavar="CODES", help="Only these rules: codes, prefixes or names.")
@click.option("--ignore", multiple=True, metavar="CODES", help="Not these rules.")
@click.option("--extend-select", multiple=True, metavar="CODES", help="These rules as well.")
@click.option("--fail-on", type=_SEVERITIES, help="Exit with 1 from this severity on (default: warning).")
@click.option("--min-confidence", type=click.Choice(CONFIDENCES), help="Leave out what is less sure (default: medium).")
@click.option("--pedantic", is_flag=True, help="Show notes too.")
@click.option("--output-format", type=click.Choice(FORMATS), default="full", show_default=True)
@click.option("--output-file", type=_PATH, help="Write the report to this file.")
@click.option(
    "--report", multiple=True, type=ReportTo(), metavar="FORMAT=FILE", help="Write the report to this file as well."
)
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even with findings.")
@click.option("--statistics", is_flag=True, help="Count the findings of each rule.")
@click.option("--no-ignores", is_flag=True, help="Report what comments and the configuration silence, too.")
@click.option("--baseline", type=_PATH, help="Leave out the findings that this file knows (see `sendonce baseline`).")
@click.option(
    "--since", metavar="REV", help="Only findings that are new since this git revision or touch lines changed since."
)
@click.option("--show-settings", is_flag=True, help="Show the settings that hold, where each comes from, and stop.")
@click.option("--show-files", is_flag=True, help="List the files that would be read, their role and module, and stop.")
@click.option("--allow-empty", is_flag=True, help="Exit with 0 if there are no Python files.")
@click.option("--fix", is_flag=True, help="Make the repairs that only move a call; report what is left.")
@click.option("--unsafe-fixes", is_flag=True, help="Make also those that somebody should look at.")
@click.option("--diff", is_flag=True, help="Show what --fix would change, and change nothing.")
@click.option("--strict", is_flag=True, help="Exit with 2 if a file could not be read or parsed.")
@analysis_options
def command(
    paths: tuple[Path, ...],
    config: Path | None,
    isolated: bool,
    rules: tuple[Path, ...],
    cache_dir: Path | None,
    no_cache: bool,
    jobs: int | None,
    color: str,
    quiet: bool,
    verbose: bool,
    **only_here: Any,
) -> int:
    """Report where one event can send the same e-mail twice.

    PATH is a folder (default: the current one) or files of a project. Files limit what is
    reported, not what is analysed.
    """
    if only_here["since"] == "":
        raise UsageError("--since needs a revision, and got an empty text (is a variable of your CI empty?)")
    common = Common(config, isolated, rules, cache_dir, no_cache, jobs, color, quiet, verbose)
    choice = Choice(**only_here)
    target = target_of(paths)
    settings = choice.over(common.settings(target, start_of(paths, target)))
    if choice.show_settings:
        return _show_settings(settings, choice)
    if choice.show_files:
        return _show_files(target, settings, choice)
    return _check(target, settings, common, choice)


def _check(target: Target, settings: Settings, common: Common, choice: Choice) -> int:
    from sendonce.policy import fails
    from sendonce.remembered import analyze
    from sendonce.report import render_findings

    with progress(common.quiet):
        report = analyze(target, settings)
    tell_problems(report.problems)
    tell_remarks(report)
    if not choice.allow_empty:
        require_files(report.stats.files, target, settings)
    if choice.repairs and (done := _repaired(target, report, choice, common)) is not None:
        if choice.diff:
            return done
        with progress(common.quiet):
            report = analyze(target, settings)
    if common.verbose:
        tell_unresolved(report)
    to_terminal = choice.output_file is None and on_terminal()
    color = common.colored(to_terminal)
    lines = Sources(target.root).lines
    view = View(lines, color, choice.statistics, common.verbose, below=_below(target.root), docs=_docs)
    write(render_findings(choice.output_format, report, view), choice.output_file)
    for form, file in choice.report:
        write(render_findings(form, report, replace(view, color=False)), file)
    if choice.output_format == "github" and (summary := os.environ.get("GITHUB_STEP_SUMMARY")):
        append(render_findings("markdown", report, replace(view, color=False)), Path(summary))
    if choice.statistics and choice.output_format == "json":
        _tell_statistics(report)
    unused = {problem.path for problem in report.problems}
    if (choice.strict and unused) or (target.only and unused.issuperset(target.only)):
        return 2
    return int(fails(report.findings, settings.fail_on) and not choice.exit_zero)


def _docs() -> dict[str, str]:
    """The documentation of the rules by code."""
    from sendonce.run import all_rules  # imports all of the analysis, which a run may do without

    return {rule.code: rule.doc for rule in all_rules()}


def _below(root: Path) -> str:
    """Where a folder is below the current one; empty for that one itself and for any other."""
    here = Path.cwd().resolve()
    return root.relative_to(here).as_posix() if root != here and root.is_relative_to(here) else ""


def _repaired(target: Target, report: Report, choice: Choice, common: Common) -> int | None:
    """Makes or shows the repairs: 1 if there are any, 0 if they are only shown and there are none, else None."""
    from sendonce.fixes import patches
    from sendonce.fixes.writing import diff, written

    made = patches(report.findings, Sources(target.root).source, choice.unsafe_fixes)
    if choice.diff:
        write_bytes(b"".join(diff(patch) for patch in made), choice.output_file)
        if not made:
            tell("sendonce: none of the findings has a repair that only moves a call (see --unsafe-fixes)")
        return int(bool(made))
    for patch in made:
        written(target.root, patch)
        told = ", ".join(sorted({finding.code for finding in patch.findings}))
        tell(f"sendonce: repaired {told} in {patch.path}")
    return 1 if made else None


def _tell_statistics(report: Report) -> None:
    from sendonce.report.text import statistics

    for line in statistics(report):
        tell(line)


def _show_settings(settings: Settings, choice: Choice) -> int:
    from sendonce.config.shown import written
    from sendonce.policy import check_words, selected_codes
    from sendonce.report import harmless
    from sendonce.report.text import visible
    from sendonce.run import all_rules

    rules = all_rules()
    check_words(settings, rules)
    chosen = selected_codes(settings, rules)
    lines = [*written(settings), f"# rules in force: {', '.join(sorted(chosen)) or 'none'}"]
    write(harmless("".join(f"{visible(line)}\n" for line in lines)), choice.output_file)
    return 0


def _show_files(target: Target, settings: Settings, choice: Choice) -> int:
    from sendonce.report import harmless
    from sendonce.report.text import visible

    sources = target.sources(settings)
    tell_problems(sources.problems)
    if not sources.files and not choice.allow_empty:
        raise UsageError(f"no Python files to analyse below {target.root}")
    rows = (f"{visible(file.path)}  {file.role}  {visible(file.module)}\n" for file in sources.files)
    write(harmless("".join(rows)), choice.output_file)
    return 2 if choice.strict and sources.problems else 0


def _words(options: Sequence[str]) -> tuple[str, ...]:
    """`--select SO2,SO301 --select SO4` as three words."""
    return tuple(word.strip() for option in options for word in option.split(",") if word.strip())
