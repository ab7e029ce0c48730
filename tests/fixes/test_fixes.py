"""Mechanical repairs: none where the code has another shape, the right one where it fits, the finding gone after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sendonce.config import Settings
from sendonce.discovery import Sources
from sendonce.findings import Finding
from sendonce.fixes import CODES, patches, repairs
from sendonce.fixes.writing import diff, written
from sendonce.run import analyze
from sendonce.target import target_of

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
    def write(views: str) -> Path:
        return tree({"shop/urls.py": URLS, "shop/tasks.py": TASKS, "shop/models.py": MODELS, "shop/views.py": views})

    return write


def found(root: Path, *codes: str) -> list[Finding]:
    report = analyze(target_of([root]), Settings(select=codes, pedantic=True))
    return list(report.findings)


def repaired(root: Path, unsafe: bool = False) -> str:
    """The views after all repairs; they are written."""
    for patch in patches(found(root, "SO201", "SO202", "SO203"), Sources(root).source, unsafe):
        written(root, patch)
    return (root / "shop/views.py").read_text()


# ---------------------------------------------------------------------- what stays as it is


@pytest.mark.parametrize(
    "body",
    [
        "    with transaction.atomic():\n        job = receipt.delay(1)\n    return job\n",
        "    with transaction.atomic():\n        return receipt.delay(1)\n",
        "    with transaction.atomic():\n        [receipt.delay(pk) for pk in request.POST]\n",
        "    partial = 1\n    with transaction.atomic():\n        receipt.delay(partial)\n",
    ],
    ids=["result used", "returned", "in a comprehension", "a name in the way"],
)
def test_another_shape_has_no_fix(project, body):
    root = project(f"{HEAD}def pay(request):\n{body}")
    (finding,) = found(root, "SO201")
    assert finding.fix is None
    assert repaired(root, unsafe=True) == f"{HEAD}def pay(request):\n{body}"


def test_a_function_that_mails_is_moved_only_when_asked(project):
    views = f"{HEAD}def pay(request):\n    with transaction.atomic():\n        mail(request.user)\n"
    root = project(views)
    (finding,) = found(root, "SO202")
    assert finding.fix is not None
    assert not finding.fix.safe
    assert repaired(root) == views
    assert "transaction.on_commit(partial(mail, request.user))" in repaired(root, unsafe=True)
    assert found(root, "SO202") == []


# ---------------------------------------------------------------------- what is repaired


def test_a_job_waits_for_the_commit(project):
    views = f"{HEAD}def pay(request):\n    with transaction.atomic():\n        receipt.delay(request.user.pk)  # now\n"
    root = project(views)
    (finding,) = found(root, "SO201")
    assert finding.fix is not None
    assert finding.fix.safe
    text = repaired(root)
    assert "        transaction.on_commit(partial(receipt.delay, request.user.pk))  # now\n" in text
    assert "from functools import partial\n" in text
    assert text.count("from django.db import transaction") == 1
    assert found(root, "SO201") == []
    compile(text, "views.py", "exec")


def test_several_in_one_file_keep_all_else_as_it_is(project):
    head = f"{HEAD}def pay(request):\n    with transaction.atomic():\n"
    root = project(f"{head}        receipt.delay(1)\n        x = [1,\n   2]\n        receipt.delay(pk=2)\n")
    text = repaired(root)
    assert "partial(receipt.delay, 1)" in text
    assert "partial(receipt.delay, pk=2)" in text
    assert "        x = [1,\n   2]\n" in text


def test_line_ends_and_encoding_stay(project):
    views = (
        f"# coding: latin-1\n{HEAD}def pay(request):\n    with transaction.atomic():\n        receipt.delay('\u00e9')\n"
    )
    root = project("")
    file = root / "shop/views.py"
    file.write_bytes(views.replace("\n", "\r\n").encode("latin-1"))
    for patch in patches(found(root, "SO201"), Sources(root).source):
        written(root, patch)
    after = file.read_bytes()
    assert "partial(receipt.delay, '\u00e9')".encode("latin-1") in after
    assert after.count(b"\n") == after.count(b"\r\n")


def test_a_job_is_moved_behind_the_commit_of_a_session(tree):
    views = (
        "from flask import Flask, request\nfrom flask_sqlalchemy import SQLAlchemy\nfrom shop.jobs import receipt\n"
        "app = Flask(__name__)\ndb = SQLAlchemy(app)\n\n\nclass Order(db.Model):\n"
        "    id = db.Column(db.Integer, primary_key=True)\n\n\n@app.post('/pay')\ndef pay():\n    order = Order()\n"
        "    db.session.add(order)\n    receipt.delay(order.id)\n    db.session.commit()\n    return 'ok'\n"
    )
    jobs = (
        "import smtplib\nfrom celery import shared_task\n\n\n@shared_task\ndef receipt(pk):\n"
        "    with smtplib.SMTP('localhost') as smtp:\n        smtp.sendmail('a@b.c', [pk], 'Your receipt')\n"
    )
    root = tree({"shop/jobs.py": jobs, "shop/views.py": views})
    (finding,) = found(root, "SO203")
    assert finding.fix is not None
    text = repaired(root, unsafe=True)
    assert "    db.session.commit()\n    receipt.delay(order.id)\n    return 'ok'\n" in text
    assert found(root, "SO203") == []


def test_a_file_that_changed_meanwhile_is_left_alone(project):
    root = project(f"{HEAD}def pay(request):\n    with transaction.atomic():\n        receipt.delay(request.user.pk)\n")
    (patch,) = patches(found(root, "SO201"), Sources(root).source)
    (root / "shop/views.py").write_text("x = 1\n")
    with pytest.raises(Exception, match="has changed"):
        written(root, patch)
    assert (root / "shop/views.py").read_text() == "x = 1\n"
    assert diff(patch).startswith(b"--- a/shop/views.py\n+++ b/shop/views.py\n")


@pytest.mark.parametrize("opened", ["transaction.atomic(using='other')", "transaction.atomic('other')"])
def test_another_database_has_no_fix(project, opened):
    root = project(f"{HEAD}def pay(request):\n    with {opened}:\n        receipt.delay(1)\n")
    assert [finding.fix for finding in found(root, "SO201")] == [None]


def test_a_durable_block_has_one(project):
    root = project(f"{HEAD}def pay(request):\n    with transaction.atomic(durable=True):\n        receipt.delay(1)\n")
    assert [finding.fix is None for finding in found(root, "SO201")] == [False]


def test_what_would_not_compile_is_not_offered(project):
    head = HEAD.replace("from django", "from __future__ import annotations; from django", 1)
    views = f"{head}def pay(request):\n    with transaction.atomic():\n        receipt.delay(1)\n"
    root = project(views)
    assert repaired(root, unsafe=True) == views


def test_the_rules_with_repairs_are_those_of_the_repairs():
    assert frozenset().union(*(repair.codes for repair in repairs())) == CODES
