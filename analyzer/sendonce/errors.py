"""Errors that the user can act on: the command line shows their text, without a traceback."""

from __future__ import annotations


class SendonceError(Exception):
    """Base of all errors that sendonce raises on purpose."""


class UsageError(SendonceError):
    """The command line asks for something that cannot be done, such as a path that does not exist."""


class ConfigError(SendonceError):
    """A configuration file is wrong; the text names the file and the key."""


class PackError(SendonceError):
    """A rule pack cannot be read or is wrong; the text names the file and the key."""


class ParseError(SendonceError):
    """A source file cannot be parsed. `line` counts from 1 and is 0 where none is known."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
