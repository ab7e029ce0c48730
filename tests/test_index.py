from __future__ import annotations

import pytest

from sendonce.discovery import SourceFile, discover
from sendonce.index import ALL_ROLES, WordIndex, imported_names


def found(index: WordIndex, *words: str, **options: object) -> list[str]:
    return [file.path for file in index.files_with(*words, **options)]


@pytest.fixture
def index(tree):
    return WordIndex(
        discover(
            tree(
                {
                    "b.py": "from django.core.mail import send_mail\nsend_mail('a')\n",
                    "a.py": "# send_mail stands in a comment\nx = 'orders.tasks.notify'\nnaïve = 1\n",
                    "processes.py": "processes = 1\n",
                    "tests/test_a.py": "send_mail()\n",
                    "binary.py": b"\x00\xffsend_mail\x00",
                }
            )
        )
    )


def test_whole_words_in_code_comments_and_strings(index):
    assert found(index, "send_mail") == ["a.py", "b.py"]
    assert found(index, "notify") == ["a.py"]
    assert found(index, "naïve") == ["a.py"]
    assert found(index, "ses") == []


def test_all_words_must_be_there_in_any_order(index):
    assert found(index, "send_mail", "orders") == ["a.py"]
    assert found(index, "orders", "send_mail") == ["a.py"]
    assert found(index, "orders", "django") == []
    assert found(index) == ["a.py", "b.py", "binary.py", "processes.py"]


def test_other_roles_are_asked_for(index):
    assert found(index, "send_mail", roles=("test",)) == ["tests/test_a.py"]
    assert found(index, "send_mail", roles=ALL_ROLES) == ["a.py", "b.py", "tests/test_a.py"]


def test_words_of_one_file(index):
    file = index.sources.by_path("b.py")
    assert index.has(file, "django")
    assert not index.has(file, "orders")


def test_each_file_is_read_once_and_lines_are_counted(index, monkeypatch):
    index.files_with("send_mail")
    assert index.lines == 6
    monkeypatch.setattr(type(index.sources), "read", lambda *_: pytest.fail("read again"))
    assert found(index, "processes") == ["processes.py"]


def test_a_file_that_went_away_counts_as_empty_and_is_named(tree):
    root = tree({"a.py": "word\n", "b.py": "word\n"})
    index = WordIndex(discover(root))
    (root / "a.py").unlink()
    assert found(index, "word") == ["b.py"]
    assert [(problem.path, problem.message) for problem in index.problems] == [
        ("a.py", "cannot be read: No such file or directory")
    ]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import os", {"os"}),
        ("import a.b as c, d", {"a.b", "d"}),
        ("from a.b import c as x, d", {"a.b", "a.b.c", "a.b.d"}),
        ("from a import (\n    b,  # why\n    c as d,\n)\n", {"a", "a.b", "a.c"}),
        ("from a import b, \\\n    c\n", {"a", "a.b", "a.c"}),
        ("from a import *", {"a"}),
        ("def f():\n    from a import b\n", {"a", "a.b"}),
        ("try: import a\nexcept ImportError: pass", {"a"}),
        ("x = 1; import a; from b import c", {"a", "b", "b.c"}),
        ("from . import models", {"shop.mail", "shop.mail.models"}),
        ("from .models import Order", {"shop.mail.models", "shop.mail.models.Order"}),
        ("from .. import x", {"shop", "shop.x"}),
        ("from ..orders import y", {"shop.orders", "shop.orders.y"}),
        ("from .... import z", set()),
        ("important = 1\nfromage = 2", set()),
        ("import a  # b, c", {"a"}),
    ],
)
def test_imports(text, names):
    file = SourceFile("shop/mail/send.py", "shop.mail.send")
    assert set(imported_names(text.encode(), file)) == names


def test_relative_imports_of_a_package_start_at_itself():
    file = SourceFile("shop/mail/__init__.py", "shop.mail")
    assert set(imported_names(b"from .send import f\nfrom .. import g", file)) == {
        "shop.mail.send",
        "shop.mail.send.f",
        "shop",
        "shop.g",
    }


def test_imports_of_a_file_are_sorted(index):
    assert index.imports(index.sources.by_path("b.py")) == ("django.core.mail", "django.core.mail.send_mail")
