"""`sendonce audit`: the file, its form by its ending, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

from auditing import SHOP
from cli.conftest import Cli
from linking import analysis_of


def test_the_ending_says_the_form(cli: Cli, tmp_path: Path) -> None:
    analysis_of(SHOP, tmp_path / "tree")
    for name, start in (("a.html", "<!DOCTYPE html>"), ("a.md", "# E-mail audit of tree"), ("a.json", "{")):
        result = cli("audit", tmp_path / "tree", "--output", tmp_path / name, "--no-cache")
        assert result.code == 0
        assert (tmp_path / name).read_text().startswith(start)
        assert "4 mails" in result.err
        assert result.out == ""


def test_an_ending_that_says_nothing_is_refused(cli: Cli, tmp_path: Path) -> None:
    analysis_of(SHOP, tmp_path / "tree")
    result = cli("audit", tmp_path / "tree", "--output", tmp_path / "a.txt", "--no-cache")
    assert result.code == 2
    assert "--output-format" in result.err
    assert not (tmp_path / "a.txt").exists()


def test_the_form_can_be_told(cli: Cli, tmp_path: Path) -> None:
    analysis_of(SHOP, tmp_path / "tree")
    cli("audit", tmp_path / "tree", "--output", tmp_path / "a.txt", "--output-format", "json", "--no-cache", "-q")
    assert json.loads((tmp_path / "a.txt").read_text())["schema"] == 1


def test_a_file_and_an_empty_folder_are_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("x = 1\n")
    assert "give its folder" in cli("audit", tmp_path / "one.py", "-o", tmp_path / "a.html").err
    (tmp_path / "empty").mkdir()
    result = cli("audit", tmp_path / "empty", "-o", tmp_path / "a.html")
    assert result.code == 2
    assert "no Python files" in result.err


def test_what_a_baseline_knows_is_told_all_the_same(cli: Cli, tmp_path: Path) -> None:
    analysis_of(SHOP, tmp_path / "tree")
    (tmp_path / "tree" / "sendonce.toml").write_text('baseline = "known.json"\n')
    cli("audit", tmp_path / "tree", "-o", tmp_path / "a.json", "--no-cache", "--isolated")
    assert cli("baseline", tmp_path / "tree", "--no-cache").code == 0
    cli("audit", tmp_path / "tree", "-o", tmp_path / "b.json", "--no-cache")
    first, second = (json.loads((tmp_path / name).read_text()) for name in ("a.json", "b.json"))
    assert first["plan"] == second["plan"] != []
