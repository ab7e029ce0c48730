from __future__ import annotations

import json
from dataclasses import replace

import pytest

from examples import finding
from sendonce.discovery import discover
from sendonce.errors import ConfigError, UsageError
from sendonce.findings import Place
from sendonce.policy.baseline import baseline_of, load_baseline

CODE = "send(order)\nsend(user)\nsend(order)\n"


@pytest.fixture
def root(tree):
    return tree({"shop/views.py": CODE}).resolve()


def at(line, **changes):
    return replace(finding(place=Place("shop/views.py", line, 1)), **changes)


def written(root, *findings, name="known.json"):
    file = root / name
    file.write_text(baseline_of(findings, file, root, discover(root).lines).dumped())
    return load_baseline(file, "--baseline")


def left(root, baseline, *findings):
    kept, unused = baseline.subtract(findings, root, discover(root).lines)
    return [(one.code, one.place.line) for one in kept], unused.total()


def test_the_file_is_sorted_counted_and_free_of_lines_and_dates(root):
    file = written(root, at(3), at(2), at(1), at(1, code="SO101")).file
    assert file.read_text() == (
        '{"schema": 1, "tool": "sendonce", "findings": [\n'
        '  {"path": "shop/views.py", "code": "SO101", "function": "shop.views.checkout",'
        ' "template": "emails/receipt.html", "text": "send(order)", "count": 1},\n'
        '  {"path": "shop/views.py", "code": "SO201", "function": "shop.views.checkout",'
        ' "template": "emails/receipt.html", "text": "send(order)", "count": 2},\n'
        '  {"path": "shop/views.py", "code": "SO201", "function": "shop.views.checkout",'
        ' "template": "emails/receipt.html", "text": "send(user)", "count": 1}\n'
        "]}\n"
    )
    assert json.loads(file.read_text())["schema"] == 1


def test_an_empty_baseline(root):
    baseline = written(root)
    assert left(root, baseline, at(1)) == ([("SO201", 1)], 0)


def test_known_findings_are_left_out_and_one_more_is_reported(root):
    baseline = written(root, at(1), at(2))
    assert left(root, baseline, at(1), at(2)) == ([], 0)
    assert left(root, baseline, at(1), at(2), at(3)) == ([("SO201", 3)], 0)
    assert left(root, baseline, at(1), at(2), at(2, code="SO301")) == ([("SO301", 2)], 0)


def test_lines_may_move(root):
    baseline = written(root, at(1), at(2))
    (root / "shop/views.py").write_text("x = 1\n\n" + CODE)
    assert left(root, baseline, at(3), at(4)) == ([], 0)


def test_a_line_may_be_rewritten_where_it_stands(root):
    baseline = written(root, at(1), at(2))
    (root / "shop/views.py").write_text("send(the_order)\nsend(user)\nsend(third)\n")
    assert left(root, baseline, at(1), at(2)) == ([], 0)


def test_of_old_and_new_the_one_with_the_known_text_is_known(root):
    baseline = written(root, at(2))
    assert left(root, baseline, at(1), at(2)) == ([("SO201", 1)], 0)


def test_a_function_may_move_to_another_file_but_a_copy_is_new(root):
    baseline = written(root, at(1))
    (root / "shop/cart.py").write_text(CODE)
    moved = finding(place=Place("shop/cart.py", 1, 1), function="shop.cart.checkout")
    assert left(root, baseline, moved) == ([], 0)
    kept, _ = baseline.subtract([at(1), moved], root, discover(root).lines)
    assert kept == [moved]


def test_what_is_gone_is_counted(root):
    baseline = written(root, at(1), at(2))
    assert left(root, baseline, at(2)) == ([], 1)


def test_suppressed_findings_are_not_written_and_use_nothing(root):
    baseline = written(root, at(1, suppressed=True), at(2))
    assert baseline.counts.total() == 1
    assert left(root, baseline, at(1, suppressed=True), at(2)) == ([("SO201", 1)], 0)


def test_paths_are_relative_to_the_file(root):
    (root / "ci").mkdir()
    baseline = written(root, at(1), name="ci/known.json")
    assert '"path": "../shop/views.py"' in baseline.file.read_text()
    inner = root / "shop"
    kept, _ = baseline.subtract([finding(place=Place("views.py", 1, 1))], inner, discover(inner).lines)
    assert kept == []


def test_names_beyond_ascii_stay_readable(root):
    assert "Grüße.html" in written(root, at(1, template="Grüße.html")).file.read_text()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"schema": 2, "findings": []}',
        '{"schema": 1}',
        '{"schema": 1, "findings": [3]}',
        '{"schema": 1, "findings": [{"path": "a"}]}',
        '{"schema": 1, "findings": [{"path": 1, "code": "", "function": "", "template": "", "text": "", "count": 1}]}',
        '{"schema": 1, "findings": [{"path": "", "code": "", "function": "", "template": "", "text": "", "count": 0}]}',
        "[" * 100_000,
    ],
)
def test_a_wrong_file_is_named(root, text):
    file = root / "known.json"
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"--baseline: .*known\.json"):
        load_baseline(file, "--baseline")


def test_a_missing_file_says_how_it_is_made(root):
    with pytest.raises(UsageError, match="does not exist; `sendonce baseline` writes it"):
        load_baseline(root / "none.json", "--baseline")
