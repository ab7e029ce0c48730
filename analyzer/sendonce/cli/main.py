"""`sendonce`: the group of commands, and what errors look like."""

from __future__ import annotations

import importlib
import io
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

import click

from sendonce.cli.streams import UNWRITABLE, flush_report, tell
from sendonce.errors import SendonceError
from sendonce.version import __version__

COMMANDS = tuple("audit baseline check explain graph init inventory packs scaffold trace".split())
FAULT = 2
"""Exit code of wrong usage, wrong configuration and internal faults."""


class LazyGroup(click.Group):
    """Imports `sendonce.cli.NAME` when its command is asked for: `--version` and `--help` stay quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"sendonce.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="sendonce")
def group() -> None:
    """Finds where one business event can send the same e-mail twice, by reading the code.

    Start with `sendonce check`. Nothing of the code that is read is imported or run.
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the command line and leaves with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    code = _run(arguments)
    _leave_quietly()
    sys.exit(code)


def _leave_quietly() -> None:
    """Points streams that cannot be written at nothing, or the interpreter complains as it leaves."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _run(arguments: Sequence[str] | None) -> int:
    """The exit code; whatever goes wrong is told on standard error."""
    try:
        result = group.main(None if arguments is None else list(arguments), "sendonce", standalone_mode=False)
        flush_report()
        return result if isinstance(result, int) else 0
    except click.ClickException as error:
        with suppress(OSError):
            error.show()
        return FAULT
    except SendonceError as error:
        tell(f"sendonce: error: {error}")
        return FAULT
    except (click.Abort, KeyboardInterrupt):
        tell("sendonce: interrupted")
        return 130
    except BrokenPipeError:  # whoever reads has seen enough
        return FAULT
    except OSError as error:
        if error.errno not in UNWRITABLE:
            return _fault()
        tell(f"sendonce: error: standard output cannot be written: {error.strerror}")
        return FAULT
    except Exception:  # findings and faults must not share an exit code
        return _fault()


def _fault() -> int:
    """Tells what went wrong inside, and gives the exit code."""
    version = ".".join(map(str, sys.version_info[:3]))
    tell(
        f"{traceback.format_exc()}"
        f"sendonce: internal fault in sendonce {__version__} on Python {version}: no result."
        " Please report it with the lines above and, if you may, the file it was reading."
    )
    return FAULT
