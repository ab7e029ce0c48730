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

_LINE = re.compile(rb"[^\n]*\n|[^\n]+$")


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


def diff(patch: Patch) -> bytes:
    """The change as a unified diff that `patch -p1` and `git apply` take, in the encoding of the file."""
    before, after = _LINE.findall(patch.before), _LINE.findall(patch.after)
    name = patch.path.encode("utf-8", "surrogateescape")
    lines = difflib.diff_bytes(difflib.unified_diff, before, after, b"a/" + name, b"b/" + name)
    return b"".join(line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n" for line in lines)
