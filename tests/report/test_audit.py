"""The audit as HTML, Markdown and JSON: complete, inert, and bearable in size."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from auditing import SHOP, audit_of
from sendonce.audit import Audit
from sendonce.report import View, render_audit

VIEW = View(lambda path: ())
MOST_BYTES = 5_000_000
HOSTILE = "<script>alert(1)</script>\"'&`|\u202e\x1b[31m{{7*7}}]]>" + "x" * 10_000


class Page(HTMLParser):
    """The elements, ids, links and text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        given = dict(attrs)
        if given.get("id"):
            self.ids.add(given["id"] or "")
        if tag == "a":
            self.links.append(given.get("href") or "")

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Audit:
    return audit_of(SHOP, tmp_path_factory.mktemp("tree"))


def hostile(audit: Audit) -> Audit:
    """The audit with names as a hostile tree may have them."""
    mail = audit.mails[0]
    trigger = replace(mail.ways[0].trigger, function=HOSTILE, detail=HOSTILE)
    step = replace(mail.ways[0].steps[0], function=HOSTILE, note=HOSTILE)
    way = replace(mail.ways[0], trigger=trigger, steps=(step,))
    finding = replace(mail.findings[0], message=HOSTILE, function=HOSTILE, template=HOSTILE)
    assert mail.picture is not None
    stop = replace(mail.picture.stops[0], title=HOSTILE, what=HOSTILE)
    picture = replace(mail.picture, stops=(stop, *mail.picture.stops[1:]))
    bad = replace(mail, name=HOSTILE, ways=(way,), findings=(finding,), picture=picture)
    repair = replace(audit.plan[0], title=HOSTILE, findings=(finding,))
    return replace(audit, project=HOSTILE, mails=(bad,), plan=(repair,))


def test_the_page_has_every_mail_finding_and_repair(audit: Audit) -> None:
    words = " ".join(" ".join(Page(render_audit("html", audit, VIEW)).words).split())
    for mail in audit.mails:
        assert mail.name in words
    for finding in audit.findings:
        assert f"{finding.place.path}:{finding.place.line}" in words
        assert finding.message[1:] in words
    assert all(repair.title in words for repair in audit.plan)


def test_the_page_loads_nothing_and_its_links_lead_somewhere(audit: Audit) -> None:
    page = Page(render_audit("html", audit, VIEW))
    assert {"header", "nav", "main", "footer", "svg"} <= set(page.tags)
    assert not {"iframe", "img", "object", "embed"} & set(page.tags)
    assert not [value for name, value in page.attributes if name == "src" or "://" in value]
    assert page.links
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)


def test_names_of_the_tree_are_inert_in_the_page(audit: Audit) -> None:
    usual, bad = Page(render_audit("html", audit, VIEW)), render_audit("html", hostile(audit), VIEW)
    page = Page(bad)
    assert page.tags.count("script") == usual.tags.count("script") == 1
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert "\x1b" not in bad
    assert "\u202e" not in bad
    assert "49" not in "".join(Page(bad).words).partition("{{7")[2][:20]
    assert len(bad) < 200_000


def test_names_of_the_tree_are_inert_in_markdown(audit: Audit) -> None:
    text = render_audit("markdown", hostile(audit), VIEW)
    outside = re.sub(r"`[^`\n]*`", "", text)
    assert not re.search(r"(?<!\\)<(?!br/>)", outside)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert max(len(line) for line in text.splitlines()) < 6_000


def test_three_hundred_mails_fit(audit: Audit) -> None:
    mails = tuple(replace(audit.mails[0], number=number, name=f"mails/{number}.txt") for number in range(1, 301))
    assert len(render_audit("html", replace(audit, mails=mails), VIEW).encode()) < MOST_BYTES


def test_a_tree_without_mail_has_a_page(audit: Audit) -> None:
    empty = replace(audit, mails=(), plan=(), findings=(), helpers=(), kinds=(), calls=())
    assert "No mail was found" in render_audit("html", empty, VIEW)
    assert "sends 0 mails" in render_audit("markdown", empty, VIEW)


def test_the_json_has_the_same_content(audit: Audit) -> None:
    document = json.loads(render_audit("json", audit, VIEW))
    assert [mail["name"] for mail in document["mails"]] == [mail.name for mail in audit.mails]
    assert sum(len(repair["closes"]) for repair in document["plan"]) == len(audit.findings)
    assert {line["outcome"] for line in document["practices"]} == {"kept", "broken", "does not apply"}


def test_the_renderings_are_the_same_every_time(audit: Audit) -> None:
    for form in ("html", "markdown", "json"):
        assert render_audit(form, audit, VIEW) == render_audit(form, audit, VIEW)
