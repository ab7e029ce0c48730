"""What a project needs to use sendonce, as texts: the configuration, the pre-commit entry, the CI workflow."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from sendonce.setup.texts import AZURE, CONFIGURATION, GITHUB, GITLAB, LOCAL_HOOK
from sendonce.version import __version__

CI_SERVICES = ("github", "gitlab", "azure")
_TOP_KEY = re.compile(r"(?m)^([A-Za-z_][\w-]*):")
_INSTALLED = re.compile(r'"sendonce(?:(?: ?@ |[=<>~!])[^"\n]*)?"')
_FIRST_REPO = re.compile(r"(?m)^repos:[ \t]*(?:#.*)?\n(?:[ \t]*(?:#.*)?\n)*(?P<indent>[ ]*)- ")


@dataclass(frozen=True)
class Change:
    """A file with the text that it should have. With `why_not` it is left alone, and `text` is to be added by hand."""

    file: Path
    text: str
    is_new: bool = True
    why_not: str = ""


def requirement() -> str:
    """What pip has to install to get the sendonce that is running: by version, or from where it was installed."""
    try:
        text = importlib.metadata.distribution("sendonce").read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        text = None
    origin = json.loads(text) if text else {}
    url = origin.get("url", "")
    if "vcs_info" in origin:
        return f"sendonce @ {origin['vcs_info']['vcs']}+{url}@{origin['vcs_info']['commit_id']}"
    if url.startswith("file:"):
        url = _remote(Path(url2pathname(urlsplit(url).path))) or url
    return f"sendonce @ {url}" if url else f"sendonce=={__version__}"


def _remote(folder: Path) -> str:
    """Where others find the commit that is checked out in a folder; empty if git cannot tell."""
    from sendonce.listing import run_git

    answers = (run_git(folder, "remote", "get-url", "origin"), run_git(folder, "rev-parse", "HEAD"))
    url, commit = ("" if one is None or one.returncode else os.fsdecode(one.stdout).strip() for one in answers)
    return f"git+{url}@{commit}" if commit and url.startswith(("https://", "ssh://")) else ""


def detected_ci(root: Path) -> str:
    """The CI service that a project uses, by its files; GitHub if there are none."""
    marks = {"gitlab": ".gitlab-ci.yml", "azure": "azure-pipelines.yml"}
    if not (root / ".github").is_dir():
        for service, mark in marks.items():
            if (root / mark).is_file():
                return service
    return "github"


def changes(root: Path, ci: str, wanted: str, renew: bool = False) -> Iterator[Change]:
    """All that is missing in a project; `wanted` is what pip is to install, `ci` a service or `none`.

    With `renew`, files that install another sendonce are changed to install this one.
    """
    yield _configuration(root)
    found = [_hook(root, wanted)]
    if ci == "github":
        found.append(_new(root / ".github" / "workflows" / "sendonce.yml", _filled(GITHUB, wanted)))
    elif ci in ("gitlab", "azure"):
        name, template = (".gitlab-ci.yml", GITLAB) if ci == "gitlab" else ("azure-pipelines.yml", AZURE)
        found.append(_new(root / name, _filled(template, wanted), "has jobs of its own; add this one by hand"))
    yield from (_renewed(change, wanted) if renew and change.why_not else change for change in found)


def _renewed(change: Change, wanted: str) -> Change:
    """The change that replaces what a file installs now; the same change if it installs nothing else."""
    text = change.file.read_text(encoding="utf-8")
    new = _INSTALLED.sub(lambda _: json.dumps(wanted), text)
    return change if new == text else Change(change.file, new, is_new=False)


def _configuration(root: Path) -> Change:
    """The table of a `pyproject.toml` if there is one, else a file of its own."""
    from sendonce.config import find_config

    own, project = root / "sendonce.toml", root / "pyproject.toml"
    known = find_config(root)
    if known is not None and known.parent.resolve() == root.resolve():
        return Change(known, "", why_not="is there already")
    if not project.is_file():
        return Change(own, CONFIGURATION)
    text = project.read_text(encoding="utf-8")
    table = CONFIGURATION.replace("# [assume]", "# [tool.sendonce.assume]")
    return Change(project, f"{text.rstrip()}\n\n[tool.sendonce]\n{table}".lstrip(), is_new=False)


def _hook(root: Path, wanted: str) -> Change:
    """The hook in `.pre-commit-config.yaml`, at the end of its list if that is where the file ends."""
    file = root / ".pre-commit-config.yaml"
    hook = _filled(LOCAL_HOOK, wanted)
    if not file.is_file():
        return Change(file, f"repos:\n{_indented(hook, '  ')}")
    text = file.read_text(encoding="utf-8")
    if re.search(r"(?m)^\s*-?\s*id:\s*sendonce\b", text):
        return Change(file, "", why_not="has the hook already")
    first, keys = _FIRST_REPO.search(text), _TOP_KEY.findall(text)
    if first is None or not keys or keys[-1] != "repos":
        return Change(file, _indented(hook, "  "), why_not="add this to its `repos` by hand")
    return Change(file, f"{text.rstrip()}\n{_indented(hook, first['indent'])}", is_new=False)


def _new(file: Path, text: str, why_not: str = "is there already") -> Change:
    return Change(file, text, why_not=why_not if file.exists() else "")


def _filled(template: str, wanted: str) -> str:
    return template.replace("REQUIREMENT", json.dumps(wanted))


def _indented(text: str, indent: str) -> str:
    return "".join(f"{indent}{line}" if line.strip() else line for line in text.splitlines(keepends=True))
