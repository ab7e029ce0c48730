from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from gitrepo import git, repository
from sendonce import __version__, setup

WRITTEN = ["sendonce.toml", ".pre-commit-config.yaml", ".github/workflows/sendonce.yml"]


def files(root):
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def test_an_empty_project_gets_all_three_files(cli, tmp_path):
    result = cli("init", tmp_path, "--from", "sendonce==1")
    assert (result.code, result.out) == (0, "")
    assert files(tmp_path) == sorted(WRITTEN)
    assert [line.rpartition("/")[2] for line in result.err.splitlines()[:3]] == [
        "sendonce.toml: written",
        ".pre-commit-config.yaml: written",
        "sendonce.yml: written",
    ]
    assert "next, run `sendonce check`" in result.err
    assert 'additional_dependencies: ["sendonce==1"]' in (tmp_path / WRITTEN[1]).read_text()
    assert '- run: python -m pip install "sendonce==1"\n' in (tmp_path / WRITTEN[2]).read_text()


def test_what_it_writes_is_a_configuration(cli, tmp_path):
    cli("init", tmp_path, "--from", "sendonce")
    shown = cli("check", tmp_path, "--show-settings")
    assert shown.out.startswith(f"# {tmp_path / 'sendonce.toml'}\n")
    text = (tmp_path / "sendonce.toml").read_text().replace("# [assume]\n# workers", "[assume]\nworkers")
    (tmp_path / "sendonce.toml").write_text(text)
    assert "assume = {workers = 4}" in cli("check", tmp_path, "--show-settings").out


def test_a_second_time_changes_nothing(cli, tmp_path):
    cli("init", tmp_path, "--from", "sendonce")
    before = {name: (tmp_path / name).read_bytes() for name in WRITTEN}
    again = cli("init", tmp_path, "--from", "sendonce")
    assert {name: (tmp_path / name).read_bytes() for name in WRITTEN} == before
    assert "is there already" in again.err
    assert "has the hook already" in again.err


def test_a_dry_run_shows_and_writes_nothing(cli, tmp_path):
    result = cli("init", tmp_path, "--dry-run")
    assert files(tmp_path) == []
    for name in WRITTEN:
        assert f"# {tmp_path / name}\n" in result.out


def test_a_pyproject_gets_a_table_and_keeps_the_rest(cli, tree):
    text = "[project]\nname = 'shop' # ours\n\n[tool.other]\nx = 1\n"
    root = tree({"pyproject.toml": text})
    cli("init", root, "--from", "sendonce")
    assert (root / "pyproject.toml").read_text().startswith(f"{text}\n[tool.sendonce]\n")
    assert not (root / "sendonce.toml").exists()
    assert 'fail-on = "warning"  # default' in cli("check", root, "--show-settings").out


HOOKS = """\
default_stages: [pre-commit]
repos:
# ours
- repo: https://example.org/other
  rev: v1
  hooks:
  - id: other
"""


def test_a_hook_joins_those_that_are_there(cli, tree):
    root = tree({".pre-commit-config.yaml": HOOKS})
    cli("init", root, "--from", "sendonce")
    text = (root / ".pre-commit-config.yaml").read_text()
    assert text.startswith(f"{HOOKS}- repo: local\n  hooks:\n    - id: sendonce\n")


def test_a_file_that_ends_otherwise_is_left_alone(cli, tree):
    root = tree({".pre-commit-config.yaml": f"{HOOKS}exclude: x\n"})
    result = cli("init", root, "--from", "sendonce")
    assert (root / ".pre-commit-config.yaml").read_text() == f"{HOOKS}exclude: x\n"
    assert "add this to its `repos` by hand" in result.err
    assert "  - repo: local\n" in result.out


@pytest.mark.parametrize(
    ("present", "service"),
    [
        ({}, "github"),
        ({".gitlab-ci.yml": "x: {}\n"}, "gitlab"),
        ({"azure-pipelines.yml": "x: {}\n"}, "azure"),
        ({".gitlab-ci.yml": "x: {}\n", ".github/x.yml": ""}, "github"),
    ],
)
def test_the_ci_service_is_seen_by_its_files(tree, present, service):
    assert setup.detected_ci(tree({"a.py": "", **present})) == service


def test_a_pipeline_of_their_own_is_shown_what_to_add(cli, tree):
    root = tree({".gitlab-ci.yml": "build: {script: make}\n"})
    result = cli("init", root, "--from", "sendonce")
    assert (root / ".gitlab-ci.yml").read_text() == "build: {script: make}\n"
    assert "add this one by hand" in result.err
    assert "    - sendonce check --report gitlab=gl-code-quality-report.json\n" in result.out


def test_without_ci(cli, tmp_path):
    cli("init", tmp_path, "--ci", "none", "--from", "sendonce")
    assert files(tmp_path) == sorted(WRITTEN[:2])


@pytest.mark.parametrize(
    ("origin", "wanted"),
    [
        (None, f"sendonce=={__version__}"),
        ({"url": "file:///src/sendonce", "dir_info": {"editable": True}}, "sendonce @ file:///src/sendonce"),
        (
            {"url": "https://example.org/sendonce", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            "sendonce @ git+https://example.org/sendonce@abc",
        ),
    ],
)
def test_ci_installs_what_runs_here(monkeypatch, origin, wanted):
    text = None if origin is None else json.dumps(origin)
    found = SimpleNamespace(read_text=lambda name: text if name == "direct_url.json" else None)
    monkeypatch.setattr(setup.importlib.metadata, "distribution", lambda name: found)
    assert setup.requirement() == wanted


def test_a_local_installation_is_told_and_another_can_take_its_place(cli, tmp_path):
    assert "is on this machine only" in cli("init", tmp_path, "--from", "sendonce @ file:///src").err
    again = cli("init", tmp_path, "--from", "sendonce @ git+https://example.org/sendonce@abc")
    assert again.err.count("sendonce added") == 2
    for name in WRITTEN[1:]:
        text = (tmp_path / name).read_text()
        assert '"sendonce @ git+https://example.org/sendonce@abc"' in text
        assert "file:" not in text


def test_a_checkout_is_named_by_the_place_it_came_from(monkeypatch, tree):
    root = repository(tree({"a.py": ""}))
    git(root, "remote", "add", "origin", "https://example.org/sendonce")
    found = SimpleNamespace(read_text=lambda name: json.dumps({"url": root.as_uri(), "dir_info": {}}))
    monkeypatch.setattr(setup.importlib.metadata, "distribution", lambda name: found)
    assert setup.requirement() == f"sendonce @ git+https://example.org/sendonce@{git(root, 'rev-parse', 'HEAD')}"
    git(root, "remote", "set-url", "origin", "../elsewhere")
    assert setup.requirement() == f"sendonce @ {root.as_uri()}"


def test_a_file_is_no_project(cli, tree):
    root = tree({"a.py": ""})
    assert cli("init", root / "a.py").code == 2
