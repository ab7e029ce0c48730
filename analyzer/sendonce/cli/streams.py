"""Standard output and standard error, which may be closed, full, or read by a CI service that obeys certain lines."""

from __future__ import annotations

import errno
import sys
from contextlib import suppress
from pathlib import Path

import click

from sendonce.errors import UsageError
from sendonce.report import harmless

UNWRITABLE = frozenset({errno.ENOSPC, errno.EBADF, errno.EIO, errno.EFBIG, errno.EDQUOT})
"""The errors of a standard output that takes nothing (more)."""


def tell(text: str) -> None:
    """Prints a line on standard error, if anybody can read it."""
    with suppress(OSError):
        click.echo(harmless(text), err=True)


def on_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def write(text: str, file: Path | None) -> None:
    """Prints the text, or puts it into a file; raises `UsageError` if that cannot be written."""
    if file is not None:
        try:
            file.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
        except OSError as error:
            raise UsageError(f"{file} cannot be written: {error.strerror}") from error
        return
    if sys.stdout is None:
        raise UsageError("standard output is closed: give --output-file")
    click.echo(text, nl=False, color=True)


def write_bytes(content: bytes, file: Path | None) -> None:
    """Prints bytes as they are, or puts them into a file; raises `UsageError` if that cannot be written."""
    if file is None:
        click.echo(content, nl=False)
        return
    try:
        file.write_bytes(content)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error


def append(text: str, file: Path) -> None:
    """Adds the text to a file that a CI service shows; where that cannot be, it is said and nothing else."""
    try:
        with file.open("a", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
            stream.write(text)
    except OSError as error:
        tell(f"sendonce: {file} cannot be written: {error.strerror}")


def flush_report() -> None:
    """Writes out what is printed so far; raises `OSError` if that is not possible."""
    if sys.stdout is not None:
        sys.stdout.flush()
