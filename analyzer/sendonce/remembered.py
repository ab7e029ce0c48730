"""Reports that earlier runs left: where nothing has changed since, a run reads the files and no more.

A report depends on the files that it is about, the settings, the rule packs and this package; all of
these make its key, by their contents. Nothing of the analysis is imported where the report is known.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from time import perf_counter

import msgspec

from sendonce.config import Settings
from sendonce.findings import Report
from sendonce.shipped import shipped_code, shipped_rules
from sendonce.store import Store
from sendonce.target import Target
from sendonce.version import __version__

FILE = "reports.bin"
_NOT_ASKED = frozenset({"cache_dir", "jobs"})
"""Settings that change no answer."""


def analyze(target: Target, settings: Settings) -> Report:
    """As `run.analyze`, and with its errors; the answer of an earlier run to the same question if there is one."""
    started = perf_counter()
    if settings.cache_dir is None or settings.since:  # what git says of a revision is no part of the key
        return _asked(target, settings)
    try:
        key = _key(target, settings)
        store = Store(settings.cache_dir, _version(), FILE)
    except OSError:  # somebody has to say what cannot be read
        return _asked(target, settings)
    known = _decoded(store.get(key))
    if known is not None:
        store.close()
        return replace(known, root=str(target.root), stats=replace(known.stats, seconds=perf_counter() - started))
    report = _asked(target, settings)
    _keep(store, key, report, target, settings)
    return report


def _asked(target: Target, settings: Settings) -> Report:
    from sendonce.run import analyze as run  # imports all of the analysis

    return run(target, settings)


def _keep(store: Store, key: bytes, report: Report, target: Target, settings: Settings) -> None:
    """Leaves a report to later runs, unless a file was changed while it was made."""
    try:
        unchanged = _key(target, settings) == key
    except OSError:
        unchanged = False
    with suppress(UnicodeEncodeError):  # a name that is no UTF-8
        if unchanged:
            store.put(key, msgspec.msgpack.encode(report))
    store.save()


def _decoded(blob: bytes | None) -> Report | None:
    try:
        return None if blob is None else msgspec.msgpack.decode(blob, type=Report)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _key(target: Target, settings: Settings) -> bytes:
    """All that a report depends on besides this package; raises `OSError` for what cannot be read."""
    sources = target.sources(settings)
    digest = hashlib.blake2b(digest_size=20)
    asked = [(one.name, getattr(settings, one.name)) for one in fields(Settings) if one.name not in _NOT_ASKED]
    plain = [(name, sorted(value) if isinstance(value, frozenset) else value) for name, value in asked]
    digest.update(repr((plain, target.within, target.only, sources.problems, target.left_out(sources))).encode())
    for file in sources.files:
        content = sources.read(file)
        digest.update(
            f"{file.path}\n{file.module}\n{file.root}\n{file.role} {len(content)}\n".encode("utf-8", "replace")
        )
        digest.update(content)
    others = [settings.baseline] if settings.baseline is not None else []
    _add(digest, (*others, *(file for path in settings.rules for file in _packs(path))))
    return digest.digest()


def _packs(path: Path) -> Iterable[Path]:
    return [path] if path.is_file() else sorted(path.rglob("*.toml"))


def _version() -> str:
    """What a report depends on that comes with this package: its code and packs, and the interpreter."""
    digest = hashlib.blake2b(digest_size=16)
    _add(digest, sorted(shipped_code().rglob("*.py")))
    _add(digest, sorted(shipped_rules().rglob("*.toml")))
    return f"{__version__} {sys.implementation.name} {sys.hexversion:x} {digest.hexdigest()}"


def _add(digest: hashlib.blake2b, files: Iterable[Path]) -> None:
    for file in files:
        content = file.read_bytes()
        digest.update(f"{file.parent.name}/{file.name} {len(content)}\n".encode("utf-8", "replace"))
        digest.update(content)
