"""A git repository to test with, made by the real git."""

from __future__ import annotations

import subprocess
from pathlib import Path

_WHO = ("-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false")


def git(root: Path, *arguments: str) -> str:
    """What a git command says."""
    command = ["git", *_WHO, *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.strip()


def repository(root: Path) -> Path:
    """The folder as a repository with all that it holds committed."""
    git(root, "init", "--quiet", "--initial-branch=main")
    return committed(root, "start")


def committed(root: Path, message: str = "next") -> Path:
    """The folder with everything committed."""
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", message)
    return root
