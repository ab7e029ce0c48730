"""The checklist: kept, broken, or of no concern."""

from __future__ import annotations

from pathlib import Path

from auditing import SHOP, audit_of


def test_a_line_is_broken_kept_or_does_not_apply(tmp_path: Path) -> None:
    found = {practice.title: practice for practice in audit_of(SHOP, tmp_path).practices}
    assert found["Event id stored"].outcome == "broken"
    assert found["Enqueue and send after commit"].outcome == "broken"
    assert found["Claims that hold"].outcome == "kept"
    assert found["Tools ask before they mail"].outcome == "does not apply"


def test_a_line_counts_what_it_was_asked_of(tmp_path: Path) -> None:
    found = {practice.title: practice for practice in audit_of(SHOP, tmp_path).practices}
    assert (found["Event id stored"].subjects, found["Event id stored"].what) == (1, "way")
    assert (found["Claims that hold"].subjects, found["Claims that hold"].what) == (4, "mail")
