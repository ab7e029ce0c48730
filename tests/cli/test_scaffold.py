"""`sendonce scaffold`: what it writes runs, is recognised as a guard, and overwrites nothing."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

SETTINGS = """\
INSTALLED_APPS = ["deliveries"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
SECRET_KEY = "for tests"
USE_TZ = True
"""
MANAGE = """\
import os, sys
from django.core.management import execute_from_command_line
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings")
execute_from_command_line(sys.argv)
"""
SHOP = {
    "manage.py": MANAGE,
    "settings.py": SETTINGS,
    "urls.py": "from django.urls import path\nimport views\nurlpatterns = [path('pay/', views.pay)]\n",
    "views.py": (
        "from django.core.mail import send_mail\n"
        "from deliveries.once import send_once\n"
        "def receipt(order):\n"
        "    send_mail('Your receipt', '', None, [order.email])\n"
        "def pay(request):\n"
        "    send_once('receipt', request.order.pk, lambda: receipt(request.order))\n"
    ),
}
SERVICE = {
    "app.py": (
        "import smtplib\n"
        "from flask import Flask, request\n"
        "from sqlalchemy import create_engine\n"
        "from deliveries import send_once\n"
        "app = Flask(__name__)\n"
        "engine = create_engine('sqlite://')\n"
        "def receipt(order):\n"
        "    with smtplib.SMTP('localhost') as smtp:\n"
        "        smtp.sendmail('a@b.c', [order], 'Your receipt')\n"
        "@app.post('/pay')\n"
        "def pay():\n"
        "    send_once(engine, 'receipt', request.form['order'], lambda: receipt(request.form['order']))\n"
    )
}


def run(root, *arguments):
    done = subprocess.run([sys.executable, *arguments], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def codes(cli, root):
    result = cli("check", root, "--isolated", "--no-cache", "--output-format", "json", "--exit-zero")
    return [finding["code"] for finding in json.loads(result.out)["findings"]]


def test_the_django_app_runs_and_its_migration_is_complete(cli, tree):
    root = tree(SHOP)
    result = cli("scaffold", "django", root)
    assert result.code == 0
    assert "INSTALLED_APPS" in result.out
    pytest.importorskip("django")
    assert "OK" in run(root, "manage.py", "test", "deliveries")
    assert "No changes detected" in run(root, "manage.py", "makemigrations", "--check", "--dry-run")


def test_the_sqlalchemy_module_runs(cli, tree):
    root = tree({})
    assert cli("scaffold", "sqlalchemy", root).code == 0
    pytest.importorskip("sqlalchemy")
    assert "4 passed" in run(root, "-m", "pytest", "-p", "no:cacheprovider", "test_deliveries.py")


@pytest.mark.parametrize(("framework", "files"), [("django", SHOP), ("sqlalchemy", SERVICE)])
def test_the_helper_is_a_guard(cli, tree, framework, files):
    root = tree(files)
    cli("scaffold", framework, root)
    assert codes(cli, root) == []
    for path in (path for name in ("once", "deliveries") for path in root.rglob(f"{name}.py")):
        path.write_text(path.read_text().replace("    if not reserve(", "    if False and not reserve("))
    assert codes(cli, root) == ["SO301"]


def test_nothing_is_overwritten(cli, tree):
    root = tree({"deliveries.py": "kept = 1\n"})
    result = cli("scaffold", "sqlalchemy", root)
    assert result.code == 2
    assert "deliveries.py" in result.err
    assert (root / "deliveries.py").read_text() == "kept = 1\n"
    assert not (root / "test_deliveries.py").exists()
    assert cli("scaffold", "sqlalchemy", root, "--name", "outbox").code == 0
    assert "from outbox import" in (root / "test_outbox.py").read_text()


def test_a_place_that_is_none_is_an_error(cli, tree):
    root = tree({"a/manage.py": "", "b/manage.py": ""})
    assert "several" in cli("scaffold", "django", root).err
    assert "none" in cli("scaffold", "django", tree({"x/y.py": ""}) / "x").err
    assert "not a folder" in cli("scaffold", "sqlalchemy", root / "none").err
    assert "no name" in cli("scaffold", "sqlalchemy", root, "--name", "a b").err
