from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from sendonce.discovery import LARGEST, Exclusion, Sources, discover, role_of
from sendonce.errors import UsageError


def paths(sources: Sources) -> list[str]:
    return [file.path for file in sources.files]


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


@pytest.mark.parametrize("with_git", [False, True])
def test_files_are_sorted_and_ignored_ones_left_out(tree, with_git):
    root = tree(
        {
            ".gitignore": "/generated/\n*_local.py\n",
            "shop/.gitignore": "!keep_local.py\nscratch.py\n",
            "shop/views.py": "",
            "shop/keep_local.py": "",
            "shop/drop_local.py": "",
            "shop/scratch.py": "",
            "shop/notes.txt": "",
            "scratch.py": "",
            "generated/code.py": "",
            "app.py": "",
        }
    )
    if with_git:
        git(root, "init", "-q")
    assert paths(discover(root)) == ["app.py", "scratch.py", "shop/keep_local.py", "shop/views.py"]


@pytest.mark.parametrize("with_git", [False, True])
def test_environments_installed_packages_and_builds_are_left_out(tree, with_git):
    root = tree(
        {
            "app.py": "",
            "env/pyvenv.cfg": "",
            "env/lib/python3.11/site-packages/django/mail.py": "",
            "vendor_env/site-packages/x.py": "",
            "node_modules/gyp/gyp.py": "",
            ".venv/a.py": "",
            "build/lib/app.py": "",
            "dist/app.py": "",
            "docs/build/__init__.py": "",
            "docs/build/pages.py": "",
            "app.egg-info/x.py": "",
        }
    )
    if with_git:
        git(root, "init", "-q")
    assert paths(discover(root)) == ["app.py", "docs/build/__init__.py", "docs/build/pages.py"]


def test_git_lists_tracked_files_though_ignored_and_not_deleted_ones(tree):
    root = tree({".gitignore": "kept.py\n", "kept.py": "", "gone.py": ""})
    git(root, "init", "-q")
    git(root, "add", "-f", "kept.py", "gone.py")
    (root / "gone.py").unlink()
    sources = discover(root)
    assert paths(sources) == ["kept.py"]
    assert sources.problems == ()


def test_a_folder_that_git_ignores_can_be_analysed_by_name(tree):
    root = tree({".gitignore": "/data/\n", "data/app.py": "", "data/sub/.gitignore": "*.py", "data/sub/x.py": ""})
    git(root, "init", "-q")
    assert paths(discover(root / "data")) == ["app.py"]


def test_a_nested_repository_and_a_submodule_are_read(tree):
    root = tree({"app.py": "", "inner/mail.py": "", "inner/.gitignore": "skip.py", "inner/skip.py": ""})
    git(root / "inner", "init", "-q")
    git(root / "inner", "add", "mail.py")
    git(root / "inner", "commit", "-qm", "x")
    git(root, "init", "-q")
    assert paths(discover(root)) == ["app.py", "inner/mail.py"]
    git(root, "add", "inner")
    assert paths(discover(root)) == ["app.py", "inner/mail.py"]


def test_a_submodule_that_nobody_fetched_is_an_empty_folder(tree):
    root = tree({"app.py": "", "vendor/x/.keep": ""})
    (root / "vendor/x/.keep").unlink()
    git(root, "init", "-q")
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},vendor/x")
    assert paths(discover(root)) == ["app.py"]


def test_a_hook_that_sets_git_variables_does_not_change_the_list(tree, monkeypatch):
    root = tree({"app.py": ""})
    git(root, "init", "-q")
    monkeypatch.setenv("GIT_DIR", "/nowhere/.git")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    assert paths(discover(root)) == ["app.py"]


def test_git_settings_of_the_tree_run_nothing(tree):
    root = tree({"app.py": ""})
    git(root, "init", "-q")
    git(root, "config", "core.fsmonitor", f"touch {root}/ran")
    git(root, "config", "core.hooksPath", str(root))
    discover(root)
    assert not (root / "ran").exists()


def test_without_git_the_tree_is_walked(tree, monkeypatch):
    root = tree({"app.py": "", "sub/b.py": ""})
    monkeypatch.setenv("PATH", "")
    assert paths(discover(root)) == ["app.py", "sub/b.py"]


@pytest.mark.parametrize("with_git", [False, True])
def test_links_are_not_followed_and_dangling_ones_named(tree, with_git):
    root = tree({"pkg/a.py": "", "pkg/__init__.py": ""})
    outside = root.parent / "outside.py"
    outside.write_text("")
    (root / "pkg" / "loop").symlink_to(root, target_is_directory=True)
    (root / "b.py").symlink_to(root / "pkg" / "a.py")
    (root / "broken.py").symlink_to(root / "nowhere.py")
    (root / "circle.py").symlink_to(root / "circle.py")
    (root / "out.py").symlink_to(outside)
    if with_git:
        git(root, "init", "-q")
    sources = discover(root)
    assert paths(sources) == ["pkg/__init__.py", "pkg/a.py"]
    assert [(problem.path, problem.message) for problem in sources.problems] == [
        ("broken.py", "is a link that leads nowhere; skipped"),
        ("circle.py", "is a link that leads nowhere; skipped"),
        ("out.py", "is a link out of the analysed tree; skipped"),
    ]


def test_large_special_and_unreadable_files_are_named(tree, monkeypatch):
    root = tree({"app.py": "", "big.py": b"#" * (LARGEST + 1), "locked.py": "", "folder.py/x.py": ""})
    os.mkfifo(root / "pipe.py")
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "locked.py")
    sources = discover(root)
    assert paths(sources) == ["app.py", "folder.py/x.py"]
    assert [(problem.path, problem.message.split(" (")[0]) for problem in sources.problems] == [
        ("big.py", "is larger than 5 MB"),
        ("locked.py", "cannot be read: Permission denied"),
        ("pipe.py", "is not a regular file; skipped"),
    ]


def test_a_folder_that_cannot_be_listed_is_named(tree, monkeypatch):
    root = tree({"app.py": "", "locked/a.py": ""})
    scandir = os.scandir

    def refuse(folder):
        if Path(folder).name == "locked":
            raise PermissionError(13, "Permission denied")
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "locked")
    sources = discover(root)
    assert paths(sources) == ["app.py"]
    assert [(problem.path, problem.message) for problem in sources.problems] == [
        ("locked", "cannot be listed: Permission denied")
    ]


def test_exclusions_are_patterns_relative_to_their_base(tree):
    root = tree({"api/app.py": "", "api/old/x.py": "", "old/y.py": "", "api/z_pb2.py": ""})
    assert paths(discover(root, exclusions=[Exclusion(root, ("/api/old/", "*_pb2.py"))])) == ["api/app.py", "old/y.py"]
    below = discover(root / "api", exclusions=[Exclusion(root, ("/api/old/",))])
    assert paths(below) == ["app.py", "z_pb2.py"]


def test_only_the_folders_within_are_listed(tree):
    root = tree({"a/x.py": "", "ab/y.py": "", "c/z.py": ""})
    assert paths(discover(root, within=("a", "c"))) == ["a/x.py", "c/z.py"]


def test_a_root_that_is_no_folder_is_refused(tree):
    root = tree({"app.py": ""})
    with pytest.raises(UsageError, match="not a folder"):
        discover(root / "app.py")


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("shop/views.py", "application"),
        ("shop/tests/test_views.py", "test"),
        ("shop/tests/factories.py", "test"),
        ("shop/test_views.py", "test"),
        ("shop/tests.py", "test"),
        ("shop/views_test.py", "test"),
        ("conftest.py", "test"),
        ("osf_tests/base.py", "test"),
        ("shop/management/commands/test_mail.py", "application"),
        ("emails/test.py", "application"),
        ("contests/mail.py", "application"),
        ("shop/latest/mail.py", "application"),
        ("shop/migrations/0001_initial.py", "migration"),
        ("app/alembic/versions/a1.py", "migration"),
        ("shop/_vendor/mailer.py", "vendored"),
        ("shop/vendors/mail.py", "application"),
    ],
)
def test_roles(path, role):
    assert role_of(path) == role


def modules(root: Path) -> dict[str, tuple[str, str]]:
    return {file.path: (file.root, file.module) for file in discover(root).files}


def test_packages_are_imported_from_their_parent(tree):
    root = tree({"shop/__init__.py": "", "shop/mail/__init__.py": "", "shop/mail/send.py": "", "manage.py": ""})
    assert modules(root) == {
        "manage.py": ("", "manage"),
        "shop/__init__.py": ("", "shop"),
        "shop/mail/__init__.py": ("", "shop.mail"),
        "shop/mail/send.py": ("", "shop.mail.send"),
    }


def test_src_and_project_folders_are_roots(tree):
    root = tree(
        {
            "src/shop/__init__.py": "",
            "src/shop/mail.py": "",
            "services/billing/pyproject.toml": "",
            "services/billing/app/main.py": "",
            "web/manage.py": "",
            "web/accounts/models.py": "",
        }
    )
    found = modules(root)
    assert found["src/shop/mail.py"] == ("src", "shop.mail")
    assert found["services/billing/app/main.py"] == ("services/billing", "app.main")
    assert found["web/accounts/models.py"] == ("web", "accounts.models")


def test_imports_decide_where_no_file_marks_the_root(tree):
    root = tree(
        {
            "services/billing/app/main.py": "from app.mail import send\n",
            "services/billing/app/mail.py": "import smtplib\n",
            "app/main.py": "from app.core.mail import send\nimport celery\n",
            "app/core/mail.py": "",
            "scripts/run.py": "import helper\n",
            "scripts/helper.py": "",
        }
    )
    found = modules(root)
    assert found["services/billing/app/mail.py"] == ("services/billing", "app.mail")
    assert found["app/core/mail.py"] == ("", "app.core.mail")
    assert found["scripts/helper.py"] == ("scripts", "helper")


def test_a_library_of_the_same_name_decides_nothing(tree):
    root = tree(
        {"app/celery.py": "from celery import Celery\n", "load/locust/file.py": "from locust import HttpUser\n"}
    )
    found = modules(root)
    assert found["app/celery.py"] == ("", "app.celery")
    assert found["load/locust/file.py"] == ("", "load.locust.file")


def test_a_stray_init_beside_manage_py_does_not_hide_the_root(tree):
    root = tree(
        {
            "backend/__init__.py": "",
            "backend/manage.py": "",
            "backend/shop/__init__.py": "",
            "backend/shop/views.py": "from shop.models import Order\n",
            "backend/shop/models.py": "",
        }
    )
    assert modules(root)["backend/shop/models.py"] == ("backend", "shop.models")


def test_by_module_gives_the_files_of_all_roots(tree):
    root = tree({"a/pyproject.toml": "", "a/mail/__init__.py": "", "b/setup.py": "", "b/mail.py": ""})
    sources = discover(root)
    assert [file.path for file in sources.by_module("mail")] == ["a/mail/__init__.py", "b/mail.py"]
    assert sources.by_module("shop") == ()


def test_lines_split_as_editors_count_them(tree):
    root = tree({"a.py": b"\xef\xbb\xbfone\r\ntwo \x0c three\rfour\n\xff"})
    assert Sources(root).lines("a.py") == ("one", "two \x0c three", "four", "\ufffd")
    assert Sources(root).lines("none.py") == ()


def test_names_that_are_not_text_are_listed(tree):
    root = tree({"app.py": ""})
    try:
        (Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9.py"))).write_text("")
    except OSError:
        pytest.skip("the file system takes only UTF-8 names")
    assert paths(discover(root)) == ["app.py", "caf\udce9.py"]
