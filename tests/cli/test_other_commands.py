from __future__ import annotations

import json

import pytest

from examples import BROKEN, TASKS, VIEWS


@pytest.fixture
def root(tree):
    return tree({"shop/views.py": VIEWS, "shop/tasks.py": TASKS})


def test_inventory_as_text_and_json(cli, core, root):
    core(problems=(BROKEN,))
    text = cli("inventory", root)
    assert text.code == 0
    assert "emails/receipt.html\n  shop/tasks.py:6  shop.tasks.send_receipt" in text.out
    assert text.err == "sendonce: shop/old.py:3: cannot be parsed: print 'x'\n"
    document = json.loads(cli("inventory", "--output-format", "json", root).out)
    assert [send["line"] for send in document["sends"]] == [6, 2]


def test_inventory_into_a_file(cli, core, root, tmp_path):
    core()
    assert cli("inventory", root, "--output-file", tmp_path / "mails.txt").out == ""
    assert "emails/receipt.html" in (tmp_path / "mails.txt").read_text()


def test_inventory_is_of_a_tree(cli, core, root, tmp_path):
    core()
    assert "give its folder" in cli("inventory", root / "shop" / "views.py").err
    assert cli("inventory", tmp_path / "nowhere").code == 2


def test_packs_tells_which_libraries_are_imported(cli, root):
    lines = {line.split()[1]: line for line in cli("packs", root).out.splitlines() if line.startswith("providers")}
    assert lines["django"].endswith(" in 1 file")
    assert lines["smtplib"].endswith(" -")


def test_a_package_of_the_tree_is_no_library_of_that_name(cli, tree):
    root = tree({"mailer/__init__.py": "", "app.py": "import mailer\n"})
    (line,) = [line for line in cli("packs", root).out.splitlines() if line.split()[1] == "django-mailer"]
    assert line.endswith(" -")


def test_packs_of_the_user_are_among_them(cli, root, tmp_path):
    pack = tmp_path / "ours.toml"
    pack.write_text("name = 'celery-in-house'\nwords = ['celery']\n")
    result = cli("packs", "--rules", pack, root)
    assert [line.split()[2:] for line in result.out.splitlines() if "celery-in-house" in line] == [["in", "1", "file"]]


def test_explain_lists_all_rules(cli, core):
    core()
    assert cli("explain").out.splitlines() == [
        "SO001  bad-suppression",
        "SO002  unused-suppression",
        "SO101  multiple-trigger-paths",
        "SO201  enqueue-in-transaction",
        "SO202  send-in-transaction",
        "SO301  no-reservation",
    ]


@pytest.mark.parametrize("word", ["SO201", "so201", "enqueue-in-transaction"])
def test_explain_one_rule(cli, core, word):
    core()
    assert cli("explain", word).out == "SO201 enqueue-in-transaction.\n\n## What it finds\nA job.\n"


def test_every_rule_is_explained_under_its_own_title(cli):
    for line in cli("explain").out.splitlines():
        code, name = line.split()
        text = cli("explain", code).out
        assert text.startswith(f"{code} {name}.\n\n## What it finds\n")
        assert len(text) > 200


def test_explain_an_unknown_rule(cli, core):
    core()
    result = cli("explain", "enqueue-in-transactions")
    assert result.code == 2
    assert "did you mean 'enqueue-in-transaction'?" in result.err
