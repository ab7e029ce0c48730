from __future__ import annotations

from dataclasses import replace

import pytest

from examples import CHECKOUT, NIGHTLY, RULES, finding
from sendonce import policy
from sendonce.config import Settings
from sendonce.discovery import discover
from sendonce.findings import Place, Step

ALL_RULES = (*policy.RULES, *RULES)
REASON = "# sendonce: ignore[SO201] the broker drops repeats"


def apply(root, *findings, **settings):
    return policy.apply(findings, discover(root), Settings(**settings), ALL_RULES)


def at(line, end_line=0, **changes):
    return finding(place=Place("a.py", line, 5, end_line, 9), trace=(), triggers=(), **changes)


def outcome(findings):
    return [(item.code, item.place.line, item.suppressed) for item in findings]


def test_a_comment_on_a_line_of_the_finding(tree):
    root = tree({"a.py": f"send(\n    a,\n)  {REASON}\n"})
    assert outcome(apply(root, at(1, 3))) == [("SO201", 1, True)]


def test_a_comment_above_may_have_more_lines(tree):
    root = tree({"a.py": f"x = 1\n{REASON}\n# for a day\nsend()\nsend()\n"})
    assert outcome(apply(root, at(4), at(5))) == [("SO201", 4, True), ("SO201", 5, False)]


def test_a_comment_behind_code_does_not_speak_for_the_next_line(tree):
    root = tree({"a.py": f"send()  {REASON}\nsend()\n"})
    assert outcome(apply(root, at(1), at(2))) == [("SO201", 1, True), ("SO201", 2, False)]


def test_a_comment_above_decorators_speaks_for_the_function(tree):
    root = tree({"a.py": f"{REASON}\n@task(\n    retries=3,\n)\n@other\nasync def job():\n    send()\n"})
    assert outcome(apply(root, at(6), at(7))) == [("SO201", 6, True), ("SO201", 7, False)]


def test_names_and_several_codes(tree):
    root = tree({"a.py": "send()  # noqa # sendonce: ignore[no-reservation, SO201]: judged by hand\n"})
    assert outcome(apply(root, at(1), at(1, code="SO301"))) == [("SO201", 1, True), ("SO301", 1, True)]


def test_a_comment_at_the_send_silences_all_paths(tree):
    root = tree({"a.py": f"send()\nother()  {REASON}\n"})
    with_send = replace(at(1), trace=(Step("send", Place("a.py", 2, 1), "a.f"),))
    assert outcome(apply(root, with_send)) == [("SO201", 1, True)]


def test_a_comment_where_the_template_is_known_silences_what_passes_there(tree):
    root = tree({"a.py": f"send()\nreceipt()  {REASON}\n"})
    passing = replace(at(1), trace=(Step("call", Place("a.py", 2, 1), "a.f"),))
    sources = discover(root)
    for sends, silent in (([], False), ([Place("a.py", 2, 1)], True)):
        found = policy.apply([passing], sources, Settings(), ALL_RULES, sends)
        assert found[0].suppressed is silent


def test_a_comment_at_a_trigger_silences_its_path(tree):
    root = tree({"shop/views.py": "\n" * 4 + f"def checkout(request):  {REASON}\n"})
    both = finding(triggers=(CHECKOUT, NIGHTLY))
    (left,) = apply(root, both)
    assert (left.triggers, left.suppressed) == ((NIGHTLY,), False)
    assert [item.suppressed for item in apply(root, finding())] == [True]


def test_a_comparison_of_triggers_needs_two(tree):
    root = tree({"shop/views.py": "\n" * 4 + "def checkout(request):  # sendonce: ignore[SO101] resend by hand\n"})
    compared = finding(code="SO101", triggers=(CHECKOUT, NIGHTLY))
    assert [item.suppressed for item in apply(root, compared)] == [True]


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("# sendonce: ignore", "names no rule"),
        ("# sendonce: ignore[] because", "names no rule"),
        ("# sendonce: ignore because", "names no rule"),
        ("# sendonce: ignore[SO2] because", "'SO2', which is the code or name of no rule"),
        ("# sendonce: ignore[SO999] because", "'SO999', which"),
    ],
)
def test_what_names_no_rule_silences_nothing_and_is_reported(tree, comment, said):
    found = apply(tree({"a.py": f"send()  {comment}\n"}), at(1))
    assert outcome(found) == [("SO201", 1, False), ("SO001", 1, False)]
    assert said in found[1].message
    assert (found[1].name, found[1].severity, found[1].place.column) == ("bad-suppression", "warning", 9)


def test_a_missing_reason_is_reported_though_it_silences(tree):
    found = apply(tree({"a.py": "send()  # sendonce: ignore[SO201]\n"}), at(1))
    assert outcome(found) == [("SO201", 1, True), ("SO001", 1, False)]
    assert "gives no reason" in found[1].message


def test_an_unused_code_is_reported_where_its_rule_runs(tree):
    root = tree({"a.py": "send()  # sendonce: ignore[SO201,SO301] judged\n"})
    found = apply(root, at(1))
    assert outcome(found) == [("SO201", 1, True), ("SO002", 1, False)]
    assert "SO301" in found[1].message
    assert outcome(apply(root, at(1), select=("SO2", "SO0"))) == [("SO201", 1, True)]
    assert outcome(apply(root, at(1), ignore=("unused-suppression",))) == [("SO201", 1, True)]


def test_a_finding_too_unsure_to_show_still_uses_its_comment(tree):
    root = tree({"a.py": f"send()  {REASON}\n"})
    assert outcome(apply(root, at(1, confidence="low"))) == []


def test_comments_can_be_left_out_of_account(tree):
    root = tree({"a.py": f"send()  {REASON}\n"})
    assert outcome(apply(root, at(1), ignores=False)) == [("SO201", 1, False)]


def test_text_in_a_string_is_no_comment(tree):
    root = tree({"a.py": f'send("""\n{REASON}\n""")\nx = "{REASON}"\n'})
    assert outcome(apply(root, at(1, 3))) == [("SO201", 1, False)]


def test_a_file_that_has_no_tokens_is_read_by_lines(tree):
    root = tree({"a.py": f"def broken(:\n'''\nsend()  {REASON}\n"})
    assert outcome(apply(root, at(3))) == [("SO201", 3, True)]


def test_a_misspelt_comment_is_told(tree):
    root = tree({"a.py": "send()  # sendonce: ignroe[SO201] the broker drops repeats\n"})
    found = apply(root, at(1))
    assert outcome(found) == [("SO201", 1, False), ("SO001", 1, False)]
    assert "'ignroe'" in found[1].message
