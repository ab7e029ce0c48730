from __future__ import annotations

from pathlib import Path

import pytest

from sendonce.config import Settings
from sendonce.errors import UsageError
from sendonce.target import Target, target_of


@pytest.fixture
def root(tree):
    return tree({"pyproject.toml": "", "shop/a.py": "", "shop/sub/b.py": "", "web/c.py": "", "old/d.py": ""}).resolve()


def test_one_folder_is_the_tree(root):
    assert target_of([root / "shop"]) == Target(root / "shop")


def test_no_path_is_the_current_folder(root, monkeypatch):
    monkeypatch.chdir(root)
    assert target_of([]) == Target(root)
    assert target_of([Path("shop")]) == Target(root / "shop")


def test_several_folders_are_read_from_their_common_folder(root):
    target = target_of([root / "web", root / "shop"])
    assert target == Target(root, within=("shop", "web"))
    assert [file.path for file in target.sources(Settings()).files] == ["shop/a.py", "shop/sub/b.py", "web/c.py"]


def test_a_folder_within_another_adds_nothing(root):
    assert target_of([root / "shop" / "sub", root / "shop"]) == Target(root / "shop")


def test_files_limit_the_report_not_the_analysis(root):
    target = target_of([root / "shop" / "a.py", root / "web"])
    assert target == Target(root, only=("shop/a.py", "web"))
    assert len(target.sources(Settings()).files) == 4
    assert target.reports("shop/a.py")
    assert target.reports("web/c.py")
    assert not target.reports("shop/sub/b.py")
    assert not target.reports("webshop/c.py")


def test_the_work_tree_is_the_project_of_a_file(root):
    (root.parent / ".git").mkdir()
    assert target_of([root / "shop" / "a.py"]) == Target(root.parent, only=("tree/shop/a.py",))


def test_a_missing_path_is_named(root):
    with pytest.raises(UsageError, match="nowhere does not exist"):
        target_of([root, root / "nowhere"])


def test_configured_exclusions_start_at_their_file(root):
    settings = Settings(exclude=("/old/",), extend_exclude=("/shop/sub/",), source=root / "pyproject.toml")
    assert [file.path for file in Target(root).sources(settings).files] == ["shop/a.py", "web/c.py"]
    assert [file.path for file in Target(root / "shop").sources(settings).files] == ["a.py"]
