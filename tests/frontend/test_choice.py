"""Which front end reads a file, and that nobody sees which."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from sendonce import facts
from sendonce.errors import ParseError
from sendonce.frontend.abstract import reading as abstract
from sendonce.frontend.concrete import reading as concrete
from sendonce.frontend.python import check, extract
from sendonce.frontend.text import decode

NEWER = "f'{a['b']}{c!r:{d}}'\ntype X[T] = list[T]\ntry: a\nexcept B, C: d\n"
"""Two kinds of syntax of Python 3.12 and one of 3.14."""

NOT_PYTHON = (
    'print "a"\n',
    "x = = 1\n",
    "x = (\n",
    "if a:\nb\n",
    "x = 'a\n",
    "x = 1 +\n",
    "def f(:\n",
    "\tx\n  y\n",
    "f'{a'\n",
    "from __future__ import braces; x = (\n",
    "x = '\\N{no such character}' = 1\n",
)
REFUSED_LATER = (
    "return 1\n",
    "yield x\n",
    "break\n",
    "x = 1\nfrom __future__ import annotations\n",
    "from __future__ import braces\n",
    "from __future__ import nothing, annotations\n",
    "def f(a, a): pass\n",
    "nonlocal x\n",
    "def f():\n  x = 1\n  global x\n",
    "await x\n",
    "async def f(): yield from x\n",
    "class A[T]: global T\n" if sys.version_info >= (3, 12) else "",
    "(x for x in y if (yield))\n",
)
"""What only the compiler refuses, behind the parser."""


def test_what_the_interpreter_cannot_read_is_read_by_libcst() -> None:
    text = NEWER if sys.version_info < (3, 14) else NEWER + "x = (y for y in z\n"
    assert abstract.facts_of(text) is None
    assert not abstract.can_read(text)
    if sys.version_info < (3, 14):
        assert extract(text.encode()) == concrete.facts_of(text)
        check(text.encode())


@pytest.mark.parametrize("text", NOT_PYTHON)
def test_what_is_no_python_gets_the_same_error_from_both(text: str) -> None:
    errors = []
    for read in (extract, check, lambda source: concrete.facts_of(decode(source))):
        with pytest.raises(ParseError) as caught:
            read(text.encode())
        errors.append((caught.value.message, caught.value.line))
    assert len(set(errors)) == 1


@pytest.mark.parametrize("text", REFUSED_LATER)
def test_what_only_the_compiler_refuses_is_read(text: str) -> None:
    assert abstract.can_read(text)
    assert abstract.facts_of(text) == concrete.facts_of(text)


@pytest.mark.parametrize(
    "text", ["  x = 1\n", "\f x\n", "\ufeff\ufeffx\n", "\\\nx", "\n\n", "'\ud800'", "x = " + "9" * 5000]
)
def test_the_quick_look_agrees_with_the_parse(text: str) -> None:
    assert abstract.can_read(text) == (abstract.facts_of(text) is not None)


@pytest.mark.parametrize(
    ("source", "label"),
    [
        ("f\"{'#'=}\"", "'#'="),
        ("f\"{f('a#b')  = !s:>5}\"", "f('a#b')  = "),
        ("f\"{a['#'] == b}<a href='#' id={c=}\"", "<a href='#' id=c="),
        ("f'{a # it is a\n=  # shown\n}'", "a \n=  \n"),
    ],
)
def test_a_hole_that_shows_its_source_keeps_hashes_but_no_comments(source: str, label: str) -> None:
    """Some Pythons take the first for the second."""
    found = extract(source.encode()).body
    assert found == concrete.facts_of(source).body
    assert isinstance(found[0], facts.ExprStmt)
    assert isinstance(found[0].value, facts.FString)
    assert label in [part.value for part in found[0].value.parts if isinstance(part, facts.Constant)]


def test_a_name_annotated_in_parentheses_is_read() -> None:
    assert len(extract(b"(x): int = 1\n").body) == 1


@pytest.mark.parametrize("source", [b"x = '\\d'\n", b"x = 1 is 1\n", b"assert (a, b)\n", b"f'{a}\\d{b(1is 1)}'\n"])
def test_code_that_python_warns_of_is_read_in_silence(source: bytes) -> None:
    warned = "import warnings; warnings.simplefilter('error')\n" if source.startswith(b"x") else ""
    script = f"{warned}from sendonce.frontend.python import check, extract\nextract({source!r}); check({source!r})\n"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_libcst_is_not_imported_for_what_the_interpreter_reads(tmp_path: Path) -> None:
    (tmp_path / "mails.py").write_text(
        "from django.core.mail import send_mail\n\ndef f(x):\n  send_mail('a', f'{x}')\n"
    )
    (tmp_path / "other.py").write_text("x = 1\n")
    script = (
        "import sys\nfrom sendonce.cli.main import _run\n"
        f"assert _run(['check', '--no-cache', {str(tmp_path)!r}]) == 0\n"
        "assert 'libcst' not in sys.modules and 'networkx' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("was_on", [True, False])
def test_the_collector_is_left_as_it_was(was_on: bool) -> None:
    if not was_on:
        gc.disable()
    try:
        extract(b"x = f(1)\n")
        concrete.facts_of("x = f(1)\n")
        with pytest.raises(ParseError):
            extract(b"x = (\n")
        assert gc.isenabled() is was_on
    finally:
        gc.enable()
