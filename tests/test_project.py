"""The project keeps its own rules: layers, and one test command for readers and CI."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.skipif(not (ROOT / ".ci").is_dir(), reason="needs the checkout")


def test_the_import_contract_holds():
    command = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    done = subprocess.run([sys.executable, "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_ci_finds_the_test_command_of_the_readme():
    extract = next(line for line in (ROOT / ".ci" / "run").read_text().splitlines() if line.startswith("tests="))
    script = f'{extract}; printf "%s" "$tests"'
    done = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert re.fullmatch(
        r"python3 -m venv \.venv && .* --editable '\.\[test,samples\]' && \S+ -m pytest -n 2 --dist loadfile",
        done.stdout,
    )
