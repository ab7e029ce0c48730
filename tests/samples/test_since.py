"""A fault that comes into a repaired sample, stretch by stretch, is shown by `--since`, wherever its guard stood."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

import pytest

from gitrepo import repository
from sendonce.config import Settings
from sendonce.findings import Finding
from sendonce.run import analyze
from sendonce.target import target_of

SAMPLES = Path(__file__).resolve().parents[2] / "sample_repos"
NAMES = sorted(path.name for path in SAMPLES.glob("*") if (SAMPLES / f"{path.name}-repaired").is_dir())

pytestmark = [pytest.mark.long, pytest.mark.skipif(not NAMES, reason="needs the checkout")]


def mutations(repaired: Path, faulty: Path) -> Iterator[tuple[Path, str, str]]:
    """A file, its text with one stretch as it is in the faulty tree, and its own text."""
    for file in sorted(faulty.rglob("*.py")):
        mine = repaired / file.relative_to(faulty)
        if mine.is_file() and mine.read_bytes() != file.read_bytes():
            good, bad = mine.read_text().splitlines(True), file.read_text().splitlines(True)
            for tag, start, end, other, last in SequenceMatcher(None, good, bad, autojunk=False).get_opcodes():
                if tag != "equal":
                    yield mine, "".join([*good[:start], *bad[other:last], *good[end:]]), "".join(good)


@pytest.mark.parametrize("name", NAMES)
def test_every_fault_that_comes_in_is_shown(name, tmp_path):
    root = tmp_path / name
    shutil.copytree(SAMPLES / f"{name}-repaired", root)
    repository(root)

    def found(since: str = "") -> set[tuple[str, str, str, str | None]]:
        report = analyze(target_of([root]), Settings(since=since, cache_dir=tmp_path / "cache"))
        return {_identity(one) for one in report.findings if not one.suppressed}

    known, faults = found(), 0
    assert found("HEAD") == set()
    for file, text, own in mutations(root, SAMPLES / name):
        file.write_text(text)
        new = found() - known
        if new:
            faults += 1
            assert new <= found("HEAD"), file
        file.write_text(own)
    assert faults > 1


def _identity(finding: Finding) -> tuple[str, str, str, str | None]:
    return finding.code, finding.place.path, finding.function, finding.template
