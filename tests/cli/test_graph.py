from __future__ import annotations

import json
import subprocess
import sys

import pytest

APP = """\
from django.core.mail import send_mail


def receipt(order):
    send_mail("Receipt", "", None, [order.email])


def pay(request):
    receipt(request.order)


def quiet():
    pay(None)
    return helper()


def helper():
    return 1
"""


@pytest.fixture
def root(tree):
    return tree({"app.py": APP, "tests/test_app.py": "import app\n\n\ndef test():\n    app.helper()\n"})


def ends(result):
    return {(edge["from"], edge["to"]) for edge in json.loads(result.out)["edges"]}


def test_the_mail_slice_is_the_default(cli, root):
    assert ends(cli("graph", root, "--isolated", "--no-cache")) == {
        ("app.pay", "app.receipt"),
        ("app.quiet", "app.pay"),
        ("app.receipt", "django.core.mail.send_mail"),
    }


def test_all_has_every_function_of_the_application(cli, root):
    found = ends(cli("graph", root, "--all", "--isolated", "--no-cache"))
    assert ("app.quiet", "app.helper") in found
    assert not any(source.startswith("tests") for source, _ in found)


@pytest.mark.parametrize(
    ("format_", "begins"),
    [("json", "{\n"), ("dot", "digraph "), ("mermaid", "flowchart "), ("graphml", "<graphml ")],
)
def test_formats_into_a_file(cli, root, tmp_path, format_, begins):
    file = tmp_path / "graph"
    assert cli("graph", root, "--format", format_, "--output-file", file, "--isolated", "--no-cache").out == ""
    assert file.read_text().startswith(begins)


def test_a_file_that_cannot_be_parsed_is_named(cli, tree):
    result = cli("graph", tree({"app.py": APP, "bad.py": "def ("}), "--all", "--isolated", "--no-cache")
    assert result.code == 0
    assert result.err.startswith("sendonce: bad.py:1: ")


def test_wrong_usage(cli, root, tmp_path):
    assert "give its folder" in cli("graph", root / "app.py").err
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "no Python files to analyse" in cli("graph", empty).err


def test_networkx_is_imported_for_graphml_alone(root):
    command = [sys.executable, "-X", "importtime", "-m", "sendonce", "graph", str(root), "--isolated", "--no-cache"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "networkx" not in done.stderr
