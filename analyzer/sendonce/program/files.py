"""The facts of files, read once and remembered from run to run.

What a file says is found by its content, by how this version reads, and by the interpreter that reads.
"""

from __future__ import annotations

import hashlib
import sys
from functools import cached_property
from pathlib import Path

import msgspec

from sendonce import facts, frontend
from sendonce.discovery import SourceFile, Sources
from sendonce.errors import ParseError
from sendonce.facts import IR_VERSION, ModuleFacts
from sendonce.findings import Problem
from sendonce.store import Store
from sendonce.version import __version__


class Files:
    """Reads the files of a tree; those that cannot be used are named in `problems`."""

    def __init__(self, sources: Sources, cache: Path | None) -> None:
        self.problems: list[Problem] = []
        self._sources = sources
        self._readings = _Readings(cache)

    def facts(self, file: SourceFile) -> ModuleFacts | None:
        """The facts of a file; None, and a problem, if it cannot be read."""
        try:
            return self._readings.facts(self._sources.read(file))
        except ParseError as error:
            self.problems.append(Problem(file.path, error.line, error.message))
        except OSError as error:
            self.problems.append(Problem(file.path, 0, f"cannot be read: {error.strerror}"))
        return None

    def check(self, file: SourceFile) -> None:
        """Notes a problem if a file is no Python; one that cannot be read the index has named."""
        try:
            self._readings.check(self._sources.read(file))
        except ParseError as error:
            self.problems.append(Problem(file.path, error.line, error.message))
        except OSError:
            pass

    def save(self) -> None:
        """Keeps what was read for the next run."""
        self._readings.save()


class _Fault(msgspec.Struct, frozen=True, array_like=True):
    """Why a file is no Python."""

    message: str
    line: int


class _Readings:
    """What contents say: by the store if it knows them, else by the front end. Both raise `ParseError`."""

    def __init__(self, cache: Path | None) -> None:
        self._cache = cache

    @cached_property
    def _store(self) -> Store:
        return Store(self._cache, _version() if self._cache is not None else "")

    def facts(self, source: bytes) -> ModuleFacts:
        from sendonce.frontend.python import extract

        if self._cache is None:
            return extract(source)
        facts_key, fault_key = _keys(source)
        found = _decoded(self._store.get(facts_key))
        if found is None:
            self._raise_known(fault_key)
            try:
                found = extract(source)
            except ParseError as error:
                self._note(fault_key, error)
                raise
            self._store.put(facts_key, _encoded(found))
        return found

    def check(self, source: bytes) -> None:
        from sendonce.frontend.python import check

        if self._cache is None:
            check(source)
            return
        facts_key, fault_key = _keys(source)
        if not self._store.has(facts_key) and not self._raise_known(fault_key):
            try:
                check(source)
            except ParseError as error:
                self._note(fault_key, error)
                raise
            self._store.put(fault_key, _NO_FAULT)

    def save(self) -> None:
        if self._cache is not None:
            self._store.save()

    def _raise_known(self, key: bytes) -> bool:
        """Raises the fault that a content is known to have; whether it is known to have none."""
        blob = self._store.get(key)
        if blob is None or blob == _NO_FAULT:
            return blob is not None
        try:
            fault = msgspec.msgpack.decode(blob, type=_Fault)
        except _DAMAGED:
            return False
        raise ParseError(fault.message, fault.line)

    def _note(self, key: bytes, error: ParseError) -> None:
        self._store.put(key, msgspec.msgpack.encode(_Fault(error.message, error.line)))


_NO_FAULT = msgspec.msgpack.encode(None)
_DAMAGED = (msgspec.MsgspecError, ValueError, RecursionError)


def _keys(source: bytes) -> tuple[bytes, bytes]:
    """The keys of a content's facts and of what is wrong with it."""
    digest = hashlib.blake2b(source, digest_size=16).digest()
    return b"f" + digest, b"e" + digest


def _encoded(found: ModuleFacts) -> bytes | None:
    """Facts as bytes; None for the rare ones that nest too deeply for that."""
    try:
        return msgspec.msgpack.encode(found)
    except _DAMAGED:
        return None


def _decoded(blob: bytes | None) -> ModuleFacts | None:
    """Facts from bytes, if there are some and they are whole."""
    if blob is None:
        return None
    try:
        return msgspec.msgpack.decode(blob, type=ModuleFacts)
    except _DAMAGED:
        return None


def _version() -> str:
    """What readings depend on besides the content: the code that reads, and the interpreter."""
    folder = Path(frontend.__file__).parent
    code = hashlib.blake2b(digest_size=16)
    for file in (Path(facts.__file__), *sorted(folder.rglob("*.py"))):
        code.update(file.read_bytes())
    return f"{__version__} {IR_VERSION} {sys.implementation.name} {sys.hexversion:x} {code.hexdigest()}"
