"""Runs with a cache tell what runs without one tell: cold, warm, changed and damaged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sendonce.findings import Report, Stats

FILES = {
    "shop/__init__.py": "",
    "shop/mails.py": """
        from django.core.mail import send_mail

        def tell(order):
            match order.state:
                case "paid" | "sent":
                    send_mail(f"Order {order.pk:>5}", "x", None, [order.email])
        """,
    "shop/tasks.py": """
        from celery import shared_task
        from shop.mails import tell

        @shared_task(autoretry_for=(Exception,), max_retries=3)
        def job(order):
            tell(order)
        """,
    "shop/other.py": "x = 1.5\n",
    "shop/broken.py": "x = (\n",
    "shop/broken_mail.py": "from django.core.mail import send_mail\nx = (\n",
}

ANY = Report(".", stats=Stats(files=1))


@pytest.fixture
def shop(tree):
    import textwrap

    return tree({name: textwrap.dedent(text) for name, text in FILES.items()})


def report(cli, root, *options):
    result = cli("check", "--isolated", "--exit-zero", "--pedantic", "--output-format", "json", *options, root)
    assert result.code == 0
    return json.loads(result.out)["findings"], result.err


def test_cold_warm_and_no_cache_are_the_same(cli, shop):
    plain = report(cli, shop, "--no-cache")
    assert not (shop / ".sendonce_cache").exists()
    assert {finding["code"] for finding in plain[0]} & {"SO401", "SO301"}
    assert report(cli, shop) == plain
    assert (shop / ".sendonce_cache" / "facts.bin").exists()
    assert report(cli, shop) == plain


def test_a_warm_run_parses_nothing_and_writes_nothing(cli, shop, monkeypatch):
    plain = report(cli, shop)
    before = (shop / ".sendonce_cache" / "facts.bin").stat()

    def fail(source):
        raise AssertionError("parsed")

    (shop / ".sendonce_cache" / "reports.bin").unlink()
    monkeypatch.setattr("sendonce.frontend.python.extract", fail)
    monkeypatch.setattr("sendonce.frontend.python.check", fail)
    assert report(cli, shop) == plain
    assert (shop / ".sendonce_cache" / "facts.bin").stat().st_mtime_ns == before.st_mtime_ns


def test_a_changed_file_is_read_anew(cli, shop):
    report(cli, shop)
    tasks = shop / "shop" / "tasks.py"
    tasks.write_text(tasks.read_text().replace("    tell(order)", "    pass"))
    findings, _ = report(cli, shop)
    assert findings == report(cli, shop, "--no-cache")[0]
    assert "SO401" not in {finding["code"] for finding in findings}


def test_the_same_question_about_the_same_files_is_not_worked_out_again(cli, shop, monkeypatch):
    plain = report(cli, shop)
    text = cli("check", "--isolated", "--exit-zero", shop).out

    def fail(*arguments):
        raise AssertionError("analysed")

    monkeypatch.setattr("sendonce.run.analyse", fail)
    assert report(cli, shop) == plain
    assert cli("check", "--isolated", "--exit-zero", shop).out == text
    moved = shop.rename(shop.with_name("moved"))
    for file in sorted(moved.rglob("*.py")):
        os.utime(file, (1, 1))  # a cache that was restored elsewhere, with other times
    assert report(cli, moved) == plain


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "shop" / "other.py").write_text("x = 1.5\n\n"),
        lambda root: (root / "shop" / "other.py").rename(root / "shop" / "test_other.py"),
        lambda root: (root / "shop" / "new.py").write_text(""),
        lambda root: (root / "shop" / "other.py").unlink(),
    ],
)
def test_a_report_is_worked_out_again_where_a_file_is_another(cli, shop, monkeypatch, change):
    report(cli, shop)
    change(shop)
    asked = []
    monkeypatch.setattr("sendonce.run.analyze", lambda *arguments: asked.append(arguments) or ANY)
    report(cli, shop)
    assert asked


def test_a_report_is_worked_out_again_where_the_question_is_another(cli, shop, tmp_path, monkeypatch):
    pack = tmp_path / "own.toml"
    pack.write_text('name = "own"\n')
    report(cli, shop)
    report(cli, shop, "--rules", pack)
    asked = []
    monkeypatch.setattr("sendonce.run.analyze", lambda *arguments: asked.append(arguments) or ANY)
    report(cli, shop, "--rules", pack)
    assert not asked
    for number, options in enumerate([("--select", "SO4", shop), ("--no-ignores", shop), (shop / "shop",)], 1):
        assert cli("check", "--isolated", "--exit-zero", *options).code == 0
        assert len(asked) == number
    pack.write_text('name = "other"\n')
    report(cli, shop, "--rules", pack)
    assert len(asked) == 4


@pytest.mark.parametrize("damage", [b"", b"\x00" * 5000, None])
def test_a_damaged_cache_changes_nothing(cli, shop, damage):
    plain = report(cli, shop)
    for name in ("facts.bin", "reports.bin"):
        file = shop / ".sendonce_cache" / name
        whole = file.read_bytes()
        file.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    assert report(cli, shop) == plain
    assert report(cli, shop) == plain


def test_another_folder_can_be_named_and_may_be_no_folder(cli, shop, tmp_path):
    plain = report(cli, shop, "--cache-dir", tmp_path / "kept")
    assert (tmp_path / "kept" / "facts.bin").exists()
    assert not (shop / ".sendonce_cache").exists()
    (tmp_path / "file").write_text("mine")
    assert report(cli, shop, "--cache-dir", tmp_path / "file") == plain
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_link_in_the_tree_leads_the_cache_nowhere(cli, shop, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (shop / ".sendonce_cache").symlink_to(elsewhere)
    report(cli, shop)
    assert not list(elsewhere.iterdir())


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [(["--version"], "libcst networkx rich msgspec"), (["explain", "SO301"], "libcst networkx rich")],
)
def test_short_answers_import_little(arguments, heavy):
    script = (
        f"import sys\nfrom sendonce.cli.main import _run\n_run({arguments!r})\n"
        f"print([name for name in {heavy.split()!r} if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_kept_facts_are_those_that_were_read():
    import msgspec

    import sendonce
    from sendonce.facts import ModuleFacts
    from sendonce.frontend.python import extract

    for file in sorted(Path(sendonce.__file__).parent.glob("*.py")):
        found = extract(file.read_bytes())
        kept = msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=ModuleFacts)
        assert repr(kept) == repr(found)
    odd = extract(b"x = (1, 1.0, True, None, -0.0, 1e999, 10**30, 1j, b'a', '\\ud800', 'caf\\xc3\\xa9', ...)\n")
    assert repr(msgspec.msgpack.decode(msgspec.msgpack.encode(odd), type=ModuleFacts)) == repr(odd)
