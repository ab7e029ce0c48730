from __future__ import annotations

import pytest

from examples import RULES, VIEWS, finding
from sendonce import policy
from sendonce.config import Assume, Settings
from sendonce.discovery import discover
from sendonce.findings import Place


@pytest.fixture
def sources(tree):
    return discover(tree({"shop/views.py": VIEWS}))


def apply(sources, *findings, **settings):
    return policy.apply(findings, sources, Settings(**settings), (*policy.RULES, *RULES))


def test_notes_and_doubtful_findings_are_left_out(sources):
    note, doubtful, medium = finding(severity="note"), finding(confidence="low"), finding(confidence="medium")
    assert [item.confidence for item in apply(sources, note, doubtful, medium)] == ["medium"]
    assert len(apply(sources, note, pedantic=True)) == 1
    assert len(apply(sources, note, fail_on="note")) == 1
    assert len(apply(sources, doubtful, min_confidence="low")) == 1
    assert apply(sources, medium, min_confidence="high") == []


def test_a_finding_below_fail_on_is_shown_all_the_same(sources):
    shown = apply(sources, finding(severity="warning"), fail_on="error")
    assert len(shown) == 1
    assert not policy.fails(shown, "error")
    assert policy.fails(shown, "warning")
    assert policy.fails(shown, "note")


def test_a_suppressed_finding_does_not_fail():
    assert not policy.fails([finding(suppressed=True)], "note")


def test_settled_assumptions(sources):
    unsure = finding(assumes=("more than one worker process", "the provider redelivers"))
    assert apply(sources, unsure, assume=Assume(workers=1)) == []
    (settled,) = apply(sources, unsure, assume=Assume(workers=4))
    assert settled.assumes == ("the provider redelivers",)
    (untouched,) = apply(sources, unsure)
    assert untouched.assumes == unsure.assumes


def test_findings_are_sorted_by_place(sources):
    later, earlier = finding(place=Place("shop/views.py", 9)), finding("SO301", place=Place("shop/views.py", 2))
    assert [item.code for item in apply(sources, later, earlier)] == ["SO301", "SO201"]


def fingerprints(tree, text, *lines, **changes):
    sources = discover(tree({"shop/views.py": text}))
    found = apply(sources, *(finding(place=Place("shop/views.py", line, 9), **changes) for line in lines))
    return [item.fingerprint for item in found]


def test_a_fingerprint_survives_lines_above_and_indentation(tree):
    before = fingerprints(tree, "a = 1\nsend(order)\n", 2)
    assert fingerprints(tree, "a = 1\nb = 2\n\n    send(order)\n", 4) == before


def test_a_fingerprint_depends_on_what_is_found(tree):
    text = "send(order)\nsend(other)\n"
    first, second = fingerprints(tree, text, 1, 2)
    (other_template,) = fingerprints(tree, text, 1, template="x.html")
    (other_function,) = fingerprints(tree, text, 1, function="shop.views.other")
    assert len({first, second, other_template, other_function}) == 4


def test_equal_lines_are_told_apart_by_their_order(tree):
    first, second = fingerprints(tree, "send(order)\nsend(order)\n", 1, 2)
    assert first != second
    assert fingerprints(tree, "\nsend(order)\nx\nsend(order)\n", 2, 4) == [first, second]
