"""Options of every command that analyses, and the settings and output they lead to."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import click

from sendonce.cli.streams import tell
from sendonce.config import Settings, find_config, load_config
from sendonce.errors import ConfigError, UsageError
from sendonce.findings import Problem, Report
from sendonce.target import Target

CACHE_FOLDER = ".sendonce_cache"

Command = TypeVar("Command", bound=Callable[..., Any])


class GivenPath(click.Path):
    """A path as `Path`; an empty text is none, though `Path("")` is the current folder."""

    name = "path"

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("a path is empty; the current folder is `.`", param, ctx)
        return super().convert(value, param, ctx)


_PATH = GivenPath()
_OPTIONS = (
    click.option("--config", type=_PATH, help="Read this configuration file instead of the nearest one."),
    click.option("--isolated", is_flag=True, help="Read no configuration file."),
    click.option("--rules", type=_PATH, multiple=True, metavar="PATH", help="Further rule packs: a file or folder."),
    click.option("--cache-dir", type=_PATH, help=f"Where parsed files are kept (default: {CACHE_FOLDER} in the tree)."),
    click.option("--no-cache", is_flag=True, help="Neither read nor write the cache."),
    click.option("--jobs", type=click.IntRange(min=1), help="Accepted for later; everything runs in one process yet."),
    click.option(
        "--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Colours (default: auto)."
    ),
    click.option("--quiet", "-q", is_flag=True, help="Show no progress."),
    click.option("--verbose", "-v", is_flag=True, help="Also list the calls that could not be resolved."),
)


@dataclass(frozen=True)
class Common:
    """The options of `analysis_options`, as given."""

    config: Path | None
    isolated: bool
    rules: tuple[Path, ...]
    cache_dir: Path | None
    no_cache: bool
    jobs: int | None
    color: str
    quiet: bool
    verbose: bool

    def settings(self, target: Target, start: Path) -> Settings:
        """The configuration that holds for `start`, with these options over it."""
        if self.config and self.isolated:
            raise UsageError("--config and --isolated exclude each other: give one of them")
        if self.config and not self.config.is_file():
            raise UsageError(f"--config: {self.config} is not a file")
        for path in self.rules:
            if not path.exists():
                raise UsageError(f"--rules: {path} does not exist")
        file = None if self.isolated else self.config or find_config(start)
        settings = load_config(file) if file else Settings()
        for path in settings.rules:
            if not path.exists():
                raise ConfigError(f"{settings.origin('rules')}: {path} does not exist")
        cache = None if self.no_cache else self.cache_dir or _own_folder(target)
        return replace(settings, rules=(*settings.rules, *self.rules), cache_dir=cache, jobs=self.jobs or 0)

    def colored(self, to_terminal: bool) -> bool:
        """Whether text is coloured: as told, else as NO_COLOR or FORCE_COLOR say, else on a terminal."""
        if self.color != "auto":
            return self.color == "always"
        if os.environ.get("FORCE_COLOR") and not os.environ.get("NO_COLOR"):
            return True
        return to_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def analysis_options(command: Command) -> Command:
    """Adds the options of `Common`; the command gets them as keyword arguments."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def _own_folder(target: Target) -> Path | None:
    """The cache folder in the analysed tree, unless that leads elsewhere."""
    folder = target.root / CACHE_FOLDER
    return None if folder.is_symlink() else folder


def start_of(paths: Sequence[Path], target: Target) -> Path:
    """Where the search for a configuration file starts."""
    return paths[0].resolve() if len(paths) == 1 else target.root


@contextmanager
def progress(quiet: bool) -> Iterator[None]:
    """A sign of life on standard error while the block runs, if that is a terminal."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console  # takes longer to import than a small tree to analyse

    with Console(stderr=True).status("Reading the code …"):
        yield


def tell_problems(problems: Sequence[Problem]) -> None:
    """Names each file that could not be used on standard error."""
    from sendonce.report.text import visible

    for problem in problems:
        line = f":{problem.line}" if problem.line else ""
        tell(f"sendonce: {visible(problem.path)}{line}: {visible(problem.message)}")


def tell_remarks(report: Report) -> None:
    """Says on standard error what the user should know of the settings."""
    from sendonce.report.text import visible

    for remark in report.remarks:
        tell(f"sendonce: {visible(remark)}")


def tell_unresolved(report: Report) -> None:
    """Lists the calls that may lead to a send and were not resolved on standard error."""
    from sendonce.report.text import plural, visible

    for call in report.unresolved:
        tell(f"{visible(call.place.path)}:{call.place.line}: unresolved: {visible(call.note)}")
    known = len(report.unresolved)
    figures = f"{report.stats.files_parsed} of {plural(report.stats.files, 'file')} parsed"
    tell(f"sendonce: {plural(known, 'unresolved call')}, {figures}, {report.stats.seconds:.2f} s")


def require_files(files: int, target: Target, settings: Settings) -> None:
    """Raises `UsageError` if there was nothing to analyse."""
    if not files:
        excluded = f" (excluded in {settings.source}?)" if settings.exclude or settings.extend_exclude else ""
        raise UsageError(
            f"no Python files to analyse below {target.root}{excluded};"
            " give the folder of the project, or --allow-empty if that is meant"
        )
