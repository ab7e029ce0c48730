"""Baseline, changed lines and settings by the command line, on a small tree that is analysed in earnest."""

from __future__ import annotations

import json

import pytest

from gitrepo import committed, git, repository

TASKS = """\
from celery import shared_task
from django.core.mail import send_mail


@shared_task
def send_receipt(order_id):
    send_mail("Receipt", "text", None, [address(order_id)])
"""
VIEWS = """\
from django.db import transaction
from django.urls import path
from .tasks import send_receipt


def checkout(request):
    with transaction.atomic():
        order = place(request)
        send_receipt.delay(order.id)


urlpatterns = [path("checkout", checkout)]
"""
CACHES = 'CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache"}}\n'
HELPER = "from django.core.cache import cache\n\n\ndef first(key):\n    return cache.add(key, 1, None)\n"
MORE = """\
from django.db import transaction
from django.urls import path
from .tasks import send_receipt


def again(request):
    with transaction.atomic():
        send_receipt.delay(request.POST["order"])


urlpatterns = [path("again", again)]
"""


@pytest.fixture
def root(tree):
    return tree({"shop/__init__.py": "", "shop/views.py": VIEWS, "shop/tasks.py": TASKS}).resolve()


def places(result):
    rows = json.loads(result.out)["findings"]
    return [(row["code"], row["path"]) for row in rows if not row["suppressed"]]


def test_a_baseline_silences_today_and_not_tomorrow(cli, root):
    assert cli("check", root, "--no-cache").code == 1
    made = cli("baseline", root, "--no-cache")
    file = root / "sendonce-baseline.json"
    assert (made.code, made.out) == (0, "")
    assert made.err.splitlines() == [
        f"sendonce: {file} knows 2 findings; `sendonce check --baseline {file}` reports what comes on top",
        f'sendonce: with `baseline = "{file.name}"` in the configuration every check, in CI too, leaves them out',
    ]
    clean = cli("check", root, "--no-cache", "--baseline", file)
    assert clean.code == 0
    assert clean.out.startswith("No findings; 1 note not shown (--pedantic); 2 in the baseline.")
    (root / "shop/more.py").write_text(MORE)
    tomorrow = cli("check", root, "--no-cache", "--baseline", file, "--output-format", "json")
    assert tomorrow.code == 1
    assert {path for _, path in places(tomorrow)} == {"shop/more.py"}


def test_the_file_does_not_change_by_itself(cli, root):
    file = root / "sendonce-baseline.json"
    cli("baseline", root, "--no-cache")
    before = file.read_bytes()
    (root / "shop/views.py").write_text(f"import os\n\n{VIEWS}")
    cli("baseline", root, "--no-cache")
    assert file.read_bytes() == before


def test_a_configured_baseline_needs_no_option(cli, root):
    (root / "ci").mkdir()
    (root / "sendonce.toml").write_text("baseline = 'ci/known.json'\n")
    missing = cli("check", root, "--no-cache")
    assert missing.code == 2
    assert f"{root}/sendonce.toml: baseline: {root}/ci/known.json does not exist" in missing.err
    assert "`sendonce check` reports" in cli("baseline", root, "--no-cache").err
    assert cli("check", root, "--no-cache").code == 0


def test_pruning_takes_out_what_has_gone_and_adds_nothing(cli, root):
    file = root / "sendonce-baseline.json"
    cli("baseline", root, "--no-cache", "--pedantic")
    known = json.loads(file.read_text())["findings"]
    (root / "shop/views.py").write_text(VIEWS.replace("        send_receipt.delay", "    send_receipt.delay"))
    told = cli("check", root, "--no-cache", "--baseline", file)
    assert "no longer there" not in told.err  # the option may leave things out on purpose
    (root / "sendonce.toml").write_text("baseline = 'sendonce-baseline.json'\npedantic = true\n")
    told = cli("check", root, "--no-cache")
    assert "knows 1 finding that is no longer there; `sendonce baseline --prune` drops them" in told.err
    cli("baseline", root, "--no-cache", "--prune")
    left = json.loads(file.read_text())["findings"]
    assert 0 < len(left) < len(known)
    assert left == [row for row in known if row["code"] != "SO201"]
    assert "no longer" not in cli("check", root, "--no-cache").err


def test_pruning_nothing(cli, root):
    refused = cli("baseline", root, "--no-cache", "--prune")
    assert refused.code == 2
    assert "sendonce-baseline.json does not exist" in refused.err


def test_an_empty_tree_gets_no_baseline(cli, tree):
    root = tree({"readme.txt": ""})
    assert cli("baseline", root).code == 2
    assert not (root / "sendonce-baseline.json").exists()


def test_since_shows_what_has_a_step_in_changed_lines(cli, root):
    repository(root)
    untouched = cli("check", root, "--no-cache", "--since", "HEAD")
    assert untouched.code == 0
    assert untouched.out.startswith("No findings; 1 note not shown (--pedantic); 2 not in what changed since HEAD.")
    (root / "shop/more.py").write_text(MORE)
    result = cli("check", root, "--no-cache", "--since", "HEAD", "--output-format", "json")
    assert result.code == 1
    assert ("SO201", "shop/more.py") in places(result)
    assert ("SO201", "shop/views.py") not in places(result)
    committed(root)
    assert cli("check", root, "--no-cache", "--since", "HEAD").code == 0
    assert cli("check", root, "--no-cache", "--since", "HEAD~1").code == 1


def test_a_change_far_from_the_line_of_the_finding_shows_it(cli, root):
    repository(root)
    (root / "shop/tasks.py").write_text(TASKS.replace('"text"', '"the text"'))
    result = cli("check", root, "--no-cache", "--since", "HEAD", "--output-format", "json")
    assert ("SO201", "shop/views.py") in places(result)


def test_a_guard_that_is_taken_away_shows_what_it_guarded(cli, root):
    safe = VIEWS.replace("with transaction.atomic():\n        order", "if True:\n        order")
    (root / "shop/views.py").write_text(safe)
    guarded = TASKS.replace(
        "    send_mail", "    if not cache.add(f'r:{order_id}', 1, None):\n        return\n    send_mail"
    )
    (root / "shop/tasks.py").write_text(
        guarded.replace("import send_mail", "import send_mail\nfrom django.core.cache import cache")
    )
    (root / "settings.py").write_text(CACHES)
    repository(root)
    assert cli("check", root, "--no-cache").code == 0
    (root / "shop/tasks.py").write_text(TASKS)
    result = cli("check", root, "--no-cache", "--since", "HEAD", "--output-format", "json")
    assert ("SO301", "shop/tasks.py") in places(result)


def test_a_guard_that_is_lost_in_a_helper_shows_what_it_guarded(cli, root):
    guarded_by_helper(root)
    before = cli("check", root, "--no-cache", "--since", "HEAD", "--output-format", "json")
    assert places(before) == []
    (root / "shop/once.py").write_text(HELPER.replace("return cache.add(key, 1, None)", "return not cache.get(key)"))
    after = cli("check", root, "--no-cache", "--since", "HEAD", "--output-format", "json")
    assert [path for _, path in places(after)] == ["shop/tasks.py"]
    told = cli("check", root, "--no-cache", "--since", "HEAD")
    assert "; 1 not in what changed since HEAD" in told.out


def test_an_old_finding_that_was_renamed_with_its_file_stays_old(cli, root):
    repository(root)
    git(root, "mv", "shop/views.py", "shop/pages.py")
    (root / "notes.py").write_text("x = 1\n")
    assert cli("check", root, "--no-cache", "--since", "HEAD").code == 0


def test_a_helper_that_was_deleted_still_counts_for_the_time_before(cli, root):
    guarded_by_helper(root)
    (root / "shop/once.py").unlink()
    after = cli("check", root, "--no-cache", "--since", "HEAD", "--output-format", "json")
    assert [path for _, path in places(after)] == ["shop/tasks.py"]


def guarded_by_helper(root):
    """A repository in which the receipt is claimed by a helper of its own."""
    guarded = TASKS.replace("    send_mail", "    if first(f'r:{order_id}'):\n        send_mail")
    (root / "shop/once.py").write_text(HELPER)
    (root / "shop/tasks.py").write_text(
        guarded.replace("import send_mail", "import send_mail\nfrom .once import first")
    )
    (root / "settings.py").write_text(CACHES)
    repository(root)


def test_since_and_baseline_together(cli, root):
    cli("baseline", root, "--no-cache")
    repository(root)
    (root / "shop/more.py").write_text(MORE)
    both = cli("check", root, "--no-cache", "--since", "HEAD", "--baseline", root / "sendonce-baseline.json")
    assert both.code == 1
    assert "in the baseline; 0 not in what changed since HEAD" in both.out


def test_since_tells_what_is_wrong_before_any_work(cli, core, root):
    core()
    assert "is in no git work tree" in cli("check", root, "--since", "HEAD").err
    repository(root)
    wrong = cli("check", root, "--since", "mian")
    assert (wrong.code, wrong.out) == (2, "")
    assert "--since: git knows no commit 'mian'" in wrong.err


def test_a_clone_of_one_commit_says_what_to_fetch(cli, core, root, tmp_path):
    core()
    repository(root)
    first = git(root, "rev-parse", "HEAD")
    (root / "shop/more.py").write_text(MORE)
    committed(root)
    git(tmp_path, "clone", "--quiet", "--depth=1", root.as_uri(), "clone")
    assert "fetch-depth: 0" in cli("check", tmp_path / "clone", "--since", first).err


def test_settings_are_shown_with_their_origin(cli, core, root):
    core()
    (root / "sendonce.toml").write_text(
        "ignore = ['SO2']\n[assume]\nworkers = 1\n[templates.'d/*']\nreason = 'r'\nignore = ['SO1']\n"
    )
    lines = cli("check", root, "--show-settings", "--fail-on", "error").out.splitlines()
    assert lines[0] == f"# {root / 'sendonce.toml'}"
    assert 'ignore = ["SO2"]  # file' in lines
    assert 'fail-on = "error"  # option' in lines
    assert 'min-confidence = "medium"  # default' in lines
    assert "assume = {workers = 1}  # file" in lines
    assert 'templates = {"d/*" = {reason = "r", ignore = ["SO1"]}}  # file' in lines
    assert lines[-1] == "# rules in force: SO001, SO002, SO101, SO301"


def test_shown_settings_are_a_configuration_with_the_same_meaning(cli, core, root, tmp_path):
    core()
    (root / "sendonce.toml").write_text(
        "select = ['SO2']\nhelpers.send = ['shop.tasks.mail']\nper-file-ignores.'a b.py' = ['SO201']\n"
        "rules = ['packs']\nassume = {workers = 2, redelivery = false}\n"
    )
    (root / "packs").mkdir()
    shown = cli("check", root, "--show-settings").out
    other = tmp_path / "other.toml"
    other.write_text(shown)
    again = cli("check", root, "--show-settings", "--config", other).out
    assert again.splitlines()[1:] == shown.splitlines()[1:]


def test_wrong_settings_are_not_shown(cli, core, root):
    core()
    (root / "sendonce.toml").write_text("per-file-ignores.'a.py' = ['SO9']\n")
    assert cli("check", root, "--show-settings").code == 2
