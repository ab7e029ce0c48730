"""What other programs read of ours, read by those programs: pre-commit, GitHub, GitLab, Azure."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from gitrepo import git, repository

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent

CLEAN = """\
from django.core.mail import send_mail
from django.core.cache import cache
from django.urls import path


def checkout(request):
    if cache.add(f"receipt:{request.POST['order']}", 1, None):
        send_mail("Receipt", "text", None, [request.user.email])


urlpatterns = [path("checkout", checkout)]
"""
FAULT = CLEAN.replace("    if cache.add(f\"receipt:{request.POST['order']}\", 1, None):\n        send", "    send")
CACHES = 'CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache"}}\n'


def run(*command: object, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    words = [str(word) for word in command]
    surroundings = {**os.environ, **environment}
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, env=surroundings)


def written(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.fixture(scope="module")
def published(tmp_path_factory) -> Path:
    """This project as it stands in the work tree, as a repository that others can install from."""
    copy = tmp_path_factory.mktemp("published") / "sendonce"
    for name in filter(None, git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, copy / name)
    return repository(copy)


def commit(root: Path, home: Path) -> subprocess.CompletedProcess[str]:
    """A commit of all that has changed, with the hooks that are installed."""
    git(root, "add", "--all")
    who = ("-c", "user.name=Test", "-c", "user.email=test@example.org")
    return run("git", *who, "commit", "-m", "next", folder=root, PRE_COMMIT_HOME=str(home))


def test_pre_commit_blocks_a_fault_and_lets_the_repair_pass(published, tmp_path):
    config = f"repos:\n- repo: {published}\n  rev: {git(published, 'rev-parse', 'HEAD')}\n  hooks:\n  - id: sendonce\n"
    files = {"shop/views.py": CLEAN, "shop/settings.py": CACHES, ".pre-commit-config.yaml": config}
    root = repository(written(tmp_path / "shop", files))
    home = tmp_path / "home"
    installed = run(BIN / "pre-commit", "install", folder=root, PRE_COMMIT_HOME=str(home))
    assert installed.returncode == 0, installed.stderr
    before = git(root, "rev-parse", "HEAD")

    (root / "shop/views.py").write_text(FAULT)
    blocked = commit(root, home)
    assert blocked.returncode == 1, blocked.stderr
    assert "SO301" in blocked.stdout + blocked.stderr
    assert git(root, "rev-parse", "HEAD") == before

    (root / "shop/views.py").write_text(f"{CLEAN}\nname = 'shop'\n")
    passed = commit(root, home)
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert "Passed" in passed.stdout + passed.stderr
    assert git(root, "rev-parse", "HEAD") != before

    (root / "notes.txt").write_text("nothing to analyse\n")
    skipped = commit(root, home)
    assert skipped.returncode == 0
    assert "Skipped" in skipped.stdout + skipped.stderr


def test_pre_commit_accepts_our_hooks_and_what_init_writes(tmp_path):
    manifest = run(BIN / "pre-commit", "validate-manifest", ROOT / ".pre-commit-hooks.yaml", folder=tmp_path)
    assert manifest.returncode == 0, manifest.stdout
    run(sys.executable, "-m", "sendonce", "init", "--from", "sendonce", folder=tmp_path)
    config = run(BIN / "pre-commit", "validate-config", folder=tmp_path)
    assert config.returncode == 0, config.stdout


def valid(schema: str, file: Path) -> None:
    """Asserts that a file fits a schema that comes with check-jsonschema."""
    extra = ("--data-transform", "azure-pipelines", "--regex-variant", "python") if "azure" in schema else ()
    done = run(BIN / "check-jsonschema", "--builtin-schema", f"vendor.{schema}", *extra, file, folder=file.parent)
    assert done.returncode == 0, done.stdout + done.stderr


def audited(file: Path) -> None:
    """Asserts that zizmor has nothing to say of a workflow or action."""
    done = run(BIN / "zizmor", "--offline", "--no-progress", file, folder=file.parent)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_action_fits_its_schema_and_is_safe():
    valid("github-actions", ROOT / "action.yml")
    audited(ROOT / "action.yml")


@pytest.mark.parametrize(
    ("ci", "name", "schema"),
    [
        ("github", ".github/workflows/sendonce.yml", "github-workflows"),
        ("gitlab", ".gitlab-ci.yml", "gitlab-ci"),
        ("azure", "azure-pipelines.yml", "azure-pipelines"),
    ],
)
def test_what_init_writes_for_ci_fits_its_schema(tmp_path, ci, name, schema):
    done = run(sys.executable, "-m", "sendonce", "init", "--ci", ci, "--from", "sendonce", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    valid(schema, tmp_path / name)
    if ci == "github":
        audited(tmp_path / name)


def test_the_examples_of_the_documentation_fit_their_schemas(tmp_path):
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"(?ms)^## (\w[\w-]*)\n(.*?)(?=^## |\Z)", text))
    found = {name: re.findall(r"(?ms)^```yaml\n(.*?)^```$", part) for name, part in sections.items()}
    for number, example in enumerate(found["pre-commit"]):
        (tmp_path / f"{number}.yaml").write_text(example)
        done = run(BIN / "pre-commit", "validate-config", tmp_path / f"{number}.yaml", folder=tmp_path)
        assert done.returncode == 0, done.stdout
    for section, schema in (("GitHub", "github-workflows"), ("GitLab", "gitlab-ci"), ("Azure", "azure-pipelines")):
        file = tmp_path / f"{section}.yml"
        file.write_text(found[section][0])
        valid(schema, file)


def steps(action: str) -> list[str]:
    """The shell scripts of the action, in their order."""
    scripts = re.findall(r"(?m)^      run: \|\n((?:        .*\n|\n)+)", action)
    return [re.sub(r"(?m)^        ", "", script) for script in scripts]


def test_the_steps_of_the_action_do_what_they_say(published, tmp_path):
    root = written(tmp_path / "shop", {"shop/views.py": FAULT})
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    environment = {
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "SENDONCE_SOURCE": str(published),
        "SENDONCE_PATH": ".",
        "SENDONCE_ARGUMENTS": "--select SO3 --no-cache",
    }
    install, check = steps((ROOT / "action.yml").read_text())
    for script, code in ((install, 0), (check, 1)):
        done = run("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script, folder=root, **environment)
        assert done.returncode == code, done.stdout + done.stderr
    assert "::warning" in done.stdout
    assert "SO301" in (tmp_path / "sendonce.sarif").read_text()
    assert (tmp_path / "output").read_text() == f"sarif={tmp_path}/sendonce.sarif\n"
