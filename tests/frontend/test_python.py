"""What single pieces of Python become, by whichever front end reads them, and what cannot be read."""

from __future__ import annotations

import msgspec
import pytest

from sendonce import facts
from sendonce.errors import ParseError
from sendonce.facts import Expr, ModuleFacts, Stmt
from sendonce.frontend.python import extract


def value_of(source: str) -> Expr:
    """The facts of an expression."""
    (stmt,) = extract(source.encode()).body
    assert isinstance(stmt, facts.ExprStmt)
    return stmt.value


def first(source: str) -> Stmt:
    return extract(source.encode()).body[0]


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
    "signs": "x = 1\ny = " + "-" * 20_000 + "a",
    "sums over lines": "x = (\n" + "a +\n" * 20_000 + "a)",
    "calls": "x = f" + "()" * 20_000,
    "attributes": "x = a" + ".b" * 20_000,
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


@pytest.mark.parametrize("written", ["if a: b\n" + "elif c: d\n" * 3000, "match a:\n" + " case 1: b\n" * 3000])
def test_a_long_dispatcher_is_read(written: str) -> None:
    (first,) = extract(written.encode()).body
    assert isinstance(first, facts.If)
    assert len(facts.chain_of(first)[0]) >= 3000


@pytest.mark.parametrize("kind", TOO_DEEP)
def test_too_deep_code_is_refused(kind: str) -> None:
    with pytest.raises(ParseError, match="deep"):
        extract(TOO_DEEP[kind].encode())


def test_brackets_in_strings_and_comments_do_not_count() -> None:
    assert len(extract(b"x = '" + b"(" * 500 + b"'\n# " + b"[" * 500 + b"\ny = 1\n").body) == 2


def test_many_short_expressions_are_no_chain() -> None:
    written = "type X = int\nx = [" + "-1, +2, a.b(), c if d else e,\n" * 3000 + "]\n" + "f(a + b).c = -d\n" * 3000
    assert len(extract(written.encode()).body) == 3002  # `type` is newer than some interpreters: libcst reads it there


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
