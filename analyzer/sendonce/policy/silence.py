"""Ways on which a rule has nothing to say: comments at triggers and what is settled for a mail.

The rules look at the other paths, so that what they say of them (severity, trace, words) is right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from sendonce.config import Settings, nearest
from sendonce.policy.selection import Rule, prefix_of
from sendonce.policy.suppression import Ignore, head, meaning

if TYPE_CHECKING:
    from sendonce.program.paths import Path


def silenced(
    paths: Sequence[Path], ignores: Sequence[Ignore], settings: Settings, rules: Sequence[Rule]
) -> Mapping[str, frozenset[Path]]:
    """The paths of which each rule does not speak, by its code."""
    found: dict[str, set[Path]] = {}
    for code, path in (*_at_triggers(paths, ignores, rules), *_of_mails(paths, settings, rules)):
        found.setdefault(code, set()).add(path)
    return {code: frozenset(group) for code, group in found.items()}


def _at_triggers(paths: Sequence[Path], ignores: Sequence[Ignore], rules: Sequence[Rule]) -> Iterator[tuple[str, Path]]:
    codes = meaning(rules)
    at: dict[tuple[str, int], set[str]] = {}
    for ignore in ignores:
        meant = {codes[word] for word in ignore.words if word in codes}
        for line in ignore.covers:
            at.setdefault((ignore.place.path, line), set()).update(meant)
    for path in paths if at else ():
        place = head(path.trigger.place)
        yield from ((code, path) for code in at.get((place.path, place.line), ()))


def _of_mails(paths: Sequence[Path], settings: Settings, rules: Sequence[Rule]) -> Iterator[tuple[str, Path]]:
    for pattern, codes in policies(settings, rules) if settings.ignores else ():
        for path in paths:
            if _is_called(path, pattern):
                yield from ((code, path) for code in codes)


def policies(settings: Settings, rules: Sequence[Rule]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each pattern of mails with the codes that its policy silences; raises `ConfigError` for an unknown word."""
    for pattern, policy in settings.templates:
        origin = settings.origin(f'templates."{pattern}".ignore')
        prefixes = tuple(prefix_of(word, rules, origin) for word in policy.ignore)
        yield pattern, tuple(rule.code for rule in rules if policy.repeatable or rule.code.startswith(prefixes))


def _is_called(path: Path, pattern: str) -> bool:
    template = path.mail.template
    return template is not None and template.value is not None and fnmatchcase(template.value, pattern)


def idle(settings: Settings, mails: Iterable[str]) -> Iterator[str]:
    """A remark for each pattern of mails that fits none of the tree's."""
    known = sorted(set(mails))
    for pattern, _ in settings.templates:
        if not any(fnmatchcase(mail, pattern) for mail in known):
            plain = re.sub(r"[*?\[\]]", "", pattern)
            origin = settings.origin(f'templates."{pattern}"')
            yield f"{origin} fits no mail{nearest(plain, known)} (`sendonce inventory` lists them)"
