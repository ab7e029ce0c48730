"""Which rules apply: codes, prefixes of codes, and names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from sendonce.config import Settings, nearest
from sendonce.errors import ConfigError


class Rule(Protocol):
    """What selection, suppression and `explain` need to know of a rule."""

    @property
    def code(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def doc(self) -> str: ...


def selected_codes(settings: Settings, rules: Sequence[Rule]) -> frozenset[str]:
    """The codes that `select` and `extend-select` name and `ignore` does not.

    The longer prefix wins, `ignore` among equals: `select = ["SO201"]` with `ignore = ["SO2"]`
    leaves SO201. Raises `ConfigError` for a word that means no rule.
    """
    wanted = [*_prefixes("select", settings.select, settings, rules)] or ["SO"]
    wanted += _prefixes("extend-select", settings.extend_select, settings, rules)
    refused = _prefixes("ignore", settings.ignore, settings, rules)
    return frozenset(rule.code for rule in rules if _strength(rule.code, wanted) > _strength(rule.code, refused))


def _prefixes(key: str, words: Iterable[str], settings: Settings, rules: Sequence[Rule]) -> list[str]:
    return [prefix_of(word, rules, settings.origin(key)) for word in words]


def prefix_of(word: str, rules: Sequence[Rule], origin: str) -> str:
    """The code or prefix of codes that a word means; raises `ConfigError`, naming `origin`."""
    if word.upper() == "ALL":
        return "SO"
    for rule in rules:
        if word == rule.name or rule.code.startswith(word.upper()):
            return rule.code if word == rule.name else word.upper()
    known = [text for rule in rules for text in (rule.code.lower(), rule.name)]
    hint = nearest(word, known).replace("'so", "'SO")
    raise ConfigError(f"{origin}: no rule has the code or name {word!r}{hint} (`sendonce explain` lists all)")


def _strength(code: str, prefixes: Iterable[str]) -> int:
    """The length of the longest prefix that fits, 0 for none."""
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=0)
