"""Patches on disk and as a diff."""

from __future__ import annotations

import difflib
import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path

from sendonce.errors import UsageError
from sendonce.fixes import Patch

_LINE = re.compile(r"[^\n]*\n|[^\n]+$")


def written(root: Path, patch: Patch) -> None:
    """Puts the changed file in the place of the old one, at once and with its mode.

    Raises `UsageError` if it cannot be written, or has changed since it was read.
    """
    file = root / patch.path
    try:
        if file.is_symlink() or file.read_bytes() != patch.before:
            raise UsageError(f"{patch.path} has changed while it was analysed; nothing of it was repaired, run again")
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(patch.after)
            os.chmod(name, file.stat().st_mode & 0o7777)
            os.replace(name, file)
        except OSError:
            with suppress(OSError):
                os.unlink(name)
            raise
    except OSError as error:
        raise UsageError(f"{patch.path} cannot be repaired: {error.strerror}") from error


def diff(patch: Patch) -> str:
    """The change as a unified diff that `patch -p1` and `git apply` take."""
    before, after = (_LINE.findall(text.decode("utf-8", "surrogateescape")) for text in (patch.before, patch.after))
    lines = difflib.unified_diff(before, after, f"a/{patch.path}", f"b/{patch.path}")
    ended = (line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    return "".join(ended)
