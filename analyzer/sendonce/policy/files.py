"""Rules that the configuration keeps from speaking of some files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from sendonce.config import Settings
from sendonce.findings import Finding
from sendonce.listing import ignore_spec
from sendonce.policy.selection import Rule, prefix_of


def file_ignores(settings: Settings, rules: Sequence[Rule]) -> list[tuple[str, tuple[str, ...]]]:
    """Each pattern with the prefixes that it silences; raises `ConfigError` for a word that means no rule."""
    return [
        (pattern, tuple(prefix_of(word, rules, settings.origin(f'per-file-ignores."{pattern}"')) for word in words))
        for pattern, words in settings.per_file_ignores
    ]


def without_files(findings: Iterable[Finding], root: Path, settings: Settings, rules: Sequence[Rule]) -> list[Finding]:
    """The findings; those in files of which their rule may not speak are marked as suppressed."""
    ignores = [(ignore_spec((pattern,)), prefixes) for pattern, prefixes in file_ignores(settings, rules)]
    base = settings.source.parent.resolve() if settings.source else root

    def is_ignored(finding: Finding) -> bool:
        path = os.path.relpath(root / finding.place.path, base)
        return any(finding.code.startswith(prefixes) and spec.match_file(path) for spec, prefixes in ignores)

    return [replace(one, suppressed=True) if ignores and is_ignored(one) else one for one in findings]
