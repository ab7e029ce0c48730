from __future__ import annotations

import pytest

from gitrepo import git, repository
from sendonce.discovery import discover
from sendonce.revision import at_commit


@pytest.fixture
def root(tree):
    files = {
        "src/shop/__init__.py": "",
        "src/shop/views.py": "x = 1\n",
        "src/shop/old.py": "y = 1\n",
        "tools/a.py": "\n",
    }
    return repository(tree(files).resolve())


def earlier(root, kept=lambda paths: paths):
    now = discover(root)
    then = at_commit(now, "HEAD", kept)
    return {file.path: (file.module, then.read(file).decode()) for file in then.files}


def test_without_changes_all_is_as_it_is(root):
    now = discover(root)
    assert at_commit(now, "HEAD", list).files == now.files


def test_edited_deleted_and_new_files(root):
    before = earlier(root)
    (root / "src/shop/views.py").write_text("x = 2\n")
    (root / "src/shop/old.py").unlink()
    (root / "src/shop/new.py").write_text("")
    (root / "src/shop/added.py").write_text("")
    git(root, "add", "src/shop/added.py")
    assert earlier(root) == before
    assert before["src/shop/old.py"] == ("shop.old", "y = 1\n")


def test_lines_are_those_of_then(root):
    (root / "src/shop/views.py").write_text("x = 2\n")
    assert at_commit(discover(root), "HEAD", list).lines("src/shop/views.py")[0] == "x = 1"


def test_a_renamed_file_has_its_new_name_and_its_old_text(root):
    text = "".join(f"line_{number} = {number}\n" for number in range(20))
    (root / "src/shop/views.py").write_text(text)
    git(root, "commit", "--quiet", "--all", "--message", "longer")
    git(root, "mv", "src/shop/views.py", "src/shop/pages.py")
    (root / "src/shop/pages.py").write_text(f"{text}more = 1\n")
    then = earlier(root)
    assert then["src/shop/pages.py"] == ("shop.pages", text)
    assert "src/shop/views.py" not in then


def test_what_is_excluded_now_was_so_then(root):
    (root / "src/shop/old.py").unlink()
    assert "src/shop/old.py" not in earlier(root, lambda paths: [path for path in paths if "old" not in path])


def test_a_folder_of_the_repository(root):
    (root / "src/shop/views.py").write_text("x = 2\n")
    (root / "tools/a.py").write_text("z = 1\n")
    now = discover(root / "src")
    then = at_commit(now, "HEAD", list)
    assert [(file.path, then.read(file)) for file in then.files][-1] == ("shop/views.py", b"x = 1\n")
