"""The search from the sends outwards must find what an analysis of the whole tree finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from sendonce.checks import run_checks
from sendonce.config import Settings
from sendonce.discovery import discover
from sendonce.packs import load_packs
from sendonce.program.analysis import Analysis, analyse

SAMPLES = sorted(path.parent for path in (Path(__file__).parents[2] / "sample_repos").glob("*/replays"))


def _analysis(root: Path, whole: bool) -> Analysis:
    return analyse(discover(root), load_packs(), Settings(), whole)


@pytest.mark.parametrize("root", SAMPLES, ids=lambda path: path.name)
def test_slice_gives_the_answer_of_the_whole_tree(root: Path) -> None:
    sliced, whole = _analysis(root, False), _analysis(root, True)
    assert sliced.inventory == whole.inventory
    assert run_checks(sliced) == run_checks(whole)
    assert sliced.stats.files_parsed <= whole.stats.files_parsed
    assert sliced.inventory.sends
