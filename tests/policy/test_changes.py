from __future__ import annotations

import pytest

from examples import finding
from gitrepo import committed, git, repository
from sendonce.errors import UsageError
from sendonce.findings import Place, Related, Step, Trigger
from sendonce.policy.changes import changed_since

CODE = """\
import mail


def welcome(user):
    if user.welcomed:
        return
    mail.send("welcome", user)


@task
def receipt(order):
    mail.send("receipt", order)
    order.done()
"""


@pytest.fixture
def root(tree):
    return repository(tree({"shop/mails.py": CODE, "shop/other.py": "x = 1\n"}).resolve())


def edit(root, old, new, name="shop/mails.py"):
    text = (root / name).read_text()
    assert old in text
    (root / name).write_text(text.replace(old, new, 1))


def changed(root, revision="HEAD", folder=""):
    base = root / folder if folder else root
    found = changed_since(revision, base).lines
    return {path: None if lines is None else sorted(lines) for path, lines in found.items()}


def test_nothing_has_changed(root):
    assert changed(root) == {}


def test_an_added_line_counts_alone(root):
    edit(root, "import mail\n", "import mail\nimport log\n")
    assert changed(root) == {"shop/mails.py": [2]}


def test_an_altered_line_counts(root):
    edit(root, 'mail.send("receipt", order)', 'mail.send("receipt", order.user)')
    assert changed(root) == {"shop/mails.py": [12]}


def test_a_line_that_was_taken_away_leaves_none(root):
    edit(root, "    if user.welcomed:\n        return\n", "")
    assert changed(root) == {"shop/mails.py": []}


def test_staged_and_unstaged_and_committed_changes_count(root):
    start = git(root, "rev-parse", "HEAD")
    edit(root, "x = 1\n", "x = 1\ny = 2\n", "shop/other.py")
    committed(root)
    edit(root, "y = 2\n", "y = 2\nz = 3\n", "shop/other.py")
    git(root, "add", ".")
    edit(root, "z = 3\n", "z = 3\na = 4\n", "shop/other.py")
    assert changed(root, start) == {"shop/other.py": [2, 3, 4]}
    assert changed(root) == {"shop/other.py": [3, 4]}


def test_a_new_file_counts_whole_whether_git_knows_it_or_not(root):
    (root / "shop/new.py").write_text("a = 1\nb = 2\n")
    assert changed(root) == {"shop/new.py": None}
    git(root, "add", ".")
    assert changed(root) == {"shop/new.py": [1, 2]}


def test_ignored_files_do_not_count(root):
    (root / ".gitignore").write_text("*.py\n")
    (root / "shop/new.py").write_text("a = 1\n")
    assert changed(root) == {".gitignore": None}


def test_a_renamed_file_counts_where_it_was_edited(root):
    git(root, "mv", "shop/mails.py", "shop/letters.py")
    assert changed(root) == {}
    edit(root, "import mail\n", "import mail\nimport log\n", "shop/letters.py")
    assert changed(root) == {"shop/letters.py": [2]}


def test_names_that_git_quotes(root):
    names = ('shop/a "b"\t.py', "shop/é.py", "shop/a b.py")
    for name in names:
        (root / name).write_text("a = 1\n")
    committed(root)
    for name in names:
        (root / name).write_text("a = 1\n++ b = 2\n")
    assert changed(root) == {name: [2] for name in names}


def test_paths_are_relative_to_the_tree(root):
    edit(root, "x = 1\n", "x = 1\ny = 2\n", "shop/other.py")
    (root / "outside.py").write_text("")
    assert changed(root, folder="shop") == {"other.py": [2]}


def test_what_others_changed_on_the_main_branch_does_not_count(root):
    git(root, "checkout", "--quiet", "-b", "work")
    edit(root, "import mail\n", "import mail\nimport log\n")
    committed(root)
    git(root, "checkout", "--quiet", "main")
    edit(root, "x = 1\n", "x = 1\ny = 2\n", "shop/other.py")
    committed(root)
    git(root, "checkout", "--quiet", "work")
    assert changed(root, "main") == {"shop/mails.py": [2]}


def test_settings_of_the_user_do_not_matter(root):
    for key, value in (("diff.noprefix", "true"), ("diff.mnemonicPrefix", "true"), ("color.ui", "always")):
        git(root, "config", key, value)
    git(root, "config", "diff.external", "false")
    edit(root, "import mail\n", "import mail\nimport log\n")
    assert changed(root) == {"shop/mails.py": [2]}


@pytest.mark.parametrize("revision", ["nowhere", "--output=x", "HEAD~7", "HEAD:shop"])
def test_a_revision_that_there_is_not(root, revision):
    with pytest.raises(UsageError, match="--since: git knows no commit"):
        changed(root, revision)
    assert not (root / "x").exists()


def test_without_git(tree):
    with pytest.raises(UsageError, match="is in no git work tree"):
        changed(tree({"a.py": ""}))


def test_a_shallow_clone_says_what_to_fetch(root, tmp_path):
    first = git(root, "rev-parse", "HEAD")
    (root / "shop/other.py").write_text("x = 2\n")
    committed(root)
    git(tmp_path, "clone", "--quiet", "--depth=1", root.as_uri(), "shallow")
    with pytest.raises(UsageError, match=r"git knows no commit .*shallow.*fetch-depth: 0"):
        changed(tmp_path / "shallow", first)


def test_branches_whose_common_past_was_not_cloned(root, tmp_path):
    git(root, "checkout", "--quiet", "-b", "work")
    (root / "shop/new.py").write_text("")
    committed(root)
    git(root, "checkout", "--quiet", "main")
    (root / "shop/other.py").write_text("x = 2\n")
    committed(root)
    git(tmp_path, "clone", "--quiet", "--depth=1", "--no-single-branch", "--branch=work", root.as_uri(), "shallow")
    with pytest.raises(UsageError, match=r"where the branch left 'origin/main'; the clone is shallow"):
        changed(tmp_path / "shallow", "origin/main")


def test_all_places_of_a_finding_are_looked_at(root):
    edit(root, "import mail\n", "import mail\nimport log\n")
    lines = changed_since("HEAD", root)
    there, away = Place("shop/mails.py", 1, 1, 3), Place("shop/other.py", 1)
    bare = {"place": away, "trace": (), "triggers": (), "related": ()}
    assert not lines.touches(finding(**bare))
    assert lines.touches(finding(**{**bare, "place": there}))
    assert lines.touches(finding(**{**bare, "trace": (Step("call", there, "f"),)}))
    assert lines.touches(finding(**{**bare, "related": (Related(Place("shop/mails.py", 2), "the model"),)}))
    assert lines.touches(finding(**{**bare, "triggers": (Trigger(Place("shop/mails.py", 2), "cron", "f"),)}))


def test_a_block_counts_by_its_first_line_only(root):
    edit(root, "import mail\n", "import mail\nimport log\n")
    lines = changed_since("HEAD", root)
    block = Place("shop/mails.py", 1, 1, 9)
    bare = {"place": Place("shop/other.py", 1), "triggers": (), "related": ()}
    assert not lines.touches(finding(**bare, trace=(Step("trigger", block, "f"), Step("transaction", block, "f"))))
