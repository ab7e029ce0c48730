from __future__ import annotations

import json

import pytest

from examples import BROKEN, TASKS, VIEWS, finding
from sendonce import run


@pytest.fixture
def root(tree):
    return tree({"shop/views.py": VIEWS, "shop/tasks.py": TASKS}).resolve()


@pytest.fixture
def check(cli, root):
    return lambda *arguments: cli("check", *arguments, root)


def codes(result):
    return [row["code"] for row in json.loads(result.out)["findings"]]


@pytest.mark.parametrize(
    ("findings", "options", "code"),
    [
        ([], [], 0),
        ([finding()], [], 1),
        ([finding(severity="warning")], [], 1),
        ([finding(severity="warning")], ["--fail-on", "error"], 0),
        ([finding(severity="note")], [], 0),
        ([finding(severity="note")], ["--pedantic"], 0),
        ([finding(severity="note")], ["--fail-on", "note"], 1),
        ([finding(confidence="low")], [], 0),
        ([finding(confidence="low")], ["--min-confidence", "low"], 1),
        ([finding()], ["--exit-zero"], 0),
        ([finding()], ["--output-format", "json"], 1),
        ([finding()], ["--ignore", "SO2"], 0),
        ([finding()], ["--select", "SO301"], 0),
        ([finding()], ["--select", "SO301,enqueue-in-transaction"], 1),
        ([finding()], ["--select", "SO301", "--extend-select", "SO201"], 1),
    ],
)
def test_exit_codes(check, core, findings, options, code):
    core(*findings)
    assert check(*options).code == code


def test_results_go_to_standard_output_only(check, core):
    core(finding())
    result = check()
    assert result.err == ""
    assert result.out.startswith("SO201 enqueue-in-transaction: error")
    assert "     9 |         send_receipt.delay(order.id)\n" in result.out


def test_json_is_complete_whatever_fails(check, core):
    core(finding(), finding("SO301", severity="warning"), finding("SO101", severity="note"))
    assert codes(check("--output-format", "json", "--fail-on", "error")) == ["SO201", "SO301"]
    assert codes(check("--output-format", "json", "--pedantic")) == ["SO101", "SO201", "SO301"]


def test_the_report_has_the_figures_of_the_run(check, core):
    core()
    stats = json.loads(check("--output-format", "json").out)["stats"]
    assert (stats["files"], stats["files_parsed"], stats["sends"]) == (2, 2, 2)
    assert stats["seconds"] != 0.25


def test_files_that_cannot_be_used_are_named_and_strict_makes_them_2(check, core, root):
    core(problems=(BROKEN,))
    (root / "loop.py").symlink_to(root / "loop.py")
    result = check("--output-format", "json")
    assert result.code == 0
    assert result.err.splitlines() == [
        "sendonce: loop.py: is a link that leads nowhere; skipped",
        "sendonce: shop/old.py:3: cannot be parsed: print 'x'",
    ]
    assert [row["path"] for row in json.loads(result.out)["errors"]] == ["loop.py", "shop/old.py"]
    assert check("--strict").code == 2
    assert check("--strict", "--exit-zero").code == 2


def test_a_missing_path_is_2(cli, tmp_path):
    result = cli("check", tmp_path / "nowhere")
    assert (result.code, result.out) == (2, "")
    assert "nowhere does not exist; give folders or Python files" in result.err


def test_nothing_to_analyse_is_2_unless_allowed(cli, core, tree):
    core()
    root = tree({"readme.txt": ""})
    result = cli("check", root)
    assert (result.code, result.out) == (2, "")
    assert f"no Python files to analyse below {root}" in result.err
    assert "--allow-empty" in result.err
    assert cli("check", "--allow-empty", root).code == 0
    assert cli("check", "--show-files", root).code == 2


def test_an_empty_tree_names_the_exclusions(cli, core, tree):
    core()
    root = tree({"sendonce.toml": "exclude = ['*']", "a.py": ""})
    assert f"(excluded in {root / 'sendonce.toml'}?)" in cli("check", root).err


def test_files_limit_the_report_not_the_analysis(cli, core, root, monkeypatch):
    (root / "pyproject.toml").write_text("")
    core(finding(), finding("SO301", place=finding().place.__class__("shop/tasks.py", 6)))
    seen = []
    analyse = run.analyse
    monkeypatch.setattr(run, "analyse", lambda *given: seen.append(given[0]) or analyse(*given))
    result = cli("check", "--output-format", "json", root / "shop" / "tasks.py")
    assert codes(result) == ["SO301"]
    assert [file.path for file in seen[0].files] == ["shop/tasks.py", "shop/views.py"]


def test_suppression_and_no_ignores(check, core, root):
    core(finding())
    text = VIEWS.replace("delay(order.id)", "delay(order.id)  # sendonce: ignore[SO201] outbox")
    (root / "shop" / "views.py").write_text(text)
    result = check("--output-format", "json")
    assert result.code == 0
    assert [row["suppressed"] for row in json.loads(result.out)["findings"]] == [True]
    assert check().out == "No findings; 1 suppressed; 1 call not resolved (-v). Read 2 files, 2 sends of 1 mail.\n"
    assert check("--no-ignores").code == 1


def test_output_file(check, core, tmp_path):
    core(finding())
    printed = check().out
    result = check("--output-file", tmp_path / "report.txt")
    assert (result.code, result.out) == (1, "")
    assert (tmp_path / "report.txt").read_text() == printed
    refused = check("--output-file", tmp_path / "none" / "report.txt")
    assert refused.code == 2
    assert "cannot be written: No such file or directory" in refused.err


def test_colour_is_for_terminals_or_on_demand(check, core):
    core(finding())
    assert "\x1b[" not in check().out
    assert "\x1b[31m" in check("--color", "always").out
    assert "\x1b[" not in check("--color", "never").out


def test_statistics_beside_json_go_to_standard_error(check, core):
    core(finding(), finding())
    result = check("--statistics", "--output-format", "json")
    assert result.err == "    2  SO201  enqueue-in-transaction\n"
    assert len(codes(result)) == 2
    assert "    2  SO201  enqueue-in-transaction\n" in check("--statistics").out


def test_verbose_lists_unresolved_calls(check, core):
    core()
    err = check("-v").err.splitlines()
    assert err[0] == "shop/views.py:4: unresolved: handler(order)"
    assert err[1].startswith("sendonce: 1 unresolved call, 2 of 2 files parsed, 0.")


def test_show_files_lists_role_and_module(check, root):
    (root / "shop" / "tests.py").write_text("")
    result = check("--show-files")
    assert result.code == 0
    assert result.out.splitlines() == [
        "shop/tasks.py  application  shop.tasks",
        "shop/tests.py  test  shop.tests",
        "shop/views.py  application  shop.views",
    ]


def test_show_files_prints_no_command_to_a_ci_service(check, root):
    (root / "::error::x.py").write_text("")
    assert not any(line.startswith("::") for line in check("--show-files").out.splitlines())


def test_the_cache_and_jobs_reach_the_analysis(check, core, root, tmp_path, monkeypatch):
    core()
    analyse, seen = run.analyse, []
    monkeypatch.setattr(run, "analyse", lambda *given: seen.append(given[2]) or analyse(*given))
    check()
    check("--no-cache")
    check("--cache-dir", tmp_path, "--jobs", 3)
    assert [(settings.cache_dir, settings.jobs) for settings in seen] == [
        (root / ".sendonce_cache", 0),
        (None, 0),
        (tmp_path, 3),
    ]


CONFIG = """\
[tool.sendonce]
ignore = ["SO201"]
fail-on = "error"
"""


def test_configuration_holds_and_options_win(check, core, root):
    core(finding(), finding("SO301", severity="warning"))
    (root / "pyproject.toml").write_text(CONFIG)
    result = check("--output-format", "json")
    assert (result.code, codes(result)) == (0, ["SO301"])
    assert check("--fail-on", "warning").code == 1
    assert codes(check("--output-format", "json", "--select", "SO2")) == ["SO201"]
    assert codes(check("--output-format", "json", "--isolated")) == ["SO201", "SO301"]


def test_another_configuration_can_be_named(check, core, tmp_path):
    core(finding())
    other = tmp_path / "other.toml"
    other.write_text("ignore = ['SO201']")
    assert check("--config", other).code == 0
    missing = check("--config", tmp_path / "none.toml")
    assert missing.code == 2
    assert "--config: " in missing.err
    both = check("--config", other, "--isolated")
    assert both.code == 2
    assert "exclude each other" in both.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--select", "SO9"], "--select: no rule has the code or name 'SO9'; did you mean 'SO"),
        (["--ignore", "no-reservations"], "did you mean 'no-reservation'?"),
        (["--rules", "nowhere"], "--rules: nowhere does not exist"),
    ],
)
def test_wrong_words_are_2_and_name_what_is_near(check, core, options, said):
    core()
    result = check(*options)
    assert (result.code, result.out) == (2, "")
    assert said in result.err


def test_an_invalid_configuration_is_2(check, core, root):
    core()
    (root / "pyproject.toml").write_text("[tool.sendonce]\nselcet = []\n")
    result = check()
    assert (result.code, result.out) == (2, "")
    assert f"sendonce: error: {root / 'pyproject.toml'}: unknown key 'tool.sendonce.selcet'" in result.err
    assert "did you mean 'select'?" in result.err


def test_an_invalid_rule_pack_is_2(check, core, tmp_path):
    core()
    pack = tmp_path / "ours" / "pack.toml"
    pack.parent.mkdir()
    pack.write_text("name = 'ours'\n[[send]]\ncals = ['our.mail.send']\n")
    result = check("--rules", pack.parent)
    assert (result.code, result.out) == (2, "")
    assert str(pack) in result.err
    assert "cals" in result.err
