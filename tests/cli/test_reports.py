"""Several reports of one run, the summary of a GitHub job, and the Python API."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sendonce
from sendonce.errors import UsageError
from sendonce.report import FORMATS

FILES = {
    "urls.py": "from django.urls import path\nimport views\nurlpatterns = [path('pay/', views.pay)]\n",
    "views.py": (
        "from django.core.mail import send_mail\n\n\n"
        "def pay(request):\n    send_mail('Your receipt', '', None, [request.user.email])\n"
    ),
}
OPTIONS = ("--isolated", "--no-cache")


def test_one_run_writes_many_reports(cli, tree, tmp_path):
    root = tree(FILES)
    wanted = [f"--report={form}={tmp_path / f'out.{form}'}" for form in FORMATS]
    result = cli("check", root, *wanted, "--output-format", "concise", *OPTIONS)
    assert result.code == 1
    assert "SO301" in result.out
    for form in FORMATS:
        assert "SO301" in (tmp_path / f"out.{form}").read_text()
    assert json.loads((tmp_path / "out.json").read_text())["findings"][0]["code"] == "SO301"


@pytest.mark.parametrize("form", FORMATS)
def test_the_exit_code_does_not_depend_on_the_format(cli, tree, form):
    assert cli("check", tree(FILES), "--output-format", form, *OPTIONS).code == 1
    assert cli("check", tree(FILES), "--output-format", form, "--exit-zero", *OPTIONS).code == 0
    assert cli("check", tree({"views.py": "x = 1\n", "urls.py": ""}), "--output-format", form, *OPTIONS).code == 0


@pytest.mark.parametrize(("given", "said"), [("sarif", "FORMAT=FILE"), ("sarfi=x", "sarif"), ("json=", "FORMAT=FILE")])
def test_a_report_that_is_none_is_refused(cli, tree, given, said):
    result = cli("check", tree(FILES), "--report", given, *OPTIONS)
    assert result.code == 2
    assert said in result.err


def test_a_github_job_gets_its_summary(cli, tree, tmp_path, monkeypatch):
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    cli("check", tree(FILES), "--output-format", "github", *OPTIONS)
    assert summary.read_text().startswith("before\n## sendonce\n")
    assert "| warning | SO301 no-reservation | `views.py:5` |" in summary.read_text()


def test_colour_can_be_forced_and_forbidden(cli, tree, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in cli("check", tree(FILES), *OPTIONS).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in cli("check", tree(FILES), *OPTIONS).out


# ---------------------------------------------------------------------- Python


def test_analyze_gives_the_report(tree):
    report = sendonce.analyze(tree(FILES))
    (finding,) = report.findings
    assert (finding.code, finding.place.path, finding.place.line) == ("SO301", "views.py", 5)
    assert report.stats.sends == 1


def test_analyze_reads_the_configuration(tree):
    root = tree({**FILES, "sendonce.toml": 'ignore = ["SO301"]\n'})
    assert sendonce.analyze(root).findings == ()


def test_analyze_leaves_no_cache(tree):
    root = tree(FILES)
    sendonce.analyze(str(root))
    assert not (Path(root) / ".sendonce_cache").exists()


def test_analyze_of_nothing_is_an_error(tmp_path):
    with pytest.raises(UsageError):
        sendonce.analyze(tmp_path / "none")
