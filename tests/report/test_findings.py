from __future__ import annotations

import json

import pytest

from examples import BROKEN, CHECKOUT, NIGHTLY, TASKS, VIEWS, finding, report
from sendonce import __version__
from sendonce.findings import Finding, Place, Related, Report
from sendonce.report import FORMATS, Format, View, render_findings

SOURCES = {"shop/views.py": VIEWS.splitlines(), "shop/tasks.py": TASKS.splitlines()}


def view(**options: bool) -> View:
    return View(lambda path: SOURCES.get(path, ()), **options)


def rendered(format_: Format, *findings: Finding, **options: bool) -> str:
    return render_findings(format_, report(*findings), view(**options))


FULL = """\
SO201 enqueue-in-transaction: error, high confidence
  shop/views.py:9:9  in shop.views.checkout  sends emails/receipt.html
     9 |         send_receipt.delay(order.id)
       |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^

   1 trigger      shop/views.py:5  shop.views.checkout  POST /checkout
                  5 | def checkout(request):
   2 transaction  shop/views.py:7  shop.views.checkout  opens here
                  7 | with transaction.atomic():
   3 enqueue      shop/views.py:9  shop.views.checkout
                  9 | send_receipt.delay(order.id)
   4 send         shop/tasks.py:6  shop.tasks.send_receipt  django
                  6 | EmailMessage("Receipt", to=[address(order_id)]).send()

  Also triggered by:
    cron         shop/jobs.py:3  shop.jobs.nightly  every night

  See also:
    shop/views.py:7  the transaction

  Why: The job is enqueued before the order is committed, so a rollback and repeat enqueues it
       again.
  Assumes: more than one worker process
  Repair: Use transaction.on_commit(lambda: send_receipt.delay(order.id)).
  Silence: # sendonce: ignore[SO201] <reason>   on shop/views.py:9 or the line above it

1 error. Read 5 files, 2 sends of 1 mail.
"""


def test_full_shows_place_path_reason_and_repair():
    assumes = ("more than one worker process",)
    assert rendered("full", finding(triggers=(CHECKOUT, NIGHTLY), assumes=assumes)) == FULL


def test_full_without_a_path_or_source():
    text = rendered("full", finding(trace=(), related=(), place=Place("gone.py", 4), function="", template=None))
    assert text.startswith(
        "SO201 enqueue-in-transaction: error, high confidence\n  gone.py:4:1\n\n"
        "  Triggered by:\n    controller   shop/views.py:5  shop.views.checkout  POST /checkout\n\n  Why: The job"
    )


def test_carets_stand_below_the_code_also_after_tabs_and_over_several_lines():
    def carets(place: Place) -> str:
        return rendered("full", finding(place=place, trace=(), triggers=())).splitlines()[3]

    assert carets(Place("shop/views.py", 8, 2, 8, 14)) == "       |     ^^^^^^^^^^^^"
    assert carets(Place("shop/views.py", 7, 5, 8, 14)) == "       |     ^^^^^^^^^^^^^^^^^^^^^^^^^^"
    assert carets(Place("shop/views.py", 7, 5)) == "       |     ^"


def test_a_very_long_line_is_cut():
    line = "x = " + "1" * 500
    text = render_findings("full", report(finding(trace=(), place=Place("a.py", 1, 1, 1, 505))), View(lambda _: [line]))
    assert max(map(len, text.splitlines())) < 180
    assert "1…\n" in text


def test_concise_is_one_line_a_finding():
    assert rendered("concise", finding(message="It sends\ntwice.", severity="warning")) == (
        "shop/views.py:9:9: SO201 warning It sends twice. [enqueue-in-transaction]\n"
        "1 warning. Read 5 files, 2 sends of 1 mail.\n"
    )


def test_the_last_line_counts():
    def last(result: Report) -> str:
        return render_findings("concise", result, view()).splitlines()[-1]

    assert last(report()) == "No findings. Read 5 files, 2 sends of 1 mail."
    many = (finding(), finding(), finding(severity="note"), finding(suppressed=True))
    assert last(report(*many, problems=(BROKEN,))) == (
        "2 errors, 1 note; 1 suppressed; 1 file left out. Read 5 files, 2 sends of 1 mail."
    )


@pytest.mark.parametrize("format_", ["full", "concise"])
def test_suppressed_findings_are_not_shown(format_):
    assert "SO201" not in rendered(format_, finding(suppressed=True), statistics=True)


@pytest.mark.parametrize("format_", ["full", "concise"])
def test_statistics_count_by_rule(format_):
    found = (finding("SO301"), finding(), finding(), finding(suppressed=True))
    lines = rendered(format_, *found, statistics=True).splitlines()
    assert [line for line in lines if line.startswith("    ")][-2:] == [
        "    2  SO201  enqueue-in-transaction",
        "    1  SO301  no-reservation",
    ]


def test_json_has_the_documented_keys_in_order():
    document = json.loads(render_findings("json", report(finding(), problems=(BROKEN,)), view()))
    (row,) = document["findings"]
    assert document == {
        "schema": 1,
        "tool": {"name": "sendonce", "version": __version__},
        "findings": [row],
        "errors": [{"path": "shop/old.py", "line": 3, "message": "cannot be parsed: print 'x'"}],
        "stats": {
            "files": 5,
            "files_parsed": 2,
            "lines": 120,
            "sends": 2,
            "templates": 1,
            "triggers": 2,
            "unresolved": 1,
            "seconds": 0.25,
        },
    }
    assert (
        list(row)
        == (
            "code name severity confidence message help path line column end_line end_column function template"
            " triggers trace related assumes fingerprint fix suppressed"
        ).split()
    )
    assert row["triggers"] == [
        {
            "kind": "controller",
            "function": "shop.views.checkout",
            "path": "shop/views.py",
            "line": 5,
            "detail": "POST /checkout",
        }
    ]
    assert row["trace"][1] == {
        "hop": "transaction",
        "path": "shop/views.py",
        "line": 7,
        "function": "shop.views.checkout",
        "note": "opens here",
    }
    assert row["related"] == [{"path": "shop/views.py", "line": 7, "note": "the transaction"}]
    assert (row["line"], row["column"], row["end_line"], row["end_column"]) == (9, 9, 9, 37)
    assert (row["fix"], row["suppressed"], row["assumes"]) == (None, False, [])


def test_json_keeps_suppressed_findings_and_ends_every_place():
    text = rendered("json", finding(suppressed=True, place=Place("a.py", 3, 2)))
    (row,) = json.loads(text)["findings"]
    assert row["suppressed"] is True
    assert (row["end_line"], row["end_column"]) == (3, 2)


EVIL = "a\x1b[2Jb\x9b31m\x7f\u202ec\u2028\udce9é\r\n"


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("color", [False, True])
def test_nothing_of_the_analysed_code_reaches_the_terminal_unescaped(format_, color):
    place = Place(EVIL, 1, 1, 1, 4)
    evil = finding(
        place=place,
        function=EVIL,
        template=EVIL,
        message=EVIL,
        help=EVIL,
        assumes=(EVIL,),
        related=(Related(place, EVIL),),
        triggers=(CHECKOUT.__class__(place, "cron", EVIL, EVIL),),
        trace=(finding().trace[0].__class__("call", place, EVIL, EVIL),),
    )
    text = render_findings(format_, report(evil), View(lambda _: [EVIL], color=color))
    for style in ("\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[34m"):
        text = text.replace(style, "")
    assert not set(text) & set("\x1b\x9b\x7f\u202e\u2028\udce9\r")
    assert "[2Jb" in text


def test_readable_letters_stay():
    assert "sends größe-Ω.html" in rendered("full", finding(template="größe-Ω.html"))


@pytest.mark.parametrize("format_", ["full", "concise"])
def test_colour_only_adds_styles(format_):
    plain, colored = rendered(format_, finding()), rendered(format_, finding(), color=True)
    assert "\x1b[31m" in colored
    for style in ("\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[34m"):
        colored = colored.replace(style, "")
    assert colored == plain


def test_the_last_line_counts_what_is_not_shown():
    from sendonce.report.text import summary

    assert summary(Report(root=".", notes=3, unsure=1)) == (
        "No findings; 3 notes not shown (--pedantic); 1 less sure not shown (--min-confidence low)."
        " Read 0 files, 0 sends of 0 mails."
    )
