"""Writes the pages of docs/ that say what the code says: rules, packs, vocabulary, commands, configuration keys.

    python docs/generate.py          writes them
    python docs/generate.py --check  exits with 1 if one is not up to date

What they say is edited where it stands: in the rule, the pack, the option.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import click
import msgspec

from sendonce import vocabulary
from sendonce.cli.main import group
from sendonce.config.keys import KEYS, schema
from sendonce.packs import SECTIONS, PackFile, load_packs
from sendonce.policy import Rule
from sendonce.run import all_rules

DOCS = Path(__file__).resolve().parent
GENERATED = ("packs/*", "packs/*/*", "rules/*")
"""Where only generated pages stand: another file there is stale."""

FAMILIES = {
    "SO0": "Suppression comments",
    "SO1": "Trigger paths",
    "SO2": "Transactions",
    "SO3": "Reservation",
    "SO4": "Jobs and retries",
    "SO5": "Webhooks",
    "SO6": "Provider keys, API servers, agents",
    "SO7": "Traceability (notes, for audits)",
}
_NOTE = "<!-- Written by docs/generate.py; edit {source} instead. -->\n\n"


def pages() -> dict[str, str]:
    """The text of every generated page, by its path below docs/."""
    rules = sorted(all_rules(), key=lambda rule: rule.code)
    packs = load_packs().files
    found = {
        "rules/README.md": _rules(rules),
        "packs/README.md": _packs(packs),
        "vocabulary.md": _vocabulary(),
        "commands.md": _commands(),
        "configuration.md": _configuration(),
        "schemas/configuration.json": json.dumps(schema(), indent=2) + "\n",
    }
    found.update((f"rules/{rule.code}.md", _rule(rule)) for rule in rules)
    found.update((_page_of(file), _pack(file)) for file in packs)
    return found


def stale(written: Mapping[str, str]) -> Iterator[str]:
    """The pages that differ from what they should be, and files that are pages no more."""
    for name, text in sorted(written.items()):
        file = DOCS / name
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            yield name
    for pattern in GENERATED:
        names = (file.relative_to(DOCS).as_posix() for file in sorted(DOCS.glob(pattern)) if file.is_file())
        yield from (name for name in names if name not in written)


# ---------------------------------------------------------------------- rules


def _rules(rules: list[Rule]) -> str:
    lines = [_NOTE.format(source="the rule's own text") + "# Rules\n"]
    for prefix, title in FAMILIES.items():
        lines.append(f"## {prefix} {title}\n\n| code | name | what it finds |\n| --- | --- | --- |")
        family = (rule for rule in rules if rule.code.startswith(prefix))
        lines += [f"| [{rule.code}]({rule.code}.md) | {rule.name} | {_finds(rule)} |" for rule in family]
        lines.append("")
    return "\n".join(lines)


def _finds(rule: Rule) -> str:
    """The first sentence of what a rule finds."""
    text = inspect.cleandoc(rule.doc).partition("## What it finds\n")[2].partition("\n## ")[0]
    sentence = re.split(r"(?<=[.])\s", " ".join(text.split()), maxsplit=1)[0]
    return sentence.replace("|", "\\|")


def _rule(rule: Rule) -> str:
    doc = inspect.cleandoc(rule.doc)
    title, _, text = doc.partition("\n")
    replaced = ", ".join(f"[{code}]({code}.md)" for code in getattr(rule, "replaces", ()))
    beside = f"\n## Beside other rules\nWhere this rule speaks of a path, these stay silent: {replaced}.\n"
    tail = beside if replaced else ""
    silence = "" if rule.code.startswith("SO0") else _silence(rule)
    return f"{_NOTE.format(source=_source(rule))}# {title.rstrip('.')}\n{text.rstrip()}\n{tail}{silence}"


def _source(rule: Rule) -> str:
    if rule.code.startswith("SO0"):
        return "analyzer/sendonce/policy/suppression.py"
    return f"analyzer/sendonce/checks/{rule.name.replace('-', '_')}.py"


def _silence(rule: Rule) -> str:
    return f"\n## Silence it\n```python\n# sendonce: ignore[{rule.code}] why this place cannot send twice\n```\n"


# ---------------------------------------------------------------------- packs


def _page_of(file: PackFile) -> str:
    return f"packs/{file.section}/{file.path.stem}.md"


def _packs(files: tuple[PackFile, ...]) -> str:
    lines = [
        _NOTE.format(source="the files in rules/") + "# Rule packs\n",
        "What is known of libraries, one file each. `sendonce packs` says which of them a tree uses;"
        " [how to write one](../writing-a-pack.md).\n",
    ]
    for section in SECTIONS:
        lines.append(f"## {section.capitalize()}\n")
        lines += [f"- [{file.pack.name}]({_page_of(file)[6:]})" for file in files if file.section == section]
        lines.append("")
    return "\n".join(lines)


def _pack(file: PackFile) -> str:
    pack = file.pack
    lines = [_NOTE.format(source=f"rules/{file.section}/{file.path.name}") + f"# {pack.name}\n"]
    lines.append(f"Packages: {', '.join(pack.packages) or 'the standard library, or none'}.")
    if pack.verified:
        lines.append(f"Read in: {pack.verified}.")
    lines += ["", *(f"- {note}" for note in pack.notes), *([""] if pack.notes else [])]
    for field in msgspec.structs.fields(vocabulary.Pack):
        entries = getattr(pack, field.name)
        if entries and isinstance(entries, tuple) and isinstance(entries[0], vocabulary.Entry):
            lines.append(f"## {field.name}\n\n{_first_sentence(type(entries[0]).__doc__)}\n")
            lines += [line for entry in entries for line in _entry(entry)]
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _entry(entry: vocabulary.Entry) -> Iterator[str]:
    """An entry as a list item: what it matches, what it says, its example."""
    matched: list[tuple[str, Any]] = []
    said: list[tuple[str, Any]] = []
    for field in msgspec.structs.fields(type(entry)):
        value = getattr(entry, field.name)
        if field.name in ("note", "example") or (not field.required and value == field.default):
            continue
        plain = msgspec.to_builtins(value)
        if not plain and plain is not False:
            continue
        (matched if not said and isinstance(plain, tuple | list) else said).append((field.name, plain))
    heads = [f"`{item}`" for _, items in matched[:1] for item in items] or ["any"]
    yield f"- {', '.join(heads)}"
    if entry.note:
        yield f"  {entry.note}"
    rest = "; ".join(f"{name} `{_inline(value)}`" for name, value in (*matched[1:], *said))
    if rest:
        yield f"  - {rest}"
    if entry.example:
        yield "\n  ```python"
        yield from (f"  {line}".rstrip() for line in entry.example.strip().splitlines())
        yield "  ```\n"


def _inline(value: Any) -> str:
    if isinstance(value, tuple | list) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False)


def _first_sentence(doc: str | None) -> str:
    return inspect.cleandoc(doc or "").split("\n\n")[0].replace("\n", " ")


# ---------------------------------------------------------------------- vocabulary


def _vocabulary() -> str:
    lines = [_NOTE.format(source="analyzer/sendonce/vocabulary/") + "# Vocabulary of rule packs\n"]
    lines.append(inspect.cleandoc(vocabulary.__doc__ or "") + "\n")
    lines.append("## The file\n")
    lines += _fields(vocabulary.Pack)
    for field in msgspec.structs.fields(vocabulary.Pack):
        kind = get_args(field.type)[0] if get_args(field.type) else None
        if isinstance(kind, type) and issubclass(kind, vocabulary.Entry):
            lines.append(f"\n## `[[{field.name}]]`\n\n{inspect.cleandoc(kind.__doc__ or '')}\n")
            lines += _fields(kind)
    return "\n".join(lines) + "\n"


def _fields(kind: type[msgspec.Struct]) -> Iterator[str]:
    docs = _field_docs(kind)
    for field in msgspec.structs.fields(kind):
        if get_origin(field.type) is tuple and issubclass(_class(get_args(field.type)[0]), vocabulary.Entry):
            continue
        needed = "needed; " if field.required else ""
        doc = docs.get(field.name, "")
        yield f"- `{field.name}` ({needed}{_type(field.type)}){': ' + doc if doc else ''}"


def _class(kind: Any) -> type:
    return kind if isinstance(kind, type) else object


def _type(kind: Any) -> str:
    """A type in the words of TOML."""
    if get_origin(kind) is tuple:
        return f"list of {_types(get_args(kind)[0])}"
    if get_origin(kind) is dict:
        return f"table of {_types(get_args(kind)[1])}"
    if get_origin(kind) is Literal:
        return ", ".join(json.dumps(one) for one in get_args(kind))
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return kind.__name__
    return {str: "text", int: "number", bool: "true or false"}.get(kind, "value")


def _types(kind: Any) -> str:
    """Several of a type."""
    if get_origin(kind) is tuple:
        return f"lists of {_types(get_args(kind)[0])}"
    return f"values ({_type(kind)})" if get_origin(kind) is Literal else f"{_type(kind)}s"


def _field_docs(kind: type[msgspec.Struct]) -> dict[str, str]:
    """The text under each field in the source of a class and its bases."""
    found: dict[str, str] = {}
    for cls in reversed(kind.__mro__):
        if not issubclass(cls, msgspec.Struct) or cls is msgspec.Struct:
            continue
        (node,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
        assert isinstance(node, ast.ClassDef)
        pairs = map(_documented, node.body, node.body[1:])
        found.update(pair for pair in pairs if pair is not None)
    return found


def _documented(node: ast.stmt, after: ast.stmt) -> tuple[str, str] | None:
    """The name of a field and the text that follows it, if a statement is such a field."""
    if not (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and isinstance(after, ast.Expr)):
        return None
    text = after.value.value if isinstance(after.value, ast.Constant) else None
    return (node.target.id, " ".join(text.split())) if isinstance(text, str) else None


# ---------------------------------------------------------------------- commands and configuration


def _commands() -> str:
    lines = [_NOTE.format(source="analyzer/sendonce/cli/") + "# Commands\n"]
    lines.append("Exit codes, and which of the options matter most, are in the [README](../README.md#use-it).\n")
    shared: dict[str, list[str]] = {}
    context = click.Context(group)
    commands = {name: group.get_command(context, name) for name in group.list_commands(context)}
    for name, command in commands.items():
        assert command is not None
        for param in command.params:
            shared.setdefault(_option(param), []).append(name)
    everywhere = {text: names for text, names in shared.items() if len(names) > 3 and text.startswith("- ")}
    for name, command in commands.items():
        assert command is not None
        arguments = " ".join(one.make_metavar(context) for one in command.params if isinstance(one, click.Argument))
        options = [text for text, names in shared.items() if name in names and text.startswith("- ")]
        own = [text for text in options if text not in everywhere]
        common = "\nAnd the [options of every command that analyses](#options-of-every-command-that-analyses)."
        lines.append(f"## sendonce {name}\n\n`sendonce {name} {arguments}`\n\n{inspect.cleandoc(command.help or '')}\n")
        lines += [*own, *([common] if len(own) < len(options) else []), ""]
    lines += ["## Options of every command that analyses\n", *everywhere]
    return "\n".join(lines) + "\n"


def _option(param: click.Parameter) -> str:
    """An option as a list item; empty for an argument."""
    if not isinstance(param, click.Option):
        return ""
    flags = ", ".join(f"`{one}`" for one in sorted(param.opts, key=len, reverse=True))
    choices = f" {' | '.join(map(str, param.type.choices))}" if isinstance(param.type, click.Choice) else ""
    takes = "" if param.is_flag or choices else f" {param.metavar or param.type.name.upper()}"
    return f"- {flags}{choices}{takes}{': ' + param.help if param.help else ''}"


def _configuration() -> str:
    """The page with its table of keys renewed; the rest of it is written by hand."""
    text = (DOCS / "configuration.md").read_text(encoding="utf-8")
    rows = "\n".join(f"| `{name}` | {key.doc} |" for name, key in KEYS.items())
    table = f"<!-- keys: written by docs/generate.py -->\n| key | means |\n| --- | --- |\n{rows}\n<!-- /keys -->"
    return re.sub(r"<!-- keys.*?<!-- /keys -->", lambda _: table, text, flags=re.DOTALL)


def main() -> int:
    """Writes the pages, or with `--check` names those that are not up to date."""
    written = pages()
    wrong = list(stale(written))
    if "--check" in sys.argv[1:]:
        for name in wrong:
            print(f"docs/{name} is not up to date: run docs/generate.py")
        return int(bool(wrong))
    for name in wrong:
        file = DOCS / name
        if name not in written:
            file.unlink()
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(written[name], encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
