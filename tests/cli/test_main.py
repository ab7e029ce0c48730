from __future__ import annotations

import subprocess
import sys

import pytest

from sendonce import __version__, run


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)


def test_the_module_runs_and_version_imports_nothing_heavy():
    done = python("-X", "importtime", "-m", "sendonce", "--version")
    assert (done.returncode, done.stdout) == (0, f"sendonce, version {__version__}\n")
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "click" in imported
    assert imported.isdisjoint({"libcst", "networkx", "rich", "msgspec", "pathspec"})


def test_check_of_one_file_imports_neither_graphs_nor_terminal_art(tree):
    root = tree({"app.py": "x = 1\n"})
    done = python("-X", "importtime", "-m", "sendonce", "check", "--isolated", "--no-cache", str(root))
    assert done.returncode == 0
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert imported.isdisjoint({"networkx", "rich"})


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["check", "-h"], ["inventory", "--help"], ["packs", "-h"]])
def test_help(cli, arguments):
    result = cli(*arguments)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("Usage: sendonce")


def test_help_lists_the_commands(cli):
    lines = cli("--help").out.splitlines()
    assert [line.split()[0] for line in lines[lines.index("Commands:") + 1 :]] == [
        "audit",
        "baseline",
        "check",
        "explain",
        "graph",
        "init",
        "inventory",
        "packs",
        "scaffold",
        "trace",
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["chekc"], "No such command 'chekc'"),
        (["check", "--pednatic"], "No such option"),
        (["check", "--fail-on", "fatal"], "'fatal' is not one of 'error', 'warning', 'note'"),
        (["check", "--jobs", "0"], "0 is not in the range"),
        (["check", "--output-format", "xml"], "'xml' is not one of"),
    ],
)
def test_wrong_usage_is_2(cli, arguments, said):
    result = cli(*arguments)
    assert (result.code, result.out) == (2, "")
    assert said in result.err


def test_an_internal_fault_is_2_and_says_what_to_report(cli, core, tree, monkeypatch):
    core()

    def fail(*_):
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(run, "analyse", fail)
    result = cli("check", tree({"a.py": ""}))
    assert (result.code, result.out) == (2, "")
    assert "ZeroDivisionError: planted" in result.err
    assert f"internal fault in sendonce {__version__}" in result.err
    assert "Please report it" in result.err


def test_an_interruption_is_no_finding(cli, core, tree, monkeypatch):
    core()

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "analyse", interrupt)
    assert cli("check", tree({"a.py": ""})).code == 130


def test_a_closed_pipe_is_quiet(tree):
    root = tree({f"m{number}.py": "" for number in range(3000)})
    command = f"{sys.executable} -m sendonce check --show-files {root} | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)  # noqa: S602
    assert done.stdout == "m0.py  application  m0\n"
    assert done.stderr == ""
