"""The two front ends give the same facts, to the last span."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

import pytest

from frontend.comparison import difference
from frontend.snippets import EXPRESSIONS, F_STRINGS, STATEMENTS
from sendonce.errors import ParseError
from sendonce.frontend.abstract import reading as abstract
from sendonce.frontend.concrete import reading as concrete
from sendonce.frontend.text import decode

STDLIB = Path(sysconfig.get_path("stdlib"))
SAMPLE = 60


def assert_same(source: bytes) -> None:
    """Both read the text, and alike."""
    assert abstract.facts_of(decode(source)) is not None
    concrete.facts_of(decode(source))
    assert difference(source) == ""


def expressions() -> list[str]:
    lines: list[str] = []
    for line in EXPRESSIONS.strip("\n").split("\n"):
        if line.startswith("  ") and lines:
            lines[-1] += "\n" + line
        else:
            lines.append(line)
    return lines


@pytest.mark.parametrize("source", expressions())
def test_expressions_are_read_alike(source: str) -> None:
    inside = "async def f():\n  if 1:\n    x = 1; "
    assert_same(source.encode())
    if "\n" not in source:
        assert_same((inside + source + " ; y\n").encode())
        assert_same(f"x = ({source})\n".encode())
        assert_same(f"é, [({source}), y]\n".encode())


@pytest.mark.parametrize("source", F_STRINGS.strip("\n").split("\n---\n"))
def test_f_strings_are_read_alike(source: str) -> None:
    assert_same(source.encode())
    assert_same(source.replace("\n", "\r\n").encode())
    assert_same(source.replace("\n", "\r").encode())
    assert_same(f"x = 'é'; y = (\n  {source}\n, 'ü')\nz\n".encode())


@pytest.mark.parametrize("source", STATEMENTS.strip("\n").split("\n---\n"))
def test_statements_are_read_alike(source: str) -> None:
    assert_same(source.encode())
    assert_same(source.replace("\n", "\r\n").encode())
    assert_same(b"\xef\xbb\xbf# first\n" + source.encode() + b"\n\n\n")
    if '"""' not in source and "\t" not in source:
        assert_same(("def f():\n  " + source.replace("\n", "\n  ")).encode())


@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"\n",
        b"# only a comment",
        b"   \n\t\n",
        b'"""doc"""',
        b"x = 1",
        b"x\ry\r\rz",
        b"\x0cx = 1\n\x0c\ndef f():\n  pass\n\x0cy = 2",
        b"\\\nx = 1 \\\n\n",
        b"if x:\n  y\n# comment\n  z\n",
        b"if x:\n\ty\n\tif z:\n\t  a\n",
        b"# -*- coding: latin-1 -*-\nx = '\xe9', y\n",
        "# coding: koi8-r\nх = 'я', y\n".encode("koi8-r"),
        "# coding: shift_jis\nx = '日本', y\n".encode("shift_jis"),
        b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx = '\x80', y\n",
        b"\xef\xbb\xbfx, y = 1",
        b"\xef\xbb\xbf# coding: utf-8\nx = '\xc3\xa9', y",
        "x = '\x0b\x1c\u2028', y\nz".encode(),
        b"'a\\\r\nb', c\r\n",
        b'"""a\r\nb\rc""", d\r\n',
        b"f'''{\r\na}\r\n''', d\r\n",
    ],
)
def test_layout_and_encodings_are_read_alike(source: bytes) -> None:
    assert_same(source)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="syntax of Python 3.11")
@pytest.mark.parametrize(
    "source",
    ["a[*b]", "a[*b, c]", "def f(*a: *b): pass", "try: a\nexcept* B: c\nexcept *(C, D) as e: f\nelse: g\nfinally: h\n"],
)
def test_syntax_of_3_11_is_read_alike(source: str) -> None:
    assert_same(source.encode())


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of Python 3.12")
@pytest.mark.parametrize(
    "source",
    [
        "type X = int",
        "type X[T: int, *Ts, **P] = list[T]",
        "def f[T: (int, str), *Ts](a: T) -> T: pass",
        "class A[T](B[T], k=1): pass",
        "class A[T] : pass",
        "f'{'a'}{x[\"b\"]}'",
        "f'{f'{f'{1}'}'}'",
        "f'{a # comment\n}'",
        "f'{a:{b:{c}}}'",
        "f'{a!r }{b!s  :>3}', c",
        "f'''{\n a}\n {b:\n}''', c",
        "f'\\{a}\\N{EM DASH}{b}'",
        "f'{a}' + f'{\n    1}', b",
        "x = 'é' f'é{a}é{b!r:é}' 'z', c",
    ],
)
def test_syntax_of_3_12_is_read_alike(source: str) -> None:
    assert_same(source.encode())


def library() -> list[Path]:
    files = sorted(path for path in STDLIB.rglob("*.py") if "site-packages" not in path.parts)
    if os.environ.get("SENDONCE_SLOW_TESTS"):
        return files
    return files[:: len(files) // SAMPLE]


@pytest.mark.parametrize("path", library(), ids=lambda path: path.relative_to(STDLIB).as_posix())
def test_standard_library_is_read_alike(path: Path) -> None:
    try:
        assert difference(path.read_bytes()) == ""
    except ParseError:
        pytest.skip("in no encoding")


@pytest.mark.skipif("SENDONCE_COMPARE_BELOW" not in os.environ, reason="names a folder of many files")
def test_everything_below_a_folder_is_read_alike() -> None:
    for path in sorted(Path(os.environ["SENDONCE_COMPARE_BELOW"]).rglob("*.py")):
        try:
            found = difference(path.read_bytes())
        except (ParseError, OSError):
            continue
        assert found == "", path
