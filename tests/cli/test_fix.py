"""`sendonce check --fix` and `--diff`."""

from __future__ import annotations

import json
import subprocess

import pytest

URLS = "from django.urls import path\nfrom shop import views\nurlpatterns = [path('pay/', views.pay)]\n"
TASKS = """\
from celery import shared_task
from django.core.mail import send_mail


@shared_task
def receipt(pk):
    send_mail("Your receipt", "", None, [pk])


def mail(order):
    send_mail("Your receipt", "", None, [order.email])
"""
HEAD = "from django.db import transaction\nfrom shop.tasks import mail, receipt\nfrom shop.models import Order\n\n\n"
MODELS = "from django.db import models\n\n\nclass Order(models.Model):\n    email = models.EmailField()\n"


@pytest.fixture
def project(tree):
    def write(views):
        return tree({"shop/urls.py": URLS, "shop/tasks.py": TASKS, "shop/models.py": MODELS, "shop/views.py": views})

    return write


def codes(cli, root):
    result = cli("check", root, "--isolated", "--no-cache", "--output-format", "json", "--exit-zero")
    return [finding["code"] for finding in json.loads(result.out)["findings"]]


def test_diff_changes_nothing_and_applies(cli, project):
    views = f"{HEAD}def pay(request):\n    with transaction.atomic():\n        receipt.delay(request.user.pk)"
    root = project(views)
    shown = cli("check", root, "--diff", "--isolated", "--no-cache")
    assert shown.code == 1
    assert (root / "shop/views.py").read_text() == views
    done = subprocess.run(["git", "apply", "-"], cwd=root, input=shown.out, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "SO201" not in codes(cli, root)
    assert cli("check", root, "--diff", "--isolated", "--no-cache").code == 0


def test_fix_reports_what_is_left(cli, project):
    root = project(f"{HEAD}def pay(request):\n    with transaction.atomic():\n        receipt.delay(request.user.pk)\n")
    result = cli("check", root, "--fix", "--isolated", "--no-cache", "--output-format", "concise")
    assert "repaired SO201 in shop/views.py" in result.err
    assert "SO201" not in result.out
    assert "SO301" in result.out
    assert result.code == 1
