"""The documentation says what the program does: generated pages, links, and every example that can be run."""

from __future__ import annotations

import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from sendonce.config import load_config

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="needs the checkout")

PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
_LINK = re.compile(r"(?<!\!)\[[^\]]*\]\(([^)\s]+)\)")
_FENCE = re.compile(r"(?m)^(?P<file><!-- file: (?P<name>\S+) -->\n)?```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.DOTALL)


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_up_to_date(generator):
    old = list(generator.stale(generator.pages()))
    assert old == [], "run `python docs/generate.py` and commit what it writes"


def test_every_rule_and_pack_has_its_page(generator):
    pages = generator.pages()
    assert sum(name.startswith("rules/SO") for name in pages) > 40
    assert sum(name.startswith("packs/") for name in pages) > 100
    for name, text in pages.items():
        assert text.endswith("\n"), name
        assert "None" not in text.splitlines()[2], name


def anchors(page: Path) -> set[str]:
    """The names by which headings can be linked, as GitHub makes them."""
    text = re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8"))
    heads = re.findall(r"(?m)^#+ (.*)$", text)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    text = re.sub(r"(?ms)^```.*?^```|`[^`\n]*`", "", page.read_text(encoding="utf-8"))
    for link in _LINK.findall(text):
        if re.match(r"https?://", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link
        if anchor:
            assert anchor in anchors(target), link


@pytest.mark.parametrize("name", ["docs/configuration.md", "docs/adopting.md", "README.md"])
def test_configuration_examples_are_valid(name, tmp_path):
    fences = [match["text"] for match in _FENCE.finditer((ROOT / name).read_text()) if match["kind"] == "toml"]
    tables = [text for text in fences if text.lstrip().startswith("[tool.sendonce")]
    assert tables
    for text in tables:
        (tmp_path / "pyproject.toml").write_text(text)
        load_config(tmp_path / "pyproject.toml")


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    words = shlex.split(command, comments=True)
    assert words[0] == "sendonce"
    started = [sys.executable, "-m", "sendonce", *words[1:]]
    return subprocess.run(started, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["writing-a-pack.md"])
def test_a_walk_through_gives_what_it_shows(name, tmp_path):
    shown = 0
    for match in _FENCE.finditer((DOCS / name).read_text(encoding="utf-8")):
        if match["name"]:
            path = tmp_path / match["name"]
            path.parent.mkdir(exist_ok=True)
            path.write_text(match["text"])
        elif match["kind"] == "console":
            command, _, output = match["text"].partition("\n")
            assert run(command.removeprefix("$ "), tmp_path).stdout == output
            shown += 1
    assert shown > 3


VIEWS = """\
from celery import shared_task
from django.core.mail import send_mail
from django.db import transaction
from django.urls import path


@shared_task
def send_receipt(order_id):
    send_mail("Receipt", "text", None, [address(order_id)])


def checkout(request):
    with transaction.atomic():
        order = place(request)
        send_receipt.delay(order.id)


urlpatterns = [path("checkout", checkout)]
"""


def test_the_commands_of_adoption_work_in_their_order(tmp_path):
    from gitrepo import git, repository

    (tmp_path / "shop.py").write_text(VIEWS)
    repository(tmp_path)
    git(tmp_path, "update-ref", "refs/remotes/origin/main", "HEAD")
    fences = [match["text"] for match in _FENCE.finditer((DOCS / "adopting.md").read_text()) if match["kind"] == "sh"]
    commands = [line for text in fences for line in text.splitlines() if line.strip()]
    assert len(commands) > 4
    for command in commands:
        done = run(command, tmp_path)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
