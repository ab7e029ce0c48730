"""The keys of a configuration file: what each may hold, and what it is for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import get_args

from sendonce.config.helpers import HELPERS
from sendonce.config.kinds import (
    COUNT,
    FILE,
    FILES,
    FLAG,
    TEXT,
    TEXTS,
    Key,
    Kind,
    Schema,
    Where,
    by_name,
    fields_of,
    one_of,
    read_table,
    table_schema,
)
from sendonce.config.settings import Assume, Settings, TemplatePolicy
from sendonce.findings import CONFIDENCES, Severity

_ASSUME = {
    "workers": Key(COUNT, "How many processes serve or work; 1 settles every finding that needs two."),
    "atomic-requests": Key(FLAG, "Whether every request is one database transaction."),
    "redelivery": Key(FLAG, "Whether providers and queues deliver again what was not acknowledged."),
}
_TEMPLATE = {
    "reason": Key(TEXT, "Why; whoever reads it later must be able to judge whether it still holds.", required=True),
    "repeatable": Key(FLAG, "To come twice does no harm: no rule speaks of these mails."),
    "ignore": Key(TEXTS, "Rules that do not speak of these mails: codes, prefixes or names."),
}


def _policy(where: Where, value: object) -> TemplatePolicy:
    found = read_table(where, value, _TEMPLATE)
    if not found.get("repeatable") and not found.get("ignore"):
        raise where.error("decides nothing: give `repeatable = true` or `ignore = [CODES]`")
    return TemplatePolicy(**found)


_POLICY = Kind(_policy, lambda: table_schema(_TEMPLATE), fields_of)
_SETTLED = Kind(
    lambda where, value: Assume(**read_table(where, value, _ASSUME)), lambda: table_schema(_ASSUME), fields_of
)

KEYS: Mapping[str, Key] = {
    "select": Key(TEXTS, "Only these rules: codes, prefixes or names. Default: all."),
    "ignore": Key(TEXTS, "Not these rules."),
    "extend-select": Key(TEXTS, "These rules as well."),
    "per-file-ignores": Key(
        by_name(TEXTS), "Rules that do not speak of some files: pattern as in a .gitignore to codes, prefixes or names."
    ),
    "templates": Key(
        by_name(_POLICY),
        "What is settled for some mails: name of the mail, with * and ?, to a table with a reason.",
    ),
    "exclude": Key(TEXTS, "Files that are not read: patterns as in a .gitignore, relative to this file."),
    "extend-exclude": Key(TEXTS, "The same as exclude; kept apart for lists that are shared."),
    "rules": Key(FILES, "Further rule packs: files or folders, relative to this file."),
    "helpers": Key(HELPERS, "The project's own ways of sending, deferring and reserving."),
    "baseline": Key(FILE, "The file with known findings, relative to this one; `sendonce baseline` writes it."),
    "fail-on": Key(one_of(*get_args(Severity)), "Exit with 1 from this severity on. Default: warning."),
    "min-confidence": Key(one_of(*CONFIDENCES), "Leave out what is less sure. Default: medium."),
    "pedantic": Key(FLAG, "Show notes too."),
    "assume": Key(_SETTLED, "What the code cannot tell and the project has settled once."),
}
assert {key.replace("-", "_") for key in KEYS} < {item.name for item in fields(Settings)}  # every key has a field


def schema() -> Schema:
    """The JSON Schema of `sendonce.toml`, and of the table `tool.sendonce`."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Configuration of sendonce",
        "description": "A sendonce.toml, or the table tool.sendonce of a pyproject.toml.",
        **table_schema(KEYS),
    }
