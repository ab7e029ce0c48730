"""What one run leaves for the next: blobs by key, in one file of the cache folder for each kind of blob.

Nothing here can change an answer or end a run. A blob that is damaged, missing or of another version is
one that is not there. The file is only ever replaced as a whole: two runs at once read what they find,
and the one that saves last wins. It may be deleted at any time.
"""

from __future__ import annotations

import os
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import msgspec

MAX_BYTES = 256 * 1024 * 1024
"""How large the file may become: what was not asked for longest goes first."""
KEPT_UNUSED = 30
"""How often the file is written anew with a blob that nobody asks for."""

_MAGIC = b"sendonce store 1\n"
FACTS = "facts.bin"


class _Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Where a blob stands behind the index, its check sum, and how often it was written since it was asked for."""

    offset: int
    length: int
    checksum: int
    unused: int


_DECODER = msgspec.msgpack.Decoder(dict[bytes, _Entry])


@dataclass(frozen=True)
class _Opened:
    """An open file and what it holds."""

    stream: BinaryIO
    start: int
    entries: dict[bytes, _Entry]

    def blob(self, entry: _Entry) -> bytes:
        """A blob's bytes, whatever has become of them; empty if they cannot be read."""
        try:
            self.stream.seek(self.start + entry.offset)
            return self.stream.read(entry.length)
        except (OSError, ValueError):
            return b""


class Store:
    """The blobs of one file in a folder; with None, of this run only. `version` tells which a run understands."""

    def __init__(self, folder: Path | None, version: str, name: str = FACTS) -> None:
        self._folder = folder
        self._name = name
        self._head = _MAGIC + version.encode() + b"\n"
        self._opened = _open(folder / name, self._head) if folder is not None else None
        self._used: set[bytes] = set()
        self._new: dict[bytes, bytes] = {}

    def get(self, key: bytes) -> bytes | None:
        """The blob of a key, if there is one that is whole."""
        entry = self._opened.entries.get(key) if self._opened is not None else None
        if self._opened is None or entry is None:
            return None
        blob = self._opened.blob(entry)
        if len(blob) != entry.length or zlib.crc32(blob) != entry.checksum:
            return None
        self._used.add(key)
        return blob

    def has(self, key: bytes) -> bool:
        """Whether there is a blob of a key, whole or not."""
        if self._opened is None or key not in self._opened.entries:
            return False
        self._used.add(key)
        return True

    def put(self, key: bytes, blob: bytes | None) -> None:
        """Keeps a blob for the next run; None is none."""
        if self._folder is not None and blob is not None:
            self._new[key] = blob

    def save(self) -> None:
        """Writes the file anew if there is something new; a folder that cannot be written keeps nothing."""
        if self._folder is not None and self._new:
            with suppress(OSError):
                _write(self._folder / self._name, self._head, self._kept())
        self.close()

    def close(self) -> None:
        """Lets go of the file."""
        if self._opened is not None:
            self._opened.stream.close()

    def _kept(self) -> list[tuple[bytes, bytes, int]]:
        """Key, blob and age of what goes into the next file: the new, then the old, the last used first."""
        kept = [(key, self._new[key], 0) for key in sorted(self._new)]
        room = MAX_BYTES - sum(len(blob) for _, blob, _ in kept)
        opened = self._opened
        old = {} if opened is None else {key: one for key, one in opened.entries.items() if key not in self._new}
        ages = {key: 0 if key in self._used else entry.unused + 1 for key, entry in old.items()}
        for key in sorted(old, key=lambda key: (ages[key], key)):
            room -= old[key].length
            if opened is None or room < 0 or ages[key] > KEPT_UNUSED:
                break
            blob = opened.blob(old[key])
            if zlib.crc32(blob) == old[key].checksum:
                kept.append((key, blob, ages[key]))
        return kept


def _open(file: Path, head: bytes) -> _Opened | None:
    """A store's file, if it is one of this version and its index is whole."""
    try:
        stream = open(file, "rb")  # noqa: SIM115  # stays open as long as the store
    except OSError:
        return None
    try:
        if stream.read(len(head)) == head:
            size, checksum = int.from_bytes(stream.read(8), "big"), int.from_bytes(stream.read(4), "big")
            index = stream.read(size) if size <= MAX_BYTES else b""
            if len(index) == size and zlib.crc32(index) == checksum:
                return _Opened(stream, len(head) + 12 + size, _DECODER.decode(index))
    except (OSError, msgspec.MsgspecError):
        pass
    stream.close()
    return None


def _write(file: Path, head: bytes, kept: list[tuple[bytes, bytes, int]]) -> None:
    """Puts a new file in the place of the old one; raises `OSError`."""
    entries: dict[bytes, _Entry] = {}
    offset = 0
    for key, blob, unused in kept:
        entries[key] = _Entry(offset, len(blob), zlib.crc32(blob), unused)
        offset += len(blob)
    index = msgspec.msgpack.encode(entries)
    import tempfile  # takes longer to import than most runs spend here

    _prepare(file.parent)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=file.name)
    try:
        with open(handle, "wb") as stream:
            stream.write(head + len(index).to_bytes(8, "big") + zlib.crc32(index).to_bytes(4, "big") + index)
            stream.writelines(blob for _, blob, _ in kept)
        os.replace(name, file)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _prepare(folder: Path) -> None:
    """Makes the folder, which no version control is to look at."""
    folder.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError), open(folder / ".gitignore", "x", encoding="utf-8") as stream:
        stream.write("# Made by sendonce; may be deleted.\n*\n")
