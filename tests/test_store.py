"""The store of blobs: what is kept, what is dropped, and that nothing in the folder can do harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from sendonce import store
from sendonce.store import Store


def saved(folder: Path, blobs: dict[bytes, bytes], version: str = "1") -> None:
    kept = Store(folder, version)
    for key, blob in blobs.items():
        kept.put(key, blob)
    kept.save()


def got(folder: Path, *keys: bytes, version: str = "1") -> list[bytes | None]:
    kept = Store(folder, version)
    found = [kept.get(key) for key in keys]
    kept.close()
    return found


def test_nothing_is_made_without_a_folder_or_without_news(tmp_path: Path) -> None:
    nowhere = Store(None, "1")
    nowhere.put(b"a", b"one")
    nowhere.save()
    saved(tmp_path / "cache", {})
    assert not list(tmp_path.iterdir())


def test_blobs_are_there_for_the_next_run(tmp_path: Path) -> None:
    saved(tmp_path, {b"a": b"one", b"b": b""})
    saved(tmp_path, {b"c": b"three"})
    assert got(tmp_path, b"a", b"b", b"c", b"d") == [b"one", b"", b"three", None]


def test_another_version_starts_anew(tmp_path: Path) -> None:
    saved(tmp_path, {b"a": b"one"})
    assert got(tmp_path, b"a", version="2") == [None]
    saved(tmp_path, {b"b": b"two"}, version="2")
    assert got(tmp_path, b"a", b"b", version="2") == [None, b"two"]


def test_version_control_does_not_see_the_folder(tmp_path: Path) -> None:
    saved(tmp_path, {b"a": b"one"})
    assert (tmp_path / ".gitignore").read_text().splitlines()[-1] == "*"
    assert sorted(path.name for path in tmp_path.iterdir()) == [".gitignore", "facts.bin"]


def test_wherever_one_byte_is_wrong_a_blob_is_itself_or_missing(tmp_path: Path) -> None:
    blobs = {b"a": b"first", b"b": b"second blob"}
    saved(tmp_path, blobs)
    file = tmp_path / "facts.bin"
    whole = file.read_bytes()
    for at in range(len(whole)):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        assert all(found in (None, blob) for found, blob in zip(got(tmp_path, *blobs), blobs.values(), strict=True))
        file.write_bytes(whole[:at])
        assert all(found in (None, blob) for found, blob in zip(got(tmp_path, *blobs), blobs.values(), strict=True))


def test_what_is_damaged_is_not_kept(tmp_path: Path) -> None:
    saved(tmp_path, {b"a": b"first", b"b": b"second"})
    file = tmp_path / "facts.bin"
    file.write_bytes(file.read_bytes().replace(b"first", b"worst"))
    saved(tmp_path, {b"c": b"third"})
    assert got(tmp_path, b"a", b"b", b"c") == [None, b"second", b"third"]


def test_two_runs_at_once_leave_a_whole_file(tmp_path: Path) -> None:
    saved(tmp_path, {b"a": b"one"})
    first, second = Store(tmp_path, "1"), Store(tmp_path, "1")
    first.put(b"b", b"two")
    second.put(b"c", b"three")
    first.save()
    assert second.get(b"a") == b"one"
    second.save()
    assert got(tmp_path, b"a", b"c") == [b"one", b"three"]


def test_the_file_is_bounded_and_keeps_what_was_used_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_BYTES", 100)
    saved(tmp_path, {b"a": b"a" * 40, b"b": b"b" * 40})
    kept = Store(tmp_path, "1")
    assert kept.get(b"b")
    kept.put(b"c", b"c" * 40)
    kept.save()
    assert got(tmp_path, b"a", b"b", b"c") == [None, b"b" * 40, b"c" * 40]


def test_what_nobody_asks_for_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "KEPT_UNUSED", 2)
    saved(tmp_path, {b"old": b"1"})
    for number in range(3):
        saved(tmp_path, {b"new%d" % number: b"2"})
    assert got(tmp_path, b"old", b"new2") == [None, b"2"]


@pytest.mark.parametrize("make", [Path.mkdir, lambda path: path.write_text("no store")])
def test_a_folder_that_cannot_be_used_keeps_nothing(tmp_path: Path, make: object) -> None:
    assert callable(make)
    make(tmp_path / "facts.bin")
    saved(tmp_path, {b"a": b"one"})
    assert got(tmp_path, b"a") in ([None], [b"one"])
    saved(tmp_path / "facts.bin" / "below", {b"a": b"one"})
