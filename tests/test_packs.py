"""Rule packs: what is refused and with which words, how packs merge, and that all shipped ones load."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_origin

import pytest
from msgspec import Struct, structs

from sendonce import vocabulary
from sendonce.errors import PackError
from sendonce.packs import Packs, load_packs, rule_files, shipped_rules
from sendonce.packs.notation import notation_of
from sendonce.packs.tables import Lookup, Tables


def refusal(tmp_path: Path, text: str) -> str:
    """The error for a pack of `text`, without the path in front of it."""
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(PackError) as caught:
        load_packs([file])
    message = str(caught.value)
    assert message.startswith(f"{file}: ")
    return message.removeprefix(f"{file}: ")


def merged(tmp_path: Path, **texts: str) -> Packs:
    """The shipped packs and one user pack for each of `texts`."""
    for name, text in texts.items():
        (tmp_path / f"{name}.toml").write_text(f'name = "{name}"\n{text}')
    return load_packs([tmp_path])


# ----------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name = "x"\nsend = [', "is not valid TOML: "),
        ("packages = []", 'the file: missing key "name"'),
        ('name = "x"\nsends = []', 'sends: unknown key; did you mean "send"?'),
        (
            'name = "x"\n[[send]]\ncalls = ["a.b"]\nrecipent = ["to"]',
            'send[0].recipent: unknown key; did you mean "recipient"?',
        ),
        (
            'name = "x"\n[[message]]\ncalls = ["a.B"]\nmethods = { add = { txt = ["|0"] } }',
            'message[0].methods.add.txt: unknown key; did you mean "text"?',
        ),
        (
            'name = "x"\n[[render]]\ncalls = []\nzzz = 1',
            "render[0].zzz: unknown key; known: calls, example, note, source, template",
        ),
        ('name = "x"\n[send]\ncalls = ["a.b"]', "send: expected a list, got a table"),
        ('name = "x"\n[[send]]\ncalls = "a.b"', "send[0].calls: expected a list, got a string"),
        ('name = "x"\n[[send]]\ncalls = ["a.b"]\nbulk = "yes"', "send[0].bulk: expected true or false, got a string"),
        ('name = "x"\n[[send]]\nbulk = true', 'send[0]: missing key "calls"'),
        (
            'name = "x"\n[[trigger]]\nkind = "controler"\nbases = ["a.B"]',
            'trigger[0].kind: unknown value "controler"; did you mean "controller"?',
        ),
        (
            'name = "x"\n[[message]]\ncalls = ["a.B"]\nfields = { x = "subjct" }',
            'message[0].fields.x: unknown value "subjct"; did you mean "subject"?',
        ),
    ],
)
def test_wrong_names_and_types(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(tmp_path, text).startswith(message)


@pytest.mark.parametrize("shape", ["a.b(", "a b", "a..b", ".a", "a.b()c", "a.*", "*.a", "", "a.b(x)"])
def test_malformed_shape(tmp_path: Path, shape: str) -> None:
    message = refusal(tmp_path, f'name = "x"\n[[send]]\ncalls = ["a.B().*", "{shape}"]')
    assert message == f'send[0].calls[1]: "{shape}" is no shape (such as "library.Class().method")'


@pytest.mark.parametrize("argument", ["a b", "a|b", "a||1", "a.b", "", "a/", "|"])
def test_malformed_argument(tmp_path: Path, argument: str) -> None:
    message = refusal(tmp_path, f'name = "x"\n[[send]]\ncalls = ["a.b"]\ntext = ["{argument}"]')
    assert message.startswith(f'send[0].text[0]: "{argument}" is no argument')


def test_well_formed_shapes_and_arguments(tmp_path: Path) -> None:
    arguments = '["a", "a|1", "|1", "a|1/b", "/b/c-d", "receiver"]'
    shapes = '["f", "a.f", "a.B().m", "a.B().m().n", "a.B()[].m", "a.B().*", "a.b[].c"]'
    packs = merged(tmp_path, x=f"[[send]]\ncalls = {shapes}\ntext = {arguments}")
    assert "a.B()[].m" in packs.sends


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[returns]]\ncalls = ["a.f"]', 'returns[0]: exactly one of "type" and "value" is needed'),
        ('[[returns]]\ntype = "a.B"', 'returns[0]: one of "calls" and "attributes" is needed'),
        ('[[returns]]\ncalls = ["a.f"]\ntype = "a.B()"', 'returns[0].type: "a.B()" is no dotted name'),
        ('[[returns]]\ncalls = ["a.f"]\nvalue = "klass:x"', 'returns[0].value: "klass:x" is no value'),
        (
            '[[trigger]]\nkind = "job"',
            "trigger[0]: one of decorators, registers, bases, functions, settings is",
        ),
        ('[[trigger]]\nkind = "job"\nfunctions = ["x"]', 'trigger[0].functions[0]: "x" is no "path glob::name"'),
        ('[[http]]\nhosts = ["x.com"]\npaths = ["("]', 'http[0].paths[0]: "(" is no regular expression'),
        ('[[http]]\nhosts = ["x.com/send"]', 'http[0].hosts[0]: "x.com/send" is no host name'),
        ('[[transaction]]\nincludes = ["a.f"]', 'transaction[0].includes[0]: "a.f" is no call with a literal'),
        ('[alias]\n"a..b" = "a.b"', 'alias.a..b: "a..b" is no shape'),
        ('[bases]\n"a.B" = ["a b"]', 'bases.a.B: "a b" is no dotted name'),
    ],
)
def test_malformed_entries(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(tmp_path, f'name = "x"\n{text}').startswith(message)


def test_not_text(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_bytes(b'name = "\xff"')
    with pytest.raises(PackError, match="is not UTF-8"):
        load_packs([file])


def test_missing_and_empty_paths(tmp_path: Path) -> None:
    with pytest.raises(PackError, match="nowhere: no such file or directory"):
        load_packs([tmp_path / "nowhere"])
    with pytest.raises(PackError, match="holds no rule packs"):
        load_packs([tmp_path])


def test_two_packs_of_one_name(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('name = "same"')
    (tmp_path / "b.toml").write_text('name = "same"')
    with pytest.raises(PackError) as caught:
        load_packs([tmp_path])
    assert str(caught.value) == f'{tmp_path / "b.toml"}: name: "same" is already the name of {tmp_path / "a.toml"}'


def test_an_alias_with_two_meanings(tmp_path: Path) -> None:
    with pytest.raises(PackError, match=r'alias\.old\.lib: is "new2" here and "new" in '):
        merged(tmp_path, a='alias = { "old.lib" = "new" }', b='alias = { "old.lib" = "new2" }')


# ------------------------------------------------------------------ merged


def test_user_packs_join_the_shipped_ones(tmp_path: Path) -> None:
    folder = tmp_path / "queues"
    folder.mkdir()
    (folder / "ours.toml").write_text('name = "ours"')
    (tmp_path / "own.toml").write_text('name = "own"')
    packs = load_packs([tmp_path])
    added = [(file.section, file.pack.name) for file in packs.files if tmp_path in file.path.parents]
    assert added == [("project", "own"), ("queues", "ours")]
    assert [(file.section, file.pack.name) for file in packs.files] == sorted(
        (file.section, file.pack.name) for file in packs.files
    )


def test_a_path_given_twice_is_read_once(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text('name = "own"')
    assert [path for _, path in rule_files([file, tmp_path])].count(file) == 1


def test_entries_of_one_shape_stand_together(tmp_path: Path) -> None:
    packs = merged(tmp_path, a='[[send]]\ncalls = ["lib.f"]\nbulk = true', b='[[send]]\ncalls = ["lib.f", "lib.g"]')
    assert [(pack.name, entry.bulk) for pack, entry in packs.sends["lib.f"]] == [("a", True), ("b", False)]
    assert [pack.name for pack, _ in packs.sends["lib.g"]] == ["b"]


def test_names_are_made_canonical_by_the_longest_prefix(tmp_path: Path) -> None:
    alias = 'alias = { "old" = "new", "old.sub" = "other.sub", "oldest" = "old" }'
    packs = merged(tmp_path, a=f'{alias}\n[[send]]\ncalls = ["old.sub.Mail().send"]')
    assert packs.canonical("old.x.f") == "new.x.f"
    assert packs.canonical("old.sub") == "other.sub"
    assert packs.canonical("old.sub.Mail().send") == "other.sub.Mail().send"
    assert packs.canonical("oldest.sub.f") == "other.sub.f"
    assert packs.canonical("older.sub") == "older.sub"
    assert packs.canonical("old.App().sub()") == "new.App().sub()"
    assert "other.sub.Mail().send" in packs.sends


def test_an_alias_circle_ends(tmp_path: Path) -> None:
    packs = merged(tmp_path, a='alias = { "ring.a" = "ring.b", "ring.b" = "ring.a" }')
    assert packs.canonical("ring.a.f") in {"ring.a.f", "ring.b.f"}


def test_ancestors_come_nearest_first(tmp_path: Path) -> None:
    packs = merged(
        tmp_path,
        a='alias = { "lib.impl" = "lib" }\n[bases]\n"lib.D" = ["lib.B", "lib.impl.C"]\n"lib.B" = ["lib.A"]',
        b='[bases]\n"lib.C" = ["lib.A"]\n"lib.A" = ["lib.A"]',
    )
    assert packs.bases("lib.impl.D") == ("lib.B", "lib.C", "lib.A")
    assert packs.bases("lib.A") == ()
    assert packs.bases("unknown.Class") == ()


def test_methods_are_found_at_wildcards_and_bases(tmp_path: Path) -> None:
    packs = merged(
        tmp_path,
        a="""
        [bases]
        "lib.Child" = ["lib.Base"]
        [[send]]
        calls = ["lib.Base().*"]
        [[send]]
        calls = ["lib.Base().send"]
        bulk = true
        [[send]]
        calls = ["lib.Child().send"]
        internal = true
        """,
    )
    assert [entry.internal for _, entry in packs.find(packs.sends, "lib.Child().send")] == [True]
    assert [entry.bulk for _, entry in packs.find(packs.sends, "lib.Base().send")] == [True, False]
    assert len(packs.find(packs.sends, "lib.Child().other")) == 1
    assert packs.find(packs.sends, "lib.Child") == ()


def test_words_point_to_a_library(tmp_path: Path) -> None:
    packs = merged(
        tmp_path,
        a="""
        [[send]]
        calls = ["liba.core.send_letter", "libb.Message().send", "libc.mod.LetterBox().deliver_it", "libd.mail.send"]
        [[http]]
        hosts = ["api.letterhost.com"]
        """,
    )
    assert {"send_letter", "libb", "LetterBox", "libd", "letterhost"} <= packs.words
    assert packs.words.isdisjoint({"liba", "libc", "core", "deliver_it", "send", "Message", "api", "com"})


def test_words_of_subclasses_and_aliases(tmp_path: Path) -> None:
    packs = merged(
        tmp_path,
        a="""
        alias = { "old.OldCourier" = "lib.Courier" }
        [bases]
        "lib.FastCourier" = ["lib.Courier"]
        "lib.SlowCourier" = ["lib.FastCourier"]
        "lib.Message" = ["lib.Courier"]
        [[send]]
        calls = ["lib.Courier().deliver"]
        """,
    )
    assert {"Courier", "FastCourier", "SlowCourier", "OldCourier"} <= packs.words
    assert "Message" not in packs.words


def test_import_roots(tmp_path: Path) -> None:
    packs = merged(tmp_path, a='[[claim]]\ncalls = ["lib.f"]\nwin = "truthy"', b='words = ["known_as"]')
    assert {pack.name: packs.roots(pack) for pack in packs.packs if pack.name in "ab"} == {
        "a": {"lib"},
        "b": {"known_as"},
    }


def test_the_digest_follows_the_content(tmp_path: Path) -> None:
    first = merged(tmp_path, a="").digest
    assert merged(tmp_path, a="").digest == first
    assert merged(tmp_path, a="notes = []").digest != first


class Shelf(dict[str, bytes]):
    """A memory of packs that lasts as long as the test."""

    def put(self, key: str, value: bytes) -> None:
        self[key] = value


def test_remembered_packs_are_the_same_packs(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('name = "own"\n[[send]]\ncalls = ["lib.f"]')
    shelf = Shelf()
    first = load_packs([tmp_path], shelf)
    assert load_packs([tmp_path], shelf) == first
    assert len(shelf) == 1
    (tmp_path / "own.toml").write_text('name = "own"\n[[send]]\ncalls = ["lib.g"]')
    assert "lib.g" in load_packs([tmp_path], shelf).sends


def test_packs_of_another_schema_are_read_anew(tmp_path: Path) -> None:
    shelf = Shelf()
    load_packs((), shelf)
    shelf.update(dict.fromkeys(shelf, b"\x91\x81\xa3old\x01"))
    assert load_packs((), shelf) == load_packs()


def test_every_table_can_be_made() -> None:
    packs = load_packs()
    tables = {name for name, value in vars(Tables).items() if isinstance(value, Lookup)}
    assert {name for name in tables if not isinstance(getattr(packs, name), dict)} == set()
    assert [pack.name for pack, _ in packs.sends["django.core.mail.send_mail"]] == ["django"]
    assert [pack.name for pack, _ in packs.https["api.resend.com"]] == ["resend", "resend"]


def test_every_field_has_a_notation() -> None:
    kinds = [kind for kind in vars(vocabulary).values() if isinstance(kind, type) and issubclass(kind, Struct)]
    fields = {
        f"{kind.__name__}.{field.name}"
        for kind in kinds
        for field in structs.fields(kind)
        if get_origin(field.type) in (tuple, dict) and kind is not vocabulary.Pack
    }
    assert {field for field in fields if notation_of(*field.split(".")) is None} == set()


# ----------------------------------------------------------------- shipped


@pytest.mark.parametrize(
    "path", sorted(shipped_rules().rglob("*.toml")), ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_every_shipped_pack_says_something(path: Path) -> None:
    pack = next(file.pack for file in load_packs().files if file.path == path)
    assert Packs.roots(pack) or pack.webhook or pack.trigger or pack.unique or pack.http
    assert path.stem == pack.name


EXAMPLES = [
    pytest.param(entry.example, id=f"{file.section}/{file.pack.name}/{field}{number}")
    for file in load_packs().files
    for field in file.pack.__struct_fields__
    for number, entry in enumerate(getattr(file.pack, field))
    if getattr(entry, "example", "")
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_is_python_with_a_hit(example: str) -> None:
    ast.parse(example)
    assert any(line.endswith("# hit") for line in example.splitlines())


def test_a_folder_that_cannot_be_searched_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "rglob", refuse)
    with pytest.raises(PackError, match="cannot be searched"):
        load_packs([tmp_path])
