"""Finds and reads the TOML files of rule packs.

A pack's section is the folder it lies in; a user's pack outside such a folder is in the section `project`.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import msgspec

from sendonce.errors import PackError
from sendonce.packs.checking import typed
from sendonce.packs.merged import PackFile, Packs
from sendonce.shipped import shipped_rules
from sendonce.vocabulary import Pack

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SECTIONS = ("logging", "providers", "queues", "reservations", "transactions", "triggers")


class Memory(Protocol):
    """Keeps packs between runs: a pack that has not changed is then neither parsed nor checked again."""

    def get(self, key: str) -> bytes | None:
        """What was put under this key, if it is still there."""

    def put(self, key: str, value: bytes) -> None:
        """Keeps a value."""


def load_packs(extra: Sequence[Path] = (), memory: Memory | None = None, helpers: Pack | None = None) -> Packs:
    """The shipped packs, those in the files and directories of `extra`, and `helpers`; raises `PackError`."""
    contents = [(section, path, _read(path)) for section, path in rule_files(extra)]
    digest = hashlib.sha256(repr([(section, path.name, text) for section, path, text in contents]).encode()).hexdigest()
    packs = _remembered(memory, digest, len(contents))
    if packs is None:
        packs = [_pack(content, path) for _, path, content in contents]
        if memory is not None:
            memory.put(f"packs-{digest}", msgspec.msgpack.encode(packs))
    shipped = shipped_rules()
    files = [
        PackFile(section, path, pack, own=not path.is_relative_to(shipped))
        for (section, path, _), pack in zip(contents, packs, strict=True)
    ]
    if helpers is not None:
        files.append(PackFile("project", Path(helpers.name), helpers, own=True))
        digest = hashlib.sha256(digest.encode() + msgspec.msgpack.encode(helpers)).hexdigest()
    files.sort(key=lambda file: (file.section, file.pack.name))
    _reject_clashes(files)
    return Packs(tuple(files), digest)


def _remembered(memory: Memory | None, digest: str, number: int) -> list[Pack] | None:
    """The packs of an earlier run; None if there are none, or if they fit another version's schema."""
    known = None if memory is None else memory.get(f"packs-{digest}")
    if known is None:
        return None
    try:
        packs = msgspec.msgpack.decode(known, type=list[Pack])
    except msgspec.DecodeError:
        return None
    return packs if len(packs) == number else None


def rule_files(extra: Sequence[Path] = ()) -> tuple[tuple[str, Path], ...]:
    """Section and path of every pack, the shipped ones first; raises `PackError` for a path without packs."""
    found = list(_files_under(shipped_rules()))
    for path in extra:
        found += _files_under(path)
    return tuple(dict.fromkeys(found))


def _files_under(path: Path) -> Iterator[tuple[str, Path]]:
    try:
        files = [path] if path.is_file() else sorted(path.rglob("*.toml"))
    except OSError as error:  # a folder below it that changes or may not be read
        raise PackError(f"{path}: cannot be searched for rule packs: {error.strerror}") from error
    if not files:
        raise PackError(f"{path}: {'holds no rule packs' if path.is_dir() else 'no such file or directory'}")
    for file in files:
        folder = file.resolve().parent.name
        yield (folder if folder in SECTIONS else "project"), file


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise PackError(f"{path}: cannot be read: {error.strerror}") from error


@lru_cache(maxsize=1024)
def _pack(content: bytes, path: Path) -> Pack:
    """The pack of a file; several runs in one process (tests, the Python API) share it."""
    return typed(_parsed(content, path), path)


def _parsed(content: bytes, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(content.decode())
    except UnicodeDecodeError:
        raise PackError(f"{path}: is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise PackError(f"{path}: is not valid TOML: {error}") from None
    except RecursionError:
        raise PackError(f"{path}: is nested too deeply") from None


def _reject_clashes(files: Iterable[PackFile]) -> None:
    """Two packs of one name, or one alias with two meanings, would make the result depend on their order."""
    names: dict[tuple[str, str], Path] = {}
    aliases: dict[str, tuple[str, Path]] = {}
    for file in files:
        other = names.setdefault((file.section, file.pack.name), file.path)
        if other != file.path:
            raise PackError(f'{file.path}: name: "{file.pack.name}" is already the name of {other}')
        for name, target in file.pack.alias.items():
            known, where = aliases.setdefault(name, (target, file.path))
            if known != target:
                raise PackError(f'{file.path}: alias.{name}: is "{target}" here and "{known}" in {where}')
