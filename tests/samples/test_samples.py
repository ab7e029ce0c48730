"""The marked faults of the sample repositories are real, the tool finds them and no others, and repairs end them.

The replays drive each application and count what a mail server accepts: two messages for each fault, one for each
mail that is done right, and one throughout in the repaired tree beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sampling import MARK, REPOS, Mark, Run, Sample, all_marks, replay
from sendonce.checks import RULES
from sendonce.config import Settings
from sendonce.run import analyze
from sendonce.target import target_of

SAMPLES = (
    Sample(
        "helpdesk", needs=("fastapi", "sqlalchemy", "aiosqlite", "greenlet", "arq", "pydantic_ai", "fakeredis", "lupa")
    ),
    Sample("mailapi", needs=("fastapi", "httpx", "redis", "fakeredis"), replays=15),
    Sample("newsroom", needs=("flask", "sqlalchemy", "rq", "fakeredis", "lupa", "apscheduler", "requests")),
    Sample("storefront", needs=("django", "celery", "stripe", "requests")),
)
SECONDS = 240.0
"""Enough for the replays of one tree on a machine that has much else to do; alone they take some ten."""
AUDIT = ("SO701", "SO702")
"""Rules about what is missing beside the code: nothing can be sent twice to prove them."""

Replayed = Callable[[Path], Run]

each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)


@pytest.fixture(scope="session")
def replayed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replayed]:
    """Gives the run of a tree. The trees of all chosen tests are run from the start, two at a time: most is waiting."""
    users = [item for item in request.session.items if request.fixturename in getattr(item, "fixturenames", ())]
    chosen = sorted({item.callspec.params["sample"] for item in users}, key=lambda sample: sample.name)
    folder = tmp_path_factory.mktemp("replays")
    with ThreadPoolExecutor(max_workers=2) as pool:
        runs = {
            tree: pool.submit(replay, tree, folder / f"{tree.name}.json", SECONDS)
            for sample in chosen
            if sample.runs_here()
            for tree in (sample.root, sample.repaired)
        }

        def run_of(tree: Path) -> Run:
            if tree not in runs:
                pytest.skip("needs the optional dependencies `samples`")
            return runs[tree].result()

        yield run_of


def findings_of(root: Path) -> list[tuple[str, int, str, bool]]:
    """Every finding, notes too, as (path, line, code, whether it is a note)."""
    settings = Settings(pedantic=True)
    found = analyze(target_of([root]), settings).findings
    return sorted((one.place.path, one.place.line, one.code, one.severity == "note") for one in found)


def told(marks: list[Mark]) -> list[tuple[str, int, str, bool]]:
    return sorted((mark.path, mark.line, mark.code, mark.note) for mark in marks)


def files_of(root: Path) -> set[str]:
    """The files of the application: all that git would track but the replays, which both trees share."""
    inside = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return {
        path.as_posix()
        for path in inside
        if not {"__pycache__", "replays", ".sendonce_cache"} & set(path.parts) and path.suffix != ".sqlite3"
    }


def unmarked(file: Path) -> list[str]:
    """The lines of a file without its marks."""
    return [MARK.sub("", line).rstrip() for line in file.read_text(encoding="utf-8").splitlines()]


@each_sample
def test_every_replay_passes(sample: Sample, replayed: Replayed) -> None:
    run = replayed(sample.root)
    failed = [f"{replay.name}\n{replay.trouble}" for replay in run.replays if not replay.passed]
    assert not failed, "\n\n".join(failed)
    assert run.returncode == 0, run.output
    assert len(run.replays) >= sample.replays


@each_sample
def test_every_mark_is_proved_and_nothing_else_is(sample: Sample, replayed: Replayed) -> None:
    run = replayed(sample.root)
    proved = {name for replay in run.replays if replay.passed for name in (*replay.proves, *replay.loses)}
    assert proved == {mark.name for mark in all_marks(sample.root) if mark.code not in AUDIT}


@each_sample
def test_a_fault_is_two_messages_to_one_address(sample: Sample, replayed: Replayed) -> None:
    run = replayed(sample.root)
    counts = {replay.name: replay.most_to_one_address() for replay in run.replays if replay.proves}
    assert counts
    assert {name: count for name, count in counts.items() if count < 2} == {}


@each_sample
def test_a_mail_done_right_is_one_message(sample: Sample, replayed: Replayed) -> None:
    run = replayed(sample.root)
    counts = {replay.name: len(replay.accepted) for replay in run.replays if replay.once}
    assert len(counts) >= 8
    assert {name: count for name, count in counts.items() if count != 1} == {}


@each_sample
def test_the_tool_finds_the_marks_and_nothing_else(sample: Sample) -> None:
    assert findings_of(sample.root) == told(all_marks(sample.root))


@each_sample
def test_the_readme_names_every_mark_with_its_line(sample: Sample) -> None:
    rows = re.findall(r"^\| `([\w/]+\.py):(\d+)` \| (SO\d{3})( note)? \|", sample.readme, re.MULTILINE)
    assert sorted((path, int(line), code, bool(note)) for path, line, code, note in rows) == told(
        all_marks(sample.root)
    )


@each_sample
def test_the_same_replays_of_the_repaired_tree_are_one_message_each(sample: Sample, replayed: Replayed) -> None:
    broken = replayed(sample.root)
    run = replayed(sample.repaired)
    failed = [f"{replay.name}\n{replay.trouble}" for replay in run.replays if not replay.passed]
    assert not failed, "\n\n".join(failed)
    assert run.returncode == 0, run.output
    assert [replay.name for replay in run.replays] == [replay.name for replay in broken.replays]
    counts = {replay.name: replay.most_to_one_address() for replay in run.replays if replay.proves or replay.once}
    assert {name: count for name, count in counts.items() if count != 1} == {}


@each_sample
def test_a_mail_that_a_fault_loses_goes_out_in_the_repaired_tree(sample: Sample, replayed: Replayed) -> None:
    broken = replayed(sample.root)
    lost = {replay.name: len(replay.accepted) for replay in broken.replays if replay.loses}
    run = replayed(sample.repaired)
    assert {replay.name: len(replay.accepted) - 1 for replay in run.replays if replay.loses} == lost


@each_sample
def test_the_repaired_tree_has_no_errors_or_warnings(sample: Sample) -> None:
    assert [one for one in findings_of(sample.repaired) if not one[3]] == []
    assert all_marks(sample.repaired) == []


@each_sample
def test_the_repaired_tree_differs_only_in_the_files_that_the_readme_names(sample: Sample) -> None:
    before, after = files_of(sample.root), files_of(sample.repaired)
    same = {path for path in before & after if unmarked(sample.root / path) == unmarked(sample.repaired / path)}
    named = re.findall(r"^\| `([\w./-]+)` \| (?!SO)", sample.readme.partition("## Repaired")[2], re.MULTILINE)
    assert sorted(named) == sorted((before | after) - same - {"README.md", "pytest.ini"})


def test_each_sample_is_listed() -> None:
    folders = {path.parent.name for path in REPOS.glob("*/replays")}
    assert folders == {sample.name for sample in SAMPLES}


def test_the_readme_says_where_each_rule_is_shown() -> None:
    """Every rule is shown where it is marked; the table names one place, `sample/file`, for each."""
    text = (REPOS / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (SO\d{3}) [\w-]+ \| `([\w-]+)/([\w/]+\.py)` \|", text, re.MULTILINE)
    marked = {(mark.code, sample.name, mark.path) for sample in SAMPLES for mark in all_marks(sample.root)}
    assert {row for row in rows if row not in marked} == set()
    assert [code for code, _, _ in rows] == sorted(rule.code for rule in RULES)
