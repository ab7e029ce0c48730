"""Output that cannot be written, or that a CI service would obey; paths that lead to nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sendonce.report import harmless

MAIL = "from django.core.mail import send_mail\n\n\ndef notify(user):\n    send_mail('Hi', 'x', None, [user.email])\n"


JOB = "from celery import shared_task\n\n\n@shared_task\ndef"


def shell(line: str, root: Path) -> subprocess.CompletedProcess[str]:
    """Runs a line of shell in which `sendonce` is this one."""
    text = line.replace("sendonce", f"'{sys.executable}' -m sendonce")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(["/bin/sh", "-c", text], cwd=root, env=env, capture_output=True, text=True, check=False)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
@pytest.mark.parametrize("line", ["sendonce check . >&-", "sendonce check . >/dev/full", "sendonce explain >/dev/full"])
def test_a_report_that_cannot_be_written_is_an_error_of_usage(line, tree):
    result = shell(line, tree({"app.py": MAIL}))
    assert result.returncode == 2
    assert "standard output" in result.stderr
    assert "fault" not in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
def test_errors_that_cannot_be_written_are_not_taken_for_findings(tree):
    assert shell("sendonce check nowhere.py 2>/dev/full", tree({"app.py": MAIL})).returncode == 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("::error file=a.py::owned\n", "\\x3a:error file=a.py::owned\n"),
        ("  ::set-output name=a::b", "  \\x3a:set-output name=a::b"),
        ("see ##[error]owned", "see \\x23#[error]owned"),
        ("##vso[task.complete]", "\\x23#vso[task.complete]"),
        ("a.py:1:2: SO301 x::y\n", "a.py:1:2: SO301 x::y\n"),
        ("## a heading [1]", "## a heading [1]"),
    ],
)
def test_no_line_is_a_command_to_a_ci_service(text, told):
    assert harmless(text) == told


def test_names_of_files_and_mails_cannot_give_commands(cli, tree):
    code = MAIL.replace("'Hi'", "'::warning::owned'")
    root = tree({"::error::x.py": code, "app/__init__.py": "", "app/views.py": code})
    for command in (("check", "--output-format", "concise", "--pedantic"), ("check", "--pedantic"), ("inventory",)):
        result = cli(*command, "--isolated", "--no-cache", *(("--exit-zero",) if command[0] == "check" else ()), root)
        assert result.out
        assert not any(line.lstrip().startswith("::") for line in (result.out + result.err).splitlines())


# ------------------------------------------------------------------ paths


def check(cli, *paths):
    return cli("check", "--isolated", "--no-cache", "--exit-zero", *paths)


def test_a_named_file_that_is_no_python_is_an_error(cli, tree):
    root = tree({"app.py": MAIL, "notes.txt": "send_mail"})
    result = check(cli, root / "notes.txt")
    assert result.code == 2
    assert "notes.txt is no Python file" in result.err


def test_a_named_file_that_is_left_out_is_told_beside_others(cli, tree):
    root = tree({"app.py": MAIL, "notes.txt": "send_mail"})
    result = check(cli, root / "app.py", root / "notes.txt")
    assert result.code == 0
    assert "notes.txt: is no Python file" in result.err


def test_a_named_file_that_is_excluded_is_an_error(cli, tree):
    root = tree({"app.py": MAIL, "sendonce.toml": 'exclude = ["app.py"]\n'})
    result = cli("check", "--no-cache", "--exit-zero", root / "app.py")
    assert result.code == 2
    assert "app.py is not analysed: it is excluded" in result.err


def test_a_named_file_that_cannot_be_parsed_is_no_success(cli, tree):
    root = tree({"app.py": MAIL, "broken.py": "x = (\n"})
    assert check(cli, root / "broken.py").code == 2
    assert check(cli, root / "app.py", root / "broken.py").code == 0


def test_an_empty_path_is_refused(cli):
    result = cli("check", "")
    assert result.code == 2
    assert "empty" in result.err


# ------------------------------------------------------------------ configuration


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('exclude = ["["]\n', "exclude: '[' is no pattern"),
        ('rules = ["nowhere.toml"]\n', "sendonce.toml: rules: "),
        ('rules = ["mail.toml"]\n', "mail.toml: send[0].calls: is empty"),
    ],
)
def test_wrong_configuration_names_file_and_key(text, told, cli, tree):
    root = tree({"app.py": MAIL, "sendonce.toml": text, "mail.toml": 'name = "own"\n[[send]]\ncalls = []\n'})
    result = cli("check", "--no-cache", root)
    assert result.code == 2
    assert told in result.err


def test_a_prefix_lists_its_rules(cli):
    result = cli("explain", "SO3")
    assert result.code == 0
    codes = [line.split()[0] for line in result.out.splitlines()]
    assert len(codes) > 1
    assert all(code.startswith("SO3") for code in codes)


def test_excerpts_are_in_the_encoding_that_a_file_declares(cli, tree):
    text = "# coding: latin-1\n" + MAIL.replace("'Hi'", "'Grüße'").replace(
        "def", "from celery import shared_task\n@shared_task\ndef"
    )
    result = check(cli, "--pedantic", tree({"app.py": text.encode("latin-1")}))
    assert "Grüße" in result.out
