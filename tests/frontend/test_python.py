"""The libcst front end: equal to the reference by `ast`, and what no `ast` can tell."""

from __future__ import annotations

import os
import sys
import sysconfig
import warnings
from pathlib import Path

import msgspec
import pytest

from frontend import ast_reference
from sendonce import facts
from sendonce.errors import ParseError
from sendonce.facts import Expr, ModuleFacts, Stmt
from sendonce.frontend.python import extract

STDLIB = Path(sysconfig.get_path("stdlib"))
SAMPLE = 60
REFUSED_BY_LIBCST = {"test/test_grammar.py", "test/ann_module.py", "test/typinganndata/ann_module.py"}
"""They annotate a name in parentheses, `(x): int`, which libcst 1.9 does not read."""


def assert_same(source: bytes) -> None:
    """Both front ends give equal facts, to the last span that `ast` knows."""
    ours, theirs = extract(source), ast_reference.extract(source)
    if not ast_reference.PLACES_FSTRINGS:
        ours, theirs = ast_reference.unplaced(ours), ast_reference.unplaced(theirs)
    if msgspec.msgpack.encode(ours) != msgspec.msgpack.encode(theirs):
        pytest.fail(ast_reference.first_difference(ours, theirs))


def value_of(source: str) -> Expr:
    """The facts of an expression."""
    (stmt,) = extract(source.encode()).body
    assert isinstance(stmt, facts.ExprStmt)
    return stmt.value


def first(source: str) -> Stmt:
    return extract(source.encode()).body[0]


# ------------------------------------------------------------------ equal to ast

EXPRESSIONS = """
a
a.b.c
( a ) . b
((a))
True, False, None, ...
1, 0x_ff, 0b1, 0o17, 1_000, 00, 1.5, 1e10, 1_0.5, .5, 1j, 0xFFFFFFFFFFFFFFFFFF, 1152921504606846975, 1152921504606846976
1e999
'a', "b", r'\\d', u'c', '', \"\"\"x\"\"\", 'it\\'s', "\\x41\\u00e9\\U0001F600\\101\\N{EM DASH}\\q\\\\"
'a' "b" r'\\c'
b'a', rb'\\d', b'a' b'b'
'\\ud800'
'a' '\\udc00'
f'\\udc00{a}'
f''
f'a'
f'{a}'
f'a{b}c{d}'
f'a{{b}}{c}'
f'{a!r}{b!s}{c!a}'
f'{a:>10}{b:{w}.{p}}{c!r:^{w}}'
f'{a=}{b = }{c=!r}{d=:>5}{ e = !s}{f=:}{g:}'
rf'\\d{a}\\n'
f'\\n{a}\\t'
f'{f(a, b=1)}{a[0]}{a.b}'
f'{a}' 'b' f'{c}' "{d}"
'a' f'b'
f'{ {1: 2}[1] }'
f'{(lambda x: 1)}'
f'{a, b}'
f'{*a, b}'
f'{x:%Y-%m-%d}'
f(a)
f()
f ( a , * b , c = 1 , ** d , )
f(*a, b, k=1, *c, **d, e=2)
f(x for x in y)
f((x for x in y))
f( x for x in y )
f (x for x in y)
(f)(a)(b).c(d)
f(a)(x for x in y if z)
f(a := 1)
a[b]
a[b, c]
a[b,]
a[(b, c)]
a[ : ]
a[1:]
a[:2]
a[::3]
a[1:2:3]
a[1::]
a[ 1 : 2 , :: 3 , ... ]
a[b:=1]
a[b][c].d[e]
lambda: 0
lambda a, /, b, c=1, *d, e, f=2, **g: a + b
lambda *, a: a
lambda *a, **b: a
lambda a,: (yield)
a < b
a < b <= c != d
(a) < (b) < (c)
a is not b, a is b, a not in b, a in b, a is  not b, a not  in b
not a
not  (a)
not not a
a and b or c and not d
(a and b) and c
a and (b and c)
a or b or c
a + b - c * d / e // f % g ** h @ i
(a + b) + c
a + (b + c)
(a) + (b)
-a, +b, ~c, - -d, -(1), -1 ** 2
a << b >> c & d | e ^ f
a if b else c
(a) if (b) else (c)
a if b else c if d else e
(a, b), (a,), (), ((a, b)), ( a , )
a, b
a,
[a, b], [], [a,], [*a, b]
{a, b}, {a,}, {*a, b}
{a: b, c: d}, {}, {**a, b: c,}
*a, b
[x for x in y]
[x for x in y if a if b for z in x if c]
{x for x in y}
{x: z for x in y}
(x for x in y)
((x for x in y))
[(yield) for x in y] if 0 else 0
[x for x, in y]
[x for x, z in y]
[x async for x in y]
[lambda: x for x in y]
(a := 1)
[a := 1, b]
(yield)
(yield a)
(yield a, b)
(yield from a)
await a
await a.b(c)
(await a).b
ünïcödé + 'ü' + f'ü{é}' + b
'😀', a, ñ
ﬁ + ªb
x  .  y  (  z  )
(a
  # a comment ( with ] brackets
  . b
  (c))
a + \\
  b
"""

STATEMENTS = '''
a = 1
---
a = b = c, d = 1
---
a, *b = (c) = d
---
(a), [b, c], d.e, f[g] = 1
---
a: int
---
a: int = 1
---
a.b: "x" = yield
---
a[1]: int = *b, c
---
a += 1; a -= 1; a *= 1; a /= 1; a //= 1; a %= 1; a **= 1; a <<= 1; a >>= 1; a &= 1; a |= 1; a ^= 1; a @= 1
---
a; b ; c;
---
pass; break; continue
---
return
---
return *a, b
---
return (
    a
)
---
raise
---
raise A
---
raise A(b) from c
---
assert a
---
assert a, "b"
---
assert (a, "b")
---
del a
---
del a, b.c, d[e],
---
del (a, b)
---
del (a), b
---
global a, b
nonlocal c
---
import a
---
import a.b.c as d, e , f as g
---
from a import b
---
from a.b import (c as d, e,)
---
from . import a
---
from .. b import *
---
from ... import (
    a,  # why
    b as c
)
---
from .... c import d
---
if a: b
---
if a:
    b
elif c:
    d
elif e:
    pass
else:
    f
---
if a:
    pass
else:
    if b:
        pass
---
if a: b; c;
else: d;
---
for a in b: pass
---
for a, b in c, d:
    pass
else:
    pass
---
for (a) in *b, c: pass
---
async def f():
    async for a in b:
        pass
    async with a as b, c: pass
    await d
    return [x async for x in y]
---
while a: pass
else: pass
---
try:
    a
except:
    b
---
try:
    a
except A: b
except (B, C) as d:
    e
else:
    f
finally:
    g
---
try: a
finally: b
---
with a: pass
---
with a as b, c as (d, e), f: pass
---
with (a): pass
---
with (a, b): pass
---
with (a as b, c,): pass
---
with (a, b) as c: pass
---
with (a), (b): pass
---
with (yield a): pass
---
with a as b.c, d as e[0], f as [g, h]: pass
---
def f(): pass
---
def f(a, /, b: int, c: str = "x", *d: e, f, g: h = 1, **i: j) -> k:
    """Doc."""
---
def f(a, b=1, /): pass
---
def f(*, a=1): pass
---
def f(  # comment: with a colon
    a=(1),  # another :
) :
    "doc" 'string'
    return a
---
@a
@b.c(d)

# comment
@ e [f]
async  def f(a): yield
---
def f():
    def g():
        yield
    lambda: (yield)
    return [x for x in g()]
---
def f(a=1):
    def g(x=(yield)): pass
---
def f():
    class C((yield)): pass
---
def f():
    x = yield from g()
---
def f():
    f"not a doc"
---
def f():
    b"not a doc"
---
def f(): "one line"; pass
---
class C: pass
---
class C(): "doc"
---
class C(A, b.D, metaclass=M, **k):
    """Doc
    of two lines."""
    x: int = 1
    def m(self): return super().m()
---
class C(*a, b=c, ) : pass
---
class C:
    # comment first

    @property
    def a(self): ...
    # comment last
x = 1
---
match = 1
match.x
match (a)
match[a] = case = type
type(a)
---
match a:
    case 1: b
    case "x" "y" | None | True: c
    case -1 | 1.5 | 1+2j: d
    case A.B: e
    case (A.C): f
    case _: g
---
match a.b[0], c:
    case 1, 2: pass
    case (1, x): pass
    case [1, *y]: pass
    case [1, *_,]: pass
    case (x,): pass
    case x,: pass
    case []: pass
    case (): pass
    case [[x, [y]], z]: pass
---
match f(a):
    case A(): b
    case A.B(x, y=1, z=C(w)): c
    case str(x) | bytes(x): d
    case A(1, (2), _): pass
    case {"a": 1, "b": x, B.C: _, **rest}: e
    case {}: f
    case {"k": {"n": 1}, }: pass
    case {**rest}: pass
    case x if x > 3: g
    case _ if h: pass
    case (1 | 2) as x: pass
    case [1 as x, (2 as y)] as z: pass
    case x: i
---
match (yield):
    case _: pass
---
match x:
    case y:
        pass
---
match *a, b:
    case 1: pass
---
match x :
    case 1  :  # comment
        pass

    # comment
    case 2 if ( y ) : pass ;
z = 1
---
if 1:
\tif 2:
\t\ta
\tb
---
x = """a
b"""; y = 1
---
x = f"""a
{b}
  {c!r:
}""".d; y
---
x = ("a"
     "b"  # comment
     f"{c}"
     'd')
'''


def expressions() -> list[str]:
    lines: list[str] = []
    for line in EXPRESSIONS.strip("\n").split("\n"):
        if line.startswith("  ") and lines:
            lines[-1] += "\n" + line
        else:
            lines.append(line)
    return lines


@pytest.mark.parametrize("source", expressions())
def test_expressions_equal_the_reference(source: str) -> None:
    inside = "async def f():\n  if 1:\n    x = 1; "
    assert_same(source.encode())
    if "\n" not in source:
        assert_same((inside + source + " ; y\n").encode())
        assert_same(f"x = ({source})\n".encode())
        assert_same(f"é, [({source}), y]\n".encode())


@pytest.mark.parametrize("source", STATEMENTS.strip("\n").split("\n---\n"))
def test_statements_equal_the_reference(source: str) -> None:
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
def test_layout_and_encodings_equal_the_reference(source: bytes) -> None:
    assert_same(source)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="syntax of Python 3.11")
@pytest.mark.parametrize(
    "source",
    ["a[*b]", "a[*b, c]", "def f(*a: *b): pass", "try: a\nexcept* B: c\nexcept *(C, D) as e: f\nelse: g\nfinally: h\n"],
)
def test_syntax_of_3_11_equals_the_reference(source: str) -> None:
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
def test_syntax_of_3_12_equals_the_reference(source: str) -> None:
    assert_same(source.encode())


def library() -> list[Path]:
    files = sorted(path for path in STDLIB.rglob("*.py") if "site-packages" not in path.parts)
    if os.environ.get("SENDONCE_SLOW_TESTS"):
        return files
    return files[:: len(files) // SAMPLE]


@pytest.mark.parametrize("path", library(), ids=lambda path: path.relative_to(STDLIB).as_posix())
def test_standard_library_equals_the_reference(path: Path) -> None:
    source = path.read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast_reference.extract(source)
        except (SyntaxError, ValueError):
            pytest.skip("not for this Python")
        if path.relative_to(STDLIB).as_posix() in REFUSED_BY_LIBCST:
            pytest.skip("refused by libcst")
        assert_same(source)


# ------------------------------------------------------------------ what the running ast cannot read


def test_type_alias_is_an_assignment() -> None:
    stmt = first("type X[T] = list[T]\n")
    assert isinstance(stmt, facts.Assign)
    assert stmt.at == (1, 1, 1, 20)
    assert stmt.targets == (facts.Name((1, 6, 1, 7), "X"),)
    assert isinstance(stmt.value, facts.Subscript)


def test_type_parameters_are_stepped_over() -> None:
    stmt = first("def f[T: int = str, *Ts = *A, **P = []](a: T) -> T: return a\n")
    assert isinstance(stmt, facts.Def)
    assert stmt.name_at == (1, 1, 1, 51)
    assert stmt.params == (facts.Param("a", "any", facts.Name((1, 44, 1, 45), "T")),)


def test_f_string_with_its_own_quotes_inside() -> None:
    value = value_of("f'a{b['c']}{f'{d}'}e'")
    assert isinstance(value, facts.FString)
    assert value.at == (1, 1, 1, 22)
    assert [type(part) for part in value.parts] == [facts.Constant, facts.Subscript, facts.FString, facts.Constant]
    assert value.parts[1].at == (1, 5, 1, 11)
    assert value.parts[2].at == (1, 13, 1, 19)


def test_places_inside_an_f_string_of_several_lines() -> None:
    value = value_of('f"""a\n {b}\n{ c !r}"""')
    assert isinstance(value, facts.FString)
    assert [part.at for part in value.parts] == [(1, 1, 3, 11), (2, 3, 2, 4), (1, 1, 3, 11), (3, 3, 3, 4)]


def test_generator_without_parentheses_in_an_f_string() -> None:
    value = value_of("f'{a for a in b}c'.d")
    assert isinstance(value, facts.Attribute)
    assert value.at == (1, 1, 1, 21)
    assert isinstance(value.value, facts.FString)
    assert value.value.parts[0].at == (1, 4, 1, 16)


def test_template_string_is_opaque_with_its_holes() -> None:
    assert value_of("t'a{b}{c!r:{d}}'") == facts.Opaque(
        (1, 1, 1, 17),
        "t'a{b}{c!r:{d}}'",
        (
            facts.Name((1, 5, 1, 6), "b"),
            facts.Opaque((1, 8, 1, 9), "!r:{}", (facts.Name((1, 8, 1, 9), "c"), facts.Name((1, 13, 1, 14), "d"))),
        ),
    )


def test_exceptions_without_parentheses() -> None:
    stmt = first("try: a\nexcept B, C: d\n")
    assert isinstance(stmt, facts.Try)
    kind = stmt.handlers[0].type
    assert isinstance(kind, facts.Sequence)
    assert [item.at for item in kind.items] == [(2, 8, 2, 9), (2, 11, 2, 12)]


def test_except_star_and_starred_annotation() -> None:
    stmt = first("try: a\nexcept* B as c: d\n")
    assert isinstance(stmt, facts.Try)
    assert stmt.handlers[0].name == "c"
    assert stmt.handlers[0].at == (2, 1, 2, 18)
    function = first("def f(*a: *b): pass\n")
    assert isinstance(function, facts.Def)
    assert function.params[0].annotation == facts.Starred((1, 11, 1, 13), facts.Name((1, 12, 1, 13), "b"))


# ------------------------------------------------------------------ match statements

PLACE = (9, 9, 9, 9)


def shape(node: object) -> object:
    """Facts as plain text, without their places."""
    if isinstance(node, facts.Name):
        return node.id
    if isinstance(node, facts.Constant):
        return repr(node.value)
    if isinstance(node, facts.Attribute):
        return f"{shape(node.value)}.{node.attr}"
    if isinstance(node, facts.Subscript):
        return f"{shape(node.value)}[{shape(node.index)}]"
    if isinstance(node, facts.Opaque):
        return f"<{node.text}>({', '.join(str(shape(child)) for child in node.children)})"
    if isinstance(node, facts.Compare):
        return f"{shape(node.left)} {node.op} {shape(node.right)}"
    if isinstance(node, facts.BoolOp):
        return "(" + f" {node.op} ".join(str(shape(value)) for value in node.values) + ")"
    if isinstance(node, facts.Call):
        return f"{shape(node.func)}({', '.join(str(shape(arg.value)) for arg in node.args)})"
    if isinstance(node, facts.ExprStmt):
        return shape(node.value)
    if isinstance(node, facts.Assign):
        return f"{shape(node.targets[0])} = {shape(node.value)}"
    if isinstance(node, facts.If):
        orelse = [shape(stmt) for stmt in node.orelse]
        return [f"if {shape(node.test)}", [shape(stmt) for stmt in node.body], *(["else", orelse] if orelse else [])]
    return type(node).__name__


def lowered(source: str) -> list[object]:
    return [shape(stmt) for stmt in extract(source.encode()).body]


def test_match_is_a_chain_of_tests() -> None:
    source = "match k:\n case 'a' | B.C: x\n case None if g: y\n case _: z\n"
    first_test, second_test = "if (k == 'a' or k == B.C)", "if (k is None and g)"
    assert lowered(source) == [[first_test, ["x"], "else", [[second_test, ["y"], "else", ["z"]]]]]


def test_match_without_wildcard_has_no_else() -> None:
    assert lowered("match k:\n case 1: x\n case 2: y\n") == [["if k == 1", ["x"], "else", [["if k == 2", ["y"]]]]]


def test_match_of_classes_and_mappings_tests_their_parts() -> None:
    source = "match e:\n case A(kind='x', n=1, m=m): f\n case {'t': 'y', 'u': u}: g\n"
    assert lowered(source) == [
        [
            "if (isinstance(e, A) and e.kind == 'x' and e.n == 1)",
            ["m = <A(kind='x', n=1, m=m)>(e)", "f"],
            "else",
            [["if (e['t'] == 'y' and 'u' in e)", ["u = <{'t': 'y', 'u': u}>(e)", "g"]]],
        ]
    ]


def test_match_of_positions_is_opaque() -> None:
    assert lowered("match e:\n case A(1, x): f\n case [1, *r]: g\n") == [
        [
            "if (isinstance(e, A) and <1>(e))",
            ["x = <A(1, x)>(e)", "f"],
            "else",
            [["if <[1, *r]>(e)", ["r = <[1, *r]>(e)", "g"]]],
        ]
    ]


def test_match_evaluates_a_call_once() -> None:
    assert lowered("match f(a):\n case 1: x\n case 2: y\n") == [
        "<match 1:7> = f(a)",
        ["if <match 1:7> == 1", ["x"], "else", [["if <match 1:7> == 2", ["y"]]]],
    ]


def test_match_that_always_matches_is_a_true_test() -> None:
    assert lowered("match a:\n case b: c\n") == [["if True", ["b = <b>(a)", "c"]]]


def test_cases_stand_from_their_pattern_to_the_end_of_the_match() -> None:
    stmt = first("match k:\n case 1: x\n case 2:\n  y\n")
    assert isinstance(stmt, facts.If)
    assert stmt.at == (1, 1, 4, 4)
    assert [item.at for item in stmt.orelse] == [(3, 7, 4, 4)]


# ------------------------------------------------------------------ single promises


def test_docstrings_are_the_raw_value() -> None:
    module = extract(b'"""Mod\n  ule."""\nclass A:\n  "A" "B"\n  def f(self): r"\\d"\n')
    assert module.doc == "Mod\n  ule."
    cls = module.body[1]
    assert isinstance(cls, facts.Class)
    assert cls.doc == "AB"
    function = cls.body[1]
    assert isinstance(function, facts.Def)
    assert function.doc == "\\d"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("yield", True),
        ("x = yield from y", True),
        ("return (yield)", True),
        ("lambda: (yield)", False),
        ("def g(): yield", False),
        ("def g(a=(yield)): pass", True),
        ("return (x for x in y)", False),
        ("if a:\n    for b in c:\n      with d: yield b", True),
        ("lambda a=(yield): a", True),
    ],
)
def test_generators_yield_in_their_own_scope(body: str, expected: bool) -> None:
    stmt = first(f"def f():\n  {body}\n")
    assert isinstance(stmt, facts.Def)
    assert stmt.is_generator is expected


def test_header_ends_before_its_colon() -> None:
    source = "@d\nasync def f(\n    a: 'x:y' = {1: 2},  # :\n) -> B :\n    pass\n"
    stmt = first(source)
    assert isinstance(stmt, facts.Def)
    assert stmt.at == (2, 1, 5, 9)
    assert stmt.name_at == (2, 1, 4, 8)


def test_identifiers_are_normalised() -> None:
    assert value_of("ﬁn.ªb") == facts.Attribute((1, 1, 1, 6), facts.Name((1, 1, 1, 3), "fin"), "ab")


def test_facts_can_be_stored() -> None:
    module = extract(b"x = '\\ud800', 1e999, 2**70, 99999999999999999999999, f'\\udc00{a}'\n")
    stored = msgspec.msgpack.encode(module)
    assert msgspec.msgpack.decode(stored, type=ModuleFacts) == module


# ------------------------------------------------------------------ depth

CHAINS = {
    "operators": "x = " + " + ".join(["a"] * 3000),
    "comparisons": "x = " + " < ".join(["a"] * 3000),
    "booleans": "x = " + " and ".join(["a"] * 3000),
    "strings": "x = " + "'a' " * 3000,
    "brackets": "x = " + "[" * 200 + "]" * 200,
    "blocks": "".join(" " * n + "if a:\n" for n in range(95)) + " " * 95 + "b",
    "methods": "x = a" + ".b()" * 150,
    "elifs": "if a: b\n" + "elif c: d\n" * 300,
}
TOO_DEEP = {
    "brackets": "x = " + "[" * 300 + "]" * 300,
    "open brackets": "x = 1\ny = " + "(" * 5000,
    "negations": "x = " + "not " * 1500 + "a",
    "elifs": "if a: b\n" + "elif c: d\n" * 2000,
    "cases": "match a:\n" + "".join(f" case {n}: b\n" for n in range(2000)),
    "powers": "x = " + " ** ".join(["a"] * 1500),
}


@pytest.mark.parametrize("kind", CHAINS)
def test_deep_code_is_read_and_can_be_stored(kind: str) -> None:
    module = extract(CHAINS[kind].encode())
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(module), type=ModuleFacts) == module


def test_long_chain_keeps_its_operands() -> None:
    value = value_of(" + ".join(f"f({n})" for n in range(200)))
    assert isinstance(value, facts.Opaque)
    assert [shape(child) for child in value.children] == [f"f({n})" for n in range(200)]


@pytest.mark.parametrize("kind", TOO_DEEP)
def test_too_deep_code_is_refused(kind: str) -> None:
    with pytest.raises(ParseError, match="deep"):
        extract(TOO_DEEP[kind].encode())


def test_brackets_in_strings_and_comments_do_not_count() -> None:
    assert len(extract(b"x = '" + b"(" * 500 + b"'\n# " + b"[" * 500 + b"\ny = 1\n").body) == 2


# ------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("source", "message", "line"),
    [
        (b'x = 1\nprint "a"\n', "print statement", 2),
        (b"if x:\n  y\nif z: print z\n", "print statement", 3),
        (b'exec "a"\n', "exec statement", 1),
        (b'\n\nraise E, "x"\n', "raise statement", 3),
        (b"x = 1\ny = 0777\n", "Python 2 number", 2),
        (b"x = 1\ny = 10L\n", "Python 2 number", 2),
        (b"x = `a`\n", "backticks", 1),
        (b"if a <> b: pass\n", "<>", 1),
        (b"def f((a, b), c): pass\n", "tuple parameter", 1),
        (b"x = 1\ny = = 2\n", "invalid syntax", 2),
        (b"x = (\n\n", "invalid syntax", 2),
        (b"x = 1\n\ny = 'abc\n", "unterminated", 3),
        (b"def f():\npass\n", "invalid syntax", 2),
        (b"x = 1\ny = 'a' b'b'\n", "bytes", 2),
        (b"x = 1\ny\0 = 2\n", "NUL", 2),
        (b"\x7fELF\x02\x01\x01\0\0", "NUL", 1),
        ("x = 1\n".encode("utf-16"), "NUL", 1),
        (b"x = 1\n\ny = '\xe9'\n", "0xe9 is not valid utf-8", 3),
        (b"\x80\x04\x95\n", "0x80 is not valid utf-8", 1),
        (b"# coding: ascii\nx = '\xe9'\n", "0xe9 is not valid ascii", 2),
        (b"# coding: klingon\n", "unknown encoding: klingon", 1),
        (b"# coding: rot13\n", "not a text encoding", 1),
        (b"\xef\xbb\xbf# coding: latin-1\n", "encoding problem", 1),
    ],
)
def test_what_cannot_be_read_is_a_parse_error(source: bytes, message: str, line: int) -> None:
    with pytest.raises(ParseError, match=message) as caught:
        extract(source)
    assert caught.value.line == line
