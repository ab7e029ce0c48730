"""The settings of a run, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sendonce.findings import Confidence, Severity

if TYPE_CHECKING:
    from sendonce.vocabulary import Pack

WORKERS = "more than one worker process"
ATOMIC_REQUESTS = "ATOMIC_REQUESTS is on"
REDELIVERY = "the provider redelivers"


@dataclass(frozen=True)
class Assume:
    """What the code cannot tell and the project has settled once; None is not settled.

    A finding that hangs on something settled false is not reported, on something settled true it
    no longer says that it assumes it.
    """

    workers: int | None = None
    """How many processes serve or work; 1 settles every finding that needs two."""
    atomic_requests: bool | None = None
    redelivery: bool | None = None
    """Whether webhook providers and queues deliver again what was not acknowledged."""

    def settled(self) -> Mapping[str, bool]:
        """The text of each settled assumption, as findings state it, with its truth."""
        known = {
            WORKERS: None if self.workers is None else self.workers > 1,
            ATOMIC_REQUESTS: self.atomic_requests,
            REDELIVERY: self.redelivery,
        }
        return {text: value for text, value in known.items() if value is not None}


@dataclass(frozen=True)
class TemplatePolicy:
    """What the project has decided about some mails, and why."""

    reason: str
    repeatable: bool = False
    """To come twice does no harm: no rule speaks of it."""
    ignore: tuple[str, ...] = ()
    """Codes, prefixes or names of rules that do not speak of it."""


@dataclass(frozen=True)
class Settings:
    """Everything a run depends on besides the code it reads. `source` is the file it came from, if any."""

    select: tuple[str, ...] = ()
    """Codes, prefixes or names; empty for all rules."""
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Pattern of files, as in `exclude`, and the rules that do not speak of them."""
    templates: tuple[tuple[str, TemplatePolicy], ...] = ()
    """Pattern of names of mails, and what is settled for them."""
    exclude: tuple[str, ...] = ()
    """Patterns as in a `.gitignore`, relative to the configuration file."""
    extend_exclude: tuple[str, ...] = ()
    rules: tuple[Path, ...] = ()
    """Folders or files of further rule packs."""
    helpers: Pack | None = None
    """The project's own ways of sending, deferring and reserving."""
    baseline: Path | None = None
    """A file with the findings that are known and not reported."""
    fail_on: Severity = "warning"
    min_confidence: Confidence = "medium"
    pedantic: bool = False
    assume: Assume = field(default_factory=Assume)
    since: str = ""
    """A revision: only findings with a step in lines that were changed after it are reported."""
    ignores: bool = True
    """Whether suppression comments, per-file ignores and the policy of templates count."""
    cache_dir: Path | None = None
    jobs: int = 0
    """Processes that parse; 0 for as many as the machine has."""
    source: Path | None = None
    options: frozenset[str] = frozenset()
    """The keys that the command line gave."""

    def origin(self, key: str) -> str:
        """How an error names a setting: its file and key, or the option."""
        if self.source is None or key.partition(".")[0] in self.options:
            return f"--{key}"
        return f"{self.source}: {key_path(self.source, key)}"


def key_path(file: Path | None, key: str) -> str:
    """The key as it is reached from the top of its file."""
    return f"tool.sendonce.{key}" if file is not None and file.name == "pyproject.toml" else key
